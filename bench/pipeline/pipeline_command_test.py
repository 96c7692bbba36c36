#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pipeline_command_test.py COUA_BENCH: short runs of coua-bench pipeline and plan."""

import pathlib
import statistics
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase  # noqa: E402  (the path is set above)


class PipelineTest(CommandCase):
    def test_pipeline(self):
        short = ("--seconds", "0.002", "--repetitions", "2")
        rows = self.report("pipeline", "--case", "l2-flows", "--rules", "50,1K", "--flows",
                           "1,3K", "--batch", "1,32", *short)["rows"]
        self.assertEqual(len(rows), 2 * 2 * 2)
        for row in rows:
            self.assertEqual(row["name"], "pipeline")
            self.assertEqual(row["tables"], "0:exact")
            self.assertEqual(row["all_rules"], row["params"]["rules"])
            if row["with_copy_ns"] > row["copy_ns"]:
                sum_ns = row["ns_per_op"] + row["copy_ns"]
                self.assertAlmostEqual(row["with_copy_ns"] / sum_ns, 1, 0)
            else:  # in so short a time that other programs held up the copying alone
                self.assertNotIn("ns_per_op", row)
        self.assertTrue(any("ns_per_op" in row for row in rows))
        gateway = "0-1:direct 2-21:exact 110:lpm, {} joined"
        for words, rules, all_rules, tables in (
                (("l3",), 2000, 2000, "0:lpm"),
                (("lb",), 100, 204, "0:direct 1-2:exact, 200 joined"),
                (("gateway", "--direction", "down"), 10000, 10421, gateway.format(200)),
                (("gateway", "--direction", "both", "--size", "1518"), 10000, 10421,
                 gateway.format(200)),
                (("gateway-1m", "--users", "300", "--rules", "500"), 500, 6521,
                 gateway.format(3000))):
            row, = self.report("pipeline", "--case", *words, *short)["rows"]
            self.assertEqual(row["params"]["case"], words[0])
            self.assertEqual(row["params"]["rules"], rules)
            self.assertEqual(row["all_rules"], all_rules)
            self.assertEqual(row["tables"], tables)
        self.check_points(self.report("pipeline", "--case", "l3", "--flows", "1,100,2K", *short), 3)
        rows = self.report("pipeline", "--case", "classify", "--masks", "5,40", *short)["rows"]
        self.assertEqual([(r["params"]["masks"], r["all_rules"]) for r in rows], [(5, 5), (40, 40)])
        rows = self.report("pipeline", "--simd", "generic", *short)["rows"]
        self.assertEqual([r["params"]["simd"] for r in rows], ["generic"])

    def check_points(self, out, n_rows):
        self.assertEqual(len(out["rows"]), n_rows)
        points = [r for r in out["rows"] if "ns_per_op" in r]
        for r in points:
            over = {bound: statistics.median(ns / said for ns, said in zip(r["window_ns"], r[bound], strict=True))
                    for bound in ("window_lower_ns", "window_upper_ns")}
            self.assertEqual(r["within"], over["window_lower_ns"] >= 1 >= over["window_upper_ns"], r)
            self.assertAlmostEqual(r["lower_ns"] / statistics.median(r["window_lower_ns"]), 1, 4)
        n_within = sum(r["within"] for r in points)
        self.assertEqual(out["notes"],
                         [f"{n_within} of {len(points)} points within the model's bounds"])
        # The machine is measured for all rows: what packets cost at the least does not depend on the flows.
        self.assertEqual(len({r["lower_ns"] for r in out["rows"]}), 1)

    def test_one_table_beside_the_same_split_by_hand(self):
        rows = self.report("pipeline", "--case", "lb", "--single-table", "--flows", "10,3K", "--seconds",
                           "0.02", "--repetitions", "3")["rows"]
        found = {(r["params"]["single_table"], r["params"]["flows"]): r for r in rows}
        self.assertEqual(len(rows), 4)
        for flows in (10, 3000):
            one, split = found[True, flows], found[False, flows]
            self.assertEqual((one["all_rules"], one["tables"]), (202, "0:exact"))
            self.assertEqual((split["all_rules"], split["tables"]),
                             (204, "0:direct 1-2:exact, 200 joined"))
            self.assertNotIn("ratio_to_split", split)
            self.assertEqual(len(one["window_ns"]), 3)
            pairs = zip(split["window_ns"], one["window_ns"], strict=True)
            ratios = [s / o for s, o in pairs if s > 0 and o > 0]
            self.assertAlmostEqual(one["ratio_to_split"] / statistics.median(ratios), 1, 5)

    def test_plan(self):
        rows = self.report("plan", "--tables", "3,251", "--rules", "2", "--repetitions", "2")["rows"]
        kinds = ["plan/rebuild", "plan/add-rule", "plan/remove-rule"]
        self.assertEqual([r["name"] for r in rows], kinds * 2)
        self.assertEqual([r["params"]["bridges"] for r in rows], [1] * 3 + [2] * 3)
        for row in rows:
            self.assertGreater(row["ms"], 0)
            self.assertGreaterEqual(row["longest_ms"], row["ms"])


if __name__ == "__main__":
    unittest.main()
