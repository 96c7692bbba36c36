# SPDX-License-Identifier: Apache-2.0
"""Every message of OpenFlow 1.3, both ways, against os-ken's codec: what it encodes means the same to
the switch, and what the switch says decodes there, field by field and to the last byte."""

import struct

import frames
import of_wire as of
import osken_lab
from cases import tap, with_switch


class speaker(of.controller):
    """A connection that speaks in os-ken's messages."""

    def __init__(self, connected, codec):
        super().__init__(connected)
        self.codec, self.number, self.came = codec, 100, []

    def say(self, message):
        """Sends it; returns its number."""
        self.number += 1
        self.send(self.codec.encode(message, self.number))
        return self.number

    def hear(self):
        got = self.receive()
        if got is None:
            raise ConnectionError("the switch has closed the connection")
        kind, xid, body = got
        return self.codec.decode(of.message(kind, body, xid))

    def wait(self, kind):
        """The next one of a class, after those that came before it."""
        while True:
            one = self.hear()
            if type(one).__name__ == kind:
                return one

    def parts(self, number):
        """Of the answer to a multipart request, undecoded, what its parts hold together."""
        held, more = b"", True
        while more:
            kind, xid, body = self.receive()
            if xid != number or kind != 19:
                raise AssertionError(f"message {xid} of type {kind} instead of {number}: {body[:100]}")
            held, more = held + body[8:], body[3] & 1
        return held

    def ask(self, message, kind):
        """The answer, which has the same number; of several parts: their lists together."""
        number, answer = self.say(message), None
        while True:
            one = self.hear()
            # Nothing that was said before may have been refused.
            if one.xid != number and type(one).__name__ != "OFPErrorMsg":
                continue
            if type(one).__name__ != kind:
                raise AssertionError(f"{type(one).__name__} instead of {kind}: {str(one)[:1000]}")
            if answer is None:
                answer = one
            else:
                answer.body += one.body
            if not getattr(one, "flags", 0) & 1 or "Stats" not in kind:
                return answer


