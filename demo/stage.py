# SPDX-License-Identifier: Apache-2.0
"""What the audience of a demonstration sees."""

import sys
import time

BOLD, DIM, GREEN, RED, PLAIN = (
    ("\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[0m") if sys.stdout.isatty() else [""] * 5)


class demo_failed(Exception):
    pass


class stage:
    """What the audience sees: numbered acts, commands, short results."""

    def __init__(self):
        self.number = 0
        self.began = time.monotonic()
        self.summary = []

    def act(self, title):
        self.number += 1
        print(f"\n{BOLD}{self.number}. {title}{PLAIN}  {DIM}({time.monotonic() - self.began:.0f} s)"
              f"{PLAIN}", flush=True)

    def say(self, text):
        print(f"   {text}", flush=True)

    def command(self, words, ns=None):
        text = words if isinstance(words, str) else " ".join(str(word) for word in words)
        print(f"   {DIM}{ns or ''}${PLAIN} {text}", flush=True)

    def show(self, text, most=14):
        lines = text.rstrip().splitlines()
        for line in lines[:most]:
            print(f"     {line}")
        if len(lines) > most:
            print(f"     {DIM}... {len(lines) - most} more lines{PLAIN}")
        sys.stdout.flush()

    def check(self, what, good):
        print(f"   {(GREEN + 'ok' if good else RED + 'FAILED') + PLAIN}  {what}", flush=True)
        if not good:
            raise demo_failed(what)

    def result(self, name, value):
        self.summary.append((name, value))


def mega(per_second):
    return f"{per_second / 1e6:.2f} M packets/s"
