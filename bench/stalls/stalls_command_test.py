#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stalls_command_test.py COUA_BENCH: short runs of coua-bench stalls."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase, run  # noqa: E402  (the path is set above)


class StallsTest(CommandCase):
    def test_stalls(self):
        words = ("stalls", "--entries", "2K", "--batch", "100", "--rules", "20", "--repetitions", "2")
        if "no DPDK" in run(*words).stderr:
            self.skipTest("built without DPDK")
        with self.nothing_left() as environment:
            rows = self.report(*words, env=environment)["rows"]
        self.assertEqual([r["name"] for r in rows[:2]], ["nothing", "another CPU busy"])
        for wanted in ("port add", "port remove", "bond members", "mirror", "storm recovers", "fib flush",
                       "learned flush", "capture of all", "flow bundle", "meter", "config apply"):
            [row] = [r for r in rows if r["name"] == wanted]
            self.assertLessEqual(row["gap_us"], row["longest_gap_us"])
            self.assertGreater(row["gap_us"], 0)
            self.assertLessEqual(row["longest_own_us"], row["longest_gap_us"])
            self.assertGreater(row["longest_own_us"], 0)
        self.assertGreater(rows[0]["action_ms"], 19)

    def test_some_actions(self):
        words = ("stalls", "--entries", "2K", "--batch", "100", "--rules", "20", "--repetitions", "1", "--only")
        if "no DPDK" in run(*words[:-1]).stderr:
            self.skipTest("built without DPDK")
        out = self.report(*words, "nothing,config apply")
        self.assertEqual(out["machine"]["cpus"], len(os.sched_getaffinity(0)))
        rows = out["rows"]
        self.assertEqual([r["name"] for r in rows], ["nothing", "config apply"])
        self.assertGreaterEqual(rows[0]["stolen_ms"], 0)
        self.assertIn("there is no such action", run(*words, "something").stderr)


if __name__ == "__main__":
    unittest.main()
