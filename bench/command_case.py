# SPDX-License-Identifier: Apache-2.0
"""What the tests of coua-bench's subcommands share: they call it, and look at what it prints."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

import ovs_daemon

PROGRAM = sys.argv.pop(1)
FIELDS = {"mops", "ns_per_op", "limit_mops", "ratio_to_limit", "bytes_per_entry", "spread"}


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, **more)


class CommandCase(unittest.TestCase):
    def report(self, *words, **more):
        done = run(*words, "--json", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual(list(out)[:4], ["bench", "params", "machine", "rows"])
        self.assertEqual(out["bench"], words[0])
        self.assertIn("cpu", out["machine"])
        self.assertTrue(out["rows"])
        for row in out["rows"]:
            self.assertIsInstance(row["name"], str)
            self.assertIsInstance(row["params"], dict)
            for field in FIELDS & set(row):
                self.assertIsInstance(row[field], (int, float), field)
            if "mops" in row:
                self.assertGreater(row["mops"], 0)
        return out

    @contextlib.contextmanager
    def nothing_left(self):
        """An environment for a program that must leave no file or folder behind."""
        with tempfile.TemporaryDirectory() as folder:
            names = {"TMPDIR": folder + "/tmp", "RUNTIME_DIRECTORY": folder + "/run"}
            for each in names.values():
                os.mkdir(each)
            yield {**os.environ, **names}
            self.assertEqual(sorted(os.listdir(names["TMPDIR"])), [])
            self.assertEqual(sorted(os.listdir(names["RUNTIME_DIRECTORY"])), [])

    def need_dpdk(self):
        if "no DPDK" in run("forward", "--rules", "1", "--flows", "2").stderr:
            self.skipTest("built without DPDK")

    def peer_words(self):
        """Of a run beside Open vSwitch, where that is possible."""
        self.need_dpdk()
        there = (os.path.exists(ovs_daemon.PATH) and len(os.sched_getaffinity(0)) > 1
                 and os.geteuid() == 0)
        return ("--peer", "ovs") if there else ()
