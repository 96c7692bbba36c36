#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coua without a verb: a shell at a terminal, a script elsewhere.

usage: shell_test.py COUA FAKE_COUAD DOCS_DIR
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import tempfile
import termios
import time

from cli_case import COUA, cli_case, main

PROMPT = "coua> "
CTRL_C, CTRL_D, CTRL_U, TAB, UP = "\x03", "\x04", "\x15", "\t", "\x1b[A"


class shell:
    """coua at a terminal of its own."""

    def __init__(self, test, socket, state, *words):
        self.test, self.said = test, ""
        program = os.path.abspath(COUA)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
            os.chdir(state)
            os.execvpe(program, ["coua", "-s", socket, *words],
                       {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": state, "COUA_PAGER": "", "HOME": state})
        self.until(PROMPT)

    def until(self, mark):
        """What was said up to `mark`."""
        end = time.monotonic() + 30
        while mark not in self.said:
            there, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            self.test.assertTrue(there, f"no {mark!r} in {self.said!r}")
            self.said += os.read(self.terminal, 4096).decode()
        before, self.said = self.said.split(mark, 1)
        return before

    def is_cooked(self):
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ICANON)

    def type(self, keys):
        """libedit takes the terminal over right after the prompt is there."""
        self.wait(lambda: not self.is_cooked())
        os.write(self.terminal, keys.encode())

    def wait(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.test.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def begin(self, line):
        """A line whose verb runs when this returns: it listens to Ctrl-C."""
        self.type(line + "\n")
        self.until("\r\n")

        def runs():
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            caught = int(re.search(r"SigCgt:\s+(\w+)", status)[1], 16)
            # libedit takes both, a verb does not take the second.
            return (self.is_cooked() and caught >> signal.SIGINT - 1 & 1
                    and not caught >> signal.SIGWINCH - 1 & 1)

        self.wait(runs)

    def ctrl_c(self):
        os.write(self.terminal, CTRL_C.encode())
        return self.until(PROMPT)

    def keys(self, keys, mark=PROMPT):
        self.type(keys)
        return self.until(mark)

    def line(self, line):
        """A line, and what came of it."""
        return self.keys(line + "\n").partition("\r\n")[2].replace("\r\n", "\n")

    def leave(self, keys=CTRL_D):
        self.type(keys)
        return self.gone()

    def gone(self):
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.terminal)
        return status


class test_shell(cli_case):
    def setUp(self):
        super().setUp()
        self.ports()
        holder = tempfile.TemporaryDirectory(prefix="coua-state-")
        self.addCleanup(holder.cleanup)
        self.state = holder.name

    def shell(self, *words, socket=None):
        return shell(self, socket or self.daemon.socket, self.state, *words)

    def history(self):
        return pathlib.Path(self.state, "coua/history")

    def test_verbs_and_errors(self):
        lines = self.shell()
        self.assertEqual(lines.line("fib ageing 600"), "ageing: 600 s, was 300 s\n")
        self.assertIn("did you mean 'port'", lines.line("prot list"))
        self.assertIn("neither 0 (never)", lines.line("coua fib ageing 3"))
        self.assertIn("a quotation is not ended", lines.line("flow add 'tcp"))
        self.assertIn("a verb is missing", lines.line("-j"))
        self.assertEqual(json.loads(lines.line("fib 'ageing' -j # now"))["ageing_s"], 600)
        self.assertIn("usage: coua port set", lines.line("help port set"))
        self.assertEqual(lines.line(""), "")
        self.assertEqual(lines.leave("exit\n"), 0)

    def test_options_stand_for_all_lines(self):
        lines = self.shell("-j")
        for _ in range(2):
            self.assertEqual(json.loads(lines.line("fib ageing"))["ageing_s"], 300)
        self.assertEqual(json.loads(lines.line("fib ageing -j"))["ageing_s"], 300)
        self.assertEqual(lines.leave("quit\n"), 0)

    def test_one_connection(self):
        # From the first verb on; its threads have opened their files, too.
        lines = self.shell()
        lines.line("version")
        sockets = lambda: sorted(os.readlink(f"/proc/{lines.pid}/fd/{fd}")  # noqa: E731
                                 for fd in os.listdir(f"/proc/{lines.pid}/fd"))
        before = sockets()
        for _ in range(3):
            lines.line("port list")
        self.assertEqual(sockets(), before)
        self.assertEqual(lines.leave(), 0)

    def test_another_daemon_takes_its_place(self):
        lines = self.shell()
        lines.line("version")
        self.daemon.process.send_signal(signal.SIGTERM)
        self.daemon.process.wait(60)
        self.assertIn("no daemon listens there", lines.line("version"))
        again = subprocess.Popen([self.daemon.process.args[0], self.daemon.socket],
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(again.stdout.close)
        self.addCleanup(again.wait)
        self.addCleanup(again.terminate)
        self.assertEqual(again.stdout.readline(), "ready\n")
        self.assertIn(f"process {again.pid}", lines.line("version"))
        lines.leave()

    def test_tab_completes(self):
        pathlib.Path(self.state, "two words.txt").write_text("10 02:00:00:00:00:01 p0\n")
        lines = self.shell()
        self.assertIn("10G", lines.line(f"po{TAB}sh{TAB}u{TAB}"))  # port show up
        self.assertIn("ageing", lines.keys(f"fib {TAB}"))
        self.assertEqual(lines.line(f"{CTRL_U}port set up --en{TAB}off"), "port up: changed\n")
        self.assertIn("\nup\r\n", lines.keys(f"port show {TAB}").replace("\r\r", "\r"))
        self.assertIn("1 entry stored", lines.line(f"{CTRL_U}fib load {self.state}/tw{TAB}"))
        self.assertEqual(lines.leave(f"qu{TAB}\n"), 0)

    def test_history(self):
        first = self.shell()
        for line in ("fib ageing 700", "fib ageing 700", " fib ageing 800", "worker list"):
            first.line(line)
        first.leave()
        self.assertEqual(self.history().read_text(), "fib ageing 700\nworker list\n")
        self.assertEqual(stat.S_IMODE(self.history().stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.history().parent.stat().st_mode), 0o700)
        second = self.shell()
        self.assertIn("ageing: 700 s, was 800 s", second.line(UP + UP))
        second.leave()

    def test_history_does_not_grow_for_ever(self):
        self.history().parent.mkdir()
        self.history().write_text("".join(f"fib ageing {n}\n" for n in range(6, 3000)))
        lines = self.shell()
        self.assertIn("ageing: 2999 s", lines.line(UP))
        lines.leave()
        kept = self.history().read_text().splitlines()
        self.assertEqual((len(kept), kept[-1]), (1000, "fib ageing 2999"))

    def test_ctrl_c_at_a_line(self):
        lines = self.shell()
        self.assertIn("^C", lines.keys("port remove p0" + CTRL_C))
        self.assertEqual(lines.line("fib ageing"), "learned entries age after 300 s\n")
        self.assertEqual(len(self.json("port", "list")["ports"]), 3)
        lines.leave()

    def test_ctrl_c_in_a_verb(self):
        lines = self.shell()
        lines.begin("stats --rate 1000")
        self.assertIn("interrupted", lines.ctrl_c())
        self.assertEqual(lines.line("fib ageing"), "learned entries age after 300 s\n")
        # One that draws on the terminal ends as ever, and leaves it as it was.
        lines.keys("top\n", "WORKER")
        lines.keys("q")
        self.assertEqual(lines.line("fib ageing"), "learned entries age after 300 s\n")
        lines.leave()

    def test_ctrl_c_while_the_daemon_hangs(self):
        lines = self.shell()
        lines.line("version")
        self.daemon.process.send_signal(signal.SIGSTOP)
        lines.begin("port list")
        self.assertIn("interrupted", lines.ctrl_c())
        self.daemon.process.send_signal(signal.SIGCONT)
        self.assertIn("net_null0", lines.line("port list"))
        lines.leave()

    def test_each_verb_has_an_input_of_its_own(self):
        lines = self.shell()

        def apply(text):
            lines.begin("config apply -")
            os.write(lines.terminal, (text + CTRL_D).encode())
            return lines.until(PROMPT)

        file = "ports: [{name: p0, devargs: net_null0, vlan: 10}]\n"
        self.assertIn("2 changes applied", apply(file))
        self.assertIn("standard input: unchanged", apply(file))
        self.assertIn("standard input: is empty", apply(""))
        self.assertEqual(len(self.json("port", "list")["ports"]), 1)
        self.assertIn("1 entry stored", self.load(lines))
        self.assertIn("1 entry stored", self.load(lines))
        lines.leave()

    @staticmethod
    def load(lines):
        lines.begin("fib load -")
        os.write(lines.terminal, ("10 02:00:00:00:00:01 p0\n" + CTRL_D).encode())
        return lines.until(PROMPT)

    def test_sigterm_ends_it(self):
        lines = self.shell()
        os.kill(lines.pid, signal.SIGTERM)
        self.assertEqual(lines.gone(), -signal.SIGTERM)


class test_script(cli_case):
    def script(self, text, *words, status=0):
        return self.coua(*words, stdin=text, status=status)

    def test_lines_are_carried_out(self):
        done = self.script("# two ports\n\nport add p0 net_null0\ncoua port add 'p1' net_null1\n"
                           "fib add 1 02:00:00:00:00:01 p0")
        self.assertEqual(done.stdout, "port p0: added\nport p1: added\n"
                                      "VLAN 1 02:00:00:00:00:01: added\n")

    def test_it_stops_at_the_first_that_fails(self):
        done = self.script("fib ageing 600\nfib ageing 3\nfib ageing 700\n", status=1)
        self.assertEqual(done.stdout, "ageing: 600 s, was 300 s\n")
        self.assertEqual(done.stderr.splitlines()[1], "coua: standard input:2: stopped here")
        self.assertEqual(self.json("fib", "ageing")["ageing_s"], 600)
        for line, status in (("fly", 2), ("'", 2), ("-j", 2), ("-s /no.sock port list", 3)):
            done = self.script(line + "\nfib ageing 800\n", status=status)
            self.assertIn("standard input:1: stopped", done.stderr)
        self.assertEqual(self.json("fib", "ageing")["ageing_s"], 600)

    def test_options_stand_for_all_lines(self):
        done = self.script("fib ageing\n", "-j")
        self.assertEqual(json.loads(done.stdout)["ageing_s"], 300)

    def test_a_verb_takes_the_lines_that_follow(self):
        done = self.script("port add p0 net_null0\nfib load -\n1 02:00:00:00:00:01 p0\n")
        self.assertIn("1 entry stored", done.stdout)

    def test_exit_ends_it(self):
        self.assertEqual(self.script("exit\nfly\n").stdout, "")

    def test_ends_of_lines(self):
        done = self.script("fib ageing \\\nfib ageing\n", status=2)
        self.assertIn("nothing follows the last backslash", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("300 s", self.script("fib ageing\r\n").stdout)

    def test_failures_are_json_too(self):
        for text in ("port 'x\n", "-j\n", "fly\n"):
            said = json.loads(self.script(text, "-j", status=2).stdout)
            self.assertEqual(said["error"]["code"], "invalid")

    def test_an_input_that_cannot_be_read(self):
        folder = os.open("/etc", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        done = subprocess.run([COUA, "-s", self.daemon.socket], stdin=folder, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "coua: standard input: Is a directory\n"))

    def begun(self, text, *words):
        """A script whose first verb has printed something."""
        process = subprocess.Popen([COUA, "-s", self.daemon.socket, *words], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        process.stdin.write(text)
        process.stdin.flush()
        self.assertNotEqual(process.stdout.readline(), "")
        return process

    def test_ctrl_c_ends_it_also_where_the_verb_succeeds(self):
        for _ in range(6):
            process = self.begun("fib ageing 300\n" * 1500)
            process.send_signal(signal.SIGINT)
            said = process.communicate()[0]
            # Between two verbs nothing takes it.
            self.assertIn(process.returncode, (130, -signal.SIGINT))
            self.assertLess(len(said.splitlines()), 1499)

    def test_an_interrupted_verb_says_so_in_json(self):
        for verb in ("stats --rate 1000", "-s /never.sock version --wait 1000"):
            process = self.begun("fib ageing\n" + verb + "\n", "-j")
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            said = process.communicate()[0]
            self.assertEqual(process.returncode, 130)
            answers = said[said.index("{\n  \"error\""):]
            self.assertEqual(json.loads(answers)["error"], {
                "code": "interrupted", "where": "coua", "what": "interrupted"})

    def test_signals_while_a_verb_ends_by_itself(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)):
            process = self.begun("top --batch --interval 0.1\nfib ageing 900\n")
            process.send_signal(number)
            process.communicate()
            self.assertEqual(process.returncode, status)
        self.assertEqual(self.json("fib", "ageing")["ageing_s"], 300)

    def test_nothing_is_a_wrong_command_line(self):
        for text in ("", "\n# nothing\n"):
            self.assertIn("usage: coua VERB", self.script(text, status=2).stderr)


if __name__ == "__main__":
    main()
