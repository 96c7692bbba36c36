# SPDX-License-Identifier: Apache-2.0
"""Applications of os-ken drive the switch between hosts: a learning switch, and of its samples the
router, the firewall, the meters of QoS and the interface by REST."""

import json
import struct
import subprocess

import frames
import lab
import osken_lab
from cases import tap, with_switch

DATAPATH = "00000000000000a1"


class with_osken(with_switch):
    APPS = ()
    HOSTS = 2
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")], "pipeline": {"start": "none"},
              "openflow": {"datapath_id": "0xa1", "controllers": ["tcp:127.0.0.1:6653"], "probe_s": 5,
                           "backoff_max_s": 1}}

    @classmethod
    def setUpClass(cls):
        osken_lab.need()
        super().setUpClass()
        cls.app = osken_lab.controller(cls.switch.directory / "osken.log", *cls.APPS)
        cls.addClassCleanup(cls.app.close)
        cls.hosts = [cls.switch.tap_host(f"h{n}", f"p{n}") for n in range(1, cls.HOSTS + 1)]
        cls.h1, cls.h2 = cls.hosts[:2]

    def rules(self):
        return self.switch.json("flow", "dump")["flows"]

    def wait_for_rules(self, n):
        def there():
            self.app.check()
            return len(self.rules()) >= n

        lab.wait_for(there, what=f"{n} rules of the controller")

    def rest(self, method, path, body=None):
        """An answer that is no failure."""
        [got] = lab.wait_for(lambda: [got for got in [self.app.ask(method, path, body)] if got is not None],
                             what=f"{method} {path}")
        text = json.dumps(got)
        self.assertNotIn("failure", text)
        self.assertNotIn('"status": 4', text)
        self.assertNotIn('"status": 5', text)
        return got

    def assert_reaches(self, host, address, yes=True):
        if yes:
            lab.wait_for(lambda: host.pings(address, 1, wait=1.0) == 1, what=f"{host.name} reaches {address}")
            self.assertEqual(host.pings(address, 5), 5)
        else:  # the controller answers before the switch has done it
            lab.wait_for(lambda: host.pings(address, 2, wait=0.5) == 0, what=f"{host.name} ceases to reach {address}")
            self.assertEqual(host.pings(address, 3, wait=0.5), 0)


class same_subnet(with_osken):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for n, host in enumerate(cls.hosts, 1):
            host.address(f"10.0.0.{n}/24")


class test_learning_switch(same_subnet):
    APPS = ("osken_switch",)
    HOSTS = 3

    def test_it_learns(self):
        """Floods at first, then a rule for each pair; both codecs agree on all of it."""
        self.wait_for_rules(1)
        self.assert_reaches(self.h1, "10.0.0.2")
        self.assertEqual(self.h1.pings("10.0.0.3", 5), 5)
        self.assertEqual(self.h2.pings("10.0.0.3", 5), 5)
        self.assertGreaterEqual(len(self.rules()), 5)
        before = self.counters()
        self.assertEqual(self.h1.pings("10.0.0.2", 20), 20)
        self.assertLess(self.counted(before, "to_controller"), 20)
        self.assert_conserved()


class test_learning_switch_of_the_samples(test_learning_switch):
    """The one that comes with os-ken, which nobody here wrote."""

    APPS = ("os_ken.app.simple_switch_13",)


class test_router(with_osken):
    APPS = ("os_ken.app.rest_router",)

    def test_it_routes_between_subnets(self):
        for n, host in enumerate(self.hosts, 1):
            host.address(f"10.0.{n}.1/24")
            host.run(f"ip route add default via 10.0.{n}.254")
        self.wait_for_rules(1)
        lab.wait_for(lambda: DATAPATH in json.dumps(self.app.ask("GET", "/router/all")), what="the router")
        self.assert_reaches(self.h1, "10.0.2.1", yes=False)
        for n in (1, 2):
            self.rest("POST", f"/router/{DATAPATH}", {"address": f"10.0.{n}.254/24"})
        # The router itself, its next-hop resolution, then routing in the switch.
        self.assert_reaches(self.h1, "10.0.1.254")
        self.assert_reaches(self.h1, "10.0.2.1")
        self.assert_reaches(self.h2, "10.0.1.1")
        # A packet has lost a hop on its way.
        text = self.h1.run("ping -n -c 1 10.0.2.1").stdout
        self.assertIn("ttl=63", text)
        before = self.counters()
        self.assertEqual(self.h1.pings("10.0.2.1", 20), 20)
        self.assertLess(self.counted(before, "to_controller"), 20)
        # The router says when a packet's time is over.
        lost = self.h1.run("ping -n -c 1 -t 1 -W 3 10.0.2.1", check=False).stdout
        self.assertIn("From 10.0.1.254", lost)
        addresses = self.rest("GET", f"/router/{DATAPATH}")[0]["internal_network"][0]["address"]
        self.assertEqual({each["address"] for each in addresses}, {"10.0.1.254/24", "10.0.2.254/24"})
        number = next(each["address_id"] for each in addresses if each["address"] == "10.0.2.254/24")
        self.rest("DELETE", f"/router/{DATAPATH}", {"address_id": number})
        self.assert_reaches(self.h1, "10.0.2.1", yes=False)
        self.assert_conserved()


