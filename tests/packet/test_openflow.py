# SPDX-License-Identifier: Apache-2.0
"""Controllers at the management socket: ovs-ofctl, and messages that it would not send."""

import os
import shutil
import struct
import subprocess
import threading
import unittest

import frames
import lab
import of_wire as of
from cases import tap, with_hosts


class with_controller(with_hosts):
    """A switch with three hosts, and a bridge as it was at first before each test."""

    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")]}
    ADDRESSES = ("10.0.0.{n}/24",)

    @classmethod
    def setUpClass(cls):
        if not shutil.which("ovs-ofctl"):
            raise unittest.SkipTest("ovs-ofctl is not installed: run `make deps`")
        super().setUpClass()
        cls.management = cls.switch.directory / "br0.mgmt"

    def setUp(self):
        self.ofctl("del-groups")
        self.ofctl("del-meters")
        self.ofctl("replace-flows", "-", stdin="priority=0,actions=NORMAL\n")

    def ofctl(self, verb, *words, check=True, stdin=None, options=()):
        """What ovs-ofctl prints, without the lines that name the answer."""
        done = lab.run(["ovs-ofctl", "-O", "OpenFlow13", *options, verb, f"unix:{self.management}", *words],
                       check=check, stdin=stdin)
        if not check:
            return done
        return "\n".join(line.strip() for line in done.stdout.splitlines() if not line.startswith("OFP"))

    def flows(self, *which):
        return [line.split(", ")[-1] for line in
                self.ofctl("dump-flows", *which, options=["--no-stats"]).splitlines()]

    def controller(self):
        made = of.controller.to(self.management)
        self.addCleanup(made.close)
        return made.greet()


