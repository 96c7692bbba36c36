#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion in shells.

usage: completion_test.py COUA FAKE_COUAD DOCS_DIR
"""

import os
import pathlib
import pty
import select
import shutil
import subprocess
import tempfile
import time

from cli_case import COUA, cli_case, main


class test_completion(cli_case):
    """What the keys of a user get: in bash by what readline calls, in zsh on a terminal."""

    def setUp(self):
        super().setUp()
        self.ports()
        self.directory = tempfile.TemporaryDirectory(prefix="coua-shell-")
        self.addCleanup(self.directory.cleanup)
        os.symlink(os.path.abspath(COUA), self.directory.name + "/coua")
        for name in ("routes.txt", "routes of b.txt"):
            pathlib.Path(self.directory.name, name).touch()
        self.environment = {**os.environ, "COUA_SOCKET": self.daemon.socket,
                            "PATH": self.directory.name + ":" + os.environ["PATH"]}

    def in_bash(self, line):
        script = ('source <(coua completion bash); COMP_WORDBREAKS="=:"; COMP_LINE=$1; COMP_POINT=${#1}; _coua; '
                  '((${#COMPREPLY[@]} == 0)) || printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", line], text=True, check=False,
                              capture_output=True, timeout=60, env=self.environment,
                              cwd=self.directory.name)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return done.stdout.splitlines()

    def test_bash(self):
        self.assertEqual(self.in_bash("coua po"), ["port"])
        self.assertEqual(self.in_bash("coua port "), ["list", "show", "add", "remove", "set"])
        self.assertEqual(self.in_bash("coua port set "), ["p0", "p1", "up"])
        self.assertEqual(self.in_bash("coua port set p0 --en"), ["--enabled"])
        self.coua("bridge", "add", "br1")
        self.assertEqual(self.in_bash("coua explain "), ["br0", "br1"])
        self.assertEqual(self.in_bash("coua flow dump --bridge br"), ["br0", "br1"])
        # readline has split the word at '=': it wants what comes after.
        self.assertEqual(self.in_bash("coua port set p0 --enabled=o"), ["on", "off"])
        self.assertEqual(sorted(self.in_bash("coua fib load rou")),
                         ["routes of b.txt", "routes.txt"])
        self.assertEqual(self.in_bash("coua nonsense "), [])

    def test_bash_without_a_daemon(self):
        self.environment["COUA_SOCKET"] = self.directory.name + "/nobody"
        self.assertEqual(self.in_bash("coua port set "), [])
        self.assertEqual(self.in_bash("coua fib fl"), ["flush"])

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        said = self.in_zsh("coua fib flush --port up --st\t\n")
        self.assertIn("0 entries removed", said)

    def in_zsh(self, keys):
        """What a terminal shows of these keys."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory.name)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**self.environment, "TERM": "dumb"})
        said = b""

        def until(mark):
            nonlocal said
            end = time.monotonic() + 30
            while mark not in said:
                there, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
                self.assertTrue(there, f"no {mark} in {said}")
                said += os.read(terminal, 4096)

        os.write(terminal, b"autoload -Uz compinit; compinit -u -D; eval \"$(coua completion zsh)\";"
                           b" print rea''dy\n")
        until(b"ready")
        os.write(terminal, keys.encode() + b"print do''ne; exit\n")
        until(b"done")
        os.close(terminal)
        os.waitpid(pid, 0)
        return said.decode()


if __name__ == "__main__":
    main()
