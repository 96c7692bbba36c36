# SPDX-License-Identifier: Apache-2.0
"""The runner itself: what it makes of a class whose process says too little, or nothing for too long."""

import importlib.machinery
import importlib.util
import io
import json
import pathlib
import sys
import unittest
import unittest.mock

PATH = str(pathlib.Path(__file__).resolve().parent / "run")
LOADER = importlib.machinery.SourceFileLoader("packet_run", PATH)
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("packet_run", LOADER))
LOADER.exec_module(run)


class told:
    def __init__(self):
        self.words = []

    def tell(self, word, name, seconds, detail="", trouble=""):
        self.words.append((word, name))


def passed(*names):
    """A process that tells of these."""
    lines = [json.dumps({"word": "passed", "name": f"some.{each}", "seconds": 0}) for each in names]
    return [sys.executable, "-c", "import sys; print(sys.argv[1])", "\n".join(lines)]


def script(text):
    return [sys.executable, "-c", text]


class runner(unittest.TestCase):
    def trouble(self, command, count=2, limit=60):
        self.said = told()
        return run.run_one("m.some", count, command, self.said, limit)

    def test_all_that_a_class_has(self):
        self.assertEqual(self.trouble(passed("test_a", "test_b")), "")
        self.assertEqual(self.said.words, [("passed", "some.test_a"), ("passed", "some.test_b")])

    def test_fewer_than_it_has(self):
        self.assertEqual(self.trouble(passed("test_a")), "its process told of 1 of 2 tests")
        self.assertEqual(self.trouble(passed("test_a", "test_a")), "its process told of 1 of 2 tests")
        self.assertEqual(self.trouble(script("pass")), "its process told of 0 of 2 tests")

    def test_one_line_of_a_class_that_cannot_be_set_up(self):
        self.assertEqual(self.trouble(passed("setUpClass"), count=5), "")

    def test_a_process_that_dies(self):
        self.assertEqual(self.trouble(script("import sys; sys.exit(3)")),
                         "its process ended with status 3, after 0 of 2 tests")

    def test_a_process_that_takes_too_long(self):
        self.assertEqual(self.trouble(script("import time; time.sleep(60)"), limit=0.2),
                         "its process took more than 0.2 s: ended, after 0 of 2 tests")

    def test_what_cannot_be_read_is_a_failure_and_ends_no_queue(self):
        for line in ("no json", "[]", '{"word": "odd"}'):
            with self.assertRaises(Exception):
                self.trouble(script(f"print({line!r})"))
        said = run.teller(None)
        inner = script("print('[]')")
        with unittest.mock.patch("sys.stdout", io.StringIO()) as printed:
            run.run_queue({"m.a": 1, "m.b": 1}, 1, inner, "", said)
        self.assertEqual(said.counts["failed"], 2, printed.getvalue())

    def test_every_end_of_a_test_is_told(self):
        class ends(unittest.TestCase):
            @unittest.expectedFailure
            def test_expected(self):
                self.fail("as expected")

            @unittest.expectedFailure
            def test_unexpected(self):
                pass

        out = io.StringIO()
        unittest.defaultTestLoader.loadTestsFromTestCase(ends).run(run.recorder(out))
        words = [json.loads(line)["word"] for line in out.getvalue().splitlines()]
        self.assertEqual(words, ["passed", "failed"])
