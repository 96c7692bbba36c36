# SPDX-License-Identifier: Apache-2.0
"""The outer of the two processes that a program in namespaces of its own is made of.

It hears Ctrl-C for both. Python answers a signal by an exception between any two of its steps: at
its start, in a clean-up, or just after it has started a process that nobody knows of yet. Here the
signals stay blocked instead, and are waited for: none comes at a wrong moment, none is lost. The
inner process has a session of its own, so that no terminal sends it any.
"""

import ctypes
import os
import pathlib
import signal
import subprocess
import threading

STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
LIFELINE = "COUA_LAB_LIFELINE"
PR_SET_CHILD_SUBREAPER = 36


def run(command, environment):
    """Runs a command and returns its exit status; None when a signal said to stop. Afterwards nothing
    that it started runs on."""
    signals = STOPS | {signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    adopt_orphans()
    lifeline, held = os.pipe()
    inner = subprocess.Popen(command, env={**environment, LIFELINE: str(lifeline)},
                             pass_fds=[lifeline], start_new_session=True,
                             preexec_fn=listen_again)
    os.close(lifeline)
    while inner.poll() is None and signal.sigwait(signals) not in STOPS:
        pass
    status = inner.returncode
    end_children()
    os.close(held)
    return status if status is None or status >= 0 else 128 - status


def listen_again():
    """In the inner process, before its program runs. What came before it had a session of its own was
    said to both, and the outer one hears it: to ignore a signal takes it away."""
    for disposition in (signal.SIG_IGN, signal.SIG_DFL):
        for number in STOPS:
            signal.signal(number, disposition)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def follow():
    """In the inner process: ends it, and what it started, when the outer one is gone, however that
    ended."""
    if LIFELINE not in os.environ:
        return
    adopt_orphans()
    lifeline = int(os.environ.pop(LIFELINE))

    def wait():
        os.read(lifeline, 1)  # nothing is ever written: it returns when the other end is closed
        end_children()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def adopt_orphans():
    """From now on, a process below this one whose parent ends becomes a child of this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(file.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        if parent == os.getpid():
            yield int(file.parent.name)


def end_children():
    """Kills the children, then those that they leave behind, until there are none."""
    while True:
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