class test_ofctl(with_controller):
    def test_show(self):
        said = lab.run(["ovs-ofctl", "-O", "OpenFlow13", "show", f"unix:{self.management}"]).stdout
        self.assertIn("n_tables:255, n_buffers:0", said)
        for n in (1, 2, 3):
            self.assertIn(f" {n}(p{n}): addr:{self.ports()[f'p{n}']['mac']}", said)
        self.assertIn("Manufacturer: Coua", self.ofctl("dump-desc"))

    def test_a_bridge_is_found_by_its_name(self):
        done = lab.run(["env", f"OVS_RUNDIR={self.switch.directory}", "ovs-ofctl", "-O", "OpenFlow13",
                        "dump-flows", "br0"])
        self.assertIn("priority=0 actions=NORMAL", done.stdout)

    def test_rules_come_change_and_go(self):
        self.ofctl("add-flow", "cookie=5,priority=10,tcp,nw_dst=10.0.0.0/8,actions=dec_ttl,output:2")
        self.ofctl("add-flow", "cookie=6,priority=11,udp,tp_dst=53,actions=output:3")
        self.ofctl("add-flow", "table=3,priority=12,vlan_vid=0x1005/0x1fff,actions=pop_vlan,"
                               "write_actions(output:1),write_metadata:0x5/0xff,goto_table:4")
        self.assertEqual(self.flows("cookie=5/-1"),
                         ["priority=10,tcp,nw_dst=10.0.0.0/8 actions=dec_ttl,output:2"])
        self.assertEqual(self.flows("table=3"),
                         ["priority=12,dl_vlan=5 actions=pop_vlan,write_actions(output:1),"
                          "write_metadata:0x5/0xff,goto_table:4"])
        self.assertEqual(len(self.flows("out_port=3")), 1)
        self.assertIn("flow_count=4", self.ofctl("dump-aggregate", check=False).stdout)
        self.ofctl("mod-flows", "udp,actions=drop")
        self.assertIn("priority=11,udp,tp_dst=53 actions=drop", self.flows())
        self.ofctl("del-flows", "priority=11,udp", options=["--strict"])
        self.assertEqual(len(self.flows()), 4)
        self.ofctl("del-flows", "priority=11,udp,tp_dst=53", options=["--strict"])
        self.assertEqual(len(self.flows()), 3)
        self.ofctl("del-flows")
        self.assertEqual(self.flows(), [])

    def test_what_is_refused_says_why(self):
        self.ofctl("add-flow", "priority=7,ip,actions=drop")
        for verb, text, error in (
                ("add-flow", "actions=group:9", "OFPBAC_BAD_OUT_GROUP"),
                ("add-flow", "actions=meter:9,output:1", "OFPMMFC_UNKNOWN_METER"),
                ("add-flow", "check_overlap,priority=7,tcp,actions=drop", "OFPFMFC_OVERLAP"),
                ("add-flow", "table=9,actions=goto_table:3", "OFPBIC_BAD_TABLE_ID"),
                ("add-flow", "actions=learn(fin_idle_timeout=1)", "OFPBAC_BAD_ARGUMENT"),
                ("add-flow", "ip,actions=ct(commit)", "OFPBAC_BAD_VENDOR_TYPE"),
                ("add-flow", "ct_state=+trk,actions=drop", "OFPBMC_BAD_FIELD"),
                ("add-flow", "actions=set_field:1->metadata", "OFPBAC_BAD_SET_TYPE"),
                ("mod-group", "group_id=3,type=all,bucket=output:1", "OFPGMFC_UNKNOWN_GROUP"),
                ("add-group", "group_id=3,type=all,bucket=group:9", "OFPBAC_BAD_OUT_GROUP"),
                ("mod-meter", "meter=4,kbps,band=type=drop,rate=1", "OFPMMFC_UNKNOWN_METER"),
                ("meter-stats", "meter=4", "OFPMMFC_UNKNOWN_METER"),
                ("dump-ports", "77", "OFPBRC_BAD_PORT"),
                ("queue-stats", "1 5", "OFPQOFC_BAD_QUEUE"),
                ("set-frags", "drop", "OFPSCFC_BAD_FLAGS")):
            done = self.ofctl(verb, *(text.split() if verb == "queue-stats" else [text]), check=False)
            self.assertIn(error, done.stdout + done.stderr, (verb, text))
        self.assertEqual(len(self.flows()), 2)

    def test_a_learning_switch_made_of_rules(self):
        learns = ("learn(table=1,hard_timeout=60,priority=7,cookie=0x5,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],"
                  "output:NXM_OF_IN_PORT[])")
        self.ofctl("replace-flows", "-", stdin=f"table=0,actions={learns},resubmit(,1)\n"
                                               "table=1,priority=0,actions=FLOOD\n")
        self.assertEqual(self.flows("table=0"), [f"actions={learns},resubmit(,1)"])
        self.assertEqual(self.h1.pings("10.0.0.2", 5), 5)

        def learned():
            return sorted(self.flows("cookie=5/-1"))

        def rule(n):
            return f"table=1, hard_timeout=60, priority=7,dl_dst={getattr(self, f'h{n}').mac} actions=output:{n}"

        lab.wait_for(lambda: all(any(rule(n).split(", ")[-1] == line for line in learned()) for n in (1, 2)),
                     what="both hosts are learned")
        self.assertIn(rule(1), self.ofctl("dump-flows", "cookie=5/-1", options=["--no-stats"]))
        # What is known goes there only.
        sent = self.counters("p3")["tx_packets"]
        self.assertEqual(self.h1.pings("10.0.0.2", 5), 5)
        self.assertLess(self.counters("p3")["tx_packets"] - sent, 10)
        # A trace says what a packet would leave behind, and leaves nothing.
        nobody = "02:00:00:00:00:77"
        said = self.switch.coua("trace", "br0", f"in_port=3,dl_src={nobody},dl_dst={self.h1.mac}").stdout
        self.assertIn(f"dl_dst={nobody} actions=output:p3", said)
        self.assertNotIn(nobody, "\n".join(learned()))

    def test_a_rule_of_neutron_learns_the_way_back(self):
        """Of OpenStack's bridge for tunnels: what comes in by one (here port 1) is of a VLAN within the
        host, and its sender is answered by it, without the tag."""
        learns = ("learn(table=20,hard_timeout=300,priority=1,cookie=0x5,NXM_OF_VLAN_TCI[0..11],"
                  "NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:0->NXM_OF_VLAN_TCI[],"
                  "load:NXM_NX_TUN_ID[]->NXM_NX_TUN_ID[],output:NXM_OF_IN_PORT[])")
        tag = "push_vlan:0x8100,set_field:4101->vlan_vid"
        self.ofctl("replace-flows", "-", stdin=(
            f"table=0,in_port=1,actions=set_field:77->tun_id,{tag},resubmit(,10)\n"
            f"table=0,in_port=2,actions={tag},resubmit(,20)\n"
            f"table=10,dl_vlan=5,actions={learns},pop_vlan,output:2\n"
            "table=20,priority=0,dl_vlan=5,actions=pop_vlan,output:1,output:3\n"))
        self.assertIn("load:0->NXM_OF_VLAN_TCI[]", "\n".join(self.flows("table=10")))
        self.assertEqual(self.h1.pings("10.0.0.2", 5), 5)
        lab.wait_for(lambda: self.flows("table=20,cookie=5/-1"), what="the rule of h1")
        [learned] = self.flows("table=20,cookie=5/-1")
        self.assertIn(f"dl_dst={self.h1.mac}", learned)
        self.assertIn("pop_vlan,set_field:0x4d->tun_id,output:1", learned)
        # Answers go there only; what else h2 says may go everywhere.
        sent = self.counters("p3")["tx_packets"]
        self.assertEqual(self.h1.pings("10.0.0.2", 20), 20)
        self.assertLess(self.counters("p3")["tx_packets"] - sent, 10)

    def test_groups(self):
        self.ofctl("add-group", "group_id=1,type=select,bucket=output:1,bucket=weight:2,output:2")
        self.ofctl("add-group", "group_id=2,type=ff,bucket=watch_port:1,output:1")
        self.ofctl("add-group", "group_id=3,type=all,bucket=output:2,bucket=output:3")
        self.ofctl("add-flow", f"priority=9,in_port=1,dl_dst={self.h2.mac},actions=group:3")
        self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)
        self.assertIn("group_id=1,type=select,bucket=actions=output:1,bucket=weight:2,actions=output:2",
                      self.ofctl("dump-groups"))
        self.assertIn("group_id=3,duration=", self.ofctl("dump-group-stats"))
        [line] = [line for line in self.ofctl("dump-group-stats").splitlines() if "group_id=3" in line]
        self.assertIn("ref_count=1,", line)
        self.assertNotIn("bucket1:packet_count=0", line)
        self.ofctl("mod-group", "group_id=3,type=indirect,bucket=output:2")
        self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)
        self.ofctl("del-groups", "group_id=3")
        self.assertEqual(len(self.flows()), 1)
        self.assertIn("Types:  0xf", self.ofctl("dump-group-features"))

    def test_meters(self):
        self.ofctl("add-meter", "meter=1,pktps,burst,stats,band=type=drop,rate=1,burst_size=3")
        self.ofctl("add-flow", f"priority=9,icmp,in_port=1,dl_dst={self.h2.mac},actions=meter:1,output:2")
        self.assertLess(self.h1.pings("10.0.0.2", 20, wait=1.0, every=0.01), 10)
        self.assertIn("meter=1 pktps burst stats bands=\ntype=drop rate=1 burst_size=3",
                      self.ofctl("dump-meters"))
        self.assertIn("meter:1 flow_count:1 packet_in_count:20 ", self.ofctl("meter-stats"))
        self.assertIn("band_types: drop dscp_remark", self.ofctl("meter-features"))
        self.ofctl("del-meter", "meter=1")
        self.assertEqual(len(self.flows()), 1)

    def test_bundles_are_whole_or_nothing(self):
        wanted = "priority=1,actions=NORMAL\ntable=3,udp,actions=output:1\n"
        self.ofctl("add-flows", "-", stdin=wanted, options=["--bundle"])
        self.assertEqual(len(self.flows()), 3)
        done = self.ofctl("add-flows", "-", check=False, options=["--bundle"],
                          stdin="priority=2,actions=NORMAL\ntable=3,tcp,actions=group:77\n")
        self.assertIn("OFPBAC_BAD_OUT_GROUP", done.stdout + done.stderr)
        self.assertEqual(len(self.flows()), 3)
        self.ofctl("replace-flows", "-", stdin=wanted)
        self.assertEqual(self.flows(), ["priority=1 actions=NORMAL", "udp actions=output:1"])
        file = self.switch.directory / "flows"
        file.write_text(wanted)
        self.assertEqual(self.ofctl("diff-flows", file), "")
        file.write_text("priority=1,actions=drop\n")
        done = self.ofctl("diff-flows", file, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("-table=3 udp actions=output:1", done.stdout.replace(", ", " "))

    def test_ports_are_counted_and_set(self):
        self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)
        said = " ".join(self.ofctl("dump-ports", "1").split())
        self.assertNotIn("rx pkts=0,", said)
        self.assertIn("errs=0", said)
        self.addCleanup(self.ofctl, "mod-port", "2", "forward")
        self.ofctl("add-flow", f"priority=9,dl_dst={self.h2.mac},actions=output:2")
        self.ofctl("mod-port", "2", "no-forward")
        self.assertEqual(self.h1.pings("10.0.0.2", 1, wait=0.5), 0)
        self.assertIn("NO_FWD", self.ofctl("dump-ports-desc"))
        # A link that changes leaves alone what a controller set.
        self.addCleanup(self.ofctl, "mod-port", "2", "up")
        self.ofctl("mod-port", "2", "down")
        self.assertFalse(self.ports()["p2"]["enabled"])
        self.ofctl("mod-port", "2", "up")
        self.assertTrue(self.ports()["p2"]["enabled"])
        self.assertIn("NO_FWD", self.ofctl("dump-ports-desc"))
        self.ofctl("mod-port", "2", "forward")
        lab.wait_for(lambda: self.h1.pings("10.0.0.2", 1, wait=1.0) == 1, what="p2 forwards")

    def test_nothing_is_forwarded_to_a_port_that_forbids_it(self):
        """Not by the L2 switch either, whether by its FIB or as a flood."""
        self.addCleanup(self.ofctl, "mod-port", "2", "forward")
        self.assertEqual(self.h1.pings("10.0.0.2", 1), 1)
        for rule in ("NORMAL", "FLOOD"):
            self.ofctl("replace-flows", "-", stdin=f"priority=0,actions={rule}\n")
            self.ofctl("mod-port", "2", "no-forward")
            self.assertEqual(self.h1.pings("10.0.0.2", 1, wait=0.5), 0, rule)
            self.assertEqual(self.h1.pings("10.0.0.3", 1), 1, rule)
            self.ofctl("mod-port", "2", "forward")
            lab.wait_for(lambda: self.h1.pings("10.0.0.2", 1, wait=1.0) == 1, what="p2 forwards")

    def test_tables(self):
        self.assertEqual(self.h1.pings("10.0.0.2"), 1)
        said = self.ofctl("dump-tables")
        self.assertRegex(said, r"table 0:\s+active=1, lookup=[1-9]")
        said = self.ofctl("dump-table-features")
        self.assertIn("next tables: 1-254", said)
        self.assertIn("table 254", said)
        self.assertIn("ipv6_{src,dst,label}", said)

    def test_many_rules_are_dumped_whole(self):
        lines = "".join(f"table=5,priority={n % 1000},ip,nw_src=10.{n >> 8}.{n & 255}.0/24,actions=drop\n"
                        for n in range(20000))
        self.ofctl("add-flows", "-", stdin=lines)
        self.assertEqual(len(self.flows("table=5")), 20000)


