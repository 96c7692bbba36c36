#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""machine_code_test.py LIBCOUA FIB_MD: the command of fib.md on the machine code finds what fib.md says."""

import pathlib
import re
import subprocess
import sys
import unittest

DOCUMENT = pathlib.Path(sys.argv.pop()).read_text()
LIBRARY = sys.argv.pop()
NUMBERS = {"three": 3, "six": 6, "nine": 9}


class MachineCodeTest(unittest.TestCase):
    def test_no_fence_in_the_read_path(self):
        section = DOCUMENT.split("## No fence in the read path")[1].split("\n## ")[0]
        command = section.split("```sh\n")[1].split("```")[0]
        self.assertIn("build/src/lib/libcoua.a", command)
        out = subprocess.run(["sh", "-c", command.replace("build/src/lib/libcoua.a", '"$0"'), LIBRARY],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual((out.returncode, out.stderr), (0, ""))
        said, name = re.search(r"It prints (\w+) functions, all of them `(\w+)`", section).groups()
        functions = {line for line in out.stdout.splitlines() if "<" in line}
        self.assertEqual(len(functions), NUMBERS[said], out.stdout)
        for each in functions:
            self.assertIn(f"::{name}(", each)
        # One instruction of each.
        locked = [line for line in out.stdout.splitlines() if line not in functions]
        self.assertEqual(len(locked), len(functions), out.stdout)
        for line in locked:
            self.assertRegex(line, "lock cmpxchg")


if __name__ == "__main__":
    unittest.main()
