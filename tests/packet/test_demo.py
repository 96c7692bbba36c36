# SPDX-License-Identifier: Apache-2.0
"""The demo, for as long as it takes to interrupt it."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

import lab

MARK = "COUA_TEST_DEMO"  # in the environment of whatever the demo starts
LINE = "demo: interrupted; nothing is left behind"


def marked():
    """The processes that came from a demo of this test."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}=".encode() in file.read_bytes():
                found.append(file.parent.name)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass  # ended meanwhile, or another user's
    return found


def namespaces():
    """Those that a process is in."""
    found = set()
    for kind in ("net", "mnt", "pid"):
        for link in pathlib.Path("/proc").glob(f"[0-9]*/ns/{kind}"):
            try:
                found.add(os.readlink(link))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass
    return found


def take_interrupts():
    """As under a terminal: tests that a shell runs in the background inherit that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class test_demo(unittest.TestCase):
    def interrupt_after(self, seconds, number=signal.SIGINT):
        """What the demo said and its exit status, when it gets a signal that soon."""
        environment = {name: value for name, value in os.environ.items() if name != lab.INSIDE}
        demo = subprocess.Popen([lab.ROOT / "demo" / "run"], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.STDOUT, env={**environment, MARK: "1"},
                                start_new_session=True, preexec_fn=take_interrupts)
        self.addCleanup(demo.stdout.close)
        self.addCleanup(demo.wait)
        self.addCleanup(demo.kill)
        time.sleep(seconds)
        self.assertIsNone(demo.poll(), "it ended before the signal")
        os.killpg(demo.pid, number)  # as a terminal does
        said = demo.communicate(timeout=60)[0]
        return said, demo.returncode

    def test_ctrl_c_at_any_moment_of_its_start(self):
        before, ended_by_line = namespaces(), 0
        for moment in range(0, 501, 20):
            said, status = self.interrupt_after(moment / 1000)
            self.assertNotIn("Traceback", said, f"after {moment} ms")
            self.assertEqual(marked(), [], f"after {moment} ms")
            # Before its first line was read, there is nothing of the demo yet that could say a line.
            if (said, status) != ("", -signal.SIGINT):
                self.assertEqual((said.splitlines()[-1:], status), ([LINE], 130), said)
                self.assertEqual(said.count(LINE), 1, said)
                ended_by_line += 1
        self.assertLessEqual(namespaces(), before)
        self.assertGreater(ended_by_line, 0)

    def test_ctrl_c_while_the_switch_runs(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            said, status = self.interrupt_after(4, number)
            self.assertEqual((said.splitlines()[-1:], status), ([LINE], 130), said)
            self.assertEqual(marked(), [])

    def test_nothing_outlives_a_demo_that_was_killed(self):
        self.interrupt_after(3, signal.SIGKILL)
        lab.wait_for(lambda: not marked(), what="no process of the demo")
