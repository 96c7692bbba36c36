# SPDX-License-Identifier: Apache-2.0
"""Controllers that the switch connects to, or that connect to it: back-off, roles, and what happens
without them. Those by TLS are in test_tls.py."""

import json
import pathlib
import socket
import struct
import subprocess
import threading
import time

import frames
import lab
import of_wire as of
from cases import tap, with_hosts


class listener:
    """Where the switch connects to."""

    def __init__(self, place, tls=None):
        """At a TCP port, or at the path of a Unix socket."""
        if isinstance(place, int):
            self.socket = socket.socket()
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(("127.0.0.1", place))
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(str(place))
        self.socket.listen()
        self.socket.settimeout(60)
        self.tls = tls

    def accept(self):
        peer, _ = self.socket.accept()
        if self.tls:
            peer = self.tls.wrap_socket(peer, server_side=True)
        return of.controller(peer).greet()

    def close(self):
        self.socket.close()


class with_listeners(with_hosts):
    ADDRESSES = ("10.0.0.{n}/24",)

    def listen(self, place, tls=None):
        made = listener(place, tls)
        self.addCleanup(made.close)
        return made

    def accept(self, at):
        made = at.accept()
        self.addCleanup(made.close)
        return made


def features(one):
    one.send(of.message(of.FEATURES_REQUEST))
    return struct.unpack("!QIBB2xII", one.expect(of.FEATURES_REPLY)[1])


