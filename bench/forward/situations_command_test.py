#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""situations_command_test.py COUA_BENCH: short runs of coua-bench forward: cold start, attack and latency."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase  # noqa: E402  (the path is set above)


class SituationsTest(CommandCase):
    def test_forward_cold_start(self):
        peer = self.peer_words()
        with self.nothing_left() as environment:
            out = self.report("forward", "--measure", "cold-start", "--flows", "3K", "--rules", "500", "--seconds", "0.3",
                              "--windows", "4", "--repetitions", "2", *peer, env=environment)
        self.assertEqual(out["params"]["measure"], "cold-start")
        found = {name: [r for r in out["rows"] if r["name"] == name] for name in ("coua", "ovs", "ovs/lifted")}
        for name in found if peer else ("coua",):
            self.assertEqual([r["params"]["second"] for r in found[name]], [0.3, 0.6, 0.9, 1.2])
            packets = [r["packets"] for r in found[name]]
            self.assertEqual(packets, sorted(packets))
            self.assertAlmostEqual(sum(r["mops"] for r in found[name]) * 0.3e6 / packets[-1], 1, 2)
            # Of the windows alone, and not of the start before them.
            self.assertTrue(0.01 < found[name][-1]["cpu_seconds"] < 1.3, found[name][-1])
            for row in found[name]:
                self.assertGreaterEqual(row["spread"], 0)
            self.assertEqual({r["params"]["case"] for r in found[name]}, {"gateway"})
        if not peer:
            self.skipTest("no Open vSwitch with DPDK")
        # Each flow misses at least once, and the ratio is that of the sums.
        for name in ("ovs", "ovs/lifted"):
            self.assertGreaterEqual(sum(r["misses"] for r in found[name]), 2900)
            self.assertGreaterEqual(found["coua"][-1]["ratio_to_" + name.replace("/", "_") + "_spread"], 0)
            # A median of two ratios, and the ratio of two medians: near each other, not the same.
            self.assertAlmostEqual(found["coua"][-1]["packets"] / found[name][-1]["packets"]
                                   / found["coua"][-1]["ratio_to_" + name.replace("/", "_")], 1, delta=0.3)

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
                               "--repetitions", "2", *peer, env=environment)["rows"]
        self.assertEqual([r["name"] for r in rows],
                         ["coua", "coua/at-rate-of-ovs", "ovs"] if peer else ["coua"])
        for row in rows:
            self.assertGreater(row["p50_us"], 0.05)
            self.assertLessEqual(row["p50_us"], row["p99_us"])
            self.assertLessEqual(row["p99_us"], row["p999_us"])
            self.assertLessEqual(row["p999_us"], row["longest_us"])
            self.assertLess(row["lost"], 0.5)
            self.assertEqual(row.get("lossy", False), row["lost"] > 0.001)
            self.assertEqual(row["peak_of"], "source" if row["peak_refused"] < 0.01 else "switch")
            self.assertEqual(row["params"]["mbuf_bytes"], 2048)
            self.assertLessEqual(row["window_p99_us"], row["window_p999_us"])
            self.assertLessEqual(row["mops"], 1.1 * row["offered_mops"])
            self.assertGreater(row["raw_io_us"], 0.05)
            # Each is rounded by itself; where others take the CPU, raw I/O may have been the slower one by far.
            self.assertAlmostEqual(row["mean_us"] - row["raw_io_us"], row["datapath_us"],
                                   delta=1e-3 + 1e-4 * max(row["mean_us"], row["raw_io_us"]))
        self.assertAlmostEqual(rows[0]["offered_mops"] / rows[0]["peak_mops"], 0.5, 3)
        if peer:
            self.assertAlmostEqual(rows[1]["offered_mops"] / rows[2]["offered_mops"], 1, 3)
            self.assertAlmostEqual(rows[0]["mean_us"] / rows[2]["mean_us"] / rows[0]["mean_ratio_to_ovs"], 1, 3)
            self.assertEqual(rows[1]["raw_io_us"], rows[2]["raw_io_us"])


if __name__ == "__main__":
    unittest.main()
