# SPDX-License-Identifier: Apache-2.0
"""Four hosts in two VLANs and a trunk, on TAP ports: who talks to whom, and who hears what."""

import json
import time

import frames
from cases import station, tap, with_hosts

QUIET_S = 0.4  # how long nothing has to come before it counts as not coming


class test_l2(with_hosts):
    CONFIG = {"ports": [tap("p1", vlan=10), tap("p2", vlan=10), tap("p3", vlan=20),
                        tap("p4", vlan=20),
                        tap("p5", vlans={"mode": "trunk", "native": 0, "tagged": [10, 20]})]}
    N_HOSTS = 4
    # One subnet for both VLANs: only the switch keeps them apart.
    ADDRESSES = ("10.9.0.{n}/24", "fd09::{n}/64")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trunk = cls.switch.tap_host("h5", "p5")

    def setUp(self):
        self.flush()

    def wires(self):
        return {name: self.wire(getattr(self, name)) for name in ("h1", "h2", "h3", "h4", "trunk")}

    def heard(self, wires, payload, at_least=()):
        """Which of the wires receive a test frame with this payload: {name: frame}."""
        found = {}
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for name, wire in wires.items():
                for frame in wire.collect(0.02):
                    if frame.payload.startswith(payload):
                        self.assertNotIn(name, found, "a frame came twice")
                        found[name] = frame
            if set(at_least) <= set(found):
                break
        for name, wire in wires.items():
            for frame in wire.collect(QUIET_S / len(wires)):
                if frame.payload.startswith(payload):
                    self.assertNotIn(name, found, "a frame came twice")
                    found[name] = frame
        return found

    # Kernel hosts.

    def test_arp_and_ping_in_one_vlan(self):
        self.h1.run("ip neigh flush dev eth0")
        self.assertEqual(self.h1.pings("10.9.0.2", 5), 5)
        neighbours = json.loads(self.h1.run("ip -j neigh show 10.9.0.2").stdout)
        self.assertEqual(neighbours[0]["lladdr"], self.h2.mac)
        self.assertEqual(self.h3.pings("10.9.0.4", 5), 5)

    def test_no_ping_between_vlans(self):
        ear = self.wire(self.h3)
        self.assertEqual(self.h1.pings("10.9.0.3", 2, wait=0.5), 0)
        self.assertEqual(self.h1.pings("fd09::3", 2, wait=0.5), 0)
        self.assertEqual(ear.collect(QUIET_S, lambda frame: frame.src == self.h1.mac), [])

    def test_ipv6_neighbour_discovery(self):
        self.h1.run("ip -6 neigh flush dev eth0")
        self.assertEqual(self.h1.pings("fd09::2", 3), 3)
        neighbours = json.loads(self.h1.run("ip -j -6 neigh show fd09::2").stdout)
        self.assertEqual(neighbours[0]["lladdr"], self.h2.mac)

    def test_tcp(self):
        self.assert_tcp(self.h1, self.h2, "10.9.0.2")

    def test_hosts_are_learned_where_they_are(self):
        for near, far in (("h1", "10.9.0.2"), ("h3", "10.9.0.4")):
            self.assertEqual(getattr(self, near).pings(far), 1)
        for name, vlan, port in (("h1", 10, "p1"), ("h2", 10, "p2"), ("h3", 20, "p3"),
                                 ("h4", 20, "p4")):
            self.wait_learned(vlan, getattr(self, name).mac, port)
        self.assertIsNone(self.port_of(20, self.h1.mac))

    def test_ping_over_the_trunk(self):
        for vlan, near, address in ((10, self.h1, "10.8.10"), (20, self.h3, "10.8.20")):
            device = self.trunk.vlan_device(vlan)
            self.trunk.address(f"{address}.5/24", device=device)
            near.address(f"{address}.1/24")
            self.assertEqual(near.pings(f"{address}.5", 3), 3)
            self.wait_learned(vlan, json.loads(self.trunk.run(
                f"ip -j link show {device}").stdout)[0]["address"], "p5")

    # Tags.

    def test_trunk_gets_tags(self):
        wires = self.wires()
        wires["h1"].send(frames.make(frames.BROADCAST, station(1), b"from ten"))
        found = self.heard(wires, b"from ten", ("h2", "trunk"))
        self.assertEqual(set(found), {"h2", "trunk"})
        self.assertEqual(found["trunk"].vlan, 10)
        self.assertIsNone(found["h2"].vlan)
        wires["h3"].send(frames.make(frames.BROADCAST, station(1), b"from twenty"))
        found = self.heard(wires, b"from twenty", ("h4", "trunk"))
        self.assertEqual(set(found), {"h4", "trunk"})
        self.assertEqual(found["trunk"].vlan, 20)
        self.assertIsNone(found["h4"].vlan)

    def test_tag_is_taken_off_for_access_ports(self):
        wires = self.wires()
        sent = frames.make(frames.BROADCAST, station(2), b"tagged", vlan=20)
        wires["trunk"].send(sent)
        found = self.heard(wires, b"tagged", ("h3", "h4"))
        self.assertEqual(set(found), {"h3", "h4"})
        for frame in found.values():
            self.assertEqual(frame.data[:12] + frame.data[12:].rstrip(b"\0"),
                             sent[:12] + sent[16:].rstrip(b"\0"))
        self.wait_learned(20, station(2), "p5")

    def test_vlan_that_the_trunk_does_not_carry(self):
        wires = self.wires()
        before = self.counters("p5")
        wires["trunk"].send(frames.make(frames.BROADCAST, station(3), b"thirty", vlan=30))
        wires["trunk"].send(frames.make(frames.BROADCAST, station(3), b"thirty"))  # no native VLAN
        self.assertEqual(self.heard(wires, b"thirty"), {})
        self.assertGreaterEqual(self.counted(before, "drop_ingress_vlan", "p5"), 2)
        self.assertIsNone(self.port_of(30, station(3)))

    def test_tagged_frame_on_an_access_port(self):
        wires = self.wires()
        wires["h1"].send(frames.make(frames.BROADCAST, station(4), b"hop", vlan=20))
        self.assertEqual(self.heard(wires, b"hop"), {})

    # Who hears what.

    def test_known_address_goes_to_its_port_only(self):
        wires = self.wires()
        wires["h2"].send(frames.make(frames.BROADCAST, station(5), b"here I am"))
        self.wait_learned(10, station(5), "p2")
        self.heard(wires, b"here I am")
        wires["h1"].send(frames.make(station(5), station(6), b"to you"))
        self.assertEqual(set(self.heard(wires, b"to you", ("h2",))), {"h2"})

    def test_unknown_address_is_flooded_but_never_back(self):
        wires = self.wires()
        before = self.counters("p1")
        wires["h1"].send(frames.make(station(99), station(7), b"anyone?"))
        self.assertEqual(set(self.heard(wires, b"anyone?", ("h2", "trunk"))), {"h2", "trunk"})
        # At least: the host's own kernel may have sent a multicast meanwhile.
        self.assertGreaterEqual(self.counted(before, "flooded", "p1"), 1)
        self.assertGreaterEqual(self.counted(before, "flood_copies", "p1"), 2)

    def test_multicast_is_flooded(self):
        wires = self.wires()
        wires["h3"].send(frames.make("01:00:5e:00:00:fb", station(8), b"to many"))
        self.assertEqual(set(self.heard(wires, b"to many", ("h4", "trunk"))), {"h4", "trunk"})
        self.assertIsNone(self.port_of(20, "01:00:5e:00:00:fb"))

    def test_link_local_is_not_forwarded(self):
        wires = self.wires()
        before = self.counters("p1")
        for last in range(16):
            wires["h1"].send(frames.make(f"01:80:c2:00:00:{last:02x}", station(9), b"bridge only"))
        self.assertEqual(self.heard(wires, b"bridge only"), {})
        self.assertEqual(self.counted(before, "drop_link_local", "p1"), 16)
        wires["h1"].send(frames.make("01:80:c2:00:00:10", station(9), b"next block"))
        self.assertEqual(set(self.heard(wires, b"next block", ("h2", "trunk"))), {"h2", "trunk"})

    def test_destination_behind_its_own_port(self):
        wires = self.wires()
        wires["h1"].send(frames.make(frames.BROADCAST, station(10), b"one"))
        self.wait_learned(10, station(10), "p1")
        self.heard(wires, b"one")
        before = self.counters("p1")
        wires["h1"].send(frames.make(station(10), station(11), b"two"))
        self.assertEqual(self.heard(wires, b"two"), {})
        self.assertEqual(self.counted(before, "drop_hairpin", "p1"), 1)

    def test_group_address_as_source(self):
        wires = self.wires()
        before = self.counters("p1")
        wires["h1"].send(frames.make(frames.BROADCAST, "03:00:00:00:00:01", b"odd"))
        self.assertEqual(self.heard(wires, b"odd"), {})
        self.assertEqual(self.counted(before, "drop_source_multicast", "p1"), 1)

    def test_address_that_moves(self):
        one, two = self.wire(self.h1), self.wire(self.h2)
        one.send(frames.make(frames.BROADCAST, station(12), b""))
        self.wait_learned(10, station(12), "p1")
        before = self.fib_stats()["moved"]
        two.send(frames.make(frames.BROADCAST, station(12), b""))
        self.wait_learned(10, station(12), "p2")
        self.assertEqual(self.fib_stats()["moved"], before + 1)

    def test_one_address_in_two_vlans(self):
        self.wire(self.h1).send(frames.make(frames.BROADCAST, station(13), b""))
        self.wire(self.h3).send(frames.make(frames.BROADCAST, station(13), b""))
        self.wait_learned(10, station(13), "p1")
        self.wait_learned(20, station(13), "p3")

    # What an operator changes.

    def test_static_entry(self):
        wires = self.wires()
        self.switch.coua("fib", "add", "10", station(14), "p2")
        self.addCleanup(self.switch.coua, "fib", "del", "10", station(14))
        entry = self.entries("--vlan", "10", "--mac", station(14))[10, station(14)]
        self.assertEqual((entry["port"], entry["static"]), ("p2", True))
        wires["h1"].send(frames.make(station(14), station(15), b"static"))
        self.assertEqual(set(self.heard(wires, b"static", ("h2",))), {"h2"})
        # Learning does not move it, a flush of learned entries leaves it.
        before = self.counters("p1")
        wires["h1"].send(frames.make(frames.BROADCAST, station(14), b"thief"))
        self.heard(wires, b"thief", ("h2",))
        self.flush()
        self.assertEqual(self.port_of(10, station(14)), "p2")
        self.assertEqual(self.counted(before, "source_static_elsewhere", "p1"), 1)

    def learn(self, *where):
        """Stations learned behind hosts: (host, port, VLAN, number)."""
        for host, port, vlan, number in where:
            self.wire(host).send(frames.make(frames.BROADCAST, station(number), b""))
            self.wait_learned(vlan, station(number), port)

    def test_flush(self):
        where = ((self.h1, "p1", 10, 20), (self.h1, "p1", 10, 21), (self.h2, "p2", 10, 22),
                 (self.h3, "p3", 20, 23))

        def left():
            present = self.entries()
            return [n for _, _, vlan, n in where if (vlan, station(n)) in present]

        self.learn(*where)
        self.flush("--port", "p1")
        self.assertEqual(left(), [22, 23])
        self.learn(*where)
        self.flush("--vlan", "20")
        self.assertEqual(left(), [20, 21, 22])
        self.learn(*where)
        self.flush("--mac", station(21))
        self.assertEqual(left(), [20, 22, 23])
        self.flush("--vlan", "10", "--port", "p2")
        self.assertEqual(left(), [20, 23])
        self.flush()
        self.assertEqual(left(), [])

    def test_z_every_frame_is_accounted_for(self):
        """Last by name: after everything above, and once more under load."""
        self.h1.run("ping -n -q -f -c 3000 10.9.0.2", check=False)
        self.assert_conserved()
