# SPDX-License-Identifier: Apache-2.0
"""Faucet drives the switch: two VLANs, with tagged and untagged ports, that it routes between; access
lists; another configuration while it runs.

  h1, h2  untagged in VLAN 100, 10.0.1.0/24      h4  tagged in both
  h3      untagged in VLAN 200, 10.0.2.0/24
"""

import copy
import json
import time

import faucet_lab
import frames
import lab
from cases import tap, with_switch

OFFICE, GUESTS = 100, 200
GATEWAYS = {OFFICE: "10.0.1.254", GUESTS: "10.0.2.254"}


def vlan(vid, number):
    return {"vid": vid, "faucet_mac": f"0e:00:00:00:20:0{number}", "faucet_vips": [f"10.0.{number}.254/24"]}


def rule(allow, **match):
    return {"rule": {**match, "actions": {"allow": allow}}}


CONFIG = {
    "vlans": {"office": vlan(OFFICE, 1), "guests": vlan(GUESTS, 2)},
    "routers": {"between": {"vlans": ["office", "guests"]}},
    # Of guests: no echo requests to h2.
    "acls": {"guard": [rule(0, dl_type=0x800, nw_proto=1, icmpv4_type=8, nw_dst="10.0.1.2"), rule(1)]},
    "dps": {"coua": {
        "dp_id": 0xa1, "hardware": "Open vSwitch", "arp_neighbor_timeout": 30,
        "interfaces": {"p1": {"number": 1, "native_vlan": "office"}, "p2": {"number": 2, "native_vlan": "office"},
                       "p3": {"number": 3, "native_vlan": "guests"},
                       "p4": {"number": 4, "tagged_vlans": ["office", "guests"]}}}},
}


class with_faucet(with_switch):
    HARDWARE = "Open vSwitch"
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3"), tap("p4")], "pipeline": {"start": "none"},
              "openflow": {"datapath_id": "0xa1", "controllers": ["tcp:127.0.0.1:6653"], "backoff_max_s": 1}}

    @classmethod
    def setUpClass(cls):
        faucet_lab.need()
        super().setUpClass()
        config = copy.deepcopy(CONFIG)
        config["dps"]["coua"]["hardware"] = cls.HARDWARE
        cls.faucet = faucet_lab.controller(cls.switch.directory, config)
        cls.addClassCleanup(cls.faucet.close)
        cls.h1, cls.h2, cls.h3, cls.h4 = (cls.switch.tap_host(f"h{n}", f"p{n}") for n in range(1, 5))
        cls.h1.address("10.0.1.1/24")
        cls.h2.address("10.0.1.2/24")
        cls.h3.address("10.0.2.3/24")
        for vid, address in ((OFFICE, "10.0.1.4/24"), (GUESTS, "10.0.2.4/24")):
            cls.h4.address(address, device=cls.h4.vlan_device(vid))
        for host, vid in ((cls.h1, OFFICE), (cls.h2, OFFICE), (cls.h3, GUESTS)):
            host.run(f"ip route add default via {GATEWAYS[vid]}")
        lab.wait_for(lambda: cls.faucet.metric("dp_status") == 1 and len(cls.rules()) > 10,
                     what="Faucet has set up the switch")

    def tearDown(self):
        self.faucet.check()

    @classmethod
    def rules(cls):
        return cls.switch.json("flow", "dump")["flows"]

    def configure(self, change):
        """Another configuration, until the test ends."""
        config = copy.deepcopy(CONFIG)
        change(config["dps"]["coua"]["interfaces"])
        self.addCleanup(self.faucet.reload, CONFIG)
        self.faucet.reload(config)

    def assert_reaches(self, host, address, yes=True):
        """Or will: Faucet replaces its rules in several steps, and learns hosts again while packets come."""
        wanted = 5 if yes else 0
        lab.wait_for(lambda: host.pings(address, 5, wait=1.0 if yes else 0.5) == wanted,
                     what=f"{host.name} {'reaches' if yes else 'ceases to reach'} {address}")

    def floods_to(self, sender, frame):
        """The hosts to which a frame goes that `sender` sends to all, and the tags that it has there."""
        wires = {host.name: self.wire(host) for host in (self.h1, self.h2, self.h3, self.h4) if host != sender}
        self.wire(sender).send(frame)
        got = {}
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for name, wire in wires.items():
                for each in wire.collect(0.02, lambda each: each.untagged == frame):
                    if not got:
                        end = time.monotonic() + 1  # the others have it now, or will not get it
                    got[name] = each.vlan
        return got


