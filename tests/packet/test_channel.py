# SPDX-License-Identifier: Apache-2.0
"""Controllers that misbehave: whatever they do, hosts go on talking and memory stays bounded."""

import os
import pathlib
import resource
import socket
import struct
import threading
import time

import frames
import lab
import of_wire as of
from cases import tap, with_hosts

MIB = 1 << 20


class with_channel(with_hosts):
    ADDRESSES = ("10.0.0.{n}/24",)
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")],
              "pipeline": {"packet_in_rate": 1_000_000, "packet_in_burst": 65536},
              "openflow": {"listen": ["ptcp:6655:0.0.0.0"], "probe_s": 1, "backoff_max_s": 1}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.management = cls.switch.directory / "br0.mgmt"

    def controller(self, at=None):
        made = of.controller.to(self.management) if at is None else of.controller(socket.create_connection(at))
        self.addCleanup(made.close)
        return made

    def memory(self):
        """What the daemon has of it, in bytes."""
        status = pathlib.Path(f"/proc/{self.switch.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def assert_all_is_well(self, before, grown=64 * MIB):
        """Hosts talk, others are served, and memory has not grown by more than that since `before`."""
        self.assertEqual(self.h1.pings("10.0.0.2", 40), 40)
        self.controller().greet().barrier()
        self.assertLess(self.memory() - before, grown)

    def during(self, work):
        """Runs `work(stop)` in a thread until the test is over."""
        stop = threading.Event()
        thread = threading.Thread(target=work, args=(stop,))

        def end():
            stop.set()
            thread.join()

        self.addCleanup(end)
        thread.start()
        return end


class test_floods(with_channel):
    # Those that do not read are not given up during a test, however long it takes.
    CONFIG = {**with_channel.CONFIG, "openflow": {**with_channel.CONFIG["openflow"], "probe_s": 600}}

    def setUp(self):
        one = self.controller().greet()
        one.send(of.flow_mod(command=of.DELETE, table=0xff),
                 of.flow_mod(priority=0, instructions=of.apply_actions(of.output(of.NORMAL))))
        one.barrier()

    def test_flow_mods_without_end(self):
        """As fast as the socket takes them, and never a barrier."""
        one, sent = self.controller().greet(), [0]
        rules = [of.flow_mod(table=7, priority=n, eth_type=0x800, instructions=of.apply_actions(of.output(2)))
                 for n in range(1, 2001)]
        batch = b"".join(rules) + of.flow_mod(command=of.DELETE, table=7)

        def flood(stop):
            while not stop.is_set():
                one.send(batch)
                sent[0] += len(rules) + 1

        before = self.memory()
        end = self.during(flood)
        for _ in range(3):
            self.assert_all_is_well(before)
        end()
        one.barrier()
        self.assertGreater(sent[0], 10000)

    def flood_packet_ins(self, one):
        one.send(of.flow_mod(priority=9, eth_type=frames.ETHERTYPE_TEST,
                             instructions=of.apply_actions(of.output(of.CONTROLLER))))
        one.barrier()
        wire = self.wire(self.h3)  # the queues of those that ping are not full of it
        frame = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01", pad=1400)

        def flood(stop):
            while not stop.is_set():
                for _ in range(200):
                    wire.send(frame)
                time.sleep(0.002)  # it has a CPU with others

        return self.during(flood)

    def test_packet_ins_without_end(self):
        one = self.controller().greet().configure()
        got, counters, before = [0], self.counters(), self.memory()

        def read(stop):
            while not stop.is_set():
                got[0] += len(one.told(0.1))

        ends = [self.flood_packet_ins(one), self.during(read)]
        for _ in range(3):
            self.assert_all_is_well(before)
        for end in ends:
            end()
        self.assertGreater(got[0], 1000)
        self.assertGreaterEqual(self.counted(counters, "to_controller"), got[0])
        self.assert_conserved()

    def test_packet_ins_that_nobody_reads(self):
        one, before = self.controller().greet().configure(), self.memory()
        end = self.flood_packet_ins(one)
        for _ in range(3):
            self.assert_all_is_well(before)
        end()
        self.settle()
        # What it missed it missed, and what it asks is still answered.
        one.barrier()
        self.assertIn("were not told", self.switch.log.read_text())
        self.assert_conserved()

    def test_answers_that_nobody_reads(self):
        """Dumps without end, to one that asks on and does not read: it is not read from, either."""
        one = self.controller().greet()
        one.send(*(of.flow_mod(table=5, priority=n) for n in range(1, 5001)))
        one.barrier()
        dump = of.message(of.MULTIPART_REQUEST, struct.pack("!HH4x", 1, 0) + struct.pack(
            "!B3xII4xQQ", 255, of.ANY, of.ANY, 0, 0) + of.match())
        one.socket.settimeout(0.5)
        before = self.memory()
        with self.assertRaises(TimeoutError):
            for _ in range(100):
                one.send(dump * 1000)
        for _ in range(3):
            self.assert_all_is_well(before)


class test_beginnings(with_channel):
    """Connections that do not begin as they should."""

    def silent(self):
        made = socket.create_connection(("127.0.0.1", 6655))
        self.addCleanup(made.close)
        return made

    def assert_ended(self, one):
        """The switch hangs up, whatever it says before."""
        one.settimeout(60)
        try:
            while one.recv(65536):
                pass
        except ConnectionError:
            pass

    def test_the_first_message_is_not_a_hello(self):
        before = self.memory()
        for first in (of.message(of.FEATURES_REQUEST), of.flow_mod(priority=3), of.message(of.BARRIER_REQUEST),
                      of.message(of.ERROR, bytes(4)), of.message(99), b"GET / HTTP/1.1\r\n\r\n",
                      struct.pack("!BBHI", 4, 0, 3, 0), bytes(64), os.urandom(64)):
            one = self.silent()
            one.sendall(first)
            self.assert_ended(one)
        self.assert_all_is_well(before)
        self.assertEqual(self.switch.json("flow", "dump")["flows"][0]["priority"], 0)

    def test_nothing_is_said_at_all(self):
        """Many who connect and are silent are given up, and the next one is served."""
        before = self.memory()
        silent = [self.silent() for _ in range(100)]
        for one in silent:
            self.assert_ended(one)
        self.assert_all_is_well(before)

    def cpu_seconds(self):
        """What the thread of the connections has taken of its CPU."""
        for task in pathlib.Path(f"/proc/{self.switch.process.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == "coua-openflow":
                return lab.cpu_seconds(task / "stat")
        return self.fail("no thread coua-openflow")

    def test_descriptors_run_out(self):
        """Those who cannot be taken yet wait; the switch says why, does not spin, and takes them later."""
        before, pid = self.memory(), self.switch.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        self.addCleanup(resource.prlimit, pid, resource.RLIMIT_NOFILE, limits)
        # poll() needs as many as it is asked about.
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (16, limits[1]))
        one = self.silent()
        lab.wait_for(lambda: "cannot take a connection yet: Too many open files" in self.switch.log.read_text(),
                     what="log")
        spent = self.cpu_seconds()
        time.sleep(2)
        self.assertLess(self.cpu_seconds() - spent, 1)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        of.controller(one).greet().barrier()
        self.assert_all_is_well(before)

    def test_messages_that_stop_in_the_middle(self):
        before, whole = self.memory(), of.flow_mod(priority=4)
        cut = []
        for n in range(1, len(whole)):  # at once: who is silent for long is given up
            cut.append(self.controller(("127.0.0.1", 6655)).greet())
            cut[-1].send(whole[:n])
        for one in cut:
            self.assert_ended(one.socket)
        self.assert_all_is_well(before)


class test_half_open(with_channel):
    """A controller on another machine, whose cable is pulled out."""

    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")],
              "openflow": {"controllers": ["tcp:192.0.2.2:6653"], "listen": ["ptcp:6655:192.0.2.1"], "probe_s": 1,
                           "backoff_max_s": 1}}

    @classmethod
    def setUpClass(cls):
        # It reaches the switch's namespace, but not through the switch.
        cls.far = lab.host("far")
        cls.addClassCleanup(cls.far.close)
        lab.run("ip link add near type veth peer name eth0 netns far")
        cls.far.pair = "near"
        lab.run("ip addr add 192.0.2.1/24 dev near")
        lab.run("ip link set near up")
        cls.far.address("192.0.2.2/24")
        super().setUpClass()

    def cable(self, state):
        self.far.run(f"ip link set eth0 {state}")

    def open_connections(self):
        """Those that the switch believes in."""
        return lab.run("ss -Htn state established src 192.0.2.1").stdout.splitlines()

    def test_both_ways_are_given_up_and_come_again(self):
        with lab.in_namespace("far"):
            at = socket.create_server(("192.0.2.2", 6653))
            self.addCleanup(at.close)
            came = of.controller(socket.create_connection(("192.0.2.1", 6655)))
            self.addCleanup(came.close)
        at.settimeout(60)
        called = of.controller(at.accept()[0])
        self.addCleanup(called.close)
        for one in (came, called):
            one.greet().barrier()
        self.assertEqual(len(self.open_connections()), 2)
        before = self.memory()
        self.cable("down")
        self.assert_all_is_well(before)
        lab.wait_for(lambda: not self.open_connections(), what="given up")
        self.assert_all_is_well(before)
        self.cable("up")
        again = of.controller(at.accept()[0])
        self.addCleanup(again.close)
        again.greet().barrier()


