#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""forward_signal_test.py COUA_BENCH: a signal ends coua-bench forward, and all that it has made."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import PROGRAM, CommandCase  # noqa: E402  (the path is set above)

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONG = ("--flows", "100", "--seconds", "60")


def heed_signals():
    """In a child: as from a terminal, whatever this runs under. (nohup has SIGHUP ignored, for all below it.)"""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)


def heed_all_but_sighup():
    heed_signals()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def children(process):
    """{number: name}; programs of Coua's start none themselves."""
    found = {}
    for each in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            start, rest = (each / "stat").read_text().rsplit(")", 1)
        except OSError:
            continue  # it has just ended
        if int(rest.split()[1]) == process:
            found[int(each.name)] = start.split("(", 1)[1]
    return found


class SignalTest(CommandCase):
    def end(self, *words, by, programs=(), prepare=heed_signals):
        """By the last signal, after those before it, once it has files and has started programs."""
        with self.nothing_left() as environment:
            process = subprocess.Popen([PROGRAM, "forward", *words], env=environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       preexec_fn=prepare)
            try:
                deadline = time.monotonic() + 120
                started = {}
                while not (all(any(name.startswith(each) for name in started.values()) for each in programs)
                           and any(pathlib.Path(environment["TMPDIR"]).glob("*/*"))):
                    self.assertLess(time.monotonic(), deadline, started)
                    self.assertIsNone(process.poll(), process.returncode is None or process.stdout.read())
                    time.sleep(0.01)
                    started = children(process.pid)
                blocked = {each: self.blocked(each) for each in started}
                for each in by:
                    process.send_signal(each)
                said, _ = process.communicate(timeout=60)
            finally:
                process.kill()
                process.wait()
            self.assertEqual(process.returncode, -by[-1], said)
            self.assertNotIn("coua-bench:", said, "what fails because of the end is no error")
            for each, name in started.items():
                self.assertFalse(pathlib.Path(f"/proc/{each}").exists(), name)
                self.assertEqual(blocked[each], [], name)

    def blocked(self, process):
        try:
            status = pathlib.Path(f"/proc/{process}/status").read_text()
        except OSError:
            return []
        bits = int(status.split("SigBlk:")[1].split()[0], 16)
        return [each for each in SIGNALS if bits >> (each - 1) & 1]

    def test_files_go(self):
        self.need_dpdk()
        for each in SIGNALS:
            self.end("--case", "l2", "--rules", "1K", "--no-testpmd", *LONG, by=[each])

    def test_a_signal_that_is_ignored_stays_so(self):
        self.need_dpdk()
        self.end("--case", "l2", "--rules", "1K", "--no-testpmd", *LONG, by=[signal.SIGHUP, signal.SIGTERM],
                 prepare=heed_all_but_sighup)

    def test_testpmd_goes(self):
        self.need_dpdk()
        if not shutil.which("dpdk-testpmd") or len(os.sched_getaffinity(0)) < 2:
            self.skipTest("no testpmd")
        self.end("--case", "l2", "--rules", "1K", *LONG, by=[signal.SIGTERM], programs=["dpdk-testpmd"])

    def test_open_vswitch_goes(self):
        if not self.peer_words():
            self.skipTest("no Open vSwitch with DPDK, no second CPU, or not root")
        self.end("--case", "lb", "--no-testpmd", *LONG, *self.peer_words(), by=[signal.SIGINT],
                 programs=["ovsdb-server", "ovs-vswitchd"])


if __name__ == "__main__":
    unittest.main()
