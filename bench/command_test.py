#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_test.py COUA_BENCH: short runs of every subcommand; checks what they print and refuse."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import ovs_daemon  # noqa: E402  (the path is set above)

PROGRAM = sys.argv.pop(1)
FIELDS = {"mops", "ns_per_op", "limit_mops", "ratio_to_limit", "bytes_per_entry", "spread"}


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, **more)


class CommandTest(unittest.TestCase):
    def report(self, *words, **more):
        done = run(*words, "--json", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual(list(out)[:4], ["bench", "params", "machine", "rows"])
        self.assertEqual(out["bench"], words[0])
        self.assertIn("cpu", out["machine"])
        self.assertTrue(out["rows"])
        for row in out["rows"]:
            self.assertIsInstance(row["name"], str)
            self.assertIsInstance(row["params"], dict)
            for field in FIELDS & set(row):
                self.assertIsInstance(row[field], (int, float), field)
            if "mops" in row:
                self.assertGreater(row["mops"], 0)
        return out

    @contextlib.contextmanager
    def nothing_left(self):
        """An environment for a program that must leave no file or folder behind."""
        with tempfile.TemporaryDirectory() as folder:
            names = {"TMPDIR": folder + "/tmp", "RUNTIME_DIRECTORY": folder + "/run"}
            for each in names.values():
                os.mkdir(each)
            yield {**os.environ, **names}
            self.assertEqual(sorted(os.listdir(names["TMPDIR"])), [])
            self.assertEqual(sorted(os.listdir(names["RUNTIME_DIRECTORY"])), [])

    def test_limit(self):
        out = self.report("limit", "--size", "64Ki,1Mi", "--pages", "auto,4K", "--threads", "1",
                          "--prefetch", "t0,t1", "--seconds", "0.002")
        rows = out["rows"]
        self.assertEqual(len(rows), 2 * 2 * 2)
        self.assertEqual({r["name"] for r in rows}, {"limit"})
        self.assertEqual({r["params"]["size"] for r in rows}, {65536, 1048576})
        self.assertEqual({r["params"]["prefetch"] for r in rows}, {"t0", "t1"})
        self.assertIsInstance(rows[0]["params"]["threads"], int)

    def test_fib(self):
        out = self.report("fib", "--entries", "20K", "--mode", "batch,ahead,pipeline", "--batch",
                          "7,32", "--misses", "0,50,100", "--seconds", "0.002")
        loads = [r for r in out["rows"] if r["name"] == "fib/load"]
        rows = [r for r in out["rows"] if r["name"] != "fib/load"]
        self.assertEqual(len(loads), 1)
        self.assertGreater(loads[0]["seconds"], 0)
        self.assertEqual({r["name"] for r in rows}, {"fib/batch", "fib/ahead", "fib/pipeline"})
        self.assertEqual(len(rows), 3 * 2 * 3)
        for row in rows:
            self.assertTrue(FIELDS <= set(row), row)
            self.assertAlmostEqual(row["ratio_to_limit"], row["mops"] / row["limit_mops"], 3)
            self.assertEqual(row["params"]["entries"], 20000)
            self.assertEqual(row["params"]["threads"], 1)

    def test_fib_updates(self):
        out = self.report("fib", "--entries", "20K", "--mode", "batch", "--updates", "0,64K",
                          "--pairs", "3", "--seconds", "0.005")
        rates = {r["params"].get("updates"): r for r in out["rows"] if r["name"] == "fib/batch"}
        self.assertEqual(set(rates), {0, 64000})
        self.assertGreater(rates[64000]["ratio_to_none"], 0)
        self.assertEqual(rates[64000]["pairs"], 3)

    def test_fib_peers(self):
        out = self.report("fib", "--entries", "5K", "--mode", "batch", "--peers", "--seconds",
                          "0.002")
        names = {r["name"] for r in out["rows"]}
        self.assertIn("unordered_map/single", names)
        some = self.report("fib", "--entries", "5K", "--mode", "batch", "--peers", "unordered_map",
                           "--seconds", "0.002")
        self.assertLess(len(some["rows"]), len(out["rows"]) + 1)

    def test_flow(self):
        out = self.report("flow", "--capacity", "16Ki", "--load", "0.8,0.95", "--variants",
                          "bloom,horton-timer", "--sync", "single,one-writer", "--batch", "7,32",
                          "--misses", "0,50", "--fills", "2", "--seconds", "0.002")
        inserts = [r for r in out["rows"] if r["name"].endswith("/insert")]
        rows = [r for r in out["rows"] if not r["name"].endswith("/insert")]
        self.assertEqual(len(inserts), 2 * 2 * 2)
        self.assertEqual({r["name"] for r in rows},
                         {f"{table}/{mode}" for table in ("bloom", "horton-timer")
                          for mode in ("batch", "ahead", "pipeline")})
        self.assertEqual(len(rows), 2 * 3 * 2 * 2 * 2 * 2)
        for row in rows:
            self.assertTrue(FIELDS <= set(row), row)
            self.assertEqual(row["params"]["capacity"], 16384)
            self.assertIn(row["params"]["sync"], ("single", "one-writer"))
            if row["params"]["load"] == 0.95:
                self.assertAlmostEqual(row["bytes_per_entry"], 40 / 0.95, 1)

    def test_flow_churn(self):
        out = self.report("flow", "--capacity", "16Ki", "--variants", "bloom-timer", "--sync",
                          "one-writer", "--mode", "batch", "--misses", "0", "--churn", "0,64K",
                          "--pairs", "3", "--fills", "1", "--seconds", "0.005")
        rates = {r["params"].get("churn"): r for r in out["rows"] if r["name"].endswith("/batch")}
        self.assertEqual(set(rates), {0, 64000})
        self.assertGreater(rates[64000]["ratio_to_none"], 0)

    def test_flow_figures(self):
        small = ("--capacity", "64Ki", "--seconds", "0.002")
        shares = self.report("flow", "--figure", "2", *small)["rows"]
        of_eight = {r["params"]["load"]: r["in_secondary"] for r in shares
                    if r["params"]["slots"] == 8}
        self.assertAlmostEqual(of_eight[0.95], 0.16, 1)
        self.assertLess(of_eight[0.5], 0.02)
        self.assertTrue(any(r.get("full") and r["params"]["slots"] == 1 for r in shares))
        moved = self.report("flow", "--figure", "5", *small)["rows"]
        at_095 = [r["share"] for r in moved if r["params"]["load"] == 0.95]
        self.assertAlmostEqual(sum(at_095), 1, 3)
        self.assertGreater(at_095[0], 0.4)
        wrong = self.report("flow", "--table", "2", *small)["rows"]
        for name, load, most in (("bloom", 0.6, 0.0002), ("bloom", 0.8, 0.001),
                                 ("bloom", 0.95, 0.003), ("horton", 0.95, 0.05)):
            rate = next(r["false_positive_rate"] for r in wrong
                        if r["name"] == name + "/false-positives" and r["params"]["load"] == load)
            self.assertLess(rate, most, name)

    def test_flow_source_lines(self):
        rows = {r["name"]: r for r in self.report("flow", "--table", "1")["rows"]}
        tables = ("pessimistic", "optimistic", "horton", "bloom")
        self.assertEqual(set(rows), {f"{table}{timer}/source" for table in tables
                                     for timer in ("", "-timer")})
        base = rows["pessimistic/source"]["lines"]
        self.assertGreater(base, 300)
        for row in rows.values():
            self.assertEqual(row["added"], row["lines"] - base)
        # A variant is the common part and little more; a filter is more than no filter.
        for table in tables:
            plain, timed = (rows[table + timer + "/source"]["lines"] for timer in ("", "-timer"))
            self.assertTrue(0 < timed - plain < base / 4, (table, plain, timed))
        for table in ("horton", "bloom"):
            self.assertTrue(20 < rows[table + "/source"]["added"] < base / 4, rows)
        one = self.report("flow", "--table", "1", "--variants", "bloom")["rows"]
        self.assertEqual(one, [rows["bloom/source"]])
        self.assertIn("bloom-timer/source", run("flow", "--table", "1").stdout)

    def test_flow_peers(self):
        words = ("flow", "--capacity", "4Ki", "--variants", "bloom", "--mode", "batch", "--misses",
                 "0", "--fills", "1", "--seconds", "0.002", "--peers")
        if "no DPDK" in run(*words).stderr:
            self.skipTest("built without DPDK")
        with self.nothing_left() as environment:
            rows = {r["name"]: r for r in self.report(*words, env=environment)["rows"]}
            # Refused by a table, when DPDK has long started.
            full = run(*words, "rte_hash", "--load", "0.99", env=environment)
            self.assertEqual(full.returncode, 1, full.stdout)
            self.assertIn("refuses entries", full.stderr)
        for name in ("rte_hash", "rte_hash_lf", "rte_hash_ext"):
            self.assertAlmostEqual(rows[name + "/insert"]["load_reached"], 0.95, 2)
        self.assertEqual(rows["rte_hash/batch"]["ratio_to_rte_hash"], 1)
        self.assertGreater(rows["bloom/batch"]["ratio_to_rte_hash"], 0)
        self.assertGreater(rows["bloom/insert"]["ratio_to_rte_hash"], 0)

    def test_forward(self):
        if "no DPDK" in run("forward", "--rules", "1", "--flows", "2").stderr:
            self.skipTest("built without DPDK")
        words = ["forward", "--case", "l2", "--rules", "500", "--flows", "300", "--size", "64,128",
                 "--updates", "0,20K", "--pairs", "2", "--seconds", "0.02", "--repetitions", "2"]
        if not shutil.which("dpdk-testpmd") or len(os.sched_getaffinity(0)) < 2:
            words.append("--no-testpmd")
        with self.nothing_left() as environment:
            out = self.report(*words, env=environment)
        names = [r["name"] for r in out["rows"]]
        self.assertIn("raw-io", names)
        self.assertEqual(names.count("coua"), 4)
        self.assertEqual("testpmd-mac" in names, "--no-testpmd" not in words)
        for row in out["rows"]:
            self.assertEqual(row["params"]["rules"], 500)
            self.assertIn(row["params"]["size"], (64, 128))
        self.assertEqual(sum("ratio_to_none" in r for r in out["rows"]), 2)

    def test_forward_pipelines(self):
        if "no DPDK" in run("forward", "--rules", "1", "--flows", "2").stderr:
            self.skipTest("built without DPDK")
        short = ("--seconds", "0.02", "--repetitions", "2", "--pairs", "2")
        more = ["--no-testpmd"]
        with self.nothing_left() as environment:
            for words, rules in ((("l2-flows", "--rules", "50"), 50), (("l3", "--size", "1518"), 2000),
                                 (("lb", "--single-table"), 100), (("lb",), 100),
                                 (("gateway", "--rules", "1K", "--direction", "down"), 1000),
                                 (("gateway-1m", "--rules", "100", "--users", "30"), 100)):
                rows = self.report("forward", "--case", *words, "--flows", "200", "--updates",
                                   "0,10K", *more, *short, env=environment)["rows"]
                self.assertEqual([r["name"] for r in rows], ["coua", "raw-io", "coua"])
                self.assertEqual([r["params"]["updates"] for r in rows], [0, 0, 10000])
                for row in rows:
                    self.assertEqual(row["params"]["case"], words[0])
                    self.assertEqual(row["params"]["rules"], rules)
                    self.assertEqual(row["params"]["flows"], 200)
                self.assertLess(rows[0]["ratio_to_limit"], 1.2)
                self.assertGreater(rows[2]["ratio_to_none"], 0)
                self.assertGreater(rows[2]["updates_per_s"], 500)
        if not shutil.which("dpdk-testpmd") or len(os.sched_getaffinity(0)) < 2:
            self.skipTest("no testpmd")
        rows = self.report("forward", "--case", "lb", "--flows", "100,300", *short)["rows"]
        self.assertEqual([r["name"] for r in rows], ["coua", "raw-io", "testpmd-mac"] * 2)

    def test_forward_beside_ovs(self):
        if "no DPDK" in run("forward", "--rules", "1", "--flows", "2").stderr:
            self.skipTest("built without DPDK")
        refused = run("forward", "--case", "l2", "--peer", "ovs")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--peer", refused.stderr)
        if not os.path.exists(ovs_daemon.PATH):
            self.skipTest("no Open vSwitch with DPDK")
        if len(os.sched_getaffinity(0)) < 2 or os.geteuid() != 0:
            self.skipTest("Open vSwitch needs a second CPU, and root")
        words = ("forward", "--case", "lb", "--peer", "ovs", "--no-testpmd", "--seconds", "0.05",
                 "--repetitions", "2", "--flows")
        with self.nothing_left() as environment:
            rows = self.report(*words, "200,300", env=environment)["rows"]
        self.assertEqual([r["name"] for r in rows], ["coua", "raw-io", "ovs"] * 2)
        self.assertAlmostEqual(rows[2]["ratio_to_ovs"], 1)
        self.assertAlmostEqual(rows[0]["mops"] / rows[2]["mops"], rows[0]["ratio_to_ovs"], 3)
        self.assertGreater(sum(rows[2][cache] for cache in ("emc", "simple_match", "megaflow")), 0.9)
        # Its ways with many masks: it takes of a packet what the rule takes, no more.
        with self.nothing_left() as environment:
            rows = self.report("forward", "--case", "classify", "--masks", "12", *words[3:],
                               "1K", "--peer", "ovs-smc,ovs-none", env=environment)["rows"]
        found = {r["name"]: r for r in rows}
        self.assertEqual(set(found), {"coua", "raw-io", "ovs", "ovs/smc", "ovs/none"})
        for name, cache in (("ovs", "emc"), ("ovs/smc", "smc"), ("ovs/none", "megaflow")):
            self.assertGreater(found[name][cache], 0.2, found[name])
            self.assertEqual((found[name]["megaflows"], found[name]["megaflow_masks"]), (12, 12))
            field = "ratio_to_" + name.replace("/", "_")
            self.assertAlmostEqual(found["coua"]["mops"] / found[name]["mops"],
                                   found["coua"][field], 2)
        self.assertGreater(found["ovs/none"]["masks_asked"], 3)
        # More packets than its pool holds by itself.
        with self.nothing_left() as environment:
            rows = self.report(*words, "270K", env=environment)["rows"]
        self.assertGreater(rows[2]["megaflow"], 0.8)
        with tempfile.TemporaryDirectory() as folder:
            lonely = shutil.copy(PROGRAM, folder)
            refused = subprocess.run([lonely, *words, "270K"], capture_output=True, text=True,
                                     timeout=120)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("do not fit its pool of 262.1 K, and bench/libovs_packets.so", refused.stderr)

    def peer_words(self):
        """Of a run beside Open vSwitch, where that is possible."""
        if "no DPDK" in run("forward", "--rules", "1", "--flows", "2").stderr:
            self.skipTest("built without DPDK")
        there = os.path.exists(ovs_daemon.PATH) and len(os.sched_getaffinity(0)) > 1 and os.geteuid() == 0
        return ("--peer", "ovs") if there else ()

    def test_forward_cold_start(self):
        peer = self.peer_words()
        with self.nothing_left() as environment:
            out = self.report("forward", "--measure", "cold-start", "--flows", "3K", "--rules", "500", "--seconds", "0.3",
                              "--repetitions", "4", *peer, env=environment)
        self.assertEqual(out["params"]["measure"], "cold-start")
        found = {name: [r for r in out["rows"] if r["name"] == name] for name in ("coua", "ovs", "ovs/lifted")}
        for name in found if peer else ("coua",):
            self.assertEqual([r["params"]["second"] for r in found[name]], [0.3, 0.6, 0.9, 1.2])
            packets = [r["packets"] for r in found[name]]
            self.assertEqual(packets, sorted(packets))
            self.assertAlmostEqual(sum(r["mops"] for r in found[name]) * 0.3e6 / packets[-1], 1, 2)
            self.assertGreater(found[name][-1]["cpu_seconds"], 0.01)
            self.assertEqual({r["params"]["case"] for r in found[name]}, {"gateway"})
        if not peer:
            self.skipTest("no Open vSwitch with DPDK")
        # Each flow misses at least once, and the ratio is that of the sums.
        for name in ("ovs", "ovs/lifted"):
            self.assertGreaterEqual(sum(r["misses"] for r in found[name]), 2900)
            self.assertAlmostEqual(found["coua"][-1]["packets"] / found[name][-1]["packets"]
                                   / found["coua"][-1]["ratio_to_" + name.replace("/", "_")], 1, 3)

    def test_forward_attack(self):
        peer = self.peer_words()
        with self.nothing_left() as environment:
            rows = self.report("forward", "--case", "classify", "--masks", "200", "--flows", "4K", "--attack", "0,20",
                               "--seconds", "0.05", "--repetitions", "2", "--no-testpmd", *peer, env=environment)["rows"]
        found = {(r["name"], r["params"]["attack"]): r for r in rows}
        names = ("coua", "raw-io", "ovs") if peer else ("coua", "raw-io")
        self.assertEqual(set(found), {(name, percent) for name in names for percent in (0, 20)})
        for name in names:
            under, peace = found[name, 20], found[name, 0]
            self.assertAlmostEqual(under["rest_mops"] / under["mops"], 0.8, 4)
            self.assertAlmostEqual(under["rest_mops"] / peace["mops"] / under["ratio_to_peace"], 1, 3)
            self.assertEqual(peace["ratio_to_peace"], 1)
        if peer:
            # Two masks in peace, which come first.
            self.assertLess(found["ovs", 0]["masks_asked"], 3)
            self.assertGreater(found["ovs", 20]["megaflow_masks"], 100)

    def test_forward_latency(self):
        peer = self.peer_words()
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("the source of packets needs a CPU beside that of the worker")
        with self.nothing_left() as environment:
            rows = self.report("forward", "--measure", "latency", "--flows", "500", "--rules", "500", "--seconds", "0.2",
                               "--repetitions", "1", *peer, env=environment)["rows"]
        self.assertEqual([r["name"] for r in rows],
                         ["coua", "coua/at-rate-of-ovs", "ovs"] if peer else ["coua"])
        for row in rows:
            self.assertGreater(row["p50_us"], 0.05)
            self.assertLessEqual(row["p50_us"], row["p99_us"])
            self.assertLessEqual(row["p99_us"], row["p999_us"])
            self.assertLessEqual(row["p999_us"], row["longest_us"])
            self.assertLess(row["lost"], 0.5)
            self.assertLessEqual(row["mops"], 1.1 * row["offered_mops"])
        self.assertAlmostEqual(rows[0]["offered_mops"] / rows[0]["peak_mops"], 0.5, 3)
        if peer:
            self.assertAlmostEqual(rows[1]["offered_mops"] / rows[2]["offered_mops"], 1, 3)
            self.assertAlmostEqual(rows[0]["mean_us"] / rows[2]["mean_us"] / rows[0]["mean_ratio_to_ovs"], 1, 3)

    def test_stalls(self):
        words = ("stalls", "--entries", "2K", "--batch", "100", "--rules", "20", "--repetitions", "2")
        if "no DPDK" in run(*words).stderr:
            self.skipTest("built without DPDK")
        with self.nothing_left() as environment:
            rows = self.report(*words, env=environment)["rows"]
        self.assertEqual([r["name"] for r in rows[:2]], ["nothing", "another CPU busy"])
        for wanted in ("port add", "port remove", "fib flush", "capture of all", "flow bundle"):
            [row] = [r for r in rows if r["name"] == wanted]
            self.assertLessEqual(row["gap_us"], row["longest_gap_us"])
            self.assertGreater(row["gap_us"], 0)
        self.assertGreater(rows[0]["action_ms"], 19)

    def test_traffic(self):
        with tempfile.TemporaryDirectory() as folder:
            packets, addresses = folder + "/x.pcap", folder + "/x.txt"
            self.report("traffic", "--case", "l2", "--rules", "1K", "--flows", "40", "--size",
                        "128", "--vlan", "7", "--out", packets, "--addresses", addresses)
            with open(addresses) as file:
                lines = [line.split() for line in file]
            self.assertEqual(len(lines), 1000)
            self.assertEqual({(vlan, port) for vlan, _, port in lines}, {("7", "p1")})
            known = {mac for _, mac, _ in lines}
            self.assertEqual(len(known), 1000)
            with open(packets, "rb") as file:
                data = file.read()
            self.assertEqual(len(data), 24 + 40 * (16 + 124))
            frames = [data[24 + i * 140 + 16:24 + (i + 1) * 140] for i in range(40)]
            targets = {frame[:6].hex(":") for frame in frames}
            self.assertEqual(len(targets), 40)
            self.assertTrue(targets <= known)
            self.assertFalse({frame[6:12].hex(":") for frame in frames} & known)

    def test_traffic_of_pipelines(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = parent + "/new"
            if "no libopenvswitch" in run("traffic", "--case", "l3", "--out", folder).stderr:
                self.skipTest("built without libopenvswitch")
            out = self.report("traffic", "--case", "gateway", "--rules", "70", "--flows", "40",
                              "--direction", "both", "--size", "128", "--packets", "100", "--out",
                              folder)
            self.assertEqual(out["params"], {"case": "gateway", "rules": 70, "flows": 40,
                                             "size": 128, "users": 20, "direction": "both",
                                             "seed": 1})
            rules, *packets = out["rows"]
            self.assertEqual((rules["file"], rules["count"]), (folder + "/rules.txt", 491))
            with open(rules["file"]) as file:
                lines = file.read().splitlines()
            self.assertEqual(len(lines), 491)
            self.assertEqual(sum("table=110," in line for line in lines), 70)
            for line in lines:
                self.assertRegex(line, r"^(table=\d+, )?priority=\d+,\S+ actions=\S+$")
            self.assertEqual([r["file"] for r in packets],
                             [f"{folder}/traffic-{port}.pcap" for port in (1, 2)])
            self.assertEqual(sum(r["count"] for r in packets), 100)
            for row in packets:
                self.assertEqual(os.path.getsize(row["file"]), 24 + row["count"] * (16 + 124))
            files = list(pathlib.Path(folder).iterdir())
            self.assertEqual(len(files), 3)
            first = [each.read_bytes() for each in files]
            run("traffic", "--case", "gateway", "--rules", "70", "--flows", "40", "--direction",
                "both", "--size", "128", "--packets", "100", "--out", folder)
            self.assertEqual([each.read_bytes() for each in files], first)

    def test_rules(self):
        for kind, least, most, least_masks in (("acl", 1.3, 2.2, 100), ("fw", 2.5, 5, 100),
                                               ("ipc", 1.05, 1.5, 50), ("openflow", 1, 1, 15)):
            out = self.report("rules", "--kind", kind, "--rules", "2K", "--flows", "500",
                              "--seed", "3")
            self.assertEqual(out["params"], {"kind": kind, "seed": 3})
            whole = out["rows"][0]
            self.assertEqual(whole["name"], kind + "/set")
            self.assertEqual(whole["rules"], 2000)
            self.assertTrue(whole["default_rule"])
            self.assertAlmostEqual(whole["expansion"], whole["entries"] / 2000, 4)
            self.assertTrue(least <= whole["expansion"] <= most, whole)
            self.assertTrue(least_masks < whole["masks"] < 2000, whole)
            self.assertEqual(whole["key_bytes"], 48 if kind == "openflow" else 16)
            self.assertEqual(whole["flows"], 500)
            self.assertGreater(whole["matches_per_flow"], 0.9)  # some flows are the default rule's
            self.assertTrue(0 < whole["matched_by_many"] < 1, whole)
            sums = {}
            for row in out["rows"][1:]:
                sums[row["name"]] = sums.get(row["name"], 0) + row["share"]
            self.assertLess({kind + "/source", kind + "/destination"}, set(sums))
            for name, total in sums.items():
                self.assertAlmostEqual(total, 1, 3, name)
        table = run("rules", "--kind", "acl", "--rules", "50")
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("acl/protocol", table.stdout)

    def test_rules_masks(self):
        whole, = self.report("rules", "--kind", "masks", "--masks", "600", "--flows", "700")["rows"]
        self.assertEqual((whole["rules"], whole["masks"], whole["entries"]), (600, 600, 600))
        self.assertFalse(whole["default_rule"])
        self.assertEqual((whole["matched_by_many"], whole["matches_per_flow"]), (0, 1))

    def test_rules_text(self):
        words = ("rules", "--kind", "fw", "--rules", "300", "--text")
        lines = run(*words).stdout.splitlines()
        self.assertEqual(len(lines), 300)
        for line in lines:
            self.assertRegex(line, r"^@(\d+\.){3}\d+/\d+\t(\d+\.){3}\d+/\d+\t\d+ : \d+\t\d+ : \d+"
                                   r"\t0x[0-9A-F]{2}/0x(00|FF)\t0x0000/0x0000$")
        self.assertEqual(run(*words).stdout.splitlines(), lines)
        self.assertNotEqual(run(*words, "--seed", "2").stdout.splitlines(), lines)
        wide = run("rules", "--kind", "openflow", "--rules", "300", "--text").stdout.splitlines()
        self.assertEqual([line.split(",")[0] for line in wide],
                         [f"priority={n}" for n in range(300, 0, -1)])

    def test_classify(self):
        short = ("--seconds", "0.002", "--repetitions", "2", "--flows", "500")
        rows = self.report("classify", "--masks", "3,20", "--misses", "0,50", *short)["rows"]
        self.assertEqual(len(rows), 2 * 2 * 3 * 2)
        self.assertEqual({r["name"] for r in rows},
                         {"distributor/on", "distributor/off", "distributor/auto"})
        for row in rows:
            params = row["params"]
            self.assertEqual((params["kind"], params["flows"]), ("masks", 500))
            self.assertEqual(row["distinct_masks"], params["masks"])
            plain = params["distributor"] == "off" and not params["pruned"]
            self.assertEqual("ratio_to_plain" in row, not plain)
            if params["distributor"] == "on":
                self.assertTrue(row["on"])
                self.assertLess(row["probes_per_hit"], 1.1)
                self.assertAlmostEqual(row["hinted"], 1 - params["misses"] / 100, 1)
        for kind in ("acl", "fw", "ipc", "openflow"):
            for misses in ("0", "30"):
                rows = self.report("classify", "--kind", kind, "--rules", "200", "--misses", misses,
                                   "--distributor", "on", *short)["rows"]
                self.assertEqual([r["params"]["pruned"] for r in rows], [True, False])
        rows = self.report("classify", "--patch-table", *short)["rows"]
        self.assertEqual({r["params"]["masks"] for r in rows}, {10, 20, 30})
        self.assertIn("generic", {r["params"].get("simd") for r in rows})

    def test_classify_peers(self):
        if run("classify", "--peers", "rte_acl", "--masks", "0").stderr.find("in a build") >= 0:
            self.skipTest("built without DPDK")
        rows = self.report("classify", "--kind", "ipc", "--rules", "300", "--flows", "400",
                           "--misses", "20", "--peers", "rte_acl", "--seconds", "0.002",
                           "--repetitions", "2")["rows"]
        self.assertEqual(rows[-1]["name"], "rte_acl")

    def test_lpm(self):
        short = ("--seconds", "0.002", "--repetitions", "2")
        rows = self.report("lpm", "--prefixes", "1,3K", "--batch", "7", *short)["rows"]
        self.assertEqual(len(rows), 2 * 2 * 2)
        self.assertEqual({r["name"] for r in rows}, {"lpm/coua"})
        self.assertEqual({r["params"]["root"] for r in rows}, {8, 16})
        self.assertEqual({r["params"]["family"] for r in rows}, {"ipv4", "ipv6"})
        for row in rows:
            self.assertGreater(row["bytes_per_entry"], 16)
            self.assertGreater(row["load_mops"], 0)
            self.assertGreater(row["change_mops"], 0)
            self.assertLess(row["groups"], row["params"]["prefixes"])

    def test_lpm_peers(self):
        done = run("lpm", "--prefixes", "1K", "--peers", "nobody")
        if done.stderr.find("in a build") >= 0:
            self.skipTest("built without DPDK")
        rows = self.report("lpm", "--prefixes", "1K", "--root", "16", "--peers", "--seconds",
                           "0.002", "--repetitions", "2")["rows"]
        self.assertEqual([r["name"] for r in rows], ["lpm/coua", "lpm/rte_fib"] * 2)

    def test_pipeline(self):
        short = ("--seconds", "0.002", "--repetitions", "2")
        rows = self.report("pipeline", "--case", "l2-flows", "--rules", "50,1K", "--flows",
                           "1,3K", "--batch", "1,32", *short)["rows"]
        self.assertEqual(len(rows), 2 * 2 * 2)
        for row in rows:
            self.assertEqual(row["name"], "pipeline")
            self.assertEqual(row["tables"], "0:exact")
            self.assertEqual(row["all_rules"], row["params"]["rules"])
            self.assertGreater(row["ns_per_op"], 0)
            self.assertAlmostEqual(row["with_copy_ns"] / (row["ns_per_op"] + row["copy_ns"]), 1, 0)
        gateway = "0-1:direct 2-21:exact 110:lpm"
        for words, rules, all_rules, tables in (
                (("l3",), 2000, 2000, "0:lpm"),
                (("lb",), 100, 204, "0:direct 1-2:exact"),
                (("lb", "--single-table"), 100, 202, "0:decomposed"),
                (("gateway", "--direction", "down"), 10000, 10421, gateway),
                (("gateway", "--direction", "both", "--size", "1518"), 10000, 10421, gateway),
                (("gateway-1m", "--users", "300", "--rules", "500"), 500, 6521, gateway)):
            row, = self.report("pipeline", "--case", *words, *short)["rows"]
            self.assertEqual(row["params"]["case"], words[0])
            self.assertEqual(row["params"]["rules"], rules)
            self.assertEqual(row["all_rules"], all_rules)
            self.assertEqual(row["tables"], tables)
        rows = self.report("pipeline", "--case", "classify", "--masks", "5,40", *short)["rows"]
        self.assertEqual([(r["params"]["masks"], r["all_rules"]) for r in rows], [(5, 5), (40, 40)])
        rows = self.report("pipeline", "--simd", "generic", *short)["rows"]
        self.assertEqual([r["params"]["simd"] for r in rows], ["generic"])

    def test_setsep(self):
        rows = self.report("setsep", "--keys", "1,30K", "--value-bits", "2", "--config",
                           "16+8,8+16", "--threads", "1", "--batch", "1,32", "--seconds", "0.002",
                           "--repetitions", "2")["rows"]
        names = ["build", "lookup", "lookup", "pipeline", "update", "apply", "update", "apply"]
        self.assertEqual([r["name"] for r in rows], ["setsep/" + name for name in names] * 4)
        for row in rows:
            self.assertGreater(row["mops"], 0)
            if row["params"]["keys"] > 1 and row["params"]["config"] == "16+8":
                self.assertAlmostEqual(row["bits_per_key"], 3.7, delta=0.3)
        self.assertEqual(rows[16]["fallback_ratio"], 0)
        self.assertGreater(rows[24]["fallback_ratio"], 0)
        self.assertGreater(rows[20]["delta_bytes"], rows[22]["delta_bytes"])

    def test_setsep_peers(self):
        words = ("setsep", "--keys", "30K", "--seconds", "0.002", "--repetitions", "2", "--peers")
        with self.nothing_left() as environment:
            out = self.report(*words, "--value-bits", "2", env=environment)
            wide = self.report(*words, "--value-bits", "9", env=environment)
        rows = {r["name"]: r for r in out["rows"]}
        for name in ("fib/batch", "fib/pipeline", "unordered_map/single", "setsep/hash-lookup"):
            self.assertGreater(rows[name]["mops"], 0)
        self.assertGreater(rows["fib/batch"]["bits_per_key"], 64)
        self.assertGreater(rows["setsep/lookup"]["ratio_to_fib"], 0)
        self.assertNotIn("ratio_to_fib", rows["fib/batch"])
        few = self.report(*words, "fib", "--value-bits", "2")["rows"]
        self.assertNotIn("unordered_map/single", [r["name"] for r in few])
        if "rte_hash/batch" not in rows:
            self.skipTest("built without DPDK")
        # Packaged for AVX2 it is wrong; then a note says so, and the row that it is without.
        notes = out.get("notes", [])
        if "rte_efd/batch" in rows:
            self.assertGreater(rows["setsep/lookup"]["ratio_to_rte_efd"], 0)
            self.assertEqual("vectors" in rows["rte_efd/batch"], bool(notes))
        else:
            self.assertIn("left out", notes[0])
        self.assertIn("values of 8 bits", wide["notes"][0])
        self.assertNotIn("rte_efd/batch", [r["name"] for r in wide["rows"]])

    def test_setsep_table_1(self):
        out = self.report("setsep", "--table", "1", "--keys", "20K", "--repetitions", "1")
        rows = [(r["params"]["config"], r["params"]["value_bits"]) for r in out["rows"]
                if r["params"]["threads"] == 1]
        self.assertEqual(rows, [("16+8", 1), ("8+16", 1), ("16+16", 1), ("16+8", 2), ("16+8", 3),
                                ("16+8", 4)])
        for row in out["rows"]:
            self.assertEqual("ratio_to_first" in row, row["params"]["threads"] > 1)
        self.assertTrue(out["params"]["bars"])

    def test_setsep_figures(self):
        out = self.report("setsep", "--figure", "7", "--keys", "5K,20K", "--batch", "1,32",
                          "--seconds", "0.002", "--repetitions", "1")
        self.assertEqual([(r["name"], r["params"]["keys"], r["params"]["batch"])
                          for r in out["rows"]],
                         [("setsep/lookup", keys, batch) for keys in (5000, 20000)
                          for batch in (1, 32)])
        rows = self.report("setsep", "--figure", "11", "--keys", "150K")["rows"]
        entries = {(r["name"], r["params"]["source"], r["params"]["nodes"]): r["million_entries"]
                   for r in rows}
        self.assertEqual(len(entries), len(rows))
        # The formula of section 6.3; the text beside it says 5.7.
        one, all_ = entries["duplication", "formula", 1], entries["scalebricks", "formula", 32]
        self.assertAlmostEqual(all_ / one, 32 * 64 / (64 + 8 * 32), delta=0.01)
        self.assertAlmostEqual(entries["scalebricks", "measured", 4] /
                               entries["scalebricks", "formula", 4], 1, delta=0.15)

    def test_plan(self):
        rows = self.report("plan", "--tables", "3,251", "--rules", "2", "--repetitions", "2")["rows"]
        kinds = ["plan/rebuild", "plan/add-rule", "plan/remove-rule"]
        self.assertEqual([r["name"] for r in rows], kinds * 2)
        self.assertEqual([r["params"]["bridges"] for r in rows], [1] * 3 + [2] * 3)
        for row in rows:
            self.assertGreater(row["ms"], 0)
            self.assertGreaterEqual(row["longest_ms"], row["ms"])

    def test_plot_classify(self):
        with tempfile.TemporaryDirectory() as folder:
            source = folder + "/table.json"
            done = run("classify", "--patch-table", "--flows", "300", "--seconds", "0.002",
                       "--repetitions", "2", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(source, "w") as file:
                file.write(done.stdout)
            drawn = run("plot", source)
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            with open(folder + "/table.svg") as file:
                svg = file.read()
            for text in ("distributor/on simd generic", "distributor/off", ">masks<", "30"):
                self.assertIn(text, svg)

    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            source = folder + "/run.json"
            done = run("fib", "--figure", "6", "--entries", "2K,5K", "--batch", "1,8", "--seconds",
                       "0.002", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["params"]["figure"], 6)
            with open(source, "w") as file:
                file.write(done.stdout)
            drawn = run("plot", source)
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            with open(folder + "/run.svg") as file:
                svg = file.read()
            self.assertIn("fib/batch batch 8", svg)
            self.assertIn("figure 6", svg)
            picture = run("plot", source, "-o", folder + "/run.png")
            if picture.returncode != 0:
                self.assertIn("rsvg-convert", picture.stderr)
            for words in ((source, "-o", "x.gif"), (folder + "/none.json",), (__file__,)):
                self.assertEqual(run("plot", *words).returncode, 1, words)

    def test_plain_table(self):
        done = run("fib", "--entries", "5K", "--mode", "batch", "--seconds", "0.002")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fib/batch", done.stdout)
        self.assertIn("ratio_to_limit", done.stdout)

    def test_refusals_name_the_option(self):
        for words, named in ((("fib", "--entries", "12Q"), "--entries 12Q"),
                             (("fib", "--load", "1.5"), "--load 1.5"),
                             (("fib", "--mode", "wrong"), "--mode wrong"),
                             (("fib", "--peers", "nobody"), "--peers nobody"),
                             (("fib", "--threads", "1000"), "--threads 1000"),
                             (("flow", "--variants", "blom"), "--variants blom"),
                             (("flow", "--peers", "nobody"), "--peers nobody"),
                             (("flow", "--churn", "5K"), "--churn 5000"),
                             (("flow", "--key", "4", "--capacity", "4Gi"), "--key 4"),
                             (("flow", "--table", "1", "--capacity", "4Ki"), "--capacity: has no"),
                             (("flow", "--table", "1", "--peers"), "--peers: has no meaning"),
                             (("flow", "--table", "2", "--figure", "2"), "--figure"),
                             (("flow", "--table", "3"), "--table"),
                             (("forward", "--rules", "10", "--flows", "11"), "--flows 11"),
                             (("forward", "--size", "63"), "--size 63"),
                             (("forward", "--users", "5"), "--users: has no meaning"),
                             (("forward", "--case", "lb", "--peer", "ovs,ovs"), "--peer: names one twice"),
                             (("forward", "--case", "l3", "--users", "5"), "--users: has no"),
                             (("forward", "--case", "l3", "--attack", "5"), "--attack: has no"),
                             (("forward", "--attack", "5"), "--attack: has no"),
                             (("forward", "--case", "classify", "--attack", "91"), "--attack 91"),
                             (("forward", "--case", "classify", "--masks", "1", "--attack", "5"), "--masks 1"),
                             (("forward", "--case", "l2", "--measure", "latency"), "--measure: has no"),
                             (("forward", "--measure", "cold-start", "--updates", "5"), "--updates: has no"),
                             (("forward", "--measure", "cold-start", "--flows", "5,6"), "--flows: takes one"),
                             (("forward", "--measure", "speed"), "--measure = speed"),
                             (("forward", "--case", "lb", "--sources", "5"), "--sources: has no"),
                             (("forward", "--case", "lb", "--figure", "8"), "--figure: has no"),
                             (("forward", "--case", "gateway", "--direction", "both"),
                              "--direction both: there is one"),
                             (("traffic", "--rules", "5", "--out", "/dev/null/x"), "--flows"),
                             (("traffic", "--out", "/nowhere/x"), "/nowhere/x"),
                             (("traffic", "--case", "l2", "--packets", "5"), "--packets: has no"),
                             (("traffic", "--case", "l3"), "--out: name a folder"),
                             (("traffic", "--case", "l3", "--out", "/dev/null/x"), "/dev/null/x"),
                             (("traffic", "--case", "l3", "--out", "x", "--vlan", "3"),
                              "--vlan: has no meaning with --case l3"),
                             (("traffic", "--case", "lb", "--out", "x", "--users", "3"), "--users"),
                             (("traffic", "--case", "l3", "--out", "x", "--flows", "20M"),
                              "--flows 20000000"),
                             (("classify", "--masks", "5K"), "--masks 5K"),
                             (("classify", "--kind", "xyz"), "--kind: xyz"),
                             (("classify", "--misses", "101"), "--misses 101"),
                             (("classify", "--first", "9", "--misses", "9"), "--first: all its"),
                             (("classify", "--first", "9", "--kind", "fw"), "--first: has a"),
                             (("classify", "--peers", "nobody"), "--peers nobody"),
                             (("lpm", "--family", "ipx"), "--family ipx"),
                             (("lpm", "--root", "12"), "--root 12"),
                             (("lpm", "--prefixes", "0"), "--prefixes 0"),
                             (("lpm", "--peers", "nobody"), "--peers nobody"),
                             (("setsep", "--peers", "nobody"), "--peers nobody"),
                             (("setsep", "--table", "1", "--batch", "8"), "--batch: has no"),
                             (("setsep", "--figure", "11", "--config", "8+16"), "--config: has no"),
                             (("setsep", "--figure", "8"), "--figure"),
                             (("forward", "--case", "lb", "--masks", "5"), "--masks: has no"),
                             (("forward", "--case", "classify", "--rules", "5"), "--rules: of"),
                             (("forward", "--case", "lb", "--peer", "vpp"), "--peer vpp"),
                             (("traffic", "--case", "classify", "--masks", "5,6", "--out", "x"),
                              "--masks: takes one"),
                             (("pipeline", "--case", "classify", "--masks", "5K"), "--masks 5K"),
                             (("pipeline", "--case", "l2"), "--case: l2"),
                             (("pipeline", "--rules", "5M"), "--rules 5M"),
                             (("pipeline", "--flows", "0"), "--flows 0"),
                             (("pipeline", "--batch", "33"), "--batch 33"),
                             (("pipeline", "--simd", "sse"), "--simd sse"),
                             (("pipeline", "--users", "5"), "--users: has no meaning"),
                             (("pipeline", "--single-table"), "--single-table: has no meaning"),
                             (("pipeline", "--direction", "down"), "--direction: has no meaning"),
                             (("pipeline", "--case", "gateway", "--direction", "left"), "left"),
                             (("rules",), "--kind is required"),
                             (("rules", "--kind", "xyz"), "--kind: xyz"),
                             (("rules", "--kind", "acl", "--rules", "0"), "--rules 0"),
                             (("rules", "--kind", "acl", "--rules", "2M"), "--rules 2M"),
                             (("rules", "--kind", "acl", "--masks", "9"), "--masks: has no"),
                             (("rules", "--kind", "masks", "--rules", "9"), "--rules: has no"),
                             (("rules", "--kind", "masks", "--masks", "5K"), "--masks 5K"),
                             (("rules", "--kind", "fw", "--text", "--json"), "--text"),
                             (("limit", "--pages", "3M"), "--pages 3M"),
                             (("limit", "--size", "10"), "--size 10")):
            done = run(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(named, done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
