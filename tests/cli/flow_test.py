#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pipeline's verbs: trace, flows, groups, meters, before a pipeline in memory.

usage: flow_test.py COUA FAKE_COUAD DOCS_DIR
"""

import itertools
import pathlib
import struct
import tempfile

from cli_case import cli_case, main


class test_trace(cli_case):
    def test_a_packet_of_a_file(self):
        self.coua("flow", "add", "in_port=p1,dl_dst=02:00:00:00:00:09,actions=output:p2")
        frame = bytes.fromhex("020000000009" "020000000001" "0800") + bytes(46)
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "one.pcap"
        header = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        other = struct.pack("<IIII", 0, 0, 20, 20) + bytes(20)
        path.write_bytes(header + other + struct.pack("<IIII", 1, 0, 60, 60) + frame)
        said = self.json("trace", "br0", "--pcap", path, "--record", 2, "--in-port", "p1")
        self.assertEqual([copy["to"] for copy in said["outputs"]], ["p2"])
        self.assertEqual(said["frame"], frame.hex())
        self.assertIn("it goes nowhere", self.text("trace", "br0", "--pcap", path, "--in-port", "p1"))
        done = self.coua("trace", "br0", "--pcap", path, "--record", 3, "--in-port", "p1", status=1)
        self.assertIn("it has 2 records, none of number 3", done.stderr)

    def test_a_record_that_is_cut_or_short(self):
        self.coua("flow", "add", "in_port=p1,dl_dst=02:00:00:00:00:09,actions=output:p2")
        frame = bytes.fromhex("020000000009" "020000000001" "0800") + bytes(26)
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "cut.pcap"
        header = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        records = ((frame, 1500), (b"", 0), (b"", 60), (b"\xff" * 4, 4), (b"\x12", 1))
        path.write_bytes(header + b"".join(struct.pack("<IIII", 0, 0, len(kept), wire) + kept
                                           for kept, wire in records))
        words = ("trace", "br0", "--pcap", path, "--in-port", "p1", "--record")
        done = self.coua(*words, 1)
        self.assertIn("p2: 40 bytes", done.stdout)
        self.assertIn(f"coua: {path}: record 1 is cut: 40 of 1,500 bytes are there; ", done.stderr)
        for number, says in ((2, "record 2 has no bytes"), (3, "record 3 has no bytes"),
                             (4, "packet: a frame has 14 to 16384 bytes"),
                             (5, "packet: a frame has 14 to 16384 bytes")):
            self.assertIn(says, self.coua(*words, number, status=1).stderr)

    def test_mistakes(self):
        for words, status, says in (
                (("trace", "br0"), 2, "give either PACKET or --pcap FILE, behind the bridge's name"),
                (("trace", "br0", "tcp", "--record", 1), 2, "--record needs --pcap FILE"),
                (("trace", "br0", "tcp"), 1, "say by which port it comes in"),
                (("trace", "br0", "in_port=p2,tcp", "--in-port", "p1"), 1,
                 "in_port=p1: what comes later says something else"),
                (("trace", "br1", "in_port=p1,tcp"), 1, "there is no such bridge; there is br0"),
                (("trace", "br0", "in_port=p1,tcp", "--pcap", "x"), 2, "give either"),
                (("trace", "br0", "--pcap", "/nowhere.pcap", "--in-port", "p1"), 1, "nowhere.pcap"),
                (("explain", "br1"), 1, "there is no such bridge")):
            self.assertIn(says, self.coua(*words, status=status).stderr, words)

    def test_an_explanation(self):
        self.coua("flow", "add", "--file", "-", stdin="\n".join(
            f"tcp,tp_dst={n},actions=drop" for n in range(1, 20)))
        text = self.text("explain", "br0")
        self.assertRegex(text, r"(?m)^0 +19 +exact ")
        self.assertIn("table 0 is not direct: more than 16 rules (19)", text)
        self.assertRegex(text, r"(?m)^0 +19 +exact .* 1.00 +30 to 90$")
        self.assertIn("predicted  50 to 130 cycles a packet (25 to 65 ns), in full bursts\n", text)
        self.assertIn("measured   150 cycles a packet (75 ns), of 100 packets in bursts of 25.0 "
                      "(but for 1 that was interrupted), "
                      "since the start, 2 s ago\n", text)
        said = self.json("explain", "br0")
        self.assertEqual(said["predicted"], {"cycles": {"lower": 50, "upper": 130},
                                             "ns": {"lower": 25, "upper": 65}})
        self.assertIsNone(said["measured"])
        self.assertEqual(said["measured_since"], "explain")
        self.assertIn("measured   no packets yet, since the last explain, 2 s ago\n",
                      self.text("explain", "br0"))


class test_flows(cli_case):
    def dump(self, *words):
        return self.text("flow", "dump", *words).splitlines()

    def test_rules_come_change_and_go(self):
        rule = "table=1,priority=5,tcp,tp_dst=80 actions=output:p1"
        self.assertEqual(self.text("flow", "add", rule), "1 operation: 1 change\n")
        self.assertEqual(self.text("flow", "add", rule), "1 operation: unchanged\n")
        self.assertEqual(self.dump(),
                         [" cookie=0x0, duration=0s, table=1, n_packets=0, n_bytes=0, "
                          "priority=5,tcp,tp_dst=80 actions=output:p1"])
        self.coua("flow", "mod", "table=1,tcp actions=drop")
        self.assertIn("actions=drop", self.dump()[0])
        self.coua("flow", "mod", "--strict", "table=1,priority=4,tcp,tp_dst=80 actions=1")
        self.assertIn("actions=drop", self.dump()[0])
        self.coua("flow", "add", "udp,actions=1")
        self.assertEqual(len(self.dump("udp")), 1)
        self.assertEqual(len(self.dump("--limit", 1)), 1)
        self.coua("flow", "del", "--strict", "table=1,priority=5,tcp,tp_dst=80")
        self.assertEqual(len(self.dump()), 1)
        self.coua("flow", "del")
        self.assertEqual(self.dump(), [])
        self.assertEqual(self.json("flow", "dump"), {"flows": [], "count": 0})

    def test_a_file_that_says_nothing_changes_nothing(self):
        lines = ("group group_id=1,type=all,bucket=1\nmeter meter=1,kbps,band=type=drop,rate=1\n"
                 "tcp actions=group:1\n")
        self.coua("flow", "add", "--file", "-", stdin=lines)
        for said in ("", "\n", " ", " \n", "#", "# none yet\n", "# none\n# yet\n"):
            for what in ("flow", "group", "meter"):
                for verb in ("del", "add"):
                    self.assertEqual(self.text(what, verb, "--file", "-", stdin=said), "0 operations: unchanged\n")
        for what in ("flow", "group", "meter"):
            self.assertEqual(self.json(what, "dump")["count"], 1)

    def test_what_begins_anew_is_said(self):
        rule = "reset_counts,tcp,actions=output:p1"
        renewed = "1 renewed: counters or time-outs begin anew"
        self.assertEqual(self.text("flow", "add", rule), "1 operation: 1 change\n")
        self.assertEqual(self.text("flow", "add", rule), f"1 operation: {renewed}\n")
        self.assertEqual(self.json("flow", "add", rule),
                         {"changed": True, "operations": 1, "changes": 0, "renewed": 1})
        self.assertEqual(self.text("flow", "add", "--file", "-", stdin=f"{rule}\nudp,actions=1\n"),
                         f"2 operations: 1 change, {renewed}\n")
        self.assertEqual(self.text("flow", "add", "udp,actions=1"), "1 operation: unchanged\n")

    def test_what_was_printed_can_be_read(self):
        self.coua("flow", "add", "table=2,priority=7,cookie=0x5,ip,nw_dst=10.0.0.0/8 actions=1")
        lines = self.text("flow", "dump")
        self.coua("flow", "del")
        self.assertEqual(self.text("flow", "add", "--file", "-", stdin=lines),
                         "1 operation: 1 change\n")
        self.assertEqual(self.text("flow", "dump"), lines)

    def test_a_file_is_done_as_a_whole(self):
        lines = ("group group_id=1,type=all,bucket=1\nmeter meter=1,kbps,band=type=drop,rate=1\n"
                 "# a comment\ntcp actions=meter:1,group:1\n")
        self.assertEqual(self.json("flow", "add", "--file", "-", stdin=lines),
                         {"changed": True, "operations": 3, "changes": 3, "renewed": 0})
        done = self.coua("flow", "add", "--file", "-", stdin="udp actions=1\nfoo=1 actions=1\n",
                         status=1)
        self.assertEqual(done.stderr, "coua: line 2: unknown keyword foo\n")
        self.assertEqual(len(self.dump()), 1)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(f"ip,nw_dst=10.0.{n // 256}.{n % 256},actions=1\n"
                               for n in range(20000)))
            file.flush()
            self.assertEqual(self.json("flow", "add", "--file", file.name)["changes"], 20000)
        self.assertEqual(self.json("flow", "dump", "ip,nw_dst=10.0.0.0/16")["count"], 20000)
        stats = self.json("flow", "stats")
        self.assertEqual((stats["flows"], stats["groups"], stats["meters"]), (20001, 1, 1))
        self.assertIn("no such file", self.coua("flow", "add", "--file", "/no/such",
                                                status=1).stderr.lower())

    def file(self, content):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "rules.txt"
        path.write_bytes(content)
        return path

    def test_an_error_names_file_and_line(self):
        path = self.file(b"udp actions=1\n\nfoo=1 actions=1\n")
        self.assertEqual(self.coua("flow", "add", "--file", path, status=1).stderr,
                         f"coua: {path}:3: unknown keyword foo\n")
        path = self.file(b"foo=1 actions=1\n")
        self.assertEqual(self.coua("flow", "add", "--file", path, status=1).stderr,
                         f"coua: {path}:1: flow: unknown keyword foo\n")

    def test_words_of_lines_are_for_files(self):
        self.text("flow", "add", "udp actions=1")
        for verb, word in itertools.product(("add", "mod", "del"),
                                            ("delete", " delete udp", "modify udp actions=2",
                                             "flow udp", "group", "meter", "add udp actions=2",
                                             "delete_strict udp", "modify_strict udp actions=2")):
            self.assertIn(f"flow: unknown keyword {word.split()[0]}",
                          self.coua("flow", verb, word, status=1).stderr)
        self.assertEqual([rule.split()[-2:] for rule in self.dump()], [["udp", "actions=output:p0"]])
        self.coua("group", "add", "group_id=1,type=all")
        for kind in ("group", "meter"):
            self.assertIn(f"{kind}: ", self.coua(kind, "del", "delete", status=1).stderr)
        self.assertEqual(self.json("group", "dump")["count"], 1)

    def test_a_file_that_is_not_utf8(self):
        path = self.file(b"# B\xfcro\nudp actions=1  # B\xfcro\n")
        self.assertEqual(self.text("flow", "add", "--file", path), "1 operation: 1 change\n")
        path = self.file(b"tcp actions=1\nactions=output:B\xfcro\n")
        self.assertEqual(self.coua("flow", "add", "--file", path, status=1).stderr,
                         f"coua: {path}:2: there is a character that is not UTF-8 in it\n")
        # Pieces of a large file end within characters.
        path = self.file(("#" + "\u20ac" * 700_000 + "\nsctp actions=1\n").encode())
        self.assertEqual(self.text("flow", "add", "--file", path), "1 operation: 1 change\n")

    def test_words_that_are_not_utf8(self):
        for words, field in ((("trace", "br0", b"in_port=B\xfcro"), "packet"),
                             (("trace", b"B\xfcro", "tcp"), "bridge"),
                             (("flow", "dump", b"in_port=B\xfcro"), "filter"),
                             (("flow", "add", "--bridge", b"B\xfcro", "actions=1"), "bridge"),
                             (("fib", "add", "1", "02:00:00:00:00:01", b"B\xfcro"), "port"),
                             (("fib", "show", "--port", b"B\xfcro"), "port"),
                             (("port", "show", b"B\xfcro"), "name"),
                             (("port", "add", "p9", b"net_null9,name=\xfc"), "devargs")):
            with self.subTest(words=words):
                said = self.coua(*words, status=1).stderr
                self.assertRegex(said, r"^coua: [a-z_]+: the text is not UTF-8\n$")
                self.assertIn(field, said)
        self.assertEqual(self.coua("flow", "add", b"actions=output:B\xfcro", status=1).stderr,
                         "coua: flow: there is a character that is not UTF-8 in it\n")

    def test_errors_name_the_reason(self):
        for words, reason in ((("flow", "add", "actions=ct(commit)"),
                               "ct: the switch has no such action"),
                              (("flow", "add", "tp_dst=80 actions=1"), "TCP"),
                              (("flow", "dump", "foo=1"), "filter: unknown keyword foo"),
                              (("group", "mod", "group_id=1,type=all"), "group 1"),
                              (("meter", "add", "meter=1"), "must specify bands")):
            self.assertIn(reason, self.coua(*words, status=1).stderr)
        for words in (("flow", "add"), ("flow", "add", ""), ("flow", "add", "a", "--file", "-"),
                      ("flow", "del", "--strict"), ("group", "add"), ("meter", "mod"),
                      ("group", "dump", 1, "--from", 3), ("meter", "dump", 1, "--from", 1)):
            self.coua(*words, status=2)

    def test_groups_and_meters(self):
        self.coua("group", "add", "group_id=1,type=ff,bucket=watch_port:1,output:p0")
        self.coua("group", "add", "group_id=2,type=all", status=0)
        self.assertEqual(self.text("group", "dump", 1),
                         " group_id=1,type=ff,bucket=watch_port:p0,actions=output:p0\n")
        self.assertIn("ref_count=0", self.text("group", "dump", "--stats"))
        self.assertIn("0 flows, 2 groups, 0 meters\n", self.text("flow", "stats"))
        self.coua("group", "del", "group_id=2")
        self.assertIn("0 flows, 1 group, 0 meters\n", self.text("flow", "stats"))
        self.coua("group", "add", "group_id=2,type=all", status=0)
        self.assertEqual(self.json("group", "dump")["count"], 2)
        self.coua("group", "del", "group_id=1")
        self.coua("group", "del")
        self.assertEqual(self.json("group", "dump"), {"groups": [], "count": 0})
        self.coua("meter", "add", "meter=3,pktps,band=type=drop,rate=5")
        self.coua("meter", "mod", "meter=3,pktps,band=type=drop,rate=6")
        self.assertEqual(self.text("meter", "dump", 3), " meter=3 pktps bands= type=drop rate=6\n")
        self.assertIn("flow_count:0", self.text("meter", "dump", "--stats"))
        self.coua("meter", "del")
        self.assertEqual(self.json("meter", "dump"), {"meters": [], "count": 0})

    def test_many_groups_and_meters(self):
        self.coua("group", "add", "--file", "-", stdin="".join(
            f"group_id={n},type={('all', 'select')[n % 2]},bucket=1\n" for n in range(1, 1001)))
        self.coua("meter", "add", "--file", "-", stdin="".join(
            f"meter={n},pktps,band=type=drop,rate=5\n" for n in range(1, 1001)))
        self.coua("flow", "add", "actions=meter:1,group:1")

        def ids(what, *words):
            return [one[f"{what}_id"] for one in self.json(what, "dump", *words)[f"{what}s"]]

        for what in ("group", "meter"):
            self.assertEqual(len(ids(what)), 1000)
            self.assertEqual(ids(what, "--from", 501, "--limit", 3), [501, 502, 503])
            self.assertEqual(ids(what, "--from", 1000, "--limit", 3), [1000])
            self.assertEqual(ids(what, "--unused", "--limit", 2), [2, 3])
        self.assertEqual(ids("group", "--type", "select", "--from", 4, "--limit", 2), [5, 7])
        self.assertEqual(len(self.text("group", "dump", "--limit", 7, "--stats").splitlines()), 7)
        self.coua("group", "dump", "--type", "any", status=2)


class test_several_bridges(cli_case):
    def setUp(self):
        super().setUp()
        self.coua("bridge", "add", "br1", "--start", "none")

    def test_each_has_rules_groups_and_meters(self):
        for what, text in (("flow", "tcp,actions=drop"), ("group", "group_id=1,type=all"),
                           ("meter", "meter=3,pktps,band=type=drop,rate=5")):
            refused = self.coua(what, "add", text, status=1)
            self.assertIn("bridge: say which one: there are br0, br1\n", refused.stderr)
            self.coua(what, "add", text, "--bridge", "br1")
            self.assertEqual(self.json(what, "dump", "--bridge", "br1")["count"], 1)
            self.assertEqual(self.json(what, "dump", "--bridge", "br0")["count"], 0)
        self.assertEqual(self.json("flow", "stats", "--bridge", "br1")["flows"], 1)
        self.coua("flow", "del", "--bridge", "br1")
        self.assertEqual(self.json("flow", "stats", "--bridge", "br1")["flows"], 0)
        self.assertIn("there are br0, br1", self.coua("flow", "dump", "--bridge", "br7", status=1).stderr)
        self.assertIn("there are br0, br1", self.coua("explain", "br7", status=1).stderr)


if __name__ == "__main__":
    main()
