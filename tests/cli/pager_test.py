#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long answers at a terminal go through a pager.

usage: pager_test.py COUA FAKE_COUAD DOCS_DIR
"""

import os
import pathlib
import pty
import re
import signal
import subprocess
import time

from cli_case import COUA, cli_case, main

MARK = "sed s/^/paged:/"


def wait_for_catch(pid):
    """Until a verb takes Ctrl-C."""
    end = time.monotonic() + 30
    while True:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        if int(re.search(r"SigCgt:\s+(\w+)", status)[1], 16) >> signal.SIGINT - 1 & 1:
            return
        assert time.monotonic() < end
        time.sleep(0.01)


class test_pager(cli_case):
    def setUp(self):
        super().setUp()
        self.ports()

    def at_terminal(self, *words, status=0, stdin=None, **environment):
        """What a terminal shows."""
        pid, terminal = pty.fork()
        if pid == 0:
            if stdin is not None:
                os.dup2(stdin, 0)
            kept = {name: value for name, value in os.environ.items()
                    if name not in ("PAGER", "COUA_PAGER", "LESS")}
            os.execve(COUA, ["coua", "-s", self.daemon.socket, *words],
                      {**kept, "TERM": "xterm", **environment})
        said = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            said += piece
        os.close(terminal)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.assertEqual(ended, status, said)
        return said.decode().replace("\r\n", "\n")

    def test_which_command(self):
        self.assertIn("paged:PORT", self.at_terminal("port", "list", PAGER=MARK))
        self.assertIn("paged:PORT", self.at_terminal("port", "list", PAGER="false", COUA_PAGER=MARK))
        self.assertIn("\nup ", self.at_terminal("port", "list", PAGER=MARK, COUA_PAGER=""))
        self.assertTrue(self.at_terminal("port", "list", PAGER="cat").startswith("PORT"))
        self.assertTrue(self.at_terminal("port", "list", PATH="/none").startswith("PORT"))

    def test_where_none_is_wanted(self):
        for words in (("port", "list", "-j"), ("port", "list", "--no-pager"), ("fib", "ageing"),
                      ("version",), ("stats", "--rate", "0.1"), ("--no-pager", "help", "port", "show")):
            self.assertNotIn("paged:", self.at_terminal(*words, PAGER=MARK), words)
        self.assertNotIn("paged:", self.at_terminal("port", "list", PAGER=MARK, TERM="dumb"))
        done = subprocess.run([COUA, "-s", self.daemon.socket, "port", "list"], text=True,
                              capture_output=True, env={**os.environ, "PAGER": MARK}, check=True)
        self.assertNotIn("paged:", done.stdout)

    def test_one_that_cannot_be_run(self):
        text = self.at_terminal("port", "list", PAGER="nosuch")
        self.assertIn("coua: the pager 'nosuch' cannot be run; here without it\nPORT", text)
        self.assertIn("\nusage: coua fib show", self.at_terminal("help", "fib", "show",
                                                                PAGER="/dev/null"))

    def test_the_status_is_that_of_a_verb_that_was_done(self):
        plain = subprocess.run([COUA, "-s", self.daemon.socket, "doctor", "--strict"], check=False,
                               stdout=subprocess.DEVNULL)
        for pager in ("cat >/dev/null", "true", "nosuch"):
            self.at_terminal("doctor", "--strict", status=plain.returncode, COUA_PAGER=pager)

    def test_help_and_failures(self):
        self.assertIn("paged:usage: coua fib show", self.at_terminal("help", "fib", "show",
                                                                     COUA_PAGER=MARK))
        text = self.at_terminal("flow", "dump", "foo=1", status=1, COUA_PAGER=MARK)
        self.assertEqual(text, "coua: filter: unknown keyword foo\n")

    def test_who_leaves_early_waits_for_nothing(self):
        self.coua("fib", "load", "--generate", "900K", "--vlan", 10, "--ports", "p0")
        text = self.at_terminal("fib", "show", COUA_PAGER="head -n 2")
        self.assertEqual(len(text.splitlines()), 2)

    def test_who_leaves_help_early(self):
        for _ in range(3):
            self.at_terminal("help", "port", "set", COUA_PAGER="exec <&-; sleep 0.1")

    def test_lines_of_a_script(self):
        reader, writer = os.pipe()
        os.write(writer, b"port list\nfib ageing\nport list --no-pager\n")
        os.close(writer)
        text = self.at_terminal(COUA_PAGER=MARK, stdin=reader)
        os.close(reader)
        self.assertEqual(text.count("paged:PORT"), 1)
        self.assertEqual(text.count("\nPORT"), 1)

    def test_ctrl_c_ends_the_verb_and_waits_for_the_pager(self):
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.daemon.process.send_signal, signal.SIGCONT)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(COUA, ["coua", "-s", self.daemon.socket, "port", "list"],
                      {**os.environ, "TERM": "xterm",
                       "COUA_PAGER": "trap '' INT; echo begun; cat; echo ended"})
        said = b""
        while b"begun" not in said:
            said += os.read(terminal, 4096)
        wait_for_catch(pid)
        time.sleep(0.05)  # the verb waits for the daemon by now
        os.write(terminal, b"\x03")
        while b"interrupted" not in said:
            said += os.read(terminal, 4096)
        self.assertIn(b"ended", said)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        os.close(terminal)

    def test_ctrl_c_twice_while_the_pager_reads_nothing(self):
        self.coua("fib", "load", "--generate", "900K", "--vlan", 10, "--ports", "p0")
        go_on = pathlib.Path(self.daemon.directory.name, "go")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(COUA, ["coua", "-s", self.daemon.socket, "fib", "show"],
                      {**os.environ, "TERM": "xterm", "COUA_PAGER":
                       f"trap '' INT; echo begun; until [ -e {go_on} ]; do sleep 0.05; done; "
                       "echo ended"})
        said = b""
        while b"begun" not in said:
            said += os.read(terminal, 4096)
        wait_for_catch(pid)
        for _ in range(3):
            time.sleep(0.2)  # the pipe is full by now
            os.write(terminal, b"\x03")
        time.sleep(0.2)
        self.assertEqual(os.waitpid(pid, os.WNOHANG)[0], 0, said)
        go_on.touch()
        while b"interrupted" not in said:
            said += os.read(terminal, 4096)
        self.assertIn(b"ended", said)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        os.close(terminal)


if __name__ == "__main__":
    main()