class test_messages(with_controller):
    def test_only_version_1_3_is_spoken(self):
        other = of.controller.to(self.management)
        self.addCleanup(other.close)
        other.send(of.message(of.HELLO, version=1))
        _, body = other.expect(of.ERROR)
        self.assertEqual(of.error(body), (0, 0))
        self.assertIsNone(other.receive())

    def test_hello_has_a_bitmap_of_versions(self):
        other = of.controller.to(self.management)
        self.addCleanup(other.close)
        _, body = other.expect(of.HELLO)
        self.assertEqual(struct.unpack("!HHI", body), (1, 8, 1 << 4))

    def test_echo_has_the_same_bytes(self):
        one = self.controller()
        one.send(of.message(of.ECHO_REQUEST, b"some bytes", xid=9))
        self.assertEqual(one.expect(of.ECHO_REPLY), (9, b"some bytes"))

    def test_errors_have_the_bytes_of_the_message(self):
        one = self.controller()
        wrong = of.flow_mod(xid=77, table=255)
        one.send(wrong)
        xid, body = one.expect(of.ERROR)
        self.assertEqual((xid, of.error(body), body[4:]), (77, (5, 2), wrong))

    def test_what_makes_no_sense_is_refused_and_the_connection_goes_on(self):
        one = self.controller()
        for wrong, error in (
                (of.message(99), (1, 1)),
                (of.message(of.FLOW_MOD, bytes(10)), (1, 6)),
                (of.message(of.MULTIPART_REQUEST, struct.pack("!HH4x", 99, 0)), (1, 2)),
                (of.message(of.MULTIPART_REQUEST, struct.pack("!HH4x", 3, 1)), (1, 13)),
                (of.message(4, struct.pack("!II", 0x2320, 10)), (1, 3)),
                (of.message(4, struct.pack("!II", 0x4f4e4600, 10)), (1, 4)),
                (of.message(of.MULTIPART_REQUEST, struct.pack("!HH4xII", 0xffff, 0, 0x2320, 0)), (1, 3)),
                (of.flow_mod(instructions=struct.pack("!HHI", 4, 9, 0)), (3, 7)),
                (of.flow_mod(instructions=of.apply_actions(struct.pack("!HHI", 0, 8, 1))), (2, 1)),
                (of.flow_mod(instructions=of.apply_actions(struct.pack("!HHI", 99, 8, 1))), (2, 0)),
                (of.flow_mod(instructions=of.apply_actions(*[of.output(1)] * 1001)), (2, 7)),
                # Nicira's error 15: a clause of a conjunction that goes on to a table, and one of one.
                (of.flow_mod(instructions=of.apply_actions(of.conjunction(7, 1, 2))
                             + struct.pack("!HHB3x", 1, 8, 3)), (0xffff, 15)),
                (of.flow_mod(instructions=of.apply_actions(of.conjunction(7, 1, 2), of.output(1))), (0xffff, 15)),
                (of.flow_mod(instructions=of.apply_actions(of.conjunction(7, 1, 1))), (0xffff, 15)),
                (of.message(of.ROLE_REQUEST, struct.pack("!I4xQ", 9, 0)), (11, 2))):
            one.send(wrong)
            self.assertEqual(of.error(one.expect(of.ERROR)[1]), error, wrong[:64])
        one.barrier()
        self.assertEqual(len(self.flows()), 1)

    def test_barriers_keep_the_order_and_errors_come_before_them(self):
        one = self.controller()
        sent, n = [], 2000
        for i in range(n):
            # Every tenth is for a table that is not there.
            sent.append(of.flow_mod(xid=2 * i, table=255 if i % 10 == 0 else 7, priority=1 + i))
            sent.append(of.message(of.BARRIER_REQUEST, xid=2 * i + 1))
        thread = threading.Thread(target=one.send, args=sent)
        thread.start()
        got = []
        while len(got) < n + n // 10:
            kind, xid, _ = one.receive()
            got.append((kind, xid))
        thread.join()
        wanted = []
        for i in range(n):
            if i % 10 == 0:
                wanted.append((of.ERROR, 2 * i))
            wanted.append((of.BARRIER_REPLY, 2 * i + 1))
        self.assertEqual(got, wanted)
        self.assertEqual(len(self.flows("table=7")), n - n // 10)

    def test_a_barrier_is_honest(self):
        """After it, not one packet meets the rules of before."""
        one = self.controller()
        sender, wires = self.wire(self.h1), {2: self.wire(self.h2), 3: self.wire(self.h3)}
        for i in range(200):
            port = 2 + i % 2
            one.send(of.flow_mod(priority=100, eth_type=frames.ETHERTYPE_TEST,
                                 instructions=of.apply_actions(of.output(port))))
            one.barrier()
            sender.send(frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01", payload=struct.pack("!I", i)))
            got = [struct.unpack_from("!I", frame.payload)[0] for frame in wires[port].collect(5.0, count=1)]
            self.assertEqual(got, [i])

    def test_roles(self):
        first, second = self.controller(), self.controller()
        self.assertEqual(first.role(of.MASTER, 5), of.MASTER)
        self.assertEqual(second.role(of.MASTER, 6), of.MASTER)
        self.assertEqual(first.role(0), of.SLAVE)
        first.send(of.flow_mod(xid=3, priority=3))
        xid, body = first.expect(of.ERROR)
        self.assertEqual((xid, of.error(body)), (3, (1, 10)))
        self.assertEqual(first.role(of.MASTER, 5), (11, 0))
        first.barrier()
        self.assertEqual(len(self.flows()), 1)
        self.assertEqual(first.role(of.EQUAL), of.EQUAL)
        first.send(of.flow_mod(priority=3))
        first.barrier()
        self.assertEqual(len(self.flows()), 2)

    def test_async_masks_are_told_as_set(self):
        one = self.controller()
        one.send(of.message(of.GET_ASYNC))
        self.assertEqual(struct.unpack("!6I", one.expect(of.ASYNC_REPLY)[1]), (3, 0, 7, 7, 15, 0))
        one.send(of.message(of.SET_ASYNC, struct.pack("!6I", 7, 1, 2, 3, 4, 5)), of.message(of.GET_ASYNC))
        self.assertEqual(struct.unpack("!6I", one.expect(of.ASYNC_REPLY)[1]), (7, 1, 2, 3, 4, 5))

    def test_one_that_does_not_read_does_not_stop_others(self):
        self.ofctl("add-flows", "-", stdin="".join(
            f"table=5,priority={n},udp,actions=drop\n" for n in range(1, 5000)))
        deaf = self.controller()
        request = of.message(of.MULTIPART_REQUEST, struct.pack("!HH4x", 1, 0) + struct.pack(
            "!B3xII4xQQ", 255, of.ANY, of.ANY, 0, 0) + of.match())
        deaf.send(*[request] * 200)
        for _ in range(3):
            self.assertEqual(len(self.flows("table=5")), 4999)
        self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)

    def test_connections_that_break_leave_nothing(self):
        nobody = lambda: self.switch.json("controller", "list")["controllers"] == []  # noqa: E731
        for _ in range(2):
            for _ in range(50):  # there may be 64 at a time
                one = of.controller.to(self.management)
                one.send(of.message(of.HELLO, struct.pack("!HHI", 1, 8, 1 << 4)),
                         of.message(of.FEATURES_REQUEST), of.flow_mod(priority=4)[:20])
                one.close()
            lab.wait_for(nobody, what="all connections are gone")
        self.assertEqual(len(self.flows()), 1)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two workers need two CPUs")
class test_messages_to_two_workers(with_controller):
    """Each receives what one of two hosts sends."""

    N_HOSTS = 4
    CONFIG = {"workers": {"count": 2}, "ports": [tap(f"p{n}", rx_queues=1, tx_queues=1) for n in (1, 2, 3, 4)]}

    def received(self):
        return [worker["counters"]["rx_packets"] for worker in self.switch.json("worker", "list")["workers"]]

    def test_a_barrier_is_honest_to_both(self):
        """Red when it is answered before what was sent before it is done."""
        one, before, rounds = self.controller(), self.received(), 200
        senders = [self.wire(host) for host in (self.h1, self.h2)]
        wires = {3: self.wire(self.h3), 4: self.wire(self.h4)}
        for i in range(rounds):
            port = 3 + i % 2
            one.send(of.flow_mod(priority=100, eth_type=frames.ETHERTYPE_TEST,
                                 instructions=of.apply_actions(of.output(port))))
            one.barrier()
            for n, sender in enumerate(senders):
                sender.send(frames.make("02:c0:0a:00:00:02", f"02:c0:0a:00:00:0{n + 3}",
                                        payload=struct.pack("!II", i, n)))
            got = [struct.unpack_from("!II", frame.payload) for frame in wires[port].collect(5.0, count=2)]
            self.assertEqual(sorted(got), [(i, 0), (i, 1)])
        for now, then in zip(self.received(), before, strict=True):
            self.assertGreaterEqual(now - then, rounds)


class test_events(with_controller):
    def test_a_packet_that_a_rule_sends(self):
        one = self.controller().configure()
        one.send(of.flow_mod(priority=9, cookie=0x1234, eth_type=frames.ETHERTYPE_TEST,
                             instructions=of.apply_actions(of.output(of.CONTROLLER, 20))))
        one.barrier()
        frame = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01", payload=b"hello")
        self.wire(self.h2).send(frame)
        got = of.packet_in(one.expect(of.PACKET_IN)[1])
        self.assertEqual((got.reason, got.table, got.cookie, got.in_port, got.length, got.buffer),
                         (1, 0, 0x1234, 2, len(frame), of.NO_BUFFER))
        self.assertEqual(got.data, frame)  # all of it, since the switch keeps none

    def test_a_packet_that_no_rule_takes(self):
        one = self.controller().configure()
        one.send(of.flow_mod(priority=9, eth_type=frames.ETHERTYPE_TEST, instructions=of.goto_table(4)),
                 of.flow_mod(table=4, priority=0, cookie=77,
                             instructions=of.apply_actions(of.output(of.CONTROLLER))))
        one.barrier()
        frame = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01")
        self.wire(self.h1).send(frame)
        got = of.packet_in(one.expect(of.PACKET_IN)[1])
        self.assertEqual((got.reason, got.table, got.cookie, got.data), (0, 4, 77, frame))

    def test_a_packet_whose_time_is_over_is_told_when_asked_for(self):
        one = self.controller().configure(miss_send_len=40)  # would be cut if the switch kept the rest
        one.send(of.flow_mod(priority=9, eth_type=0x0800, in_port=1,
                             instructions=of.apply_actions(of.dec_ttl(), of.output(2))))
        one.barrier()
        self.h1.run("ping -c 1 -W 0.2 -t 1 10.0.0.2", check=False)
        self.assertNotIn(of.PACKET_IN, one.told())
        one.send(of.message(of.SET_ASYNC, struct.pack("!6I", 7, 0, 7, 7, 15, 0)))
        one.barrier()
        self.h1.run("ping -c 1 -W 0.2 -t 1 10.0.0.2", check=False)
        got = of.packet_in(one.expect(of.PACKET_IN)[1])
        self.assertEqual((got.reason, got.length, len(got.data), got.data[22]), (2, 98, 98, 1))

    def test_rules_that_go(self):
        one = self.controller().configure()
        gone = 1  # OFPFF_SEND_FLOW_REM
        one.send(of.flow_mod(table=3, priority=1, cookie=1, flags=gone, idle=1),
                 of.flow_mod(table=3, priority=2, cookie=2, flags=gone, hard=1),
                 of.flow_mod(table=3, priority=3, cookie=3, flags=gone),
                 of.flow_mod(table=3, priority=4, cookie=4, hard=1))
        got = [of.flow_removed(one.expect(of.FLOW_REMOVED)[1]) for _ in range(2)]
        self.assertEqual(sorted((each.cookie, each.reason, each.table, each.priority) for each in got),
                         [(1, 0, 3, 1), (2, 1, 3, 2)])
        self.assertEqual([each.seconds for each in got], [1, 1])
        one.send(of.flow_mod(table=3, command=of.DELETE))
        last = of.flow_removed(one.expect(of.FLOW_REMOVED)[1])
        self.assertEqual((last.cookie, last.reason), (3, 2))
        self.assertNotIn(of.FLOW_REMOVED, one.told())

    def test_a_rule_that_goes_with_its_group_and_what_it_counted(self):
        one = self.controller().configure()
        self.ofctl("add-group", "group_id=5,type=indirect,bucket=output:2")
        self.ofctl("add-flow", f"send_flow_rem,priority=9,in_port=1,dl_dst={self.h2.mac},actions=group:5")
        self.assertEqual(self.h1.pings("10.0.0.2", 4), 4)
        self.ofctl("del-groups", "group_id=5")
        got = of.flow_removed(one.expect(of.FLOW_REMOVED)[1])
        self.assertEqual(got.reason, 3)
        self.assertGreaterEqual(got.packets, 4)
        self.assertGreaterEqual(got.bytes, 4 * 98)

    def test_ports_that_change_come_and_go(self):
        one = self.controller().configure()
        self.switch.coua("port", "set", "p3", "--enabled", "off")
        self.addCleanup(self.switch.coua, "port", "set", "p3", "--enabled", "on", check=False)
        got = of.port_status(one.expect(of.PORT_STATUS)[1])
        self.assertEqual((got.reason, got.number, got.name, got.config & 1), (2, 3, "p3", 1))
        self.switch.coua("port", "add", "p9", "net_null9")
        while (got := of.port_status(one.expect(of.PORT_STATUS)[1])).name != "p9":
            pass
        self.assertEqual(got.reason, 0)
        number = got.number
        self.switch.coua("port", "del", "p9")
        while (got := of.port_status(one.expect(of.PORT_STATUS)[1])).reason != 1:
            pass
        self.assertEqual((got.number, got.name), (number, "p9"))

    def test_slaves_and_visitors_are_not_told_of_packets(self):
        master, slave = (self.controller().configure() for _ in range(2))
        visitor = self.controller()
        self.assertEqual(master.role(of.MASTER, 1), of.MASTER)
        self.assertEqual(slave.role(of.SLAVE, 1), of.SLAVE)
        master.send(of.flow_mod(priority=9, eth_type=frames.ETHERTYPE_TEST,
                                instructions=of.apply_actions(of.output(of.CONTROLLER))))
        master.barrier()
        self.wire(self.h1).send(frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01"))
        master.expect(of.PACKET_IN)
        self.assertEqual(slave.told(), [])
        self.assertEqual(visitor.told(), [])

    def test_packets_above_the_rate_do_not_delay_anything(self):
        one = self.controller().configure()
        one.send(of.flow_mod(priority=9, eth_type=frames.ETHERTYPE_TEST,
                             instructions=of.apply_actions(of.output(of.CONTROLLER))))
        one.barrier()
        wire = self.wire(self.h1)
        frame = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01", pad=1400)
        before = self.counters()
        for _ in range(5000):
            wire.send(frame)
        # It has not read one of them so far. The kernel's own queue of the port is no part of this: it
        # drops what comes while the switch does not get a CPU.
        self.settle()
        self.assertEqual(self.h1.pings("10.0.0.2", 3), 3)
        one.barrier()
        self.settle()
        self.assertGreater(self.counted(before, "to_controller"), 0)
        self.assertGreater(self.counted(before, "drop_packet_in_rate"), 0)
        self.assert_conserved()

    def test_monitor(self):
        monitor = lab.start(["env", f"OVS_RUNDIR={self.switch.directory}", "ovs-ofctl", "-O", "OpenFlow13",
                             "monitor", "br0", "65534"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(monitor.stdout.close)
        self.addCleanup(monitor.wait)
        self.addCleanup(monitor.kill)
        self.ofctl("add-flow", "priority=9,dl_type=0x88b5,actions=controller")
        wire, ending = self.wire(self.h1), threading.Event()

        def send():
            while not ending.wait(0.1):
                wire.send(frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01"))

        thread = threading.Thread(target=send)
        thread.start()
        try:
            lines = iter(monitor.stdout.readline, "")
            self.assertIn("in_port=1 (via action)", next(line for line in lines if "OFPT_PACKET_IN" in line))
            self.assertIn("dl_type=0x88b5", next(lines))
        finally:
            ending.set()
            thread.join()


class test_packet_out(with_controller):
    FRAME = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01", payload=b"from the controller")

    def arrives(self, *hosts):
        """At which of the hosts, and nowhere else."""
        for n, wire in self.wires.items():
            got = [frame.data for frame in wire.collect(2.0 if n in hosts else 0.3, count=1)]
            self.assertEqual(got, [self.FRAME] if n in hosts else [], n)

    def setUp(self):
        super().setUp()
        self.wires = {n: self.wire(host) for n, host in enumerate((self.h1, self.h2, self.h3), 1)}
        self.one = self.controller()

    def test_by_its_own_actions(self):
        self.one.send(of.packet_out(self.FRAME, of.output(2)))
        self.arrives(2)
        self.one.send(of.packet_out(self.FRAME, of.output(of.FLOOD), in_port=1))
        self.arrives(2, 3)
        self.one.send(of.packet_out(self.FRAME))
        self.arrives()

    def test_by_the_rules(self):
        self.one.send(of.flow_mod(priority=9, eth_type=frames.ETHERTYPE_TEST,
                                  instructions=of.apply_actions(of.output(3))),
                      of.packet_out(self.FRAME, of.output(of.TABLE)))
        self.arrives(3)

    def test_by_ovs_ofctl(self):
        self.ofctl("packet-out", f"in_port=1,packet={self.FRAME.hex()},actions=output:2")
        self.arrives(2)

    def test_what_is_refused(self):
        for wrong, error in ((of.packet_out(self.FRAME, of.output(2), in_port=77), (1, 11)),
                             (of.packet_out(self.FRAME, of.group(9)), (2, 9)),
                             (of.packet_out(self.FRAME[:10], of.output(2)), (1, 6)),
                             (of.message(of.PACKET_OUT, struct.pack("!IIH6x", 5, of.CONTROLLER, 0)), (1, 8))):
            self.one.send(wrong)
            self.assertEqual(of.error(self.one.expect(of.ERROR)[1]), error)
        self.one.barrier()
