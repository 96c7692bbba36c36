#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rules_command_test.py COUA_BENCH: short runs of coua-bench rules."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase, run  # noqa: E402  (the path is set above)


class RulesTest(CommandCase):
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


if __name__ == "__main__":
    unittest.main()
