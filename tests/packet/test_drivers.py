# SPDX-License-Identifier: Apache-2.0
"""Ports of other kinds than TAP: veth pairs by AF_PACKET and AF_XDP, packet files, more workers."""

import contextlib
import ctypes
import mmap
import os
import pathlib
import socket
import struct
import subprocess
import time
import unittest

import frames
import lab
from cases import station, tap, with_hosts, with_switch


class veth_pairs(with_switch):
    """Two access hosts of one VLAN, one of another, and a trunk, on veth pairs."""

    NEEDS_ROOT = False  # of the machine, not of a namespace

    @classmethod
    def setUpClass(cls):
        if cls.NEEDS_ROOT and not lab.is_real_root():
            raise unittest.SkipTest(f"{cls.DRIVER} needs root of the machine")
        cls.switch = lab.switch(f"/run/{cls.DRIVER}", cls.config())
        cls.addClassCleanup(cls.switch.close)
        cls.hosts = [cls.switch.veth_host(f"h{n}", f"v{n}") for n in range(1, 5)]
        cls.switch.start()
        for n, host in enumerate(cls.hosts[:3], 1):
            host.address(f"10.9.0.{n}/24", f"fd09::{n}/64")

    @classmethod
    def config(cls):
        vlans = ({"vlan": 10}, {"vlan": 10}, {"vlan": 20}, {"vlans": {"tagged": [10, 20]}})
        return {"ports": [{"name": f"p{n}", "devargs": f"{cls.DRIVER}{n},iface=v{n}", **of}
                          for n, of in enumerate(vlans, 1)]}

    def remove_p2(self):
        self.switch.coua("port", "remove", "p2")

    def words_for_p2(self):
        return "port", "add", "p2", self.config()["ports"][1]["devargs"], "--vlan", "10"

    def add_p2(self, **options):
        return self.switch.coua(*self.words_for_p2(), **options)

    def wait_for_h2(self):
        lab.wait_for(lambda: self.hosts[0].pings("10.9.0.2", wait=1), what="h2 answers again")


