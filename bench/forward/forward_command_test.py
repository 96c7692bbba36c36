#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""forward_command_test.py COUA_BENCH: short runs of coua-bench forward: rates."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import PROGRAM, CommandCase, run  # noqa: E402  (the path is set above)
import ovs_daemon  # noqa: E402


class ForwardTest(CommandCase):
    def test_forward(self):
        self.need_dpdk()
        words = ["forward", "--case", "l2", "--rules", "500", "--flows", "300", "--size", "64,128",
                 "--updates", "0,20K", "--pairs", "2", "--seconds", "0.02", "--repetitions", "2"]
        if not shutil.which("dpdk-testpmd") or len(os.sched_getaffinity(0)) < 2:
            words.append("--no-testpmd")
        with self.nothing_left() as environment:
            out = self.report(*words, env=environment)
        self.assertEqual(out["params"]["seed"], 1)
        names = [r["name"] for r in out["rows"]]
        self.assertIn("raw-io", names)
        self.assertEqual(names.count("coua"), 4)
        self.assertEqual("testpmd-mac" in names, "--no-testpmd" not in words)
        for row in out["rows"]:
            self.assertEqual(row["params"]["rules"], 500)
            self.assertIn(row["params"]["size"], (64, 128))
        self.assertEqual(sum("ratio_to_none" in r for r in out["rows"]), 2)

    def test_more_workers_than_cpus_are_refused(self):
        self.need_dpdk()
        cpus = len(os.sched_getaffinity(0))
        if cpus >= 64:
            self.skipTest("as many CPUs as there may be workers")
        done = run("forward", "--case", "l2", "--rules", "300", "--workers", str(cpus + 1))
        self.assertEqual((done.returncode != 0, done.stdout), (True, ""), done.stderr)
        self.assertIn(f"--workers {cpus + 1}: must be 1 to {cpus}, the CPUs that this process may use", done.stderr)

    def test_testpmd_needs_a_cpu_beside_the_workers(self):
        self.need_dpdk()
        cpus = len(os.sched_getaffinity(0))
        if not shutil.which("dpdk-testpmd") or cpus > 16:
            self.skipTest("without dpdk-testpmd, or with many CPUs")
        done = run("forward", "--case", "l2", "--rules", "300", "--flows", "100", "--workers", str(cpus),
                   "--seconds", "0.01", "--repetitions", "1")
        self.assertIn("dpdk-testpmd: needs a CPU beside those of the workers", done.stderr)
        self.assertNotIn("it said", done.stderr)

    def test_figures_of_one_thread_take_no_workers(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two CPUs")
        for figure in ("8", "9"):
            done = run("forward", "--figure", figure, "--workers", "2")
            self.assertEqual((done.returncode != 0, done.stdout), (True, ""))
            self.assertIn("--workers 2: the bare forwarders of figures 8 and 9 have one thread", done.stderr)

    def test_sizes_are_compared_in_pairs(self):
        self.need_dpdk()
        words = ("forward", "--case", "l2", "--rules", "300,700", "--flows", "200", "--no-testpmd",
                 "--seconds", "0.01", "--repetitions", "2", "--pairs", "3")
        rows = [r for r in self.report(*words)["rows"] if r["name"] == "coua"]
        self.assertEqual([r["params"]["rules"] for r in rows], [300, 700])
        self.assertNotIn("ratio_to_first", rows[0])
        self.assertEqual(rows[1]["pairs"], 3)
        self.assertTrue(0.2 < rows[1]["ratio_to_first"] < 5, rows[1])
        self.assertGreater(rows[1]["first_mops"], 0)

    def test_figures_and_tables(self):
        self.need_dpdk()
        short = ("--no-testpmd", "--seconds", "0.01", "--repetitions", "1", "--pairs", "1")

        def rows(*words):
            out = self.report("forward", *words, *short)
            self.assertEqual(out["params"][words[0][2:]], int(words[1]))
            return out["rows"]

        def names(*words):
            return [r["name"] for r in rows(*words)]

        base = ["coua", "raw-io"]
        steps = [f"bare/factor/{step}" for step in ("baseline", "+hugepage", "+memorder", "+batching", "+prefetch")]
        self.assertEqual(names("--figure", "8", "--rules", "2K"), [*base, *steps, "bare/fib/batch"])
        dense = "built without the peers" if "dense_hash_map" not in run("fib", "--peers", "nobody").stderr else None
        if not dense:
            self.assertEqual(names("--figure", "9", "--rules", "2K,3K"),
                             [*base, "bare/fib/batch", "bare/dense_hash_map/single",
                              "bare/dense_hash_map/prefetch"] * 2)
        updated = rows("--figure", "10", "--rules", "2K", "--updates", "0,64K")
        self.assertEqual([r["name"] for r in updated], [*base, "coua"])
        self.assertGreater(updated[2]["ratio_to_none"], 0)
        sizes = rows("--table", "2", "--size", "64,1518")
        self.assertEqual([(r["name"], r["params"]["size"]) for r in sizes],
                         [(name, size) for size in (64, 1518) for name in base])
        for row in sizes:
            self.assertAlmostEqual(row["gbps"] / (row["mops"] * row["params"]["size"] * 8 / 1000), 1, 4)
        if dense:
            self.skipTest(dense)
        tables = rows("--table", "3", "--rules", "64K,100G")
        self.assertEqual([(r["name"], r["params"]["rules"]) for r in tables],
                         [(name, n) for n in (64_000, 100_000_000_000) for name in ("fib", "dense_hash_map")])
        for row in tables[:2]:
            self.assertAlmostEqual(row["bytes_per_entry"] * 64_000 / 2**30, row["gib"], 4)
        for row in tables[2:]:
            self.assertIn({"fib": "are available", "dense_hash_map": "no memory"}[row["name"]], row["does_not_fit"])

    def test_forward_pipelines(self):
        self.need_dpdk()
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
                self.check_cost(rows[0], rows[1])
                self.assertNotIn("testpmd_ns", rows[0])
                self.assertFalse(any("cost_ns" in row for row in rows[1:]))
                self.assertNotIn("ratio_to_best_cost", rows[0])
                self.assertGreater(rows[2]["ratio_to_none"], 0)
                self.assertGreater(rows[2]["updates_per_s"], 500)
        if not shutil.which("dpdk-testpmd") or len(os.sched_getaffinity(0)) < 2:
            self.skipTest("no testpmd")
        rows = self.report("forward", "--case", "lb", "--flows", "100,300", *short)["rows"]
        self.assertEqual([r["name"] for r in rows], ["coua", "raw-io", "testpmd-mac"] * 2)
        for row, raw, testpmd in (rows[:3], rows[3:]):
            self.check_cost(row, raw)
            self.assertAlmostEqual(row["testpmd_ns"], 1000 / testpmd["mops"], 2)
            self.assertNotIn("testpmd_ns", testpmd)
        best = min(rows[0]["cost_ns"], rows[3]["cost_ns"])
        if best > 0:  # in so short a time anything may hold up the raw I/O alone
            for row in (rows[0], rows[3]):
                self.assertAlmostEqual(row["ratio_to_best_cost"], row["cost_ns"] / best, 3)
            self.assertNotIn("ratio_to_best_cost", rows[1])

    def check_cost(self, row, raw):
        """What is added to raw I/O. Of two rounds the median is the mean, which differs a little
        from what the medians of the rates give."""
        expected = 1000 / row["mops"] - 1000 / raw["mops"]
        slack = 1000 / row["mops"] * (0.02 + row["spread"] ** 2 + raw["spread"] ** 2) * 2
        self.assertAlmostEqual(row["cost_ns"], expected, delta=slack)
        self.assertGreaterEqual(row["cost_spread"], 0)
        self.assertNotIn("ratio_to_best_cost", raw)

    def test_forward_beside_ovs(self):
        self.need_dpdk()
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
        # By net_pcap; once with more packets than its pool holds by itself.
        for flows in ("300", "270K"):
            with self.nothing_left() as environment:
                out = self.report(*words, flows, "--feed", "pcap", env=environment)
            self.assertEqual(out["params"]["feed"], "pcap")
            self.assertEqual(sum(out["rows"][2][cache] > 0.8 for cache in ("emc", "megaflow")), 1, out["rows"][2])

    def test_other_programs_need_the_library(self):
        self.need_dpdk()
        if not shutil.which("dpdk-testpmd") or len(os.sched_getaffinity(0)) < 2:
            self.skipTest("no testpmd")
        with tempfile.TemporaryDirectory() as folder:
            lonely = shutil.copy(PROGRAM, folder)
            words = [lonely, "forward", "--case", "l2", "--rules", "300", "--seconds", "0.01", "--repetitions", "1"]
            refused = subprocess.run(words, capture_output=True, text=True, timeout=120)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("libcoua_bench_preload.so: is neither in the folder bench beside coua-bench nor in lib",
                          refused.stderr)
            self.assertIn("; without it, take --feed pcap", refused.stderr)
            for more in ("--feed=pcap", "--no-testpmd"):
                alone = subprocess.run([*words, more], capture_output=True, text=True, timeout=120)
                self.assertEqual(alone.returncode, 0, alone.stderr)

    def test_both_feeds(self):
        self.need_dpdk()
        words = ["forward", "--case", "l2", "--rules", "300", "--flows", "200", "--seconds", "0.01", "--repetitions", "1"]
        if not shutil.which("dpdk-testpmd") or len(os.sched_getaffinity(0)) < 2:
            words.append("--no-testpmd")
        for feed in ("memory", "pcap"):
            out = self.report(*words, "--feed", feed)
            self.assertEqual(out["params"]["feed"], feed)
            self.assertEqual({r["name"] for r in out["rows"]} - {"testpmd-mac"}, {"coua", "raw-io"})
        small = run("forward", "--mbuf-bytes", "64", "--size", "64,128")
        self.assertEqual(small.returncode, 2)
        self.assertIn("--mbuf-bytes 64: frames of 128 bytes need 128 (--feed pcap takes less)", small.stderr)
        late = run("forward", "--measure", "latency", "--feed", "memory")
        self.assertEqual(late.returncode, 2)
        self.assertIn("--feed: has no meaning with --measure latency", late.stderr)


if __name__ == "__main__":
    unittest.main()
