# SPDX-License-Identifier: Apache-2.0
"""What tables can do: as the switch says it, and as a controller asks for it, in os-ken's messages."""

import struct

import of_wire as of
from codec_case import codec_case


class test_table_features(codec_case):
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
