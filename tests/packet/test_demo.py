# SPDX-License-Identifier: Apache-2.0
"""The demo: to its end, for as long as it takes to interrupt it, and where it cannot begin."""

import glob
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

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


def temporary():
    """What Coua's programs have in /tmp."""
    return {path.name for path in pathlib.Path("/tmp").glob("coua-*")}


def take_interrupts():
    """As under a terminal: tests that a shell runs in the background inherit that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def outside():
    """The environment of a program that is to make namespaces of its own."""
    return {name: value for name, value in os.environ.items() if name != lab.INSIDE}


def ordinary_user(program, device="/dev/null"):
    """What makes the command behind it one of an ordinary user, who runs that program and writes to that device.
    Skips the test where there is none who could."""
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    words = [*drop, "unshare", "-Urnm", "-pf", "--mount-proc", "sh", "-c", 'test -x "$0" && test -w "$1"', program,
             device]
    trial = subprocess.run(words, capture_output=True, text=True)
    if trial.returncode:
        why = trial.stderr.strip() or f"{program} or {device} is out of reach"
        raise unittest.SkipTest(f"an ordinary user cannot: {why}")
    return drop


class demo_case(unittest.TestCase):
    def start(self, *before, form=(), **environment):
        demo = subprocess.Popen([*before, lab.ROOT / "demo" / "run", *form], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.STDOUT, env={**outside(), MARK: "1", **environment},
                                start_new_session=True, preexec_fn=take_interrupts)
        self.addCleanup(demo.stdout.close)
        self.addCleanup(demo.wait)
        self.addCleanup(demo.kill)
        return demo

    def wait_until_none_but(self, files):
        """Other daemons of this machine may start just now."""
        lab.wait_for(lambda: temporary() <= files, timeout=20, what="nothing more in /tmp than before")


class test_demo(demo_case):
    def interrupt_after(self, seconds, number=signal.SIGINT):
        """What the demo said and its exit status, when it gets a signal that soon."""
        demo = self.start()
        time.sleep(seconds)
        self.assertIsNone(demo.poll(), "it ended before the signal")
        os.killpg(demo.pid, number)  # as a terminal does
        said = demo.communicate(timeout=60)[0]
        return said, demo.returncode

    def test_ctrl_c_at_any_moment_of_its_start(self):
        before, files, ended_by_line = namespaces(), temporary(), 0
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
        self.wait_until_none_but(files)
        self.assertGreater(ended_by_line, 0)

    def test_ctrl_c_while_dpdk_starts(self):
        """It has a folder then, and is killed before it could remove it."""
        files = temporary()

        def starting():
            return any(os.path.basename(found) not in files for each in marked() for folder in ("tmp", "run/tmp")
                       for found in glob.glob(os.path.join("/proc", str(each), "root", folder, "coua-eal-*")))

        for _ in range(3):
            demo = self.start()
            lab.wait_for(starting, every=0, what="the folder of DPDK's start")
            os.killpg(demo.pid, signal.SIGINT)
            said = demo.communicate(timeout=60)[0]
            self.assertEqual((said.splitlines()[-1:], demo.returncode), ([LINE], 130), said)
        self.wait_until_none_but(files)

    def test_ctrl_c_while_the_switch_runs(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            said, status = self.interrupt_after(4, number)
            self.assertEqual((said.splitlines()[-1:], status), ([LINE], 130), said)
            self.assertEqual(marked(), [])

    def test_nothing_outlives_a_demo_that_was_killed(self):
        self.interrupt_after(3, signal.SIGKILL)
        lab.wait_for(lambda: not marked(), what="no process of the demo")


class test_whole_demo(demo_case):
    def summary_at_its_end(self, *before_it, **options):
        before, links, files = namespaces(), os.listdir("/sys/class/net"), temporary()
        demo = self.start(*before_it, **options)
        said = demo.communicate(timeout=300)[0]
        self.assertEqual(demo.returncode, 0, said)
        self.assertNotIn("FAILED", said)
        self.assertEqual(marked(), [])
        self.assertLessEqual(namespaces(), before)
        self.assertEqual(os.listdir("/sys/class/net"), links)
        self.assertFalse(os.path.exists("/run/demo"))
        self.wait_until_none_but(files)
        return said.partition("\nSummary\n")[2]

    def check_hosts(self, *before_it, **environment):
        summary = self.summary_at_its_end(*before_it, form=["hosts"], **environment)
        for line in (r"mode  .*FIB 10\.1 M entries", r"ping  .*not between the VLANs", r"time  +\d+ s$"):
            self.assertRegex(summary, f"(?m)^   {line}")

    def check_to_its_end(self, kind, *before_it, **environment):
        summary = self.summary_at_its_end(*before_it, **environment)
        for line in (r"mode  .*FIB 10\.1 M entries", r"ping  .*not between the VLANs",
                     rf"iperf3 TCP  [0-9,]+ Mbit/s \({kind} ports",
                     r"FIB  +10,000,\d+ entries, \d+\.\d bytes each",
                     r"forwarding  +\d+\.\d+ M packets/s to 60,000 of 10 M addresses, drawn at random, on one core; "
                     r"raw I/O of the same ports \d+\.\d+ M",
                     r"gateway  +\d+\.\d+ M packets/s; .* routes/s change", r"time  +\d+ s$"):
            self.assertRegex(summary, f"(?m)^   {line}")

    def test_to_its_end(self):
        self.check_to_its_end("tap")

    def test_to_its_end_as_an_ordinary_user_by_af_packet(self):
        # A kernel without VLAN devices needs TUN for the host on the trunk (tagger.py).
        drop = ordinary_user(lab.COUAD, "/dev/net/tun")
        self.check_to_its_end("af_packet", *drop, DEMO_PORTS="af_packet", COUA_CACHE="/nonexistent")

    def test_hosts_by_af_xdp(self):
        if not lab.is_real_root():
            self.skipTest("AF_XDP needs root of the machine")
        self.check_hosts(DEMO_PORTS="af_xdp")

    def test_hosts_by_tap_as_an_ordinary_user(self):
        self.check_hosts(*ordinary_user(lab.COUAD, "/dev/net/tun"))

    def test_without_the_tun_driver_it_says_what_to_do(self):
        demo = self.start("unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /dev/net && exec "$0"')
        said = demo.communicate(timeout=60)[0]
        self.assertEqual(demo.returncode, 2, said)
        self.assertRegex(said, r"^demo: /dev/net/tun is missing, .*modprobe tun.*--device /dev/net/tun`, or try "
                               r"DEMO_PORTS=af_packet\n$")


class test_gateway(unittest.TestCase):
    """The last act, with a switch that only says things: it goes on, or fails with the reason."""

    def setUp(self):
        sys.path.append(str(lab.ROOT / "demo"))
        self.addCleanup(sys.path.remove, str(lab.ROOT / "demo"))
        import openflow_act
        self.act = openflow_act
        self.rates, self.routes, self.refusals = [5e6, 3e6], None, []

    def carry_out(self):
        time.sleep(0.01)
        if self.refusals:
            raise lab.lab_error(self.refusals[0])

    def rate(self):
        time.sleep(0.1)
        return self.rates.pop(0)

    def play(self):
        """What it fails with; None: nothing."""
        one, switch, controller = self.act.gateway(mock.Mock()), mock.MagicMock(), mock.MagicMock()
        one.out.check.side_effect = self.check

        def coua(*words, **_):
            if words[:2] != ("flow", "dump"):
                return mock.Mock(stdout="")
            hops = self.routes if self.routes is not None else one.hops
            return mock.Mock(stdout="".join(
                f"table=2, nw_dst=20.{n >> 8}.{n & 255}.0/24 actions=dec_ttl,set_field:"
                f"{hops.get(n, self.act.NEXT_MAC.format(n & 255))}->eth_dst,output:1\n" for n in range(self.act.ROUTES)))

        switch.return_value.start.return_value.coua.side_effect = coua
        controller.to.return_value.greet.return_value.carried_out.side_effect = self.carry_out
        with mock.patch.object(self.act.lab, "switch", switch), mock.patch.object(one, "write_packets"), \
                mock.patch.object(self.act.of, "controller", controller), \
                mock.patch.object(one, "rate", side_effect=self.rate), \
                mock.patch.object(one, "names", return_value={1: "sink"}), \
                mock.patch.object(one, "dropped", return_value=0):
            try:
                one.run()
            except self.act.demo_failed as failed:
                return str(failed)
        return None

    def check(self, what, good):
        if not good:
            raise self.act.demo_failed(what)

    def test_plays_to_its_end(self):
        self.assertIsNone(self.play())

    def test_fails_without_packets(self):
        """Red when it divides by that rate."""
        self.rates = [0, 0]
        self.assertEqual(self.play(), "no packet comes out of the gateway")
        self.rates = [5e6, 0]
        self.assertEqual(self.play(), "no packet came out of the gateway while its routes changed")

    def test_fails_when_routes_do_not_change(self):
        """Red when the controller's thread ends alone, or when nobody looks at the routes."""
        self.refusals = ["the switch refuses a message: error (5, 1)"]
        self.assertEqual(self.play(), f"the routes do not change: {self.refusals[0]}")
        self.rates, self.refusals, self.routes = [5e6, 3e6], [], {}
        self.assertRegex(self.play(), r"all [0-9,]+ routes that were changed go where")