class test_controllers(with_listeners):
    CONFIG = {"ports": [tap("p1"), tap("p2")],
              "openflow": {"datapath_id": "0xa1", "controllers": ["tcp:127.0.0.1:6653", "tcp:127.0.0.1:6654"],
                           "listen": ["ptcp:6655:127.0.0.1"], "probe_s": 1, "backoff_max_s": 1}}

    def test_the_switch_connects_again_and_rules_stay(self):
        at = self.listen(6653)
        first = self.accept(at)
        self.assertEqual(features(first)[:3], (0xa1, 0, 255))
        first.send(of.flow_mod(table=9, priority=5))
        first.barrier()
        first.close()
        second = self.accept(at)
        second.send(of.message(of.MULTIPART_REQUEST, struct.pack("!HH4x", 2, 0) + struct.pack(
            "!B3xII4xQQ", 9, of.ANY, of.ANY, 0, 0) + of.match()))
        _, body = second.expect(of.MULTIPART_REPLY)
        self.assertEqual(struct.unpack_from("!QQI", body, 8)[2], 1)

    def test_a_silent_controller_is_asked_and_given_up(self):
        one = self.accept(self.listen(6653))
        xid, body = one.expect(of.ECHO_REQUEST)
        one.send(of.message(of.ECHO_REPLY, body, xid))
        one.expect(of.ECHO_REQUEST)
        while one.receive() is not None:
            pass  # until it hangs up

    def test_several_controllers_have_roles(self):
        first, second = (self.accept(self.listen(number)).configure() for number in (6653, 6654))
        self.assertEqual(first.role(of.MASTER, 1), of.MASTER)
        self.assertEqual(second.role(of.SLAVE, 1), of.SLAVE)
        first.send(of.flow_mod(priority=9, eth_type=frames.ETHERTYPE_TEST,
                               instructions=of.apply_actions(of.output(of.CONTROLLER))))
        first.barrier()
        self.wire(self.h1).send(frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01"))
        first.expect(of.PACKET_IN)
        # The other takes over when the first is gone.
        first.close()
        self.assertEqual(second.role(of.MASTER, 2), of.MASTER)
        self.wire(self.h1).send(frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01"))
        second.expect(of.PACKET_IN)
        second.send(of.flow_mod(command=of.DELETE, eth_type=frames.ETHERTYPE_TEST))
        second.barrier()

    def test_controllers_may_connect_to_the_switch(self):
        one = of.controller(socket.create_connection(("127.0.0.1", 6655))).greet()
        self.addCleanup(one.close)
        self.assertEqual(features(one)[0], 0xa1)

    def listed(self, *words, **options):
        return {each["target"]: each for each in
                json.loads(self.switch.coua("-j", "controller", "list", *words, **options).stdout)["controllers"]}

    def test_they_are_listed_and_waited_for(self):
        one, two = ("tcp:127.0.0.1:6653", "tcp:127.0.0.1:6654")
        at = self.listen(6653)
        first = self.accept(at).configure()
        first.role(of.MASTER, 5)
        guest = of.controller(socket.create_connection(("127.0.0.1", 6655))).greet()
        self.addCleanup(guest.close)
        guest.barrier()
        said = self.listed("--wait", "1.5", check=False)
        self.assertEqual([each["origin"] for each in said.values()], ["configured", "configured", "came"])
        self.assertEqual((said[one]["connected"], said[one]["role"]), (True, "master"))
        self.assertGreaterEqual(said[one]["connections"], 1)
        self.assertGreaterEqual(said[one]["received"], 2)
        self.assertGreaterEqual(said[one]["sent"], 1)
        self.assertEqual((said[two]["connected"], said[two]["role"], said[two]["trouble"]),
                         (False, None, "Connection refused"))
        self.assertEqual(list(said.values())[2]["role"], "equal")
        done = self.switch.coua("controller", "list", "--wait", "0.3", check=False)
        self.assertEqual(done.returncode, 5)
        self.assertIn("not all controllers are connected", done.stderr)
        # It returns when the other one has come, too.
        waiting = lab.start([lab.COUA, "-s", self.switch.socket, "controller", "list", "--wait", "60"],
                            stdout=subprocess.PIPE)
        self.addCleanup(waiting.stdout.close)
        second = self.accept(self.listen(6654))
        self.assertEqual(waiting.wait(60), 0)
        before = self.listed()[one]["connections"]
        # One that hangs up is connected to again; what was wrong stays to be read.
        closed = time.monotonic()
        first.close()
        again = self.accept(at)
        again.barrier()
        now = lab.wait_for(lambda: (said := self.listed()[one])["connections"] > before and said, what="it is back")
        self.assertTrue(now["connected"])
        self.assertIn(now["trouble"], ("end of file", "Connection reset by peer"))
        self.assertLessEqual(now["for_s"], time.monotonic() - closed)
        second.barrier()

    def test_nothing_stops_the_packets_while_controllers_come_and_go(self):
        at = self.listen(6653)
        for _ in range(3):
            one = self.accept(at)
            one.send(of.message(of.FEATURES_REQUEST), of.flow_mod()[:30])
            one.close()
            self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)


class test_generation(with_listeners):
    """The newest one that was seen counts for as long as the bridge is there."""

    N_HOSTS = 1
    CONFIG = {"ports": [tap("p1")], "openflow": {"listen": ["ptcp:6655:127.0.0.1"]}}

    def come(self, number):
        made = of.controller(socket.create_connection(("127.0.0.1", number))).greet()
        self.addCleanup(made.close)
        return made

    def assert_counts(self, one, newest):
        self.assertEqual(one.role(of.MASTER, newest - 1), (11, 0))
        self.assertEqual(one.role(of.MASTER, newest), of.MASTER)

    def test_it_outlives_connections_and_settings(self):
        """Red when it is forgotten with the connection of who said it, or with the server that another `openflow` in
        the file replaces."""
        one = self.come(6655)
        self.assertEqual(one.role(of.MASTER, 50), of.MASTER)
        one.close()
        two = self.come(6655)
        self.assertEqual(two.role(0), of.EQUAL)
        self.assert_counts(two, 50)
        self.switch.file.write_text(self.switch.file.read_text().replace("6655", "6656"))
        self.switch.coua("config", "apply", self.switch.file)
        self.assertIsNone(two.receive())
        three = self.come(6656)
        self.assertEqual(three.role(0), of.EQUAL)
        self.assert_counts(three, 50)


class test_unix_sockets(with_listeners):
    N_HOSTS = 1
    CONFIG = {"ports": [tap("p1")],
              "openflow": {"datapath_id": "0xa1", "controllers": ["unix:/run/active.sock"],
                           "listen": ["punix:/run/passive.sock"], "backoff_max_s": 1}}

    def test_the_switch_connects_to_one(self):
        at = self.listen("/run/active.sock")
        self.addCleanup(pathlib.Path("/run/active.sock").unlink)
        for _ in range(2):
            one = self.accept(at)
            self.assertEqual(features(one)[0], 0xa1)
            one.close()

    def test_the_switch_listens_on_one(self):
        one = of.controller.to("/run/passive.sock").greet()
        self.addCleanup(one.close)
        one.send(of.flow_mod(table=9, priority=5))
        one.barrier()
        said = lab.run(["ovs-ofctl", "-O", "OpenFlow13", "dump-flows", "unix:/run/passive.sock", "table=9"]).stdout
        self.assertIn("priority=5", said)


class test_back_off(with_listeners):
    """Both listen before the switch starts, so that its first attempts are seen."""

    N_HOSTS = 1
    CONFIG = {"ports": [tap("p1")],
              "openflow": {"controllers": ["tcp:127.0.0.1:6653", "tcp:127.0.0.1:6654"], "backoff_max_s": 4}}

    @classmethod
    def setUpClass(cls):
        cls.pauses = {number: [] for number in (6653, 6654)}  # seconds, from an end to the next attempt
        cls.threads = []
        for number, held in ((6653, (0, 0, 0)), (6654, (0, 0, 2.5))):
            at = listener(number)
            cls.addClassCleanup(at.close)
            cls.threads.append(threading.Thread(target=cls.serve, args=(at, held, cls.pauses[number])))
            cls.threads[-1].start()
            cls.addClassCleanup(cls.threads[-1].join)
        super().setUpClass()

    @staticmethod
    def serve(at, held, pauses):
        ended = None
        for seconds in (*held, 0):
            peer, _ = at.socket.accept()
            if ended:
                pauses.append(time.monotonic() - ended)
            if seconds:
                of.controller(peer).greet()
                time.sleep(seconds)
            peer.close()
            ended = time.monotonic()

    def test_it_doubles_and_begins_anew_after_a_connection(self):
        """The library counts whole seconds of its clock: the first one may be almost none."""
        for thread in self.threads:
            thread.join(60)
        for number, wanted in ((6653, (1, 2, 4)), (6654, (1, 2, 1))):
            for pause, about in zip(self.pauses[number], wanted, strict=True):
                self.assertTrue(about - 1.05 < pause < about + 1.9, f"{number}: {self.pauses[number]}")


class test_fail_standalone(with_listeners):
    CONFIG = {"ports": [tap("p1"), tap("p2")], "pipeline": {"start": "none"},
              "openflow": {"controllers": ["tcp:127.0.0.1:6653"], "fail_mode": "standalone", "probe_s": 1,
                           "backoff_max_s": 1}}

    def test_it_is_an_l2_switch_while_nobody_is_there(self):
        lab.wait_for(lambda: self.h1.pings("10.0.0.2", 1, wait=0.5) == 1, what="forwards alone")
        self.assertTrue(self.switch.json("controller", "list")["standalone"])
        self.assert_passes_over_rules()
        at = self.listen(6653)
        one = self.accept(at)
        one.barrier()
        lab.wait_for(lambda: self.h1.pings("10.0.0.2", 1, wait=0.3) == 0, what="obeys: there is no rule")
        self.assertFalse(self.switch.json("controller", "list")["standalone"])
        at.close()
        one.close()
        began = time.monotonic()
        lab.wait_for(lambda: self.h1.pings("10.0.0.2", 1, wait=0.3) == 1, what="forwards alone again")
        self.assertGreater(time.monotonic() - began, 1.5)
        self.assert_conserved()

    def port_mod(self, word):
        lab.run(["ovs-ofctl", "-O", "OpenFlow13", "mod-port", f"unix:{self.switch.directory / 'br0.mgmt'}", "p1", word])

    def assert_passes_over_rules(self):
        """What a trace and an explanation say is what the hosts have just seen."""
        alone = "no controller is connected: forwarded as an L2 switch (fail-standalone)"
        packet = f"in_port=p1,dl_src={self.h1.mac},dl_dst={self.h2.mac}"
        self.assertEqual(self.switch.json("explain", "br0")["tables"], [])
        self.assertIn("predicted  none: " + alone, self.switch.coua("explain", "br0").stdout)
        self.switch.coua("flow", "add", "priority=1,actions=drop")
        said = self.switch.json("trace", "br0", packet)
        self.assertEqual([line["text"] for line in said["lines"][:2]], [alone, "NORMAL"])
        self.assertEqual([copy["to"] for copy in said["outputs"]], ["p2"])
        explained = self.switch.json("explain", "br0")
        self.assertEqual((explained["standalone"], explained["predicted"], explained["not_predicted"]),
                         (True, None, alone))
        self.assertEqual([(each["visits"], each["cycles"]) for each in explained["tables"]], [(0, None)])
        self.switch.coua("flow", "del")
        self.port_mod("no-receive")
        said = self.switch.json("trace", "br0", packet)
        self.assertEqual([line["text"] for line in said["lines"]], [alone, "port p1 receives nothing: dropped"])
        self.assertEqual(said["outputs"], [])
        self.assertEqual(self.h1.pings("10.0.0.2", 1, wait=0.5), 0)
        self.port_mod("receive")
        self.assertEqual(self.h1.pings("10.0.0.2", 1), 1)


class test_fail_secure(with_listeners):
    CONFIG = {"ports": [tap("p1"), tap("p2")], "pipeline": {"start": "none"},
              "openflow": {"controllers": ["tcp:127.0.0.1:6653"], "probe_s": 1}}

    def test_it_goes_on_with_its_rules(self):
        self.assertEqual(self.h1.pings("10.0.0.2", 1, wait=0.5), 0)
        one = self.accept(self.listen(6653))
        one.send(of.flow_mod(priority=0, instructions=of.apply_actions(of.output(of.FLOOD))))
        one.barrier()
        one.close()
        for _ in range(3):
            self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)
            time.sleep(1.5)
