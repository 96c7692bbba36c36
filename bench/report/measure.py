# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the catalogue, and keeps what each one said in a file of its own.

DIR/NAME.json is {"words", "program", "machine", "when", "seconds", "status", "reason", "report"}: status is
"done" (with the report that coua-bench printed), "failed" or "skipped" (with the reason). What is
done with the same words by the same program on the same machine is not measured again.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import ovs_daemon  # noqa: E402  (the path is set above)

# Somebody wants it to end: asked for where nothing is half done.
ending = threading.Event()
PATIENCE = {"quick": 4, "full": 12}  # times what a run is said to take, then it is given up


class trouble(Exception):
    """One line for the user."""


def identify(program):
    """A short hash of coua-bench: results of another one are not taken for its own."""
    try:
        return hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise trouble(f"{program}: {error.strerror}; `make bench` builds it") from None


def identify_tool(tool, program):
    """The same of another program of the tree, with all that it runs."""
    folder = pathlib.Path(program).parent
    parts = [*(folder / name for name in ("coua-bench", "couad", "coua")),
             *sorted((ROOT / tool).parent.iterdir()),
             *(ROOT / "tests" / "packet" / name for name in ("lab.py", "of_wire.py", "frames.py"))]
    whole = hashlib.sha256()
    for part in parts:
        if part.is_file():
            whole.update(part.read_bytes())
    return whole.hexdigest()[:12]


def first(path, label):
    """What stands behind "LABEL:" in a file of /proc, or an empty text."""
    try:
        found = re.search(rf"^{label}\s*:\s*(.*)$", pathlib.Path(path).read_text(), re.M)
    except OSError:
        found = None
    return found.group(1) if found else ""


def describe_machine():
    """Results of another machine, or of this one with other pages, are not those of now."""
    return {"cpu": first("/proc/cpuinfo", "model name"), "cpus": len(os.sched_getaffinity(0)),
            "kernel": os.uname().release, "huge_pages": first("/proc/meminfo", "HugePages_Total")}