class any_driver:
    """What is asked of both."""

    def test_fragments_stay_fragments(self):
        before = self.switch.json("stats")["ports"]["p1"]["rx_packets"]
        for size in (1600, 1900, 4000):
            self.assertEqual(self.hosts[0].pings("10.9.0.2", 2, size=size), 2, size)
        after = self.switch.json("stats")["ports"]["p1"]["rx_packets"]
        self.assertGreaterEqual(after - before, 2 * (2 + 2 + 3))

    def test_ping_and_vlans(self):
        one = self.hosts[0]
        self.assertEqual(one.pings("10.9.0.2", 3), 3)
        self.assertEqual(one.pings("fd09::2", 3), 3)
        self.assertEqual(one.pings("10.9.0.3", 1, wait=0.4), 0)
        self.wait_learned(10, one.mac, "p1")
        self.wait_learned(10, self.hosts[1].mac, "p2")

    def test_trunk_gets_tags(self):
        ear = self.wire(self.hosts[3])
        self.wire(self.hosts[0]).send(frames.make(frames.BROADCAST, station(1), b"tag me"))
        found = ear.collect(30, lambda frame: frame.payload.startswith(b"tag me"), 1)
        self.assertEqual([frame.vlan for frame in found], [10])

    def test_tag_is_read(self):
        ear = self.wire(self.hosts[2])
        self.wire(self.hosts[3]).send(frames.make(frames.BROADCAST, station(2), b"to 20", vlan=20))
        found = ear.collect(30, lambda frame: frame.payload.startswith(b"to 20"), 1)
        self.assertEqual([frame.vlan for frame in found], [None])
        self.wait_learned(20, station(2), "p4")

    def test_tcp(self):
        self.assert_tcp(self.hosts[0], self.hosts[1], "10.9.0.2")

    def test_z_removal_and_return(self):
        before = self.files()
        for _ in range(3):
            self.remove_p2()
            self.assertEqual(self.hosts[0].pings("10.9.0.2", 1, wait=0.4), 0)
            self.assertEqual(self.entries("--port", "p1", "--vlan", "10").keys(),
                             self.entries("--vlan", "10").keys())
            self.add_p2()
            self.wait_for_h2()
        # Connections of the command come and go; what a port leaves would be three files or more.
        lab.wait_for(lambda: self.files() <= before + 1, what=f"no more than {before + 1} open files")
        self.assert_conserved()

    def files(self):
        """How many the daemon has open, but for those by which gRPC's threads wake each other, of which there
        are more the busier the machine is."""
        n = 0
        for each in pathlib.Path(f"/proc/{self.switch.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                n += not os.readlink(each).startswith(("anon_inode:[event", "anon_inode:[timer"))
        return n


class test_af_packet(any_driver, veth_pairs):
    DRIVER = "net_af_packet"

    def test_provider_tag_is_taken_for_a_vlan_tag(self):
        """The kernel takes it out, and the driver does not say of which type it was."""
        ear = self.wire(self.hosts[2])
        frame = frames.make(frames.BROADCAST, station(3), b"provider")
        self.wire(self.hosts[3]).send(frames.tagged(frame, 20, 0x88A8))
        found = ear.collect(30, lambda frame: frame.payload.startswith(b"provider"), 1)
        self.assertEqual([frame.vlan for frame in found], [None])


# So long a port that went may still have its queue (is_left_ns of src/dp/drivers/held_interfaces.h).
QUEUE_LEFT_S = 3


class xdp_socket:
    """Has a queue of an interface, as the kernel has for a moment after a socket of AF_XDP was closed."""

    FAMILY, LEVEL = 44, 283
    RECEIVE_RING, MEMORY, FILL_RING, COMPLETION_RING = 2, 4, 5, 6

    def __init__(self, interface, queue=0):
        self.socket = socket.socket(self.FAMILY, socket.SOCK_RAW)
        page, n = mmap.PAGESIZE, 4
        self.memory = mmap.mmap(-1, n * page)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.socket.setsockopt(self.LEVEL, self.MEMORY, struct.pack("QQII", first, n * page, page, 0))
        for ring in (self.FILL_RING, self.COMPLETION_RING, self.RECEIVE_RING):
            self.socket.setsockopt(self.LEVEL, ring, n)
        address = struct.pack("HHIII", self.FAMILY, 0, socket.if_nametoindex(interface), queue, 0)
        if ctypes.CDLL(None, use_errno=True).bind(self.socket.fileno(), address, len(address)):
            self.socket.close()
            raise OSError(ctypes.get_errno(), "bind")

    def close(self):
        self.socket.close()


class test_af_xdp(any_driver, veth_pairs):
    DRIVER, NEEDS_ROOT = "net_af_xdp", True

    def take_queue(self):
        def take():
            with contextlib.suppress(OSError):  # the port's own socket may still have it
                return xdp_socket("v2")
        return lab.wait_for(take, what="the queue of v2")

    def bring_p2_back(self):
        """What another socket had is free a little later, and was no port's."""
        lab.wait_for(lambda: "p2" in self.ports() or self.add_p2(check=False).returncode == 0, what="p2 is back")

    def test_y_a_queue_that_is_free_a_little_later(self):
        """The kernel gives it up some time after the last port was closed, the longer the busier it is."""
        self.addCleanup(self.bring_p2_back)
        for _ in range(10):
            other, adding, waits = self.add_behind_another()
            other.close()
            if waits:
                self.assertEqual(adding.wait(60), 0)
                return self.wait_for_h2()
            # So slow was the machine that nobody could say any more whose queue it was.
            self.assertNotEqual(adding.wait(60), 0)
            self.bring_p2_back()
        self.fail("the port never waited")

    def add_behind_another(self):
        """A socket that has the queue of p2, and who adds p2, when it waits for the queue or was refused: which."""
        said = "port p2: its queue is still that of the port that went: it waits"
        before = self.switch.log.read_text().count(said)
        self.remove_p2()
        other = self.take_queue()
        adding = lab.start([lab.COUA, "-s", self.switch.socket, *self.words_for_p2()],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def waits():
            return self.switch.log.read_text().count(said) > before

        lab.wait_for(lambda: waits() or adding.poll() is not None, what="the port waits")
        return other, adding, waits()

    def test_y_a_queue_that_another_program_has(self):
        self.addCleanup(self.bring_p2_back)
        self.remove_p2()
        other = self.take_queue()
        self.addCleanup(other.close)
        time.sleep(QUEUE_LEFT_S)
        said = self.add_p2(check=False)
        other.close()
        self.assertIn("receive queue 0: ", said.stderr)
        self.assertIn("another AF_XDP socket has this queue", said.stderr)
        self.assertNotIn("did not come back", self.switch.log.read_text())
        self.bring_p2_back()
        self.wait_for_h2()

    def test_y_what_is_wrong_is_not_waited_for(self):
        self.addCleanup(self.bring_p2_back)
        self.remove_p2()
        before = self.switch.log.read_text().count("it waits")
        said = self.switch.coua(*self.words_for_p2(), "--mtu", "9600", check=False)
        self.assertIn("port p2: mtu: 9600 is not in", said.stderr)
        self.assertEqual(self.switch.log.read_text().count("it waits"), before)

    def test_y_an_interface_that_another_port_has(self):
        """The driver would take the program of p1 away when it closes the port that is refused."""
        said = self.switch.coua("port", "add", "p9", "net_af_xdp9,iface=v1", "--vlan", "10", check=False)
        self.assertIn("port p9: interface v1 is that of port p1", said.stderr)
        self.wait_for_h2()

    def test_y_a_removal_leaves_no_program_open(self):
        """The driver opens it once more when it closes a port, under a number that has come free."""
        lab.run("ip link add spare type veth peer name spare1")
        self.addCleanup(lab.run, "ip link del spare")
        lab.run("ip link set spare up")
        folder = f"/proc/{self.switch.process.pid}/fd"
        programs = lambda: [os.readlink(f"{folder}/{each}")  # noqa: E731
                            for each in os.listdir(folder)].count("anon_inode:bpf-prog")
        before, n_files = programs(), len(os.listdir(folder))
        with contextlib.ExitStack() as low_numbers:
            for _ in range(8):
                low_numbers.enter_context(socket.socket(socket.AF_UNIX)).connect(str(self.switch.socket))
            lab.wait_for(lambda: len(os.listdir(folder)) >= n_files + 8, what="connections")
            self.switch.coua("port", "add", "spare", "net_af_xdp8,iface=spare", "--vlan", "11")
            n_files = len(os.listdir(folder))
        lab.wait_for(lambda: len(os.listdir(folder)) <= n_files - 8, what="the end of the connections")
        self.switch.coua("port", "remove", "spare")
        self.assertEqual(programs(), before)

    def test_z_twenty_removals_leave_no_packets(self):
        """The driver keeps what is in its rings, 19 MiB of pool with it: that would fit six times."""
        # Both ways until the last moment, so that there are frames in every ring.
        floods = [host.start("ping -n -q -i 0.002 -b 10.9.0.255", stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL) for host in self.hosts[:2]]
        for flood in floods:
            self.addCleanup(flood.wait)
            self.addCleanup(flood.kill)
        for _ in range(20):
            self.remove_p2()
            self.add_p2()
            lab.wait_for(lambda: min(self.counters("p2")[name] for name in ("rx_packets", "tx_packets")) > 20,
                         what="frames to and from h2")
        for flood in floods:
            flood.kill()
        self.wait_for_h2()
        self.assert_conserved()


class test_af_xdp_beside_a_pool_for_all(veth_pairs):
    """`memory.mbufs` is one pool for all ports. From there, a port of AF_XDP would take packets sooner or later
    that its driver did not tell the kernel of, and receive nothing: with 40,000 after the eighth return."""

    DRIVER, NEEDS_ROOT = "net_af_xdp", True

    @classmethod
    def config(cls):
        return {**super().config(), "memory": {"mbufs": 40000, "mbuf_bytes": 512}}

    def test_twelve_returns(self):
        for _ in range(12):
            self.remove_p2()
            self.add_p2()
            self.wait_for_h2()
        self.assertEqual(self.counters("p2")["rx_missed"], 0)


def write_pcap(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for packet in packets:
            file.write(struct.pack("=IIII", 0, 0, len(packet), len(packet)) + packet)


class test_packet_files(with_switch):
    """A packet file is played into the switch once; every frame of it is accounted for."""

    COUNT = 500

    def test_every_frame_of_a_file(self):
        file = self.switch.directory / "in.pcap"
        out = self.switch.directory / "out.pcap"
        write_pcap(file, [frames.make(station(9999), station(n), b"x", pad=60 + n % 1400)
                          for n in range(self.COUNT)])
        self.switch.coua("port", "add", "sink", f"net_pcap1,tx_pcap={out}")
        self.switch.coua("port", "add", "file", f"net_pcap0,rx_pcap={file}")
        lab.wait_for(lambda: self.counters("file")["rx_packets"] == self.COUNT, what="all read")
        self.settle()
        self.assertEqual(self.counters("file")["flooded"], self.COUNT)
        self.assertEqual(self.counters("sink")["tx_packets"], self.COUNT)
        self.assertEqual(self.ports()["file"]["learned"], self.COUNT)
        self.switch.coua("port", "remove", "sink")
        self.switch.coua("port", "remove", "file")
        # What went out is what came in, byte for byte and in order.
        self.assertEqual(out.read_bytes()[24:].count(b"\x88\xb5x"), self.COUNT)


class test_two_workers(with_hosts):
    """More workers than queues, and ports that they share."""

    CONFIG = {"workers": {"count": 2}, "ports": [tap("w1", rx_queues=1, tx_queues=1), tap("w2"),
                                                 tap("w3", rx_queues=1, tx_queues=1)]}

    @classmethod
    def setUpClass(cls):
        if len(os.sched_getaffinity(0)) < 2:
            raise unittest.SkipTest("one CPU")
        super().setUpClass()

    def test_all_pairs_talk(self):
        for a in self.hosts:
            for n in (1, 2, 3):
                self.assertEqual(a.pings(f"10.9.0.{n}", 3), 3)
        workers = self.switch.json("worker", "list")["workers"]
        self.assertEqual(len(workers), 2)
        queues = [queue for worker in workers for queue in worker["queues"]]
        self.assertEqual(len(queues), len(set(queues)))
        self.assertTrue(self.ports()["w1"]["tx_shared"])
        self.assert_conserved()