class test_reconnect(with_channel):
    """A controller of many rules goes and comes."""

    N_RULES = 100_000
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")], "pipeline": {"start": "none"},
              "openflow": {"controllers": ["tcp:127.0.0.1:6653"], "probe_s": 1, "backoff_max_s": 1}}

    def accept(self, at):
        one = of.controller(at.accept()[0]).greet()
        self.addCleanup(one.close)
        one.send(of.message(of.FEATURES_REQUEST))
        one.expect(of.FEATURES_REPLY)
        return one.configure()

    def dump(self, one):
        """How many rules of table 1 there are."""
        one.send(of.message(of.MULTIPART_REQUEST, struct.pack("!HH4x", 1, 0) + struct.pack(
            "!B3xII4xQQ", 1, of.ANY, of.ANY, 0, 0) + of.match()))
        n, more = 0, True
        while more:
            _, body = one.expect(of.MULTIPART_REPLY)
            more, at = struct.unpack_from("!H", body, 2)[0] & 1, 8
            while at < len(body):
                n, at = n + 1, at + struct.unpack_from("!H", body, at)[0]
        return n

    def test_no_packet_is_lost(self):
        at = socket.create_server(("127.0.0.1", 6653))
        self.addCleanup(at.close)
        at.settimeout(60)
        one = self.accept(at)
        # Packets of the test have to find a rule among all the others.
        out = of.apply_actions(of.output(2))
        one.send(of.flow_mod(eth_type=frames.ETHERTYPE_TEST, instructions=of.goto_table(1)),
                 *(of.flow_mod(table=1, eth_type=n % 1000 + 2000, in_port=n // 1000 + 10)
                   for n in range(self.N_RULES - 1)),
                 of.flow_mod(table=1, eth_type=frames.ETHERTYPE_TEST, in_port=1, instructions=out))
        one.barrier()
        sender, sent = self.wire(self.h1), [0]
        frame = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01")
        before = self.counters("p2")["tx_packets"]

        arrived = pathlib.Path("/sys/class/net/p2/statistics/rx_packets")
        arrived_before = int(arrived.read_text())

        def send(stop):
            # By the clock, and no more on their way than the port's queue holds: what the kernel drops
            # while the switch does not get a CPU is not the switch's loss.
            began = time.monotonic()
            while not stop.is_set():
                due = min(int((time.monotonic() - began) * 5000), sent[0] + 50,
                          int(arrived.read_text()) - arrived_before + 300)
                for _ in range(due - sent[0]):
                    sender.send(frame)
                sent[0] = max(due, sent[0])
                time.sleep(0.001)

        end = self.during(send)
        for _ in range(3):
            time.sleep(0.3)
            one.close()
            one = self.accept(at)
            self.assertEqual(self.dump(one), self.N_RULES)
        # The listener goes, too, and the switch tries for a while.
        at.close()
        one.close()
        time.sleep(2)
        at = socket.create_server(("127.0.0.1", 6653))
        self.addCleanup(at.close)
        at.settimeout(60)
        one = self.accept(at)
        self.assertEqual(self.dump(one), self.N_RULES)
        end()
        self.settle()
        self.assertGreater(sent[0], 5000)
        self.assertEqual(self.counters("p2")["tx_packets"] - before, sent[0])
