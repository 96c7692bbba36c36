# SPDX-License-Identifier: Apache-2.0
"""Every message of OpenFlow 1.3, both ways, against os-ken's codec: what it encodes means the same to
the switch, and what the switch says decodes there, field by field and to the last byte."""

import frames
from codec_case import codec_case


class test_codec(codec_case):
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
                         (n.OFP_NO_BUFFER, len(frame), n.OFPR_NO_MATCH, 2, 0x99, frame))
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
