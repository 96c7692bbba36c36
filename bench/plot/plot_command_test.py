#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plot_command_test.py COUA_BENCH: short runs of coua-bench plot."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase, run  # noqa: E402  (the path is set above)


class PlotTest(CommandCase):
    def test_plot_classify(self):
        with tempfile.TemporaryDirectory() as folder:
            source = folder + "/table.json"
            done = run("classify", "--patch-table", "--flows", "300", "--seconds", "0.002",
                       "--repetitions", "2", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(source, "w") as file:
                file.write(done.stdout)
            drawn = run("plot", source)
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            with open(folder + "/table.svg") as file:
                svg = file.read()
            for text in ("distributor/on simd generic", "distributor/off", ">masks<", "30"):
                self.assertIn(text, svg)

    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            source = folder + "/run.json"
            done = run("fib", "--figure", "6", "--entries", "2K,5K", "--batch", "1,8", "--seconds",
                       "0.002", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["params"]["figure"], 6)
            with open(source, "w") as file:
                file.write(done.stdout)
            drawn = run("plot", source)
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            with open(folder + "/run.svg") as file:
                svg = file.read()
            self.assertIn("fib/batch batch 8", svg)
            self.assertIn("figure 6", svg)
            picture = run("plot", source, "-o", folder + "/run.png")
            if picture.returncode != 0:
                self.assertIn("rsvg-convert", picture.stderr)
            for words in ((source, "-o", "x.gif"), (folder + "/none.json",), (__file__,)):
                self.assertEqual(run("plot", *words).returncode, 1, words)


if __name__ == "__main__":
    unittest.main()
