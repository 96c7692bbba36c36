#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flow_command_test.py COUA_BENCH: short runs of coua-bench flow."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import FIELDS, CommandCase, run  # noqa: E402  (the path is set above)


class FlowTest(CommandCase):
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
                self.assertAlmostEqual(row["bytes_per_entry"], 42.2, 1)  # 40 a slot, and repair

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


if __name__ == "__main__":
    unittest.main()
