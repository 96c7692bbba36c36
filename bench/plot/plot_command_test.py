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
    def draw(self, source, *words):
        """Keeps the report of a command in the file `source` (.json). The picture of it."""
        done = run(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        source.write_text(done.stdout)
        drawn = run("plot", source)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        return source.with_suffix(".svg").read_text()

    def test_plot_classify(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = self.draw(pathlib.Path(folder, "table.json"), "classify", "--patch-table", "--flows",
                            "300", "--seconds", "0.002", "--repetitions", "2")
            for text in ("distributor/on simd generic", "distributor/off", ">masks<", "30"):
                self.assertIn(text, svg)

    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "run.json")
            svg = self.draw(source, "fib", "--figure", "6", "--entries", "2K,5K", "--batch", "1,8",
                            "--seconds", "0.002")
            self.assertEqual(json.loads(source.read_text())["params"]["figure"], 6)
            self.assertIn("fib/batch batch 8", svg)
            self.assertIn("figure 6", svg)
            picture = pathlib.Path(folder, "run.png")
            done = run("plot", source, "-o", picture)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            done = run("plot", source, "-o", picture, env={"PATH": folder})
            self.assertEqual(done.returncode, 1)
            self.assertIn("rsvg-convert", done.stderr)
            for words in ((source, "-o", "x.gif"), (folder + "/none.json",), (__file__,)):
                self.assertEqual(run("plot", *words).returncode, 1, words)


if __name__ == "__main__":
    unittest.main()