class test_ordinary_user(unittest.TestCase):
    """Who may make namespaces needs no other privilege."""

    def test_a_switch_and_its_hosts(self):
        drop = ordinary_user(lab.COUAD, "/dev/net/tun")
        done = subprocess.run([*drop, lab.ROOT / "tests/packet/run", "-k", "test_arp_and_ping"],
                              env=outside(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("packet tests: 1 passed, 0 failed", done.stdout)


class test_os_ken(unittest.TestCase):
    """What the demo does for its controller, with a PyPI that does not answer."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = pathlib.Path(holder.name)
        self.calls = self.directory / "calls"
        self.calls.touch()
        program = self.directory / "python3"  # that makes a pip
        program.write_text('#!/bin/sh\nmkdir -p "$3/bin"\ncat > "$3/bin/pip" <<E\n#!/bin/sh\n'
                           f'echo \\$PIP_DEFAULT_TIMEOUT \\$PIP_RETRIES >> {self.calls}\nexit 1\nE\n'
                           'chmod +x "$3/bin/pip"\n')
        program.chmod(0o755)

    def osken(self, *words):
        environment = {**{name: value for name, value in os.environ.items() if not name.startswith("PIP_")},
                       "COUA_CACHE": str(self.directory / "cache"),
                       "PATH": f"{self.directory}:{os.environ['PATH']}"}
        done = subprocess.run([lab.ROOT / "tools/osken", *words], env=environment, capture_output=True,
                              text=True, timeout=60)
        return done.returncode, done.stdout.splitlines(), self.calls.read_text().splitlines()

    def test_is_tried_for_once_a_day_and_not_long(self):
        status, said, calls = self.osken("--try")
        self.assertEqual((status, len(said), calls), (0, 2, ["5 1"]))
        self.assertIn("from PyPI", said[0])
        self.assertIn("goes without it", said[1])
        self.assertEqual(self.osken("--try"), (0, [], ["5 1"]))
        failed = self.directory / "cache/os-ken.failed"
        os.utime(failed, (time.time() - 90_000,) * 2)
        self.assertEqual(self.osken("--try")[1:], (said, ["5 1"] * 2))
        # Who asks for it is not put off.
        self.assertEqual(self.osken(), (1, said[:1], ["5 1", "5 1", ""]))
