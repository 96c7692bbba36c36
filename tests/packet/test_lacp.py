# SPDX-License-Identifier: Apache-2.0
"""LACP bonds, with lacp.py at the other ends of their links."""

import time

import frames
import lab
import lacp
from cases import tap
from test_bond import bond_case, udp

MEMBERS = ["net_tap982,iface=b1", "net_tap983,iface=b2"]


class test_lacp(bond_case):
    CONFIG = {"ports": [tap("p"), {"name": "bond", "bond": {"mode": "lacp", "rate": "fast",
                                                            "members": MEMBERS}}]}

    def setUp(self):
        super().setUp()
        self.partner = None

    def tearDown(self):
        if self.partner:
            self.partner.close()
        super().tearDown()

    def meet(self):
        """The other end speaks, and both links come into use."""
        hosts = (self.m1, self.m2)
        self.partner = lacp.partner([self.wire(host) for host in hosts], [host.mac for host in hosts])
        self.wait_states("active", "active")
        self.meet_way()
        return self.partner

    def test_without_a_partner_nothing_is_carried(self):
        self.wait_states("no partner", "no partner")
        self.assertFalse(self.bond()["link_up"])
        before, from_h = self.counters("bond"), self.counters("p")
        self.send_flows(b"nobody", range(20))
        ear = self.wire(self.h)
        self.wire(self.m1).send(udp(frames.BROADCAST, "02:00:00:00:00:79", 1, b"nobody"))
        lab.wait_for(lambda: self.counted(before, "drop_bond_standby", "bond") >= 1 and
                     self.counted(from_h, "rx_packets", "p") >= 20, what="all frames have come")
        self.assertEqual(self.heard(b"nobody"), [[], []])
        self.assertEqual(ear.collect(0.3, lambda frame: b"nobody" in frame.payload), [])
        spoken = self.ears[0].collect(10, lambda frame: frame.ethertype == lacp.SLOW_TYPE, 2)
        self.assertEqual(len(spoken), 2, "it asks every second")
        self.assertEqual(len(spoken[0].data), 124)

    def test_it_comes_up_and_carries_traffic(self):
        partner = self.meet()
        first = self.bond()["bond"]["members"][0]["lacp"]
        self.assertEqual((first["partner_system"], first["partner_key"], first["partner_port"]),
                         ("02:aa:aa:aa:aa:01", 7, 1))
        lab.wait_for(lambda: all(each.heard.flags & 0x3F == 0x3F for each in partner.links),
                     what="the partner is told that all is in use")
        self.assertEqual(len({each.heard.system for each in partner.links}), 1)
        self.assertEqual([each.heard.port for each in partner.links], [1, 2])
        flows = list(range(1000, 1064))
        self.send_flows(b"up", flows)
        one, two = self.heard(b"up", 64)
        self.assertEqual(sorted(one + two), flows)
        self.assertGreater(min(len(one), len(two)), 10)
        ear = self.wire(self.h)
        for host in (self.m1, self.m2):
            self.wire(host).send(udp(frames.BROADCAST, "02:00:00:00:00:80", 1, b"in"))
        self.assertEqual(len(ear.collect(5, lambda frame: b"in" in frame.payload, 2)), 2)
        self.assertEqual(ear.collect(1.5, lambda frame: frame.ethertype == lacp.SLOW_TYPE), [],
                         "LACP stays on its link")
        self.assertRegex(self.switch.coua("port", "show", "bond").stdout, r"02:aa:aa:aa:aa:01 +7 +2")
        partner.close()
        self.partner = None
        self.assert_conserved()

    def test_a_partner_that_falls_silent_leaves_and_comes_back(self):
        partner = self.meet()
        partner.links[1].silent = True
        cut = time.monotonic()
        self.wait_states("active", "no partner")
        taken = time.monotonic() - cut
        print(f"[gone after {taken:.1f} s]", end=" ")
        # Three seconds after it was last heard, which may be one ago; not 90.
        self.assertGreater(taken, 1.9)
        self.assertLess(taken, 30)
        lab.wait_for(lambda: not partner.links[1].heard.flags & lacp.COLLECTING,
                     what="the partner is told")
        self.send_flows(b"left", range(20))
        self.assertEqual(list(map(len, self.heard(b"left", 20))), [20, 0])
        partner.links[1].silent = False
        self.wait_states("active", "active")

    def test_a_link_that_fails_leaves_at_once(self):
        self.meet()
        lab.run("ip link set b1 down")
        self.wait_states("down", "active")
        self.send_flows(b"cut", range(20))
        self.assertEqual(list(map(len, self.heard(b"cut", 20))), [0, 20])
        lab.run("ip link set b1 up")
        self.wait_states("active", "active")

    def test_with_fewer_links_than_asked_the_partner_is_told(self):
        partner = self.meet()
        self.switch.coua("port", "set", "bond", "--min-links", "2")
        self.assertEqual(self.states(), ["active", "active"])
        lab.run("ip link set b1 down")
        self.wait_states("down", "too few")
        lab.wait_for(lambda: not partner.links[1].heard.flags & lacp.IN_SYNC,
                     what="the partner is told to carry nothing")
        self.assertFalse(self.bond()["link_up"])
        lab.run("ip link set b1 up")
        self.wait_states("active", "active")

    def test_another_partner_stays_out(self):
        partner = self.meet()
        partner.links[1].says.system = "02:bb:bb:bb:bb:01"
        self.wait_states("active", "other partner")
        partner.links[0].silent = True
        self.wait_states("no partner", "active")

    def test_it_goes_at_run_time(self):
        self.meet()
        self.switch.coua("port", "set", "bond", "--bond", "static")
        self.assertEqual(self.states(), ["active", "active"])
        self.switch.coua("port", "set", "bond", "--bond", "lacp", "--lacp-rate", "fast")
        self.wait_states("active", "active")
        for _ in range(3):
            self.switch.coua("port", "set", "bond", "--lacp-rate", "slow")
            self.switch.coua("port", "set", "bond", "--lacp-rate", "fast")
        self.switch.coua("config", "diff", self.switch.file)  # nothing differs