class test_firewall(same_subnet):
    APPS = ("os_ken.app.rest_firewall",)
    HOSTS = 3

    def test_it_lets_through_what_rules_allow(self):
        self.wait_for_rules(1)
        lab.wait_for(lambda: DATAPATH in json.dumps(self.app.ask("GET", "/firewall/module/status")),
                     what="the firewall")
        self.assert_reaches(self.h1, "10.0.0.2", yes=False)
        self.rest("PUT", f"/firewall/module/enable/{DATAPATH}")
        self.assert_reaches(self.h1, "10.0.0.2", yes=False)
        for source, target in ((1, 2), (2, 1)):
            self.rest("POST", f"/firewall/rules/{DATAPATH}",
                      {"nw_src": f"10.0.0.{source}/32", "nw_dst": f"10.0.0.{target}/32", "nw_proto": "ICMP"})
        self.assert_reaches(self.h1, "10.0.0.2")
        self.assert_reaches(self.h1, "10.0.0.3", yes=False)
        self.rest("POST", f"/firewall/rules/{DATAPATH}", {"priority": "10", "nw_src": "10.0.0.1/32",
                                                          "nw_proto": "ICMP", "actions": "DENY"})
        self.assert_reaches(self.h1, "10.0.0.2", yes=False)
        shown = self.rest("GET", f"/firewall/rules/{DATAPATH}")[0]["access_control_list"][0]["rules"]
        self.assertEqual([each["actions"] for each in shown if each["priority"] == 10], ["DENY"])
        number = next(each["rule_id"] for each in shown if each["priority"] == 10)
        self.rest("DELETE", f"/firewall/rules/{DATAPATH}", {"rule_id": str(number)})
        self.assert_reaches(self.h1, "10.0.0.2")
        # What is blocked is told to the controller, which writes it down.
        self.assertIn("Blocked packet", self.app.log.read_text())
        self.rest("PUT", f"/firewall/module/disable/{DATAPATH}")
        self.assert_reaches(self.h1, "10.0.0.2", yes=False)


class test_qos(same_subnet):
    APPS = ("os_ken.app.rest_qos", "os_ken.app.rest_conf_switch")

    def test_meters_hold_what_they_should(self):
        self.wait_for_rules(1)
        # What forwards is behind its table.
        self.switch.coua("flow", "add", "table=1,priority=1,actions=NORMAL")
        self.assert_reaches(self.h1, "10.0.0.2")
        self.rest("POST", f"/qos/meter/{DATAPATH}",
                  {"meter_id": "1", "flags": "PKTPS", "bands": [{"type": "DROP", "rate": "20"}]})
        self.rest("POST", f"/qos/rules/{DATAPATH}",
                  {"match": {"nw_dst": "10.0.0.2", "nw_proto": "UDP", "tp_dst": "5002"},
                   "actions": {"meter": "1"}})
        lab.wait_for(lambda: any("meter" in each["text"] for each in self.rules()), what="the rule of the meter")
        near, far = self.wire(self.h1), self.wire(self.h2)
        for port, most in ((5002, 60), (5003, 200)):
            frame = self.udp(port)
            far.drain()
            for _ in range(200):
                near.send(frame)
            got = self.arrived(far, port, 200 if most == 200 else None)
            self.assertLessEqual(got, most)
            self.assertGreater(got, most // 4)
        self.assertIn('"meter_id": 1', json.dumps(self.rest("GET", f"/qos/meter/{DATAPATH}")))
        self.assert_reaches(self.h1, "10.0.0.2")
        self.assert_conserved()

    def arrived(self, far, port, count):
        return len(far.collect(5, lambda one: one.payload[22:24] == port.to_bytes(2, "big"), count))

    def udp(self, port):
        payload = b"metered".ljust(20, b"\0")
        udp = struct.pack("!HHHH", 1000, port, 8 + len(payload), 0) + payload
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                           bytes([10, 0, 0, 2]))
        total = sum(struct.unpack("!10H", head))
        total = (total & 0xffff) + (total >> 16)
        head = head[:10] + struct.pack("!H", 0xffff - (total & 0xffff) - (total >> 16)) + head[12:]
        return frames.make(self.h2.mac, self.h1.mac, head + udp, 0x800)


