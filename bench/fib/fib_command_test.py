#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fib_command_test.py COUA_BENCH: short runs of coua-bench limit and fib."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import FIELDS, CommandCase, run  # noqa: E402  (the path is set above)


class TableTest(CommandCase):
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

    def test_plain_table(self):
        done = run("fib", "--entries", "5K", "--mode", "batch", "--seconds", "0.002")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fib/batch", done.stdout)
        self.assertIn("ratio_to_limit", done.stdout)


if __name__ == "__main__":
    unittest.main()