def version_of_ovs():
    try:
        done = subprocess.run([ovs_daemon.PATH, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return " / ".join(done.stdout.splitlines()[:2])


def read(path):
    """What is kept in a file. trouble: it is not what a run leaves."""
    try:
        kept = json.loads(path.read_text())
    except OSError as error:
        raise trouble(f"{path}: {error.strerror}") from None
    except ValueError:
        raise trouble(f"{path} is not JSON; remove it, and it is measured again") from None
    good = isinstance(kept, dict) and isinstance(kept.get("words"), list) and (
        isinstance(kept.get("reason"), str) if kept.get("status") in ("failed", "skipped") else
        kept.get("status") == "done" and isinstance(kept.get("report"), dict)
        and isinstance(kept["report"].get("rows"), list)
        and all(isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("params"), dict)
                for row in kept["report"]["rows"]))
    if not good:
        raise trouble(f"{path} is not what a run leaves; remove it, and it is measured again")
    return kept


def read_all(folder, runs):
    """By name, of the runs that are kept. What cannot be read counts as failed."""
    out = {}
    for each in runs:
        path = folder / f"{each.name}.json"
        if not path.exists():
            continue
        try:
            out[each.name] = read(path)
        except trouble as error:
            out[each.name] = {"words": list(each.words), "status": "failed", "reason": str(error)}
    return out


def write(path, kept):
    """Whole or not at all."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(kept, indent=1) + "\n")
    beside.replace(path)


def why_not(each, program):
    """Why a run cannot be, or an empty text."""
    if each.tool and not os.path.exists(os.path.join(os.path.dirname(program), "couad")):
        return "couad is not built: `make` builds it"
    if each.tool and not shutil.which("ovs-ofctl"):
        return "ovs-ofctl is not installed: `apt install openvswitch-common`"
    if each.needs_ovs and not os.path.exists(ovs_daemon.PATH):
        return "Open vSwitch with DPDK is not installed: `apt install openvswitch-switch-dpdk`"
    if each.needs_ovs and len(os.sched_getaffinity(0)) < 2:
        return "Open vSwitch needs a CPU beside that of the worker, and there is one"
    if each.needs_ovs and os.geteuid() != 0:
        return "Open vSwitch has to be started by root"
    return ""


def reason_of(code, errors):
    """The last thing a program said, from its own name on; else how it ended."""
    kept = [text for text in errors if text.strip() and not re.fullmatch(r"\w+ \d+: .* \(\d+ s\)", text)]
    for i in range(len(kept) - 1, -1, -1):
        if found := re.match(r"(coua-bench|openflow bench): ", kept[i]):
            return " ".join(kept[i:])[found.end():]
    if kept:
        return kept[-1]
    return f"ended by signal {-code}" if code < 0 else f"ended with status {code}"


class measurer:
    """Runs one command after the other. When it shall end, the one that runs is ended, and
    KeyboardInterrupt is raised."""

    def __init__(self, program, folder, again=False, terminal=None, patience=PATIENCE["full"]):
        self.program, self.folder, self.again = os.path.abspath(program), folder, again
        self.patience = patience
        self.identity = identify(program)
        self.tools = {}
        self.machine = describe_machine()
        self.ovs = version_of_ovs()
        self.terminal = sys.stderr.isatty() if terminal is None else terminal

    def say(self, text, last=True):
        if self.terminal:
            print("\r\033[K" + text, end="\n" if last else "", file=sys.stderr, flush=True)
        elif last:
            print(text, file=sys.stderr, flush=True)

    def program_of(self, each):
        """The hash of what a run runs."""
        if not each.tool:
            return self.identity
        if each.tool not in self.tools:
            self.tools[each.tool] = identify_tool(each.tool, self.program)
        return self.tools[each.tool]

    def machine_of(self, each):
        return {**self.machine, **({"ovs": self.ovs} if each.needs_ovs else {})}

    def is_done(self, each):
        try:
            kept = read(self.folder / f"{each.name}.json")
        except trouble:
            return False
        return (kept["status"] == "done" and kept["words"] == list(each.words)
                and kept.get("program") == self.program_of(each) and kept.get("machine") == self.machine_of(each)
                and not self.again)

    def all(self, runs):
        """Measures what is not done yet. Returns whether nothing failed."""
        left = [each for each in runs if not self.is_done(each)]
        if len(left) < len(runs):
            self.say(f"{len(runs) - len(left)} of {len(runs)} runs are kept from before")
        to_do = sum(each.seconds for each in left)
        self.say(f"{len(left)} runs, about {max(1, round(to_do / 60))} min; Ctrl-C ends it, and what was measured "
                 "is kept")
        good = True
        for number, each in enumerate(left, 1):
            if ending.is_set():
                raise KeyboardInterrupt
            head = f"[{number}/{len(left)}] {each.name}"
            reason = why_not(each, self.program)
            if reason:
                self.keep(each, "skipped", 0, reason=reason)
                self.say(f"{head}: left out: {reason}")
                continue
            good = self.one(each, head) and good
        return good

    def keep(self, each, status, seconds, **more):
        write(self.folder / f"{each.name}.json",
              {"words": list(each.words), "program": self.program_of(each), "machine": self.machine_of(each),
               "when": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
               "seconds": round(seconds, 1), "status": status, **more})

    def one(self, each, head):
        began = time.monotonic()
        # A run that is ended leaves nothing behind: its files are here.
        with tempfile.TemporaryDirectory(prefix="coua-report-") as scratch:
            code, output, errors = self.call(each, head, scratch)
        seconds = time.monotonic() - began
        try:
            report = json.loads(output) if code == 0 else None
        except ValueError:
            code, report, errors = 1, None, [*errors, "coua-bench: printed no JSON"]
        if report is None:
            reason = reason_of(code, errors)
            self.keep(each, "failed", seconds, reason=reason)
            self.say(f"{head}: failed after {seconds:.0f} s: {reason}")
            return False
        self.keep(each, "done", seconds, report=report)
        self.say(f"{head}: {seconds:.0f} s")
        return True

    def call(self, each, head, scratch):
        program = ROOT / each.tool if each.tool else self.program
        process = subprocess.Popen([program, *each.words, "--json"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                   env={**os.environ, "TMPDIR": scratch, "BUILD": os.path.dirname(self.program)}, start_new_session=True)
        errors, output = [], []
        readers = [threading.Thread(target=lambda: errors.extend(process.stderr.read().splitlines())),
                   threading.Thread(target=lambda: output.append(process.stdout.read()))]
        for reader in readers:
            reader.start()
        began = shown = time.monotonic()
        limit = self.patience * each.seconds
        late = ended = False
        while process.poll() is None:
            now = time.monotonic()
            late = now - began > limit
            if late or ending.is_set():
                ended = process.poll() is None  # else it is whole, and kept
                self.end(process)
            if now >= shown:
                self.say(f"{head}: {now - began:.0f} s of about {each.seconds}", last=False)
                shown = now + 1
            time.sleep(0.05)
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
        if ended and not late:
            raise KeyboardInterrupt
        if ended:
            return 1, "", [f"coua-bench: took longer than {limit} s"]
        return process.returncode, "".join(output), errors

    @staticmethod
    def end(process):
        """With all that it has started."""
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()


def find_program(named):
    if os.path.sep in named or os.path.exists(named):
        path = named
    else:
        path = shutil.which(named) or named
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise trouble(f"{named} is no program; `make bench` builds it")
    return os.path.abspath(path)


def shown(path):
    """As it may be typed here."""
    near = os.path.relpath(path)
    return path if near.startswith("..") else near if os.path.sep in near else os.path.join(".", near)