class test_rest(same_subnet):
    APPS = ("os_ken.app.ofctl_rest",)

    def setUp(self):
        lab.wait_for(lambda: self.app.ask("GET", "/stats/switches") == [0xa1], what="the switch")

    def get(self, path):
        return self.rest("GET", f"/stats/{path}/161")["161"]

    def post(self, path, **body):
        return self.rest("POST", f"/stats/{path}", {"dpid": 0xa1, **body})

    def test_it_is_described(self):
        self.assertEqual((self.get("desc")["mfr_desc"], self.get("desc")["dp_desc"]), ("Coua", "br0"))
        self.assertEqual([each["name"] for each in self.get("portdesc")], ["p1", "p2", "p3"])
        self.assertEqual([each["port_no"] for each in self.get("port")], [1, 2, 3])
        self.assertEqual(len(self.get("table")), 255)
        self.assertEqual(len(self.get("tablefeatures")), 255)
        self.assertEqual(self.get("role")[0]["role"], "EQUAL")
        self.assertEqual(self.get("queue"), [])
        self.assertIn("SELECT", self.get("groupfeatures")[0]["types"])
        self.assertIn("DSCP_REMARK", self.get("meterfeatures")[0]["band_types"])

    def test_rules_groups_and_meters(self):
        self.rest("DELETE", "/stats/flowentry/clear/161")
        self.assert_reaches(self.h1, "10.0.0.2", yes=False)
        for number, port in ((1, 2), (2, 1)):
            self.post("groupentry/add", type="INDIRECT", group_id=number,
                      buckets=[{"actions": [{"type": "OUTPUT", "port": port}]}])
        self.post("meterentry/add", flags=["PKTPS", "BURST"], meter_id=1,
                  bands=[{"type": "DROP", "rate": 1000, "burst_size": 100}])
        self.post("flowentry/add", cookie=7, priority=5, match={"in_port": 1},
                  actions=[{"type": "METER", "meter_id": 1}, {"type": "GROUP", "group_id": 1}])
        self.post("flowentry/add", cookie=8, priority=5, match={"in_port": 2},
                  actions=[{"type": "GROUP", "group_id": 2}])
        self.assert_reaches(self.h1, "10.0.0.2")
        flows = {each["cookie"]: each for each in self.get("flow")}
        self.assertEqual(set(flows), {7, 8})
        self.assertGreaterEqual(flows[7]["packet_count"], 5)
        self.assertIn("GROUP:1", json.dumps(flows[7]["actions"]))
        self.assertEqual(self.get("aggregateflow")[0]["flow_count"], 2)
        self.assertEqual({each["group_id"]: each["ref_count"] for each in self.get("group")}, {1: 1, 2: 1})
        self.assertEqual([each["type"] for each in self.get("groupdesc")], ["INDIRECT"] * 2)
        self.assertEqual([(each["meter_id"], each["bands"][0]["burst_size"]) for each in self.get("meterconfig")],
                         [(1, 100)])
        self.assertGreaterEqual(self.get("meter")[0]["packet_in_count"], 5)
        self.post("groupentry/modify", type="INDIRECT", group_id=1,
                  buckets=[{"actions": [{"type": "OUTPUT", "port": 3}]}])
        self.assert_reaches(self.h1, "10.0.0.2", yes=False)
        self.post("portdesc/modify", port_no=3, config=1, mask=1)
        lab.wait_for(lambda: self.get("portdesc")[2]["config"] & 1, what="p3 is down")
        self.post("portdesc/modify", port_no=3, config=0, mask=1)
        self.post("flowentry/delete_strict", priority=5, match={"in_port": 2})
        self.assertEqual([each["cookie"] for each in self.get("flow")], [7])
        self.post("groupentry/delete", group_id=1)
        self.assertEqual(self.get("flow"), [])
        self.post("meterentry/delete", meter_id=1)
        self.assertEqual(self.get("meterconfig"), [])
