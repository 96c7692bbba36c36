#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""classify_command_test.py COUA_BENCH: short runs of coua-bench classify."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase, run  # noqa: E402  (the path is set above)


class ClassifyTest(CommandCase):
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


if __name__ == "__main__":
    unittest.main()