class test_codec(with_switch):
    CONFIG = {"ports": [tap("p1"), tap("p2")], "pipeline": {"start": "none"},
              "openflow": {"datapath_id": "0x1122334455667788"}}

    @classmethod
    def setUpClass(cls):
        cls.codec = osken_lab.codec()
        cls.p, cls.n = cls.codec.parser, cls.codec.numbers
        super().setUpClass()
        cls.h1, cls.h2 = (cls.switch.tap_host(f"h{n}", f"p{n}") for n in (1, 2))

    def setUp(self):
        self.one = self.visitor()
        self.say("OFPFlowMod", command=self.n.OFPFC_DELETE, table_id=self.n.OFPTT_ALL,
                 out_port=self.n.OFPP_ANY, out_group=self.n.OFPG_ANY)
        self.say("OFPGroupMod", command=self.n.OFPGC_DELETE, group_id=self.n.OFPG_ALL)
        self.say("OFPMeterMod", command=self.n.OFPMC_DELETE, meter_id=self.n.OFPM_ALL)
        self.barrier()

    def visitor(self):
        made = speaker(of.controller.to(self.switch.directory / "br0.mgmt").socket, self.codec)
        self.addCleanup(made.close)
        made.say(self.codec.make("OFPHello", [self.p.OFPHelloElemVersionBitmap([4])]))
        self.assertEqual(made.wait("OFPHello").elements[0].versions, [4])
        return made

    # Short for what all tests do.

    def say(self, kind, *words, **named):
        return self.one.say(self.codec.make(kind, *words, **named))

    def ask(self, kind, answer, *words, **named):
        return self.one.ask(self.codec.make(kind, *words, **named), answer)

    def barrier(self):
        self.ask("OFPBarrierRequest", "OFPBarrierReply")

    def refused(self, kind, *words, **named):
        """Type and code of the error that a message brings, which has the message's bytes."""
        number = self.say(kind, *words, **named)
        error = self.one.wait("OFPErrorMsg")
        self.assertEqual(error.xid, number)
        message = self.codec.make(kind, *words, **named)
        self.assertEqual(bytes(error.data), self.codec.encode(message, number))
        return error.type, error.code

    def add(self, match=None, instructions=(), **named):
        named.setdefault("table_id", 0)
        self.say("OFPFlowMod", match=match or self.p.OFPMatch(), instructions=list(instructions), **named)

    def apply(self, *actions):
        return self.p.OFPInstructionActions(self.n.OFPIT_APPLY_ACTIONS, list(actions))

    def output(self, port, max_len=0):
        return self.p.OFPActionOutput(port, max_len)

    def flows(self, **named):
        named = {"table_id": self.n.OFPTT_ALL, "out_port": self.n.OFPP_ANY, "out_group": self.n.OFPG_ANY, **named}
        return self.ask("OFPFlowStatsRequest", "OFPFlowStatsReply", 0, **named).body

    def only_flow(self):
        found = self.flows()
        self.assertEqual(len(found), 1)
        return found[0]

    # Symmetric ones, and what a switch is.

    def test_echo(self):
        self.assertEqual(self.ask("OFPEchoRequest", "OFPEchoReply", b"some bytes").data, b"some bytes")
        self.say("OFPEchoReply", b"")
        self.barrier()

    def test_the_switch_asks_who_says_nothing(self):
        asked = self.one.wait("OFPEchoRequest")
        self.one.send(self.codec.encode(self.codec.make("OFPEchoReply", asked.data), asked.xid))
        self.barrier()

    def test_an_error_of_the_controller_is_heard_and_that_is_all(self):
        n = self.n
        for kind, code in ((n.OFPET_BAD_REQUEST, n.OFPBRC_BAD_TYPE), (n.OFPET_HELLO_FAILED, n.OFPHFC_EPERM)):
            self.say("OFPErrorMsg", kind, code, b"what the switch has said")
        self.barrier()

    def test_features(self):
        got = self.ask("OFPFeaturesRequest", "OFPSwitchFeatures")
        self.assertEqual((got.datapath_id, got.n_buffers, got.n_tables, got.auxiliary_id),
                         (0x1122334455667788, 0, 255, 0))
        for bit in ("FLOW_STATS", "TABLE_STATS", "PORT_STATS", "GROUP_STATS"):
            self.assertTrue(got.capabilities & getattr(self.n, f"OFPC_{bit}"), bit)

    def test_configuration(self):
        self.say("OFPSetConfig", self.n.OFPC_FRAG_NORMAL, 77)
        got = self.ask("OFPGetConfigRequest", "OFPGetConfigReply")
        self.assertEqual((got.flags, got.miss_send_len), (self.n.OFPC_FRAG_NORMAL, 77))
        self.assertEqual(self.refused("OFPSetConfig", self.n.OFPC_FRAG_DROP, 77),
                         (self.n.OFPET_SWITCH_CONFIG_FAILED, self.n.OFPSCFC_BAD_FLAGS))

    def test_description(self):
        got = self.ask("OFPDescStatsRequest", "OFPDescStatsReply", 0).body
        self.assertEqual((got.mfr_desc, got.dp_desc), (b"Coua", b"br0"))

    def test_roles(self):
        got = self.ask("OFPRoleRequest", "OFPRoleReply", self.n.OFPCR_ROLE_MASTER, 7)
        self.assertEqual((got.role, got.generation_id), (self.n.OFPCR_ROLE_MASTER, 7))
        self.assertEqual(self.refused("OFPRoleRequest", self.n.OFPCR_ROLE_SLAVE, 6),
                         (self.n.OFPET_ROLE_REQUEST_FAILED, self.n.OFPRRFC_STALE))
        self.ask("OFPRoleRequest", "OFPRoleReply", self.n.OFPCR_ROLE_SLAVE, 8)
        self.assertEqual(self.refused("OFPFlowMod"), (self.n.OFPET_BAD_REQUEST, self.n.OFPBRC_IS_SLAVE))
        self.ask("OFPRoleRequest", "OFPRoleReply", self.n.OFPCR_ROLE_EQUAL, 0)

    def test_asynchronous_configuration(self):
        self.say("OFPSetAsync", [7, 1], [6, 2], [5, 3])
        got = self.ask("OFPGetAsyncRequest", "OFPGetAsyncReply")
        self.assertEqual((got.packet_in_mask, got.port_status_mask, got.flow_removed_mask), ([7, 1], [6, 2], [5, 3]))

    def test_experimenters_are_refused(self):
        self.assertEqual(self.refused("OFPExperimenter", 0x123456, 1, b""),
                         (self.n.OFPET_BAD_REQUEST, self.n.OFPBRC_BAD_EXPERIMENTER))
        self.assertEqual(self.refused("OFPExperimenterStatsRequest", 0, 0x123456, 1, b""),
                         (self.n.OFPET_BAD_REQUEST, self.n.OFPBRC_BAD_EXPERIMENTER))

    # Rules.

    def test_a_rule_comes_back_as_it_went(self):
        self.say("OFPGroupMod", command=self.n.OFPGC_ADD, type_=self.n.OFPGT_ALL, group_id=4)
        self.say("OFPMeterMod", command=self.n.OFPMC_ADD, flags=self.n.OFPMF_PKTPS, meter_id=9,
                 bands=[self.p.OFPMeterBandDrop(rate=10, burst_size=0)])
        p, n = self.p, self.n
        instructions = [
            p.OFPInstructionMeter(9),
            self.apply(p.OFPActionPopVlan(), p.OFPActionPushVlan(0x8100), p.OFPActionSetField(vlan_vid=0x1005),
                       p.OFPActionSetField(eth_dst="02:00:00:00:00:07"), p.OFPActionDecNwTtl(),
                       p.OFPActionSetNwTtl(9), p.OFPActionSetField(ipv4_src="10.9.8.7"), p.OFPActionGroup(4),
                       self.output(2), self.output(n.OFPP_CONTROLLER, 99), self.output(n.OFPP_IN_PORT),
                       self.output(n.OFPP_ALL), self.output(n.OFPP_FLOOD), self.output(n.OFPP_NORMAL)),
            p.OFPInstructionActions(n.OFPIT_CLEAR_ACTIONS, []),
            p.OFPInstructionActions(n.OFPIT_WRITE_ACTIONS, [p.OFPActionSetField(ip_dscp=5), self.output(1)]),
            p.OFPInstructionWriteMetadata(0x55, 0xff),
            p.OFPInstructionGotoTable(9)]
        match = p.OFPMatch(in_port=1, vlan_vid=0x1003, eth_type=0x800, ipv4_dst=("10.0.0.0", "255.0.0.0"))
        self.add(match, instructions, cookie=0xabcdef, table_id=3, priority=777, idle_timeout=50, hard_timeout=60,
                 flags=n.OFPFF_SEND_FLOW_REM | n.OFPFF_RESET_COUNTS)
        got = self.only_flow()
        self.assertEqual((got.cookie, got.table_id, got.priority, got.idle_timeout, got.hard_timeout, got.flags),
                         (0xabcdef, 3, 777, 50, 60, n.OFPFF_SEND_FLOW_REM | n.OFPFF_RESET_COUNTS))
        self.assertEqual((got.packet_count, got.byte_count, got.duration_sec), (0, 0, 0))
        self.assertEqual(dict(got.match.items()), dict(match.items()))
        self.assertEqual([str(each) for each in self.in_order(got.instructions)],
                         [str(each) for each in self.in_order(instructions)])

    def in_order(self, instructions):
        """By type; the encoder has set their lengths."""
        made = sorted(instructions, key=lambda each: each.type)
        for each in made:
            for action in [each, *getattr(each, "actions", [])]:
                action.len = 0
        return made

    MATCHES = (
        {"in_port": 3}, {"metadata": 5}, {"metadata": (5, 0xff)}, {"tunnel_id": (7, 0xffff)},
        {"eth_src": "02:00:00:00:00:01"}, {"eth_dst": ("02:00:00:00:00:00", "ff:00:00:00:00:00")},
        {"vlan_vid": 0}, {"vlan_vid": 0x1123}, {"vlan_vid": (0x1000, 0x1000)}, {"vlan_vid": 0x1001, "vlan_pcp": 5},
        {"eth_type": 0x800, "ip_dscp": 9}, {"eth_type": 0x800, "ip_ecn": 2}, {"eth_type": 0x800, "ip_proto": 47},
        {"eth_type": 0x800, "ipv4_src": "10.0.0.1", "ipv4_dst": ("10.0.0.0", "255.255.0.255")},
        {"eth_type": 0x800, "ip_proto": 6, "tcp_src": 1, "tcp_dst": 2},
        {"eth_type": 0x800, "ip_proto": 17, "udp_src": 1, "udp_dst": 2},
        {"eth_type": 0x800, "ip_proto": 132, "sctp_src": 1, "sctp_dst": 2},
        {"eth_type": 0x800, "ip_proto": 1, "icmpv4_type": 8, "icmpv4_code": 1},
        {"eth_type": 0x806, "arp_op": 1, "arp_spa": "10.0.0.1", "arp_tpa": ("10.0.0.0", "255.0.0.0"),
         "arp_sha": "02:00:00:00:00:01", "arp_tha": "02:00:00:00:00:02"},
        {"eth_type": 0x86dd, "ipv6_src": "fd00::1", "ipv6_dst": ("fd00::", "ffff::"), "ipv6_flabel": 77},
        {"eth_type": 0x86dd, "ip_proto": 58, "icmpv6_type": 1, "icmpv6_code": 2},
        {"eth_type": 0x86dd, "ip_proto": 58, "icmpv6_type": 135, "icmpv6_code": 0, "ipv6_nd_target": "fd00::2",
         "ipv6_nd_sll": "02:00:00:00:00:01"},
        {"eth_type": 0x86dd, "ip_proto": 58, "icmpv6_type": 136, "icmpv6_code": 0, "ipv6_nd_tll": "02:00:00:00:00:01"},
        {"eth_type": 0x8847, "mpls_label": 5, "mpls_tc": 2, "mpls_bos": 1},
    )

    def test_every_field_of_a_match(self):
        for n, fields in enumerate(self.MATCHES):
            # A table for each: all of these fields are more than the rules of one may match on.
            self.add(self.p.OFPMatch(**fields), table_id=n)
        got = {each.table_id: dict(each.match.items()) for each in self.flows()}
        for n, fields in enumerate(self.MATCHES):
            wanted = dict(self.p.OFPMatch(**fields).items())
            if "ipv6_flabel" in fields:
                wanted["ipv6_flabel"] = (fields["ipv6_flabel"], 0xfffff)  # all of its bits, and it says so
            self.assertEqual(got.get(n), wanted)

    SET_FIELDS = {"eth_src": "02:00:00:00:00:01", "eth_dst": "02:00:00:00:00:02", "vlan_vid": 0x1007, "vlan_pcp": 3,
                  "ip_dscp": 1, "ip_ecn": 2, "tunnel_id": 9}
    OF_PROTOCOL = (
        ({"eth_type": 0x800}, {"ipv4_src": "10.0.0.1", "ipv4_dst": "10.0.0.2"}),
        ({"eth_type": 0x800, "ip_proto": 6}, {"tcp_src": 1, "tcp_dst": 2}),
        ({"eth_type": 0x800, "ip_proto": 17}, {"udp_src": 1, "udp_dst": 2}),
        ({"eth_type": 0x800, "ip_proto": 132}, {"sctp_src": 1, "sctp_dst": 2}),
        ({"eth_type": 0x800, "ip_proto": 1}, {"icmpv4_type": 1, "icmpv4_code": 2}),
        ({"eth_type": 0x86dd}, {"ipv6_src": "fd00::1", "ipv6_dst": "fd00::2", "ipv6_flabel": 3}),
        ({"eth_type": 0x806}, {"arp_op": 2, "arp_spa": "10.0.0.1", "arp_tpa": "10.0.0.2",
                               "arp_sha": "02:00:00:00:00:01", "arp_tha": "02:00:00:00:00:02"}),
        ({"eth_type": 0x8847}, {"mpls_label": 4, "mpls_tc": 5}),
        ({"eth_type": 0x86dd, "ip_proto": 58}, {"icmpv6_type": 135, "icmpv6_code": 1}),
        ({"eth_type": 0x86dd, "ip_proto": 58, "icmpv6_type": 135},
         {"ipv6_nd_target": "fd00::3", "ipv6_nd_sll": "02:00:00:00:00:03"}),
        ({"eth_type": 0x86dd, "ip_proto": 58, "icmpv6_type": 136},
         {"ipv6_nd_target": "fd00::4", "ipv6_nd_tll": "02:00:00:00:00:04"}),
    )

    def test_every_field_that_can_be_set(self):
        tagged = {"eth_type": 0x800, "vlan_vid": (0x1000, 0x1000)}
        for n, (match, fields) in enumerate(((tagged, self.SET_FIELDS), *self.OF_PROTOCOL)):
            actions = [self.p.OFPActionSetField(**{name: value}) for name, value in fields.items()]
            self.add(self.p.OFPMatch(**match), [self.apply(*actions)], table_id=5, priority=n + 1)
            got = self.flows(table_id=5)[0]
            self.assertEqual(got.priority, n + 1)
            self.assertEqual({each.key: each.value for each in got.instructions[0].actions}, fields)

    def test_actions_of_mpls(self):
        p = self.p
        actions = [p.OFPActionPushMpls(0x8847), p.OFPActionSetMplsTtl(4), p.OFPActionDecMplsTtl(),
                   p.OFPActionPopMpls(0x800)]
        self.add(p.OFPMatch(eth_type=0x800), [self.apply(*actions)])
        self.assertEqual([type(each) for each in self.only_flow().instructions[0].actions],
                         [type(each) for each in actions])

    def test_changes_and_deletions_by_command(self):
        n, p = self.n, self.p
        for priority in (1, 2, 3):
            self.add(p.OFPMatch(eth_type=0x800), [self.apply(self.output(1))], priority=priority, cookie=priority)
        tcp = {"match": p.OFPMatch(eth_type=0x800), "out_port": n.OFPP_ANY, "out_group": n.OFPG_ANY}
        self.say("OFPFlowMod", command=n.OFPFC_MODIFY_STRICT, priority=2, instructions=[self.apply(self.output(2))],
                 **tcp)
        ports = lambda: {each.priority: each.instructions[0].actions[0].port for each in self.flows()}  # noqa: E731
        self.assertEqual(ports(), {1: 1, 2: 2, 3: 1})
        self.say("OFPFlowMod", command=n.OFPFC_MODIFY, cookie=1, cookie_mask=1,
                 instructions=[self.apply(self.output(5))], **tcp)
        self.assertEqual(ports(), {1: 5, 2: 2, 3: 5})
        self.assertEqual([each.priority for each in self.flows(out_port=2)], [2])
        self.assertEqual([each.priority for each in self.flows(cookie=3, cookie_mask=2**64 - 1)], [3])
        self.say("OFPFlowMod", command=n.OFPFC_DELETE_STRICT, priority=1, **tcp)
        self.say("OFPFlowMod", command=n.OFPFC_DELETE, **{**tcp, "out_port": 5})
        self.assertEqual(ports(), {2: 2})

    def test_what_a_rule_may_not_say(self):
        n, p = self.n, self.p
        self.add(priority=5)
        for error, code, named in (
                ("FLOW_MOD_FAILED", "FMFC_OVERLAP", {"priority": 5, "flags": n.OFPFF_CHECK_OVERLAP,
                                                     "match": p.OFPMatch(eth_type=0x800)}),
                ("FLOW_MOD_FAILED", "FMFC_BAD_COMMAND", {"command": 9}),
                ("FLOW_MOD_FAILED", "FMFC_BAD_TABLE_ID", {"table_id": 255}),
                ("BAD_INSTRUCTION", "BIC_BAD_TABLE_ID", {"table_id": 5,
                                                         "instructions": [p.OFPInstructionGotoTable(5)]}),
                ("BAD_ACTION", "BAC_BAD_OUT_GROUP", {"instructions": [self.apply(p.OFPActionGroup(99))]}),
                ("BAD_ACTION", "BAC_BAD_OUT_PORT", {"instructions": [self.apply(self.output(0))]}),
                ("BAD_ACTION", "BAC_BAD_OUT_PORT", {"instructions": [self.apply(self.output(70000))]}),
                ("BAD_ACTION", "BAC_BAD_SET_TYPE", {"instructions": [self.apply(p.OFPActionSetField(in_port=1))]}),
                ("BAD_ACTION", "BAC_BAD_TAG", {"instructions": [self.apply(p.OFPActionPushVlan(0x1234))]}),
                ("METER_MOD_FAILED", "MMFC_UNKNOWN_METER", {"instructions": [p.OFPInstructionMeter(99)]}),
                ("BAD_MATCH", "BMC_BAD_PREREQ", {"match": p.OFPMatch(ipv4_src="10.0.0.1")}),
                ("BAD_REQUEST", "BRC_BUFFER_UNKNOWN", {"buffer_id": 5})):
            with self.subTest(code):
                self.assertEqual(self.refused("OFPFlowMod", **named),
                                 (getattr(n, f"OFPET_{error}"), getattr(n, f"OFP{code}")))

    def test_sums_and_tables(self):
        for n in range(10):
            self.add(table_id=6, priority=n)
        got = self.ask("OFPAggregateStatsRequest", "OFPAggregateStatsReply", 0, 6, self.n.OFPP_ANY, self.n.OFPG_ANY,
                       0, 0, self.p.OFPMatch()).body
        self.assertEqual((got.flow_count, got.packet_count, got.byte_count), (10, 0, 0))
        tables = self.ask("OFPTableStatsRequest", "OFPTableStatsReply", 0).body
        self.assertEqual({each.table_id: each.active_count for each in tables if each.active_count}, {6: 10})
        self.assertEqual([each.table_id for each in tables], list(range(255)))

    def test_table_features(self):
        got = self.ask("OFPTableFeaturesStatsRequest", "OFPTableFeaturesStatsReply", 0, []).body
        self.assertEqual(len(got), 255)
        self.assertEqual((got[7].table_id, got[7].name.rstrip(b"\0"), got[7].metadata_match), (7, b"table7", 2**64 - 1))
        by_type = {each.type: each for each in got[7].properties}
        self.assertEqual(by_type[self.n.OFPTFPT_NEXT_TABLES].table_ids, list(range(8, 255)))
        names = {each.type for each in by_type[self.n.OFPTFPT_MATCH].oxm_ids}
        self.assertLessEqual({"in_port", "eth_dst", "ipv4_src", "ipv6_dst", "tcp_dst", "vlan_vid", "mpls_label"}, names)
        kinds = {each.type for each in by_type[self.n.OFPTFPT_APPLY_ACTIONS].action_ids}
        self.assertLessEqual({self.n.OFPAT_OUTPUT, self.n.OFPAT_GROUP, self.n.OFPAT_PUSH_VLAN, self.n.OFPAT_SET_FIELD,
                              self.n.OFPAT_DEC_NW_TTL, self.n.OFPAT_POP_MPLS}, kinds)
        self.say("OFPTableMod", 3, 3)  # the deprecated bits
        self.barrier()
        self.assertEqual(self.refused("OFPTableMod", 3, 4),
                         (self.n.OFPET_TABLE_MOD_FAILED, self.n.OFPTMFC_BAD_CONFIG))

    def features(self):
        """What the switch says of its tables; os-ken takes seconds to decode it all."""
        return self.one.parts(self.say("OFPTableFeaturesStatsRequest", 0, []))

    def keep_features(self):
        self.before, self.tables, at = self.features(), [], 0
        while at < len(self.before):
            self.tables.append(self.before[at:at + int.from_bytes(self.before[at:at + 2], "big")])
            at += len(self.tables[-1])

    def of_table(self, number, change=lambda table, by_type: None):
        """What a table can do, as a controller may ask for it, after a change."""
        table = self.p.OFPTableFeaturesStats.parser(self.tables[number], 0)
        for each in table.properties:
            if hasattr(each, "oxm_ids"):
                # os-ken cannot encode fields of experimenters.
                each.oxm_ids = [one for one in each.oxm_ids if type(one) is self.p.OFPOxmId]
        change(table, {each.type: each for each in table.properties})
        return table

    def set_features(self, *tables):
        """They are accepted, and are afterwards what they were."""
        number = self.say("OFPTableFeaturesStatsRequest", 0, list(tables))
        self.assertTrue(self.one.parts(number) == self.before)

    def test_tables_that_are_to_do_no_more_than_they_can(self):
        n, p = self.n, self.p
        self.keep_features()
        self.add(table_id=200, priority=9)

        def less(table, by_type):
            table.name, table.max_entries, table.metadata_match, table.config = b"another", 5, 0xff, 3
            table.properties = [p.OFPTableFeaturePropInstructions(n.OFPTFPT_INSTRUCTIONS, None, [
                p.OFPInstructionId(n.OFPIT_APPLY_ACTIONS)]),
                p.OFPTableFeaturePropNextTables(n.OFPTFPT_NEXT_TABLES_MISS, None, [9, 254]),
                p.OFPTableFeaturePropOxm(n.OFPTFPT_MATCH, None, [p.OFPOxmId("eth_dst"), p.OFPOxmId("ipv4_dst", True)]),
                # What may be left out has no mask, whatever a controller says (as Faucet does).
                p.OFPTableFeaturePropOxm(n.OFPTFPT_WILDCARDS, None, [p.OFPOxmId("eth_dst", True)])]

        self.set_features(self.of_table(7))
        self.set_features(self.of_table(3, less), self.of_table(254))
        # Tables that are not named are there as before, and so are their rules.
        self.assertEqual([(each.table_id, each.priority) for each in self.flows()], [(200, 9)])

    def test_table_features_in_parts(self):
        self.keep_features()

        def part(more, tables, number):
            self.one.send(of.message(18, struct.pack("!HH4x", 12, more) + b"".join(tables), number))

        for at in range(0, 255, 17):
            part(at + 17 < 255, self.tables[at:at + 17], 9001)
            if at + 17 < 255:
                self.ask("OFPEchoRequest", "OFPEchoReply", b"between")
        self.assertTrue(self.one.parts(9001) == self.before)
        # Two that are not whole yet do not disturb each other; the table that is there twice is in two parts.
        part(1, self.tables[1:2], 9002)
        part(1, self.tables[1:2], 9003)
        part(0, self.tables[2:3], 9003)
        self.assertTrue(self.one.parts(9003) == self.before)
        part(0, self.tables[1:2], 9002)
        error = self.one.wait("OFPErrorMsg")
        self.assertEqual((error.xid, error.type, error.code),
                         (9002, self.n.OFPET_TABLE_FEATURES_FAILED, self.n.OFPTFFC_BAD_TABLE))

    def test_tables_that_are_to_do_more_than_they_can(self):
        n, p = self.n, self.p
        self.keep_features()

        def with_property(made):
            return lambda table, by_type: table.properties.append(made)

        def with_field(kind, *field):
            return lambda table, by_type: by_type[kind].oxm_ids.append(p.OFPOxmId(*field))

        def with_more(**named):
            return lambda table, by_type: table.__dict__.update(named)

        miss = n.OFPTFPT_WRITE_ACTIONS_MISS
        for code, change in (
                ("BAD_TABLE", with_more(table_id=255)),
                ("BAD_TYPE", with_property(p.OFPTableFeaturePropInstructions(9, None, []))),
                ("BAD_TYPE", with_property(p.OFPTableFeaturePropInstructions(n.OFPTFPT_INSTRUCTIONS, None, []))),
                ("BAD_TYPE", with_property(p.OFPTableFeaturePropExperimenter(n.OFPTFPT_EXPERIMENTER, None, 0x1234, 1))),
                # An experimenter's instruction or action says who it is, in eight bytes.
                ("BAD_LEN", lambda table, by_type: by_type[n.OFPTFPT_INSTRUCTIONS].instruction_ids.append(
                    p.OFPInstructionId(n.OFPIT_EXPERIMENTER))),
                ("BAD_ARGUMENT", lambda table, by_type: by_type[n.OFPTFPT_INSTRUCTIONS].instruction_ids.append(
                    p.OFPInstructionId(77))),
                ("BAD_ARGUMENT", lambda table, by_type: by_type[miss].action_ids.append(
                    p.OFPActionId(n.OFPAT_COPY_TTL_OUT))),
                ("BAD_ARGUMENT", lambda table, by_type: by_type[n.OFPTFPT_NEXT_TABLES].table_ids.append(7)),
                ("BAD_ARGUMENT", lambda table, by_type: by_type[n.OFPTFPT_NEXT_TABLES_MISS].table_ids.append(255)),
                ("BAD_ARGUMENT", with_field(n.OFPTFPT_MATCH, "pbb_isid")),
                ("BAD_ARGUMENT", with_field(n.OFPTFPT_MATCH, "in_port", True)),
                ("BAD_ARGUMENT", with_field(n.OFPTFPT_WILDCARDS, "ipv6_exthdr")),
                ("BAD_ARGUMENT", with_field(n.OFPTFPT_APPLY_SETFIELD, "in_port")),
                ("BAD_ARGUMENT", with_field(n.OFPTFPT_WRITE_SETFIELD_MISS, "eth_type")),
                ("BAD_ARGUMENT", with_more(config=4)),
                ("BAD_ARGUMENT", with_more(max_entries=self.of_table(7).max_entries + 1))):
            table = self.of_table(7, change)
            with self.subTest(code):
                self.assertEqual(self.refused("OFPTableFeaturesStatsRequest", 0, [self.of_table(6), table]),
                                 (n.OFPET_TABLE_FEATURES_FAILED, getattr(n, f"OFPTFFC_{code}")))
        table = self.of_table(7)
        self.assertEqual(self.refused("OFPTableFeaturesStatsRequest", 0, [table, table]),
                         (n.OFPET_TABLE_FEATURES_FAILED, n.OFPTFFC_BAD_TABLE))
        self.assertTrue(self.features() == self.before)
        # Who may not change the switch hears this before what is wrong with the change.
        self.ask("OFPRoleRequest", "OFPRoleReply", n.OFPCR_ROLE_SLAVE, 2**63)
        self.assertEqual(self.refused("OFPTableFeaturesStatsRequest", 0, [table, table]),
                         (n.OFPET_BAD_REQUEST, n.OFPBRC_IS_SLAVE))

    # Groups, meters, ports, queues.

    def test_groups(self):
        n, p = self.n, self.p
        kinds = {1: n.OFPGT_ALL, 2: n.OFPGT_SELECT, 3: n.OFPGT_INDIRECT, 4: n.OFPGT_FF}
        for number, kind in kinds.items():
            buckets = [p.OFPBucket(weight=5 * (kind == n.OFPGT_SELECT), watch_port=1 if kind == n.OFPGT_FF else n.OFPP_ANY,
                                   watch_group=n.OFPG_ANY,
                                   actions=[p.OFPActionSetField(eth_dst="02:00:00:00:00:09"), self.output(2)])
                       for _ in range(1 if kind == n.OFPGT_INDIRECT else 2)]
            self.say("OFPGroupMod", n.OFPGC_ADD, kind, number, buckets)
            got = {each.group_id: each
                   for each in self.ask("OFPGroupDescStatsRequest", "OFPGroupDescStatsReply", 0).body}[number]
            self.assertEqual((got.type, len(got.buckets)), (kind, len(buckets)))
            for theirs, ours in zip(got.buckets, buckets):
                self.assertEqual((theirs.weight, theirs.watch_port, theirs.watch_group),
                                 (ours.weight, ours.watch_port, ours.watch_group))
                self.assertEqual([str(each) for each in theirs.actions], [str(each) for each in ours.actions])
        self.add(p.OFPMatch(), [self.apply(p.OFPActionGroup(1))])
        got = self.ask("OFPGroupStatsRequest", "OFPGroupStatsReply", 0, 1).body
        self.assertEqual([(each.group_id, each.ref_count, len(each.bucket_stats)) for each in got], [(1, 1, 2)])
        self.say("OFPGroupMod", n.OFPGC_MODIFY, n.OFPGT_INDIRECT, 3, [p.OFPBucket(actions=[self.output(1)])])
        self.say("OFPGroupMod", n.OFPGC_DELETE, n.OFPGT_ALL, 1, [])
        got = self.ask("OFPGroupStatsRequest", "OFPGroupStatsReply", 0, n.OFPG_ALL).body
        self.assertEqual(sorted(each.group_id for each in got), [2, 3, 4])
        self.assertEqual(self.flows(), [])
        self.assertEqual(self.refused("OFPGroupMod", n.OFPGC_ADD, n.OFPGT_ALL, 2, []),
                         (n.OFPET_GROUP_MOD_FAILED, n.OFPGMFC_GROUP_EXISTS))
        features = self.ask("OFPGroupFeaturesStatsRequest", "OFPGroupFeaturesStatsReply", 0).body
        self.assertEqual(features.types, 0xf)
        self.assertTrue(all(bits >> n.OFPAT_SET_FIELD & 1 for bits in features.actions))

    def test_meters(self):
        n, p = self.n, self.p
        meters = {1: (n.OFPMF_KBPS | n.OFPMF_BURST, [p.OFPMeterBandDrop(rate=1000, burst_size=200)]),
                  2: (n.OFPMF_PKTPS | n.OFPMF_STATS, [p.OFPMeterBandDrop(rate=10, burst_size=0),
                                                      p.OFPMeterBandDscpRemark(rate=5, burst_size=0, prec_level=1)])}
        for number, (flags, bands) in meters.items():
            self.say("OFPMeterMod", n.OFPMC_ADD, flags, number, bands)
        got = self.ask("OFPMeterConfigStatsRequest", "OFPMeterConfigStatsReply", 0, n.OFPM_ALL).body
        for each in got:
            flags, bands = meters[each.meter_id]
            self.assertEqual(each.flags, flags)
            self.assertEqual([(type(band), band.rate, band.burst_size, getattr(band, "prec_level", None))
                              for band in each.bands],
                             [(type(band), band.rate, band.burst_size, getattr(band, "prec_level", None))
                              for band in bands])
        self.add(p.OFPMatch(), [p.OFPInstructionMeter(2)])
        got = self.ask("OFPMeterStatsRequest", "OFPMeterStatsReply", 0, 2).body
        self.assertEqual([(each.meter_id, each.flow_count, len(each.band_stats)) for each in got], [(2, 1, 2)])
        self.say("OFPMeterMod", n.OFPMC_MODIFY, n.OFPMF_KBPS, 1, [p.OFPMeterBandDrop(rate=7, burst_size=0)])
        self.assertEqual(self.ask("OFPMeterConfigStatsRequest", "OFPMeterConfigStatsReply", 0, 1).body[0].bands[0].rate, 7)
        self.assertEqual(self.refused("OFPMeterMod", n.OFPMC_ADD, n.OFPMF_KBPS, 1, []),
                         (n.OFPET_METER_MOD_FAILED, n.OFPMMFC_METER_EXISTS))
        features = self.ask("OFPMeterFeaturesStatsRequest", "OFPMeterFeaturesStatsReply", 0).body[0]
        self.assertEqual(features.band_types, 1 << n.OFPMBT_DROP | 1 << n.OFPMBT_DSCP_REMARK)
        self.assertGreaterEqual(features.max_meter, 1000)

    def test_ports(self):
        n = self.n
        ports = {each.port_no: each for each in self.ask("OFPPortDescStatsRequest", "OFPPortDescStatsReply", 0).body}
        known = self.ports()
        self.assertEqual({each.name.decode(): each.hw_addr for each in ports.values()},
                         {name: known[name]["mac"] for name in ("p1", "p2")})
        self.say("OFPPortMod", 2, ports[2].hw_addr, n.OFPPC_NO_FWD, n.OFPPC_NO_FWD)
        config = lambda: {each.port_no: each.config for each in self.ask(  # noqa: E731
            "OFPPortDescStatsRequest", "OFPPortDescStatsReply", 0).body}
        self.assertEqual(config(), {1: 0, 2: n.OFPPC_NO_FWD})
        self.say("OFPPortMod", 2, ports[2].hw_addr, 0, n.OFPPC_NO_FWD)
        self.assertEqual(config(), {1: 0, 2: 0})
        for code, words in (("PORT", (99, ports[2].hw_addr, 0, 0)),
                            ("PORT", (70000, ports[2].hw_addr, 0, 0)),
                            ("HW_ADDR", (2, "02:00:00:00:00:01", 0, 0)),
                            ("CONFIG", (2, ports[2].hw_addr, 0x80, 0x80)),
                            ("ADVERTISE", (2, ports[2].hw_addr, 0, 0, n.OFPPF_1GB_FD))):
            self.assertEqual(self.refused("OFPPortMod", *words),
                             (n.OFPET_PORT_MOD_FAILED, getattr(n, f"OFPPMFC_BAD_{code}")))
        for port in (99, 70000):
            self.assertEqual(self.refused("OFPPortStatsRequest", 0, port), (n.OFPET_BAD_REQUEST, n.OFPBRC_BAD_PORT))
        self.assertEqual(self.flows(out_port=70000), [])
        stats = self.ask("OFPPortStatsRequest", "OFPPortStatsReply", 0, n.OFPP_ANY).body
        self.assertEqual([each.port_no for each in stats], [1, 2])
        counted = self.counters("p1")
        self.assertLessEqual(stats[0].rx_packets, counted["rx_packets"])
        self.assertGreater(stats[0].duration_sec + stats[0].duration_nsec, 0)

    def test_queues(self):
        n = self.n
        self.assertEqual(self.ask("OFPQueueStatsRequest", "OFPQueueStatsReply", 0, n.OFPP_ANY, n.OFPQ_ALL).body, [])
        got = self.ask("OFPQueueGetConfigRequest", "OFPQueueGetConfigReply", 1)
        self.assertEqual((got.port, got.queues), (1, []))
        for port in (99, 70000):
            bad_port = (n.OFPET_QUEUE_OP_FAILED, n.OFPQOFC_BAD_PORT)
            self.assertEqual(self.refused("OFPQueueGetConfigRequest", port), bad_port)
            self.assertEqual(self.refused("OFPQueueStatsRequest", 0, port, n.OFPQ_ALL), bad_port)

    # What is told, and packets.

    def test_packets_both_ways(self):
        n, p = self.n, self.p
        self.say("OFPSetConfig", 0, 0xffff)
        registers = {"reg0": 1, "reg15": 0xffffffff}
        self.add(p.OFPMatch(eth_type=frames.ETHERTYPE_TEST), [
            self.apply(*(p.OFPActionSetField(**{name: value}) for name, value in {**registers, "reg3": 0}.items())),
            p.OFPInstructionWriteMetadata(0x77, 0xff), p.OFPInstructionGotoTable(2)])
        self.add(table_id=2, priority=0, cookie=0x99,
                 instructions=[self.apply(self.output(n.OFPP_CONTROLLER, 30))])
        self.barrier()
        frame = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01", payload=b"there and back")
        far = self.wire(self.h2)
        self.wire(self.h1).send(frame)
        got = self.one.wait("OFPPacketIn")
        self.assertEqual((got.buffer_id, got.total_len, got.reason, got.table_id, got.cookie, got.data),
                         (n.OFP_NO_BUFFER, len(frame), n.OFPR_NO_MATCH, 2, 0x99, frame[:30]))
        self.assertEqual(dict(got.match.items()), {"in_port": 1, "metadata": 0x77, **registers})
        self.say("OFPPacketOut", buffer_id=n.OFP_NO_BUFFER, in_port=n.OFPP_CONTROLLER, data=frame,
                 actions=[p.OFPActionSetField(eth_src="02:00:00:00:00:55"), self.output(2)])
        self.assertEqual([each.src for each in far.collect(5, count=1)], ["02:00:00:00:00:55"])
        self.assertEqual(self.refused("OFPPacketOut", buffer_id=n.OFP_NO_BUFFER, in_port=n.OFPP_CONTROLLER, data=frame,
                                      actions=[p.OFPActionGroup(77)]),
                         (n.OFPET_BAD_ACTION, n.OFPBAC_BAD_OUT_GROUP))

    def test_rules_that_go(self):
        n, p = self.n, self.p
        self.say("OFPSetConfig", 0, 0xffff)
        match = p.OFPMatch(eth_type=0x800, ipv4_dst="10.1.2.3")
        self.add(match, flags=n.OFPFF_SEND_FLOW_REM, cookie=5, priority=6, table_id=7, idle_timeout=100,
                 hard_timeout=200)
        self.say("OFPFlowMod", command=n.OFPFC_DELETE, table_id=7, out_port=n.OFPP_ANY, out_group=n.OFPG_ANY)
        got = self.one.wait("OFPFlowRemoved")
        self.assertEqual((got.cookie, got.priority, got.reason, got.table_id, got.idle_timeout, got.hard_timeout),
                         (5, 6, n.OFPRR_DELETE, 7, 100, 200))
        self.assertEqual(dict(got.match.items()), dict(match.items()))

    def test_ports_that_change(self):
        self.say("OFPSetConfig", 0, 0xffff)
        self.barrier()
        self.switch.coua("port", "set", "p2", "--enabled", "off")
        self.addCleanup(self.switch.coua, "port", "set", "p2", "--enabled", "on", check=False)
        got = self.one.wait("OFPPortStatus")
        self.assertEqual((got.reason, got.desc.port_no, got.desc.name.decode(), got.desc.config & 1),
                         (self.n.OFPPR_MODIFY, 2, "p2", 1))

    # Bundles.

    def test_bundles(self):
        n, p = self.n, self.p
        flags = n.ONF_BF_ATOMIC | n.ONF_BF_ORDERED
        control = lambda kind: self.ask("ONFBundleCtrlMsg", "ONFBundleCtrlMsg", 5, kind, flags, [])  # noqa: E731
        self.assertEqual(control(n.ONF_BCT_OPEN_REQUEST).type, n.ONF_BCT_OPEN_REPLY)
        for priority in (1, 2):
            inner = self.codec.make("OFPFlowMod", priority=priority, match=p.OFPMatch(), instructions=[])
            inner.set_xid(self.one.number + 1)
            self.say("ONFBundleAddMsg", 5, flags, inner, [])
        meter = self.codec.make("OFPMeterMod", n.OFPMC_ADD, n.OFPMF_PKTPS, 4,
                                [p.OFPMeterBandDrop(rate=10, burst_size=0)])
        meter.set_xid(self.one.number + 1)
        self.say("ONFBundleAddMsg", 5, flags, meter, [])
        self.assertEqual(self.flows(), [])
        self.assertEqual(control(n.ONF_BCT_CLOSE_REQUEST).type, n.ONF_BCT_CLOSE_REPLY)
        self.assertEqual(control(n.ONF_BCT_COMMIT_REQUEST).type, n.ONF_BCT_COMMIT_REPLY)
        self.assertEqual([each.priority for each in self.flows()], [2, 1])
        got = self.ask("OFPMeterConfigStatsRequest", "OFPMeterConfigStatsReply", 0, n.OFPM_ALL).body
        self.assertEqual([each.meter_id for each in got], [4])
        control(n.ONF_BCT_OPEN_REQUEST)
        self.assertEqual(control(n.ONF_BCT_DISCARD_REQUEST).type, n.ONF_BCT_DISCARD_REPLY)

    # Errors that are an experimenter's: that of the ONF for bundles, and Nicira.

    def refused_by(self, kind, *words, **named):
        """The experimenter, and what it calls the error."""
        number = self.say(kind, *words, **named)
        error = self.one.wait("OFPErrorMsg")
        self.assertEqual((error.xid, error.type), (number, self.n.OFPET_EXPERIMENTER))
        message = self.codec.make(kind, *words, **named)
        self.assertEqual(bytes(error.data), self.codec.encode(message, number))
        return error.experimenter, error.exp_type

    def test_errors_of_bundles(self):
        n = self.n
        onf, bad_id, exists = 0x4f4e4600, 2302, 2303
        flags = n.ONF_BF_ATOMIC
        self.assertEqual(self.refused_by("ONFBundleCtrlMsg", 6, n.ONF_BCT_COMMIT_REQUEST, flags, []), (onf, bad_id))
        self.ask("ONFBundleCtrlMsg", "ONFBundleCtrlMsg", 6, n.ONF_BCT_OPEN_REQUEST, flags, [])
        self.assertEqual(self.refused_by("ONFBundleCtrlMsg", 6, n.ONF_BCT_OPEN_REQUEST, flags, []), (onf, exists))

    def test_errors_of_conjunctions(self):
        nicira, bad_conjunction = 0x2320, 15
        clause = self.p.NXActionConjunction(clause=0, n_clauses=2, id_=7)
        match = self.p.OFPMatch(eth_type=0x800)
        # What a clause stands beside is not done, and without two clauses there is nothing to conjoin.
        for actions in ([clause, self.output(1)], [self.p.NXActionConjunction(clause=0, n_clauses=1, id_=7)]):
            with self.subTest(n=len(actions)):
                self.assertEqual(self.refused_by("OFPFlowMod", match=match, instructions=[self.apply(*actions)]),
                                 (nicira, bad_conjunction))
