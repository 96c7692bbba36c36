#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""setsep_command_test.py COUA_BENCH: short runs of coua-bench setsep."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase  # noqa: E402  (the path is set above)


class SetsepTest(CommandCase):
    def test_setsep(self):
        rows = self.report("setsep", "--keys", "1,30K", "--value-bits", "2", "--config",
                           "16+8,8+16", "--threads", "1", "--batch", "1,32", "--seconds", "0.002",
                           "--repetitions", "2")["rows"]
        updates = ["update", "apply", "mapped-apply"]
        names = ["build", "load", "map", "lookup", "lookup", "pipeline", "mapped-lookup",
                 *updates, *updates]
        self.assertEqual([r["name"] for r in rows], ["setsep/" + name for name in names] * 4)
        for row in rows:
            self.assertGreater(row["mops"], 0)
            if row["params"]["keys"] > 1 and row["params"]["config"] == "16+8":
                self.assertAlmostEqual(row["bits_per_key"], 3.7, delta=0.3)
        # Of 30,000 keys: first 16+8, then 8+16.
        usual, other = rows[2 * len(names):3 * len(names)], rows[3 * len(names):]
        self.assertEqual(usual[0]["fallback_ratio"], 0)
        self.assertGreater(other[0]["fallback_ratio"], 0)
        self.assertGreater(usual[7]["delta_bytes"], usual[10]["delta_bytes"])
        self.assertGreater(usual[2]["ms"], 0)

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
            for name in ("ratio_to_first", "ceiling", "ratio_to_ceiling"):
                self.assertEqual(name in row, row["params"]["threads"] > 1)
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


if __name__ == "__main__":
    unittest.main()
