#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lpm_command_test.py COUA_BENCH: short runs of coua-bench lpm."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase, run  # noqa: E402  (the path is set above)


class LpmTest(CommandCase):
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


if __name__ == "__main__":
    unittest.main()