class test_faucet(with_faucet):
    def test_hosts_of_a_vlan_talk_tagged_or_not(self):
        self.assert_reaches(self.h1, "10.0.1.2")
        self.assert_reaches(self.h1, "10.0.1.4")
        self.assert_reaches(self.h3, "10.0.2.4")
        self.assert_reaches(self.h4, "10.0.1.2")
        self.assert_reaches(self.h4, "10.0.2.3")
        # They are learned, of these packets: rules for their addresses, not floods. Faucet takes its time.
        lab.wait_for(lambda: self.h1.mac in json.dumps(self.rules()), what="a rule for the address of h1")
        lab.wait_for(lambda: self.faucet.metric("vlan_hosts_learned") >= 5, what="five hosts that Faucet has learned")

    def test_vlans_are_apart(self):
        frame = frames.make(frames.BROADCAST, self.h1.mac)
        self.assertEqual(self.floods_to(self.h1, frame), {"h2": None, "h4": OFFICE})
        frame = frames.make(frames.BROADCAST, self.h3.mac)
        self.assertEqual(self.floods_to(self.h3, frame), {"h4": GUESTS})

    def test_it_routes_between_vlans(self):
        self.assert_reaches(self.h1, GATEWAYS[OFFICE])
        self.assert_reaches(self.h3, GATEWAYS[GUESTS])
        self.assert_reaches(self.h1, "10.0.2.3")
        self.assert_reaches(self.h3, "10.0.1.2")
        # It is the switch that routes: packets go through with a hop less, and none to Faucet.
        before = self.counters()
        self.assertEqual(self.h1.pings("10.0.2.3", 20), 20)
        self.assertLess(self.counted(before, "to_controller"), 20)
        said = self.h1.run("ping -n -c 1 10.0.2.3").stdout
        self.assertIn("ttl=63", said)

    def test_an_access_list_holds_until_a_reload_takes_it_away(self):
        self.assert_reaches(self.h3, "10.0.1.2")
        self.configure(lambda interfaces: interfaces["p3"].update(acls_in=["guard"]))
        self.assert_reaches(self.h3, "10.0.1.2", False)
        self.assert_reaches(self.h3, "10.0.1.1")
        self.assert_reaches(self.h2, "10.0.2.3")  # only requests of guests are refused
        self.faucet.reload(CONFIG)
        self.assert_reaches(self.h3, "10.0.1.2")

    def test_a_reload_moves_a_port_to_another_vlan(self):
        self.assert_reaches(self.h1, "10.0.1.2")
        self.configure(lambda interfaces: interfaces["p2"].update(native_vlan="guests"))
        self.assert_reaches(self.h1, "10.0.1.2", False)
        self.assert_reaches(self.h1, "10.0.1.4")  # others talk on
        frame = frames.make(frames.BROADCAST, self.h3.mac)
        lab.wait_for(lambda: self.floods_to(self.h3, frame) == {"h2": None, "h4": GUESTS}, what="p2 is of guests")
        self.faucet.reload(CONFIG)
        self.assert_reaches(self.h1, "10.0.1.2")


class test_faucet_that_sets_tables(with_faucet):
    """Faucet tells the switch beforehand what its tables are to do, by a set of table features."""

    HARDWARE = "GenericTFM"

    def test_it_gets_the_tables_that_it_asks_for(self):
        self.assert_reaches(self.h1, "10.0.1.2")
        self.assert_reaches(self.h1, "10.0.2.3")
        self.assertEqual([line for line in self.faucet.log.read_text().splitlines() if "OFError" in line], [])
        self.assertEqual((self.faucet.metric("dp_status"), self.faucet.metric("of_errors_total")), (1, 0))
