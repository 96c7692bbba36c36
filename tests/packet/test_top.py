# SPDX-License-Identifier: Apache-2.0
"""`coua top` on a terminal of its own, while real hosts talk."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import lab
from cases import tap, with_hosts


class screen:
    """A program on a pseudo terminal, and what it shows there."""

    def __init__(self, command, lines=30, columns=100):
        self.master, self.slave = pty.openpty()
        self.lines = lines
        self.resize(lines, columns)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen([str(word) for word in command], stdin=self.slave,
                                        stdout=self.slave, stderr=self.slave,
                                        preexec_fn=self.own_terminal,
                                        env={**os.environ, "TERM": "xterm"})
        self.raw = ""

    @staticmethod
    def own_terminal():
        """So that Ctrl-C there reaches the program, and this one not."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, lines, columns):
        self.lines = lines
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))

    def press(self, key):
        os.write(self.master, key.encode())

    def read(self, seconds=0.05):
        while select.select([self.master], [], [], seconds)[0]:
            self.raw += os.read(self.master, 65536).decode()
            seconds = 0.01

    def page(self):
        """The lines of the latest whole page."""
        self.read()
        # The terminal adds a return of its own to each new line.
        pages = self.raw.replace("\r\r\n", "\r\n").split("\033[H")[1:]
        return re.sub(r"\033\[[0-9;?]*[a-zA-Z]", "", pages[-1]).split("\r\n") if pages else []

    def wait(self, text):
        return lab.wait_for(lambda: [line for line in self.page() if text in line],
                            what=f"'{text}' on the screen")

    def restored(self):
        return termios.tcgetattr(self.slave) == self.before and "\033[?1049l" in self.raw

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class test_top(with_hosts):
    N_HOSTS = 2
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")]}

    def show(self, *words, switch=None, **options):
        new = screen([lab.COUA, "-s", (switch or self.switch).socket, "top", *words], **options)
        self.addCleanup(new.close)
        return new

    def test_it_shows_what_passes_and_gives_the_terminal_back(self):
        top = self.show("-d", "0.3")
        top.wait("PORT")
        pinging = self.h1.start("ping -nq -i 0.01 10.9.0.2", stdout=subprocess.DEVNULL)
        self.addCleanup(pinging.wait)
        self.addCleanup(pinging.kill)

        def rate(port):
            for line in top.page():
                words = line.split()
                if len(words) > 6 and words[0] == port:
                    return words[2]
            return "0"

        lab.wait_for(lambda: re.fullmatch(r"[1-9]\d\d|[1-9]\d", rate("p1")), what="a rate of p1")
        for text in ("CYCLES/PKT", "DROPS", "refused", "ring_full", "rules", "by name"):
            top.wait(text)
        top.press("s")
        top.wait("by rx")
        top.press("h")
        top.wait("twice the interval")
        top.press("h")
        top.press("+")
        top.wait("every 0.6 s")
        top.press("p")
        top.wait("HELD")
        held = top.page()
        time.sleep(1)
        self.assertEqual(top.page(), held)
        top.press("q")
        self.assertEqual(top.process.wait(10), 0)
        top.read()
        self.assertTrue(top.restored())

    def test_any_size_and_ctrl_c(self):
        top = self.show("-d", "0.2")
        top.wait("PIPELINE")
        for lines, columns in ((5, 40), (1, 1), (60, 200), (24, 80)):
            top.resize(lines, columns)
            lab.wait_for(lambda: 0 < len(top.page()) <= lines + 1 and
                         max(len(line) for line in top.page()) <= columns, what="the new size")
            self.assertIsNone(top.process.poll())
        top.wait("PIPELINE")
        top.press("\x03")
        self.assertEqual(top.process.wait(10), 0)
        top.read()
        self.assertTrue(top.restored())

    def test_a_daemon_that_comes_back(self):
        other = lab.switch(self.switch.directory / "other",
                           {"ports": [{"name": "n", "devargs": "net_null9"}]})
        self.addCleanup(other.close)
        other.start()
        top = self.show("-d", "0.2", switch=other)
        top.wait("PORT")
        other.stop(signal.SIGKILL)
        top.wait("no answer, trying again")
        other.start()
        lab.wait_for(lambda: not any("no answer" in line for line in top.page()),
                     what="an answer again")
        self.assertIsNone(top.process.poll())
        other.process.send_signal(signal.SIGSTOP)
        top.wait("no answer, trying again")
        other.process.send_signal(signal.SIGCONT)
        lab.wait_for(lambda: not any("no answer" in line for line in top.page()),
                     what="an answer again")
        top.press("q")
        self.assertEqual(top.process.wait(10), 0)

    def test_batches(self):
        told = self.switch.json("top", "-n", "2", "-d", "0.2")["views"]
        self.assertEqual(len(told), 2)
        self.assertEqual(set(told[0]["ports"]), {"p1", "p2", "p3"})
        self.assertAlmostEqual(told[1]["seconds"], 0.2, delta=0.2)
        text = self.switch.coua("top", "-b", "-n", "2", "-d", "0.2").stdout
        self.assertEqual(text.count("CYCLES/PKT"), 2)
        # Without an end: until its reader goes, or it is told to stop.
        process = lab.start([lab.COUA, "-s", self.switch.socket, "-j", "top", "-d", "0.2"],
                            stdout=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertGreaterEqual(len(json.loads(process.communicate(timeout=30)[0])["views"]), 1)
        self.assertEqual(process.returncode, 0)
        process = lab.start([lab.COUA, "-s", self.switch.socket, "top", "-d", "0.2"],
                            stdout=subprocess.PIPE)
        self.addCleanup(process.kill)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(30), 0)
