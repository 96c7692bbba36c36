# SPDX-License-Identifier: Apache-2.0
"""Bonds: flows over several links, links that fail, and what the other ends see."""

import collections
import struct
import time

import frames
import lab
from cases import tap, with_switch

MEMBERS = ["net_tap980,iface=b1", "net_tap981,iface=b2"]


def udp(dst, src, port, what=b""):
    """A frame of the flow `port`."""
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(what), 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                     bytes([10, 0, 0, 2]))
    return frames.make(dst, src, ip + struct.pack("!HHHH", port, 80, 8 + len(what), 0) + what, 0x0800)


class bond_case(with_switch):
    """A host h on port p, and a bond whose links end at the hosts m1 and m2."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.h = cls.switch.tap_host("h", "p")
        cls.m1, cls.m2 = (cls.switch.tap_host(f"m{n}", f"b{n}") for n in (1, 2))
        cls.original = cls.switch.file.read_text()

    def setUp(self):
        self.ears = [self.wire(self.m1), self.wire(self.m2)]

    def tearDown(self):
        for device in ("b1", "b2"):
            lab.run(f"ip link set {device} up", check=False)
        self.switch.file.write_text(self.original)
        self.switch.coua("config", "apply", self.switch.file)
        lab.wait_for(lambda: "down" not in self.states(), what="links back")
        self.flush()

    def bond(self):
        return self.ports()["bond"]

    def states(self):
        return [member["state"] for member in self.bond()["bond"]["members"]]

    def wait_states(self, *states):
        lab.wait_for(lambda: self.states() == list(states), what=f"members {states}")

    def heard(self, what, n=0):
        """The flows that came out of each link, as they came, of frames with `what` in them: `n` of
        them, and what comes after them."""
        came = [[] for _ in self.ears]

        def all_came():
            for flows, ear in zip(came, self.ears):
                flows += [struct.unpack("!H", frame.payload[20:22])[0]
                          for frame in ear.collect(0.1, lambda frame: what in frame.payload)]
            return sum(map(len, came)) >= n

        lab.wait_for(all_came, what=f"{n} frames")
        all_came()
        return came

    def meet_way(self, members=(0, 1)):
        """Until frames get through, there and back: interfaces that were just made lose some."""
        def passes():
            self.send_flows(b"way", range(16))
            came = self.heard(b"way")
            return all(came[m] for m in members)

        lab.wait_for(passes, what="frames from h to the members")
        ear = self.wire(self.h)
        for member in members:
            host, what = (self.m1, self.m2)[member], f"hither{member}".encode()
            wire = self.wire(host)

            def returns(wire=wire, what=what):
                wire.send(udp(frames.BROADCAST, "02:00:00:00:00:70", 1, what))
                return ear.collect(0.2, lambda frame: what in frame.payload, 1)

            lab.wait_for(returns, what=f"frames from {host.name} to h")

    def send_flows(self, what, flows, dst="02:99:00:00:00:01"):
        for ear in self.ears:
            ear.drain()
        wire = self.wire(self.h)
        for flow in flows:
            wire.send(udp(dst, self.h.mac, flow, what))
        wire.close()


class test_static(bond_case):
    CONFIG = {"ports": [tap("p"), tap("q"),
                        {"name": "bond", "bond": {"mode": "static", "members": MEMBERS}}]}

    def setUp(self):
        super().setUp()
        self.meet_way()

    def test_flows_are_spread_and_each_keeps_its_member(self):
        flows = list(range(1000, 1064))
        self.send_flows(b"first", flows)
        one, two = self.heard(b"first", 64)
        self.assertEqual(sorted(one + two), flows)
        self.assertGreater(min(len(one), len(two)), 10)
        self.send_flows(b"again", flows + flows)
        again = self.heard(b"again", 128)
        for before, after in zip((one, two), again):
            self.assertEqual(collections.Counter(after), collections.Counter(before + before))
        self.assert_conserved()

    def test_the_hash_decides_what_a_flow_is(self):
        self.switch.coua("port", "set", "bond", "--hash", "l2")
        self.send_flows(b"alike", range(1000, 1032))
        self.assertEqual(sorted(map(len, self.heard(b"alike", 32))), [0, 32])

    def test_floods_are_sent_once_and_never_back(self):
        wire = self.wire(self.m1)
        ear = self.wire(self.h)
        self.ears[1].drain()
        for flow in range(10):
            wire.send(udp(frames.BROADCAST, "02:00:00:00:00:77", flow, b"flood"))
        self.assertEqual(len(ear.collect(5, lambda frame: b"flood" in frame.payload, 10)), 10)
        self.assertEqual(self.ears[1].collect(0.2, lambda frame: b"flood" in frame.payload), [])
        self.wait_learned(1, "02:00:00:00:00:77", "bond")
        self.send_flows(b"down", range(10), frames.BROADCAST)
        one, two = self.heard(b"down", 10)
        self.assertEqual(sorted(one + two), list(range(10)))

    def test_with_fewer_links_than_asked_it_has_none(self):
        self.switch.coua("port", "set", "bond", "--min-links", "2")
        self.assertEqual(self.states(), ["active", "active"])
        self.send_flows(b"both", range(32))
        self.assertNotIn(0, map(len, self.heard(b"both", 32)))
        lab.run("ip link set b1 down")
        self.wait_states("down", "too few")
        self.assertFalse(self.bond()["link_up"])
        before = self.counters("bond")
        self.send_flows(b"few", range(20))
        self.wire(self.m2).send(udp(frames.BROADCAST, "02:00:00:00:00:78", 1, b"few"))
        lab.wait_for(lambda: self.counted(before, "drop_bond_standby", "bond") >= 1,
                     what="what the other member brings is dropped")
        self.assertEqual(self.heard(b"few"), [[], []])
        self.switch.coua("port", "set", "bond", "--min-links", "1")
        self.wait_states("down", "active")
        refused = self.switch.coua("port", "set", "bond", "--min-links", "3", check=False)
        self.assertIn("bond.min_links: 3 is not from 1 to 2", refused.stderr)
        self.assertNotEqual(refused.returncode, 0)

    def test_the_flows_of_a_link_that_fails_move(self):
        flows = list(range(2000, 2032))
        self.send_flows(b"whole", flows)
        one, two = self.heard(b"whole", 32)
        # A frame of each flow of the second link every millisecond, with its time.
        self.send_flows(b"", [])
        wire = self.wire(self.h)
        lab.run("ip link set b2 down")
        cut = time.monotonic()
        sent, came = 0, []
        while time.monotonic() < cut + 1:
            wire.send(udp("02:99:00:00:00:01", self.h.mac, two[sent % len(two)],
                          b"cut" + struct.pack("!I", sent)))
            sent += 1
            came += self.ears[0].collect(0.001, lambda frame: b"cut" in frame.payload)
        taken = time.monotonic() - cut
        self.settle()
        came = [struct.unpack("!I", frame.payload[31:35])[0] for frame in
                came + self.ears[0].collect(0.3, lambda frame: b"cut" in frame.payload)]
        self.assertEqual(len(came), len(set(came)), "nothing comes twice")
        lost = sent - len(came)
        print(f"[fail-over: {lost} of {sent} frames lost, {1000 * taken * lost / sent:.0f} ms]", end=" ")
        # How long it takes is told; that it is over, the last ones say.
        self.assertEqual(came[-10:], list(range(sent - 10, sent)))
        self.wait_states("active", "down")
        self.assertTrue(self.bond()["link_up"])
        self.send_flows(b"moved", flows)
        self.assertEqual(sorted(self.heard(b"moved", 32)[0]), flows)
        lab.run("ip link set b2 up")
        self.wait_states("active", "active")
        self.send_flows(b"back", flows)
        self.assertEqual([sorted(each) for each in self.heard(b"back", 32)], [sorted(one), sorted(two)])

    def test_without_links_it_is_down(self):
        for device in ("b1", "b2"):
            lab.run(f"ip link set {device} down")
        lab.wait_for(lambda: not self.bond()["link_up"], what="the bond is down")
        shown = self.switch.coua("port", "list").stdout
        self.assertIn("static bond, 0 of 2 members active", shown)

    def test_slow_protocols_are_not_forwarded(self):
        ear, before = self.wire(self.h), self.counters("bond")
        for host in (self.m1, self.m2):
            self.wire(host).send(frames.make("01:80:c2:00:00:02", host.mac, b"\x01\x01slow", 0x8809))
        lab.wait_for(lambda: self.counted(before, "drop_link_local", "bond") >= 2, what="both have come")
        self.assertEqual(ear.collect(0.2, lambda frame: frame.ethertype == 0x8809), [])

    def test_it_goes_and_comes_back(self):
        self.ears = []  # they go with the TAP devices
        for _ in range(3):
            self.switch.coua("port", "remove", "bond")
            gone = self.counters("q")
            self.send_flows(b"gone", range(10))
            lab.wait_for(lambda gone=gone: self.counted(gone, "tx_packets", "q") >= 10, what="floods go on")
            self.switch.coua("port", "add", "bond", "--bond", "backup", "--members", " ".join(MEMBERS))
            self.wait_states("active", "standby")
            self.switch.coua("config", "apply", self.switch.file)
            self.wait_states("active", "active")
        # The TAP devices are new; the hosts' interfaces went with the old ones.
        for host in (self.m1, self.m2):
            self.switch.hosts.remove(host)
            host.close()
        type(self).m1, type(self).m2 = (self.switch.tap_host(f"m{n}", f"b{n}") for n in (1, 2))
        self.ears = [self.wire(self.m1), self.wire(self.m2)]
        self.meet_way()
        self.send_flows(b"back", range(20))
        one, two = self.heard(b"back", 20)
        self.assertEqual(sorted(one + two), list(range(20)))

    def test_show_save_diff_and_apply(self):
        port = self.bond()
        self.assertEqual((port["driver"], port["devargs"], port["bond"]["mode"], port["bond"]["hash"]),
                         ("bond", "", "static", "l34"))
        first = port["bond"]["members"][0]
        self.assertEqual((first["devargs"], first["driver"], first["active"]), (MEMBERS[0], "net_tap", True))
        shown = self.switch.coua("port", "show", "bond").stdout
        self.assertIn("hash: l34", shown)
        self.assertRegex(shown, r"1 +active +up .*net_tap981,iface=b2")
        self.switch.coua("port", "set", "bond", "--bond", "backup", "--hash", "l23")
        self.assertEqual(self.states(), ["active", "standby"])
        self.assertEqual(self.switch.coua("port", "set", "bond", "--hash", "l23").stdout.strip(),
                         "port bond: unchanged")
        differs = self.switch.coua("config", "diff", self.switch.file, check=False)
        self.assertEqual(differs.returncode, 4)
        self.assertIn("port bond: bond: ", differs.stdout)
        self.switch.coua("config", "save")
        self.assertIn("mode: backup", self.switch.file.read_text())
        self.switch.coua("config", "diff", self.switch.file)  # nothing differs

    def test_members_change_while_it_works(self):
        self.wire(self.m2).send(udp(frames.BROADCAST, "02:00:00:00:00:78", 1, b"learn"))
        self.wait_learned(1, "02:00:00:00:00:78", "bond")
        wire, before = self.wire(self.h), self.counters("bond")
        file = self.original.replace(MEMBERS[0], "net_tap986,iface=b3")
        self.assertNotEqual(file, self.original)
        self.switch.file.write_text(file)
        differs = self.switch.coua("config", "diff", self.switch.file, check=False)
        self.assertIn("port bond: bond: ", differs.stdout)
        self.assertNotIn("replaced", differs.stdout)
        for n in range(50):
            wire.send(udp("02:00:00:00:00:78", self.h.mac, n, b"one"))
        self.switch.coua("config", "apply", self.switch.file)
        self.ears = self.ears[1:]  # that of the first went with its device
        third = self.switch.tap_host("m3", "b3")
        lab.wait_for(lambda: self.states() == ["active", "active"], what="both members")
        self.wait_learned(1, "02:00:00:00:00:78", "bond")
        lab.wait_for(lambda: self.counted(before, "tx_packets", "bond") >= 50, what="all were sent")
        self.ears.append(self.wire(third))
        self.m1, self.m2, kept = self.m2, third, (self.m1, self.m2)
        self.meet_way()
        self.send_flows(b"two", range(40))
        two, three = self.heard(b"two", 40)
        self.assertEqual(sorted(two + three), list(range(40)))
        self.assertGreater(min(len(two), len(three)), 5)
        # One that another port has, and one that there is not: nothing is changed.
        taken = self.ports()["p"]["devargs"]
        for members in (f"{MEMBERS[1]} {MEMBERS[0]} net_nonesuch0", f"{MEMBERS[1]} {taken}"):
            done = self.switch.coua("port", "set", "bond", "--members", members, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(self.states(), ["active", "active"])
        self.switch.coua("port", "set", "bond", "--members", " ".join(reversed(MEMBERS)))
        self.assertEqual([each["devargs"] for each in self.bond()["bond"]["members"]], MEMBERS[::-1])
        # The device of the first is a new one.
        self.m1, self.m2 = kept
        for host in (self.m1, third):
            self.switch.hosts.remove(host)
            host.close()
        type(self).m1 = self.switch.tap_host("m1", "b1")

    def test_mistakes(self):
        def refused(what, *words):
            done = self.switch.coua("port", *words, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(what, done.stderr)

        refused("in use", "add", "x", "--members", f"net_tap984,iface=x {MEMBERS[0].split(',')[0]}")
        refused("given twice", "add", "x", "--members", "net_tap984 net_tap984,iface=y")
        refused("at most 8", "add", "x", "--members", " ".join(f"net_tap{n}" for n in range(600, 609)))
        refused("member net_nonesuch0", "add", "x", "--members", "net_tap984,iface=x net_nonesuch0")
        refused("keep one of them", "add", "x", "net_tap984", "--members", "net_tap985")
        refused("members", "add", "x", "--bond", "static")
        refused("the port is none", "set", "p", "--bond", "backup")
        self.assertNotIn("x", self.ports())
        self.assertFalse(any(name == "x" for name in lab.run("ls /sys/class/net").stdout.split()),
                         "nothing is left of a bond that could not be made")


class test_backup(bond_case):
    CONFIG = {"ports": [tap("p"), {"name": "bond", "bond": {"mode": "backup", "members": MEMBERS}}]}

    def test_one_link_at_a_time(self):
        self.wait_states("active", "standby")
        self.meet_way([0])
        self.send_flows(b"one", range(20))
        self.assertEqual(list(map(len, self.heard(b"one", 20))), [20, 0])
        before = self.counters("bond")
        ear = self.wire(self.h)
        for host in (self.m1, self.m2):  # as a switch that floods by both links
            self.wire(host).send(udp(frames.BROADCAST, "02:00:00:00:00:78", 1, b"twice"))
        self.assertEqual(len(ear.collect(30, lambda frame: b"twice" in frame.payload, 1)), 1)
        lab.wait_for(lambda: self.counted(before, "rx_packets", "bond") >= 2 and
                     self.counted(before, "drop_bond_standby", "bond") >= 1, what="the drop")
        self.settle()
        self.assertEqual(ear.collect(0.2, lambda frame: b"twice" in frame.payload), [])
        lab.run("ip link set b1 down")
        self.wait_states("down", "active")
        self.send_flows(b"other", range(20))
        self.assertEqual(list(map(len, self.heard(b"other", 20))), [0, 20])
        lab.run("ip link set b1 up")
        self.wait_states("standby", "active")
        self.assert_conserved()
