# SPDX-License-Identifier: Apache-2.0
"""Kernel hosts behind OpenFlow rules: routing, NAT, tags, groups, meters, and rules that change under
traffic. The hosts check every checksum that the rules changed."""

import threading
import time

import lab
from cases import tap, with_hosts

GATEWAY = "02:00:00:00:00:fe"


class test_flows(with_hosts):
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")]}
    ADDRESSES = ("10.0.0.{n}/24", "10.{n}.0.2/24", "fd0{n}::2/64")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for n, host in enumerate(cls.hosts, 1):
            host.run(f"ip neigh replace 10.{n}.0.1 lladdr {GATEWAY} dev eth0")
            host.run(f"ip -6 neigh replace fd0{n}::1 lladdr {GATEWAY} dev eth0")
            for other in (1, 2, 3):
                if other != n:
                    host.run(f"ip route add 10.{other}.0.0/24 via 10.{n}.0.1 src 10.{n}.0.2")
                    host.run(f"ip -6 route add fd0{other}::/64 via fd0{n}::1")

    def setUp(self):
        self.rules("flow delete\ngroup delete\nmeter delete\nflow add priority=0,actions=NORMAL\n")
        self.addCleanup(self.assert_conserved)

    def rules(self, text):
        """All of the lines, as one bundle."""
        return self.switch.coua("flow", "add", "--file", "-", stdin=text)

    def packets(self, *filter):
        """Packets of the rules that the filter chooses."""
        return sum(rule["packets"] for rule in self.switch.json("flow", "dump", *filter)["flows"])

    def buckets(self, group_id):
        """Packets of each bucket of a group."""
        [group] = self.switch.json("group", "dump", group_id, "--stats")["groups"]
        return [bucket["packets"] for bucket in group["buckets"]]

    def routes(self):
        """A router with an arm in each host's subnet."""
        lines = []
        for n, host in enumerate((self.h1, self.h2, self.h3), 1):
            out = f"mod_dl_src:{GATEWAY},mod_dl_dst:{host.mac},dec_ttl,output:p{n}"
            for match in (f"ip,nw_dst=10.{n}.0.0/24", f"ipv6,ipv6_dst=fd0{n}::/64"):
                lines.append(f"priority=100,{match},dl_dst={GATEWAY},actions={out}")
        return "\n".join(lines) + "\n"

    def test_a_new_switch_is_an_l2_switch_with_one_rule(self):
        [rule] = self.switch.json("flow", "dump")["flows"]
        self.assertEqual((rule["priority"], rule["table"]), (0, 0))
        self.assertTrue(rule["text"].endswith("actions=NORMAL"), rule)
        self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)
        self.assertGreaterEqual(self.packets(), 6)

    def test_rules_route_and_the_rest_is_switched(self):
        self.rules(self.routes())
        self.assertEqual(self.h1.pings("10.2.0.2", 3), 3)
        self.assertEqual(self.h1.pings("fd03::2", 3), 3)
        self.assertEqual(self.h1.pings("10.0.0.3", 3), 3)
        self.assertEqual(self.packets("ip,nw_dst=10.2.0.0/24"), 3)
        # TTL 1 goes no further than the router.
        self.assertEqual(self.h1.pings("10.2.0.2", 2, wait=0.5, ttl=1), 0)
        self.assert_tcp(self.h1, self.h2, "10.2.0.2")

    def test_nat(self):
        """h2 sees h1 as 10.2.0.77, and answers there; TCP, UDP and ICMP carry sums over addresses."""
        self.rules(f"""
            priority=200,ip,in_port=p1,nw_dst=10.2.0.0/24,actions=set_field:10.2.0.77->ip_src,mod_dl_src:{GATEWAY},mod_dl_dst:{self.h2.mac},dec_ttl,output:p2
            priority=200,ip,in_port=p2,nw_dst=10.2.0.77,actions=set_field:10.1.0.2->ip_dst,mod_dl_src:{GATEWAY},mod_dl_dst:{self.h1.mac},dec_ttl,output:p1
        """)
        self.h2.run(f"ip neigh replace 10.2.0.77 lladdr {GATEWAY} dev eth0")
        self.assertEqual(self.h1.pings("10.2.0.2", 3), 3)
        self.assert_tcp(self.h1, self.h2, "10.2.0.2")
        self.assertEqual(self.h1.pings("10.2.0.2", 1, size=1400), 1)

    def test_tags_are_pushed_and_popped(self):
        device = self.h2.vlan_device(7)
        self.addCleanup(self.h2.run, f"ip link del {device}", check=False)
        self.h1.run("ip address add 10.7.0.1/24 dev eth0")
        self.addCleanup(self.h1.run, "ip address del 10.7.0.1/24 dev eth0", check=False)
        self.h2.run(f"ip address add 10.7.0.2/24 dev {device}")
        self.rules("""
            priority=300,in_port=p1,actions=push_vlan:0x8100,set_field:4103->vlan_vid,output:p2
            priority=300,in_port=p2,dl_vlan=7,actions=strip_vlan,output:p1
        """)
        self.assertEqual(self.h1.pings("10.7.0.2", 3), 3)
        self.assert_tcp(self.h1, self.h2, "10.7.0.2")

    def test_a_group_fails_over_when_the_link_goes(self):
        """h3 takes over the address of h2."""
        self.h3.run("ip address add 10.2.0.2/32 dev eth0")
        self.addCleanup(self.h3.run, "ip address del 10.2.0.2/32 dev eth0", check=False)
        self.rules(self.routes())
        arms = "".join(f",bucket=watch_port:p{n},actions=mod_dl_dst:{host.mac},output:p{n}"
                       for n, host in ((2, self.h2), (3, self.h3)))
        self.rules(f"group add group_id=1,type=ff{arms}\n"
                   f"priority=400,icmp,in_port=p1,nw_dst=10.2.0.2,actions=dec_ttl,group:1\n")
        # The group's own counters: what else is flooded to p3 (a host's reports of its groups) does not count.
        self.assertEqual(self.h1.pings("10.2.0.2", 2), 2)
        self.assertEqual(self.buckets(1), [2, 0])
        self.switch.coua("port", "set", "p2", "--enabled", "off")
        self.addCleanup(self.switch.coua, "port", "set", "p2", "--enabled", "on", check=False)
        lab.wait_for(lambda: self.h1.pings("10.2.0.2", 1, wait=1.0) == 1, what="h3 answers")
        self.assertGreater(self.buckets(1)[1], 0)

    def test_a_meter_limits(self):
        self.rules("meter add meter=1,pktps,burst,band=type=drop,rate=1,burst_size=3\n"
                   + self.routes()
                   + f"priority=500,icmp,in_port=p1,nw_dst=10.2.0.2,actions=meter:1,mod_dl_src:{GATEWAY},"
                     f"mod_dl_dst:{self.h2.mac},output:p2\n")
        answered = self.h1.pings("10.2.0.2", 20, wait=1.0, every=0.01)
        self.assertGreaterEqual(answered, 3)
        self.assertLess(answered, 10)
        [meter] = self.switch.json("meter", "dump", "--stats")["meters"]
        self.assertEqual(meter["packets"], 20)
        self.assertEqual(self.switch.json("flow", "stats")["drops"]["meter"], 20 - answered)

    def test_no_packet_is_lost_while_rules_change(self):
        """Two thousand rules come and go around those that route: the tables change their templates."""
        self.rules(self.routes())
        ending = threading.Event()
        done = [0]

        def churn():
            while not ending.is_set():
                self.rules("\n".join(
                    f"priority={50 + n % 3},udp,tp_dst={1 + n},nw_src=192.168.{n % 256}.0/"
                    f"{24 if n % 2 else 22},actions=drop" for n in range(1000)))
                self.switch.coua("flow", "del", "udp")
                done[0] += 1

        thread = threading.Thread(target=churn)
        thread.start()
        try:
            while done[0] < 3:
                self.assertEqual(self.h1.pings("10.2.0.2", 200, every=0.002), 200)
        finally:
            ending.set()
            thread.join()
        self.assertGreater(done[0], 2)

    def test_idle_rules_go_and_used_ones_stay(self):
        self.rules("priority=600,icmp,in_port=p1,idle_timeout=3,actions=NORMAL\n"
                   "priority=601,udp,idle_timeout=1,actions=NORMAL\n")
        # In the background: what this program does between two of them may take long.
        finish, began = self.echoes(self.h1, "10.0.0.2"), time.monotonic()
        lab.wait_for(lambda: time.monotonic() - began > 4 and
                     not self.switch.json("flow", "dump", "udp")["flows"], every=0.3, what="udp went")
        self.assertEqual(len(self.switch.json("flow", "dump", "icmp")["flows"]), 1)
        self.assertEqual(finish(), set())
        lab.wait_for(lambda: not self.switch.json("flow", "dump", "icmp")["flows"], what="icmp went")

    def test_a_trace_says_what_the_hosts_see(self):
        self.rules(self.routes())
        said = self.switch.json("trace", "br0", f"in_port=p1,icmp,dl_dst={GATEWAY},nw_dst=10.2.0.2,"
                                "nw_src=10.1.0.2,nw_ttl=9,icmp_type=8")
        [copy] = said["outputs"]
        self.assertEqual(copy["to"], "p2")
        self.assertTrue(copy["frame"].startswith(self.h2.mac.replace(":", "")))
        self.assertIn("nw_ttl=8", copy["fields"])
        self.assertEqual(said["lines"][0]["template"], "direct")
        # What goes to NORMAL goes where the L2 switch has learned the address.
        self.assertEqual(self.h1.pings("10.0.0.3"), 1)
        said = self.switch.json("trace", "br0", f"in_port=p1,dl_src={self.h1.mac},dl_dst={self.h3.mac}")
        self.assertEqual([copy["to"] for copy in said["outputs"]], ["p3"])
        said = self.switch.json("trace", "br0", "in_port=p1,dl_src=02:00:00:00:00:11,"
                                                "dl_dst=ff:ff:ff:ff:ff:ff")
        self.assertEqual(sorted(copy["to"] for copy in said["outputs"]), ["p2", "p3"])

    def test_a_trace_says_what_does_not_leave(self):
        self.rules("meter add meter=1,kbps,band=type=drop,rate=1\n"
                   "flow add priority=9,in_port=p1,actions=meter:1,output:p2,output:p3\n"
                   "flow add priority=9,in_port=p2,actions=p1\n")

        def troubles(frame="tcp"):
            outputs = self.switch.json("trace", "br0", f"in_port=p1 {frame}")["outputs"]
            return {copy["to"]: copy["trouble"] for copy in outputs}

        self.assertEqual(troubles(), {"p2": "", "p3": ""})
        long = (bytes(12) + b"\x88\xb5").hex().ljust(2 * 1523, "0")
        too_long = "longer than its MTU of 1500: its driver may drop it"
        self.assertEqual(troubles(long), {"p2": too_long, "p3": too_long})
        self.assertEqual(troubles(long[:-2]), {"p2": "", "p3": ""})
        said = self.switch.coua("trace", "br0", "in_port=p1 " + long).stdout
        self.assertIn("meter 1: lets it pass: a trace measures no rates", said)
        self.switch.coua("port", "set", "p2", "--enabled", "off")
        self.addCleanup(self.switch.coua, "port", "set", "p2", "--enabled", "on")
        self.assertEqual(troubles(), {"p2": "disabled: dropped", "p3": ""})
        self.assertIn("p2 (disabled: dropped): 54 bytes", self.switch.coua("trace", "br0", "in_port=p1,tcp").stdout)
        said = self.switch.json("trace", "br0", "in_port=p2,tcp")
        self.assertEqual((said["lines"], said["outputs"]),
                         ([{"depth": 0, "text": "p2 receives nothing: disabled"}], []))

    def test_tables_are_explained(self):
        self.rules(self.routes() + "\n".join(
            f"table=3,priority={n % 24 + 8},ip,nw_dst={n % 200 + 1}.0.0.0/{n % 24 + 8},actions=drop"
            for n in range(100)))
        first, third = self.switch.json("explain", "br0")["tables"]
        self.assertEqual((first["table"], first["template"]), (0, "direct"))
        self.assertEqual((third["template"], third["field"]), ("lpm", "nw_dst"))
        self.assertEqual([each["template"] for each in third["refused"]], ["direct", "exact"])
        self.assertNotEqual(self.switch.coua("explain", "br9", check=False).returncode, 0)

    def test_clauses_are_explained(self):
        self.rules("flow delete\n" + "\n".join(f"ip,nw_src=10.0.0.{n},actions=conjunction(7,1/2)\n"
                                               f"ip,nw_dst=10.0.1.{n},actions=conjunction(7,2/2)"
                                               for n in range(9)))
        [only] = self.switch.json("explain", "br0")["tables"]
        self.assertEqual([only[key] for key in ("flows", "template", "clauses", "cycles")], [18, "", 18, None])
        self.assertGreater(only["bytes"], 0)
        self.assertRegex(self.switch.coua("explain", "br0").stdout, r"(?m)^0 +18 +clauses ")
        self.rules("conj_id=7,actions=p2")
        [both] = self.switch.json("explain", "br0")["tables"]
        self.assertEqual((both["flows"], both["template"], both["clauses"]), (19, "direct", 18))
        self.assertGreater(both["bytes"], only["bytes"])
        self.assertRegex(self.switch.coua("explain", "br0").stdout, r"(?m)^0 +19 +direct, clauses ")

    def test_costs_are_predicted_and_measured(self):
        said = self.switch.json("explain", "br0")
        self.assertIsNone(said["predicted"])
        self.assertIn("L2 switch", said["not_predicted"])
        self.rules(self.routes())
        self.switch.json("explain", "br0")  # what was measured until now
        said = self.switch.json("explain", "br0")
        bounds = said["predicted"]["cycles"]
        self.assertGreater(bounds["lower"], 0)
        self.assertGreater(bounds["upper"], bounds["lower"])
        self.assertEqual(said["tables"][0]["visits"], 1)
        self.assertGreater(bounds["lower"], said["tables"][0]["cycles"]["lower"])
        self.assertEqual(said["measured_since"], "explain")
        # One burst in some is timed: of 40 with a packet each at least two, of fewer when packets had to
        # wait for each other.
        def timed():
            self.assertEqual(self.h1.pings("10.2.0.2", 20), 20)
            said = self.switch.json("explain", "br0")["measured"]
            return said if said and said["packets"] >= 2 else None

        measured = lab.wait_for(timed, what="two packets that were timed")
        self.assertGreater(measured["cycles"], 0)
        self.assertGreaterEqual(measured["packets_per_burst"], 1)
        text = self.switch.coua("explain", "br0").stdout
        self.assertRegex(text, r"predicted  \d+ to \d+ cycles a packet")
        self.assertRegex(text, r"measured   (no packets yet|\d+ cycles a packet .*), since the last explain")

    def test_a_table_that_was_split_says_by_what(self):
        self.rules("\n".join(
            f"table=5,priority={n % 3 * 8},tcp,nw_src=10.0.0.0/{n % 3 * 8 + 8},"
            f"nw_dst=12.0.0.{n // 3},tp_dst=80,actions=drop" for n in range(60)))
        (split,) = (each for each in self.switch.json("explain", "br0")["tables"]
                    if each["table"] == 5)
        self.assertEqual((split["template"], split["field"]),
                         ("decomposed", "nw_dst, tcp_dst: exact to 20 direct tables"))
        self.assertEqual([each["template"] for each in split["refused"]],
                         ["direct", "exact", "lpm"])
        self.assertIn("decomposed by nw_dst", self.switch.coua("explain", "br0").stdout)

    def test_rules_of_other_bits_are_apart(self):
        self.rules("\n".join(f"table=6,priority=10,dl_dst=02:00:00:00:01:{n:02x},actions=drop" for n in range(60))
                   + "\ntable=6,priority=20,arp,actions=drop\ntable=6,priority=5,dl_src=01:00:00:00:00:00/01:00:00:00:00:00,"
                   "actions=drop\ntable=6,priority=0,actions=drop")
        (some,) = (each for each in self.switch.json("explain", "br0")["tables"] if each["table"] == 6)
        self.assertEqual((some["template"], some["rows_apart"]), ("exact", 2))
        self.assertRegex(self.switch.coua("explain", "br0").stdout, r" exact, 2 rows apart ")

    def test_rules_beside_routes_are_apart(self):
        self.rules("\n".join(f"table=7,priority={8 + n % 9},ip,nw_dst=10.{n}.0.0/{8 + n % 9},actions=drop" for n in range(90))
                   + "\ntable=7,priority=20,arp,actions=drop\ntable=7,priority=12,tcp,tp_dst=179,actions=drop"
                   "\ntable=7,priority=0,actions=drop")
        (some,) = (each for each in self.switch.json("explain", "br0")["tables"] if each["table"] == 7)
        self.assertEqual((some["template"], some["field"], some["rows_apart"]), ("lpm", "nw_dst", 2))

    def test_the_first_table_and_one_behind_it_are_joined(self):
        ports = [f"table=0,priority=10,ip,in_port=p{n},actions=goto_table:1" for n in (1, 2)]
        hosts = [f"table=1,priority=10,ip,nw_dst=10.0.0.{n},actions={f'output:p{n}' if n < 3 else 'drop'}"
                 for n in range(1, 61)]
        self.rules("\n".join(ports + hosts))

        def joined():
            tables = self.switch.json("explain", "br0")["tables"]
            return [each["joined"] for each in tables] == [120, 120]

        lab.wait_for(joined, what="pairs of 2 and 60 rules")
        self.assertRegex(self.switch.coua("explain", "br0").stdout, r" exact, 120 joined ")
        self.h1.pings("10.0.0.2", 1)  # who it is
        before = self.packets("table=1")
        self.assertEqual(self.h1.pings("10.0.0.2", 10), 10)
        self.assertEqual(self.packets("table=1") - before, 20)
        self.assertEqual(self.packets("table=1"), self.packets("table=0,ip"))
        # A rule that changes is met at once, and what packets counted before goes on counting.
        before = self.packets("table=1,ip,nw_dst=10.0.0.2")
        self.switch.coua("flow", "mod", "table=1,ip,nw_dst=10.0.0.2,actions=drop")
        self.assertEqual(self.h1.pings("10.0.0.2", 2, wait=0.5), 0)
        self.assertEqual(self.packets("table=1,ip,nw_dst=10.0.0.2") - before, 2)
        lab.wait_for(joined, what="pairs once more")
        self.assertEqual(self.h1.pings("10.0.0.2", 2, wait=0.5), 0)
        self.assertEqual(self.packets("table=1,ip,nw_dst=10.0.0.2") - before, 4)

    def test_bad_rules_are_refused_as_a_whole(self):
        before = self.switch.json("flow", "stats")["version"]
        for text, word in (("priority=1,actions=NORMAL\npriority=1,tcp,actions=outptu:1\n", "line 2"),
                           ("priority=1,actions=group:9\n", "group"),
                           ("table=300,actions=drop\n", "table"),
                           ("priority=1,in_port=p9,actions=drop\n", "p9")):
            answer = self.switch.coua("flow", "add", "--file", "-", stdin=text, check=False)
            self.assertNotEqual(answer.returncode, 0, text)
            self.assertIn(word, answer.stderr, text)
        self.assertEqual(self.switch.json("flow", "stats")["version"], before)
        self.assertEqual(len(self.switch.json("flow", "dump")["flows"]), 1)


class test_flows_from_nothing(with_hosts):
    CONFIG = {"ports": [tap("p1"), tap("p2")], "pipeline": {"start": "none"}}
    ADDRESSES = ("10.0.0.{n}/24",)

    def test_without_rules_nothing_passes_and_it_is_told(self):
        self.assertEqual(self.switch.json("flow", "dump")["flows"], [])
        self.assertEqual(self.h1.pings("10.0.0.2", 2, wait=0.5), 0)
        self.assertGreater(self.switch.json("flow", "stats")["drops"]["no_rule"], 0)
        self.assertGreater(self.counters("p1")["drop_pipeline"], 0)
        self.switch.coua("flow", "add", "actions=flood")
        self.assertEqual(self.h1.pings("10.0.0.2", 2), 2)
        self.assert_conserved()
