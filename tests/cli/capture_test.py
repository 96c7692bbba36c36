#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How `coua capture` ends: what the daemon had captured by then is in the file.

usage: capture_test.py COUA FAKE_COUAD DOCS_DIR
"""

import json
import pathlib
import signal
import struct
import subprocess
import time

from cli_case import COUA, cli_case, main

INTERFACE_STATISTICS, PACKET = 5, 6
LOST, ACCEPTED, DELIVERED = 5, 6, 8  # options of the statistics


def parse(data):
    """The number of packets in a pcapng file, and the options of the statistics summed up."""
    at, packets, sums = 0, 0, {}
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        packets += kind == PACKET
        option = at + 20
        while kind == INTERFACE_STATISTICS and option < at + length - 4:
            code, size = struct.unpack_from("<HH", data, option)
            if size == 8:
                sums[code] = sums.get(code, 0) + struct.unpack_from("<Q", data, option + 4)[0]
            option += 4 + (size + 3) // 4 * 4
        at += length
    assert at == len(data), "the last block is cut"
    return packets, sums


def thread_states(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            yield (task / "stat").read_text().rpartition(") ")[2][0]
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            pass


class capture_case(cli_case):
    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.daemon.directory.name) / "file.pcapng"

    def start(self, *words):
        process = subprocess.Popen([COUA, "-s", self.daemon.socket, "capture", *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def begun(self, *words):
        process = self.start(*words)
        self.assertIn("capturing", process.stderr.readline())
        return process

    def hang(self):
        """Returns when no thread of the daemon runs any more."""
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.daemon.process.send_signal, signal.SIGCONT)
        while any(state != "T" for state in thread_states(self.daemon.process.pid)):
            time.sleep(0.01)


class test_capture(capture_case):
    OPTIONS = ("captured", "10000")

    def test_all_that_was_captured_is_in_the_file(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.begun("-w", self.file)
            # Meanwhile the daemon captures what it cannot send.
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
            packets, sums = parse(self.file.read_bytes())
            self.assertGreater(packets, 0)
            self.assertEqual(sums[DELIVERED], packets)
            self.assertEqual(sums[ACCEPTED], packets + sums[LOST])

    def test_limits(self):
        for limit in (("--count", "30000"), ("--seconds", "0.1")):
            process = self.begun("-j", "-w", self.file, *limit)
            said, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
            packets, sums = parse(self.file.read_bytes())
            self.assertEqual(json.loads(said)["captured"], packets)
            self.assertEqual(sums[ACCEPTED], packets + sums[LOST])

    def test_a_second_ctrl_c_stops_at_once(self):
        process = self.begun("-w", self.file)
        self.hang()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertLess(time.monotonic() - began, 4)

    def test_a_daemon_that_hangs_at_the_end(self):
        process = self.begun("-w", self.file)
        self.hang()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        self.assertIn("gave no answer in time; frames that it still held are missing", errors)
        parse(self.file.read_bytes())

    def test_one_that_has_not_begun(self):
        self.hang()
        process = self.start("-j", "-w", self.file)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (130, "coua: interrupted\n"))
        self.assertEqual(json.loads(said)["error"]["code"], "interrupted")
        self.assertFalse(self.file.exists())


class test_capture_that_hangs(capture_case):
    OPTIONS = ("capture-hangs", "60")

    def test_a_daemon_that_hangs_when_it_was_told(self):
        self.addCleanup(self.daemon.process.kill)  # it would end when its look has
        process = self.begun("-w", self.file)
        # Told before its first look, it would end as it should.
        self.assertEqual(self.daemon.process.stdout.readline(), "hangs\n")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        self.assertIn("gave no answer in time; frames that it still held are missing", errors)
        parse(self.file.read_bytes())


if __name__ == "__main__":
    main()
