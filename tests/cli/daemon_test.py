#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""couad itself, with ports that need neither devices nor privileges.

usage: daemon_test.py COUAD COUA
"""

import contextlib
import json
import os
import pathlib
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

COUAD, COUA = sys.argv[1:3]
PORTS = """
fib:
  entries: 1M
  static: [{vlan: 10, mac: 02:00:00:00:00:01, port: p0}]
ports:
  - {name: p0, devargs: "net_null0,no-rx=1", vlan: 10}
  - {name: p1, devargs: "net_null1,no-rx=1", vlans: {tagged: [10], native: 0}}
"""


class daemon_case(unittest.TestCase):
    before = []  # the words before couad

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="coua-daemon-")
        self.addCleanup(holder.cleanup)
        self.directory = pathlib.Path(holder.name)
        self.socket = self.directory / "couad.sock"
        (self.directory / "dpdk").mkdir()
        # DPDK's own files go here, where its root directory is not ours to write.
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.directory / "dpdk")}

    def write(self, text, name="couad.yaml"):
        file = self.directory / name
        file.write_text(text)
        return file

    def config(self, more=PORTS):
        return self.write(f"api: {{socket: '{self.socket}'}}\n"
                          "memory: {huge_pages: off, packet_mib: 64, mbufs: 4096}\n"
                          "workers: {count: 1, idle: sleep}\n" + more)

    def launch(self, file, prepare=None):
        process = subprocess.Popen([*self.before, COUAD, "--config", str(file)], text=True,
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   env=self.environment, preexec_fn=prepare)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start(self, more=PORTS, prepare=None):
        process = self.launch(self.config(more), prepare)
        for line in process.stderr:
            if "ready:" in line:
                return process
        self.fail(f"couad ended with status {process.wait()}")

    def run_couad(self, *words):
        return subprocess.run([COUAD, *map(str, words)], capture_output=True, text=True,
                              timeout=60, check=False, env=self.environment)

    def coua(self, *words):
        done = subprocess.run([COUA, "-s", self.socket, "-j", *map(str, words)],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def left(self):
        return sorted(path.name for path in self.directory.glob("*.sock*"))


class test_life(daemon_case):
    def test_start_use_and_stop(self):
        process = self.start()
        version = self.coua("version")
        self.assertEqual(version["client"], version["daemon"]["version"])
        self.assertEqual(version["daemon"]["pid"], process.pid)
        self.assertIn("ordinary memory", version["daemon"]["description"])
        self.assertEqual([port["name"] for port in self.coua("port", "list")["ports"]],
                         ["p0", "p1"])
        self.assertEqual(self.coua("vlan", "show", 10)["vlan"]["tagged"], ["p1"])
        self.assertEqual(self.coua("fib", "show")["entries"],
                         [{"vlan": 10, "mac": "02:00:00:00:00:01", "port": "p0", "static": True,
                           "age_s": 0}])
        self.assertTrue(self.coua("port", "add", "p2", "net_null2,no-rx=1")["changed"])
        self.assertFalse(self.coua("port", "add", "p2", "net_null2,no-rx=1")["changed"])
        self.assertTrue(self.coua("port", "set", "p2", "--vlan", 10)["changed"])
        self.assertFalse(self.coua("port", "set", "p2", "--vlan", 10)["changed"])
        self.assertEqual(self.coua("fib", "load", "--generate", "100K", "--vlan", 10,
                                   "--base", "02:00:00:10:00:00", "--ports", "p0,p2")["stored"], 100000)
        self.assertEqual(self.coua("fib", "show", "--port", "p2")["count"], 50000)
        self.assertEqual(self.coua("fib", "stats")["entries"], 100001)
        self.assertTrue(self.coua("port", "remove", "p2")["changed"])
        self.assertEqual(self.coua("fib", "show", "--port", "p0", "--dynamic")["count"], 50000)
        self.assertEqual(self.coua("fib", "flush")["removed"], 50000)
        self.assertEqual(len(self.coua("worker", "list")["workers"]), 1)
        self.assertIn("rx_packets", self.coua("stats")["totals"])
        self.assertEqual(self.left(), ["couad.sock", "couad.sock.lock"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)
        self.assertIn("stopped", process.stderr.read())
        self.assertEqual(self.left(), [])

    def be_ordinary(self):
        self.before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all",
                       "--inh-caps=-all", "--no-new-privs"]
        if subprocess.run([*self.before, "test", "-x", COUAD], check=False).returncode:
            self.skipTest(f"an ordinary user cannot reach {COUAD}")
        for path in (self.directory, self.directory / "dpdk"):
            os.chown(path, 65534, 65534)

    def test_needs_no_privilege(self):
        if os.geteuid() == 0:
            self.be_ordinary()
        self.test_start_use_and_stop()

    @contextlib.contextmanager
    def systemd(self, watchdog_us):
        """The socket at which systemd hears what the daemon says of itself."""
        path = str(self.directory / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.settimeout(60)
            manager.bind(path)
            self.environment |= {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(watchdog_us)}
            yield manager

    def test_systemd_hears_of_it(self):
        with self.systemd(watchdog_us=400_000) as manager:
            process = self.start()
            self.assertEqual(manager.recv(4096).decode(),
                             f"READY=1\nSTATUS=2 ports, API on {self.socket}")
            for _ in range(3):
                self.assertEqual(manager.recv(4096), b"WATCHDOG=1")
            process.send_signal(signal.SIGTERM)
            said = manager.recv(4096)
            while said == b"WATCHDOG=1":
                said = manager.recv(4096)
            self.assertEqual(said, b"STOPPING=1")
            self.assertEqual(process.wait(60), 0)

    def test_reloads_do_not_keep_it_from_the_watchdog(self):
        with self.systemd(watchdog_us=1_000_000) as manager:
            process = self.start()
            said = [manager.recv(4096)]
            until = time.monotonic() + 3
            while time.monotonic() < until:  # far more often than the watchdog is told
                process.send_signal(signal.SIGHUP)
                while select.select([manager], [], [], 0.05)[0]:
                    said.append(manager.recv(4096))
            process.send_signal(signal.SIGTERM)
            while said[-1] != b"STOPPING=1":
                said.append(manager.recv(4096))
            self.assertGreaterEqual(said.count(b"WATCHDOG=1"), 3, said)
            self.assertGreaterEqual(sum(b"RELOADING=1" in each for each in said), 3, said)
            self.assertEqual(process.wait(60), 0)

    def test_a_port_that_takes_its_time_does_not_keep_it_from_the_watchdog(self):
        with self.systemd(watchdog_us=1_000_000) as manager:
            process = self.start()
            self.assertIn("READY=1", manager.recv(4096).decode())
            # Its driver waits until somebody writes.
            slow = self.directory / "slow"
            os.mkfifo(slow)
            file = self.directory / "couad.yaml"
            file.write_text(file.read_text() + f"  - {{name: slow, devargs: 'net_pcap0,rx_pcap={slow}'}}\n")
            process.send_signal(signal.SIGHUP)
            while "RELOADING=1" not in manager.recv(4096).decode():
                pass
            for _ in range(6):  # two periods of the watchdog
                self.assertEqual(manager.recv(4096), b"WATCHDOG=1")
            # Head of a pcap file without packets.
            slow.write_bytes(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            said = manager.recv(4096)
            while said == b"WATCHDOG=1":
                said = manager.recv(4096)
            self.assertEqual(said.decode(), f"READY=1\nSTATUS=3 ports, API on {self.socket}; "
                                            "1 change by the last reload")
            self.assertEqual(self.coua("port", "show", "slow")["port"]["driver"], "net_pcap")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 0)
            self.assertIn("a driver takes ", process.stderr.read())

    def test_interrupt_stops_too(self):
        process = self.start()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 0)

    def test_stop_before_it_is_ready(self):
        def stop_at_once():  # a blocked signal waits across exec
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            os.kill(os.getpid(), signal.SIGTERM)

        for more in ("ports: []\n", PORTS):
            process = self.launch(self.config(more), stop_at_once)
            self.assertEqual(process.wait(60), 0)
            log = process.stderr.read()
            self.assertIn("stopping: SIGTERM", log)
            self.assertNotIn("ready:", log)
            self.assertEqual(self.left(), [])

    def hang_up(self, process):
        """What the log says of a SIGHUP, the last line last."""
        process.send_signal(signal.SIGHUP)
        lines = []
        while not lines or not any(word in lines[-1] for word in (" changes", "nothing was changed",
                                                                  "nothing to read")):
            lines.append(process.stderr.readline())
            self.assertNotEqual(lines[-1], "", lines)
        return lines

    def test_hangup_applies_the_file(self):
        process = self.start()
        file = self.directory / "couad.yaml"
        self.assertIn("0 changes", self.hang_up(process)[-1])
        good = file.read_text()
        file.write_text(good.replace("tagged: [10]", "tagged: [10, 20]").replace("ports:", """
ports:
  - {name: p2, devargs: "net_null2,no-rx=1"}"""))
        lines = self.hang_up(process)
        self.assertTrue(any("p2: added" in line for line in lines), lines)
        self.assertEqual([port["name"] for port in self.coua("port", "list")["ports"]],
                         ["p0", "p1", "p2"])
        # A file that is wrong, one that needs a restart, and a port that does not start.
        before = self.coua("config", "show")
        for change in (("ports:", "portz:"), ("entries: 1M", "entries: 2M"),
                       ("ports:", "ports:\n  - {name: bad, devargs: net_nosuch0}")):
            file.write_text(good.replace(*change))
            self.assertIn("nothing was changed", self.hang_up(process)[-1])
            self.assertEqual(self.coua("config", "show"), before)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)

    def test_what_runs_is_saved_and_brings_itself_back(self):
        process = self.start()
        file = self.directory / "couad.yaml"
        self.assertEqual(self.coua("version")["daemon"]["config"], str(file))
        # It says the same, with its own words.
        text = file.read_text()
        self.assertEqual(self.coua("config", "save"), {"changed": False, "file": str(file), "warnings": []})
        self.assertEqual(file.read_text(), text)
        self.coua("port", "add", "p2", "net_null2,no-rx=1", "--tagged", "5-7", "--mtu", 1400)
        self.coua("port", "remove", "p1")
        self.coua("fib", "add", 5, "02:00:00:00:00:05", "p2")
        self.coua("fib", "ageing", 60)
        self.coua("log", "level", "debug")
        file.chmod(0o640)
        self.assertTrue(self.coua("config", "save")["changed"])
        self.assertEqual(file.stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.coua("config", "apply", file)["changes"], [])
        shown = self.coua("config", "show")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)
        process = self.launch(file)
        for line in process.stderr:
            if "ready:" in line:
                break
        self.assertEqual(self.coua("config", "show"), shown)
        self.assertFalse(self.coua("config", "diff", file)["differs"])

    def test_stop_with_a_client_that_hangs(self):
        process = self.start()
        self.coua("fib", "load", "--generate", "900K", "--vlan", 10, "--ports", "p0")
        with subprocess.Popen([COUA, "-s", self.socket, "fib", "show"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as dump:
            dump.stdout.readline()
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 0)
            dump.kill()

    def test_clients_that_do_nothing(self):
        """More than there are descriptors, also of those that it takes by itself."""
        process = self.start(prepare=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 256)))
        limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
        self.assertRegex(limits, r"Max open files\s+256\s+256")
        with contextlib.ExitStack() as clients:
            for _ in range(400):
                one = clients.enter_context(socket.socket(socket.AF_UNIX))
                one.connect(str(self.socket))
            for line in process.stderr:
                if "refused process" in line:
                    break
            self.assertIn(f"refused process {os.getpid()}: there are 64 connections", line)
        self.assertEqual(len(self.coua("port", "list")["ports"]), 2)

    def test_no_thread_is_left(self):
        """Whoever asks for one is told; all else goes on, and is as before when there are some."""
        if os.geteuid() == 0:
            self.be_ordinary()
        process = self.start()
        most = resource.getrlimit(resource.RLIMIT_NPROC)[1]

        def allow(n):
            subprocess.run([*self.before, "prlimit", f"--pid={process.pid}", f"--nproc={n}:"], check=True)

        allow(1)
        for words in (("fib", "show"), ("flow", "dump"), ("bridge", "add", "br1")):
            done = subprocess.run([COUA, "-s", self.socket, *words], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("the system gives no thread", done.stderr)
        process.send_signal(signal.SIGHUP)
        for line in process.stderr:
            if "SIGHUP" in line:
                break
        self.assertIn("the system gives no thread", line)
        self.assertEqual([each["name"] for each in self.coua("bridge", "list")["bridges"]], ["br0"])
        allow("unlimited" if most == resource.RLIM_INFINITY else most)
        self.assertEqual(len(self.coua("fib", "show")["entries"]), 1)
        self.coua("bridge", "add", "br1")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)

    def test_a_socket_of_any_name(self):
        """What gRPC would read as an escape, or as the end of a path, is a part of the path."""
        self.socket = self.directory / "a%41?b#c d.sock"
        process = self.start()
        self.assertEqual(self.left(), [self.socket.name, self.socket.name + ".lock"])
        self.assertEqual(len(self.coua("port", "list")["ports"]), 2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.left(), [])

    def test_who_watches_is_told_of_the_end(self):
        process = self.start()
        with subprocess.Popen([COUA, "-s", self.socket, "top", "--batch", "--interval", "0.1"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as top:
            top.stdout.readline()
            process.send_signal(signal.SIGTERM)
            self.assertIn(f"couad at {self.socket}: the connection ended: the daemon has stopped",
                          top.communicate(timeout=60)[1])
            self.assertEqual(top.returncode, 3)

    def test_a_killed_daemon_is_replaced(self):
        process = self.start()
        process.kill()
        process.wait()
        self.assertEqual(self.left(), ["couad.sock", "couad.sock.lock"])
        self.start()
        self.assertEqual(len(self.coua("port", "list")["ports"]), 2)

    def test_an_unknown_instruction_set_is_told(self):
        self.environment["COUA_SIMD"] = "mmx"
        process = self.launch(self.config())
        for line in process.stderr:
            if "COUA_SIMD" in line or "ready:" in line:
                break
        self.assertIn("warning: COUA_SIMD=mmx is ignored: use generic, avx2 or avx512", line)

    def test_a_second_daemon_is_refused(self):
        process = self.start()
        second = self.run_couad("--config", self.directory / "couad.yaml")
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"{self.socket}: couad runs there already (process {process.pid})",
                      second.stderr)
        self.assertEqual(len(self.coua("port", "list")["ports"]), 2)


class test_killed(daemon_case):
    """kill -9 while something is done: what comes back is what was before, or what was to come."""

    @staticmethod
    def large(n):
        """Many things of each kind, so that there is much to be in the middle of."""
        ports = "".join(f"  - {{name: q{i}, devargs: 'net_null{10 + i},no-rx=1', vlan: 10, mac_limit: {n}}}\n" for i in range(12))
        statics = ", ".join(f"{{vlan: 10, mac: '02:00:00:{n:02x}:{i >> 8:02x}:{i & 255:02x}', port: q{i % 12}}}"
                            for i in range(3000))
        flows = ", ".join(f"'priority={i},tcp,tp_dst={i},actions=output:q{i % 12},group:{n}'" for i in range(2000))
        return (f"fib:\n  entries: 1M\n  static: [{statics}]\n"
                f"ports:\n{ports}pipeline:\n  flows: [{flows}]\n"
                f"  groups: ['group_id={n},type=all,bucket=output:q1']\n")

    def command(self, *words):
        process = subprocess.Popen([COUA, "-s", self.socket, *map(str, words)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def again(self, file):
        """Another one, after one that was killed; what it says of itself."""
        process = self.launch(file)
        for line in process.stderr:
            if "ready:" in line:
                return process, self.coua("config", "show")
        self.fail(f"couad ended with status {process.wait()}")

    def test_while_it_applies(self):
        first = self.config()
        second = self.write(self.config(self.large(1)).read_text(), "second.yaml")
        self.config()
        process, before = self.again(first)
        start = time.monotonic()
        self.coua("config", "apply", second)
        took = time.monotonic() - start
        after = self.coua("config", "show")
        self.coua("config", "apply", first)
        self.assertEqual(self.coua("config", "show") | {"pipeline": {}}, before | {"pipeline": {}})
        interrupted = 0
        for n, share in enumerate((0.3, 0.5, 0.6, 0.7, 0.8, 0.9)):
            apply = self.command("config", "apply", second)
            time.sleep(took * share)
            process.kill()
            process.wait()
            interrupted += apply.wait(60) != 0
            file, wanted = ((first, before), (second, after))[n % 2]
            process, shown = self.again(file)
            self.assertEqual(shown, wanted)
            self.assertFalse(self.coua("config", "diff", file)["differs"])
            self.coua("config", "apply", first)
        self.assertGreater(interrupted, 0)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)

    def test_between_two_of_its_steps(self):
        """The driver of a port in the middle waits: those before it are there, those after it are not."""
        first = self.config()
        process, before = self.again(first)
        slow = self.directory / "slow"
        os.mkfifo(slow)
        second = self.write(first.read_text().replace("  - {name: p1, ", f"""\
  - {{name: early, devargs: 'net_null2,no-rx=1'}}
  - {{name: slow, devargs: 'net_pcap0,rx_pcap={slow}'}}
  - {{name: late, devargs: 'net_null3,no-rx=1'}}
  - {{name: p1, """), "second.yaml")
        apply = self.command("config", "apply", second)
        with open(slow, "wb"):  # which waits for it
            process.kill()
            process.wait()
        self.assertEqual(apply.wait(60), 3)
        process, shown = self.again(first)
        self.assertEqual(shown, before)

    def test_while_it_is_saved(self):
        file = self.config(self.large(1))
        process, before = self.again(file)
        self.coua("config", "apply", self.write(self.config(self.large(2)).read_text(), "other.yaml"))
        after = self.coua("config", "show")
        old = self.config(self.large(1)).read_text()
        start = time.monotonic()
        self.assertTrue(self.coua("config", "save", file)["changed"])
        took = time.monotonic() - start
        new = file.read_text()
        for share in (0.2, 0.5, 0.7, 0.9):
            file.write_text(old)
            save = self.command("config", "save", file)
            time.sleep(took * share)
            process.kill()
            process.wait()
            saved = save.wait(60) == 0
            self.assertEqual(file.read_text(), new if saved else old)
            self.assertEqual(list(self.directory.glob("couad.yaml.*")), [])
            process, shown = self.again(file)
            self.assertEqual(shown, after if saved else before)
            self.coua("config", "apply", self.directory / "other.yaml")

        def look():
            now = file.stat()
            return now.st_ino, now.st_size, now.st_mtime_ns, len(os.listdir(self.directory))

        for _ in range(20):  # coua itself, as soon as it has touched anything
            file.write_text(old)
            unchanged = look()
            save = self.command("config", "save", file)
            while look() == unchanged and save.poll() is None:
                pass
            save.kill()
            save.wait(60)
            self.assertIn(file.read_text(), (old, new))
            for left in self.directory.glob("couad.yaml.*"):
                left.unlink()


class test_refusals(daemon_case):
    def test_a_port_that_does_not_start_ends_it(self):
        file = self.config(PORTS + "  - name: bad\n    devargs: net_nosuch0\n")
        done = self.run_couad("--config", file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{file}:11: ports[2]: ", done.stderr)
        self.assertIn("net_nosuch0", done.stderr)
        self.assertEqual(self.left(), [])

    def test_every_error_of_a_file(self):
        file = self.write("fib: {entriez: 1}\nports:\n  - {name: p0}\n")
        for words in (("--config", file), ("--config", file, "--check")):
            done = self.run_couad(*words)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.splitlines(),
                             [f"{file}:1: fib.entriez: is unknown; did you mean 'entries'?",
                              f"{file}:3: ports[0].devargs: is missing"])
        done = self.run_couad("--config", self.directory / "none.yaml")
        self.assertEqual((done.returncode, done.stderr), (
            1, f"{self.directory}/none.yaml: cannot be opened: No such file or directory\n"))

    def test_check_starts_nothing(self):
        done = self.run_couad("--config", self.config(), "--check")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, f"{self.directory}/couad.yaml: good, 2 ports\n", ""))
        self.assertEqual(self.left(), [])

    def test_what_cannot_be_written(self):
        for words in (("--config", self.config(), "--check"), ("--help",), ("--version",)):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([COUAD, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                      check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "couad: standard output: No space left on device\n"))

    def test_a_core_that_is_not_there(self):
        file = self.write(f"api: {{socket: {self.socket}}}\nworkers:\n  cores: [1023]\n")
        done = self.run_couad("--config", file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{file}:3: workers.cores: CPU 1023 is not one", done.stderr)

    def kept_file(self):
        file = self.directory / "precious"
        file.write_text("kept")
        return file

    def test_a_value_that_the_machine_refuses_has_its_place(self):
        """Of a file that is good; in line 4, whichever field it is."""
        for text, field, reason in (
                ("fib: {entries: 1T}", "fib.entries", "1000000000000 entries: memory: "),
                ("fib: {numa_node: 63}", "fib.numa_node", "NUMA node 63 does not exist"),
                ("dpdk: {arguments: [--nonsense]}", "dpdk.arguments", "unrecognized option '--nonsense'"),
                ("dpdk: {arguments: [-b, '0000:00:00.0', --block]}", "dpdk.arguments", "option '--block' requires"),
                ("dpdk: {arguments: ['--log-level=8', '--socket-mem=x']}", "dpdk.arguments",
                 "EAL: invalid parameters for --socket-mem"),
                ("dpdk: {arguments: [-d, /no/such.so]}", "dpdk.arguments", "EAL: /no/such.so: cannot open"),
                ("metrics: {listen: '192.0.2.1:1'}", "metrics.listen",
                 "cannot listen: Cannot assign requested address"),
                ("openflow: {management: /proc/x/y}", "openflow.management", "/proc/x: cannot make"),
                ("openflow: {management: /proc/y}", "openflow.management", "/proc/y.lock: cannot be opened"),
                (f"openflow: {{listen: ['punix:{self.directory}/of', 'ptcp:6653:192.0.2.1']}}",
                 "openflow.listen[1]", "ptcp:6653:192.0.2.1: Cannot assign"),
                ("bridges: [{name: b, openflow: {listen: ['punix:/proc/x/y']}}]",
                 "bridges[0].openflow.listen[0]", "punix:/proc/x/y: No such file"),
                (f"openflow: {{listen: ['punix:{self.kept_file()}']}}", "openflow.listen[0]",
                 "precious: is there already and is not a socket"),
                ("openflow: {tls: {key: /none, certificate: /none, authority: /none}}",
                 "openflow.tls.key", "/none: No such file"),
                ("openflow: {tls: {key: /proc/version, certificate: /none, authority: /none}}",
                 "openflow.tls.key", "/proc/version: is no private key")):
            with self.subTest(text):
                file = self.config(text + "\n")
                done = self.run_couad("--config", file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                errors = [line for line in done.stderr.splitlines() if " info: " not in line]
                self.assertEqual(len(errors), 1, errors)
                self.assertIn(f" error: {file}:4: {field}: ", errors[0])
                self.assertIn(reason, errors[0])
        self.assertEqual((self.directory / "precious").read_text(), "kept")
        for path, said in (("/proc/x/y.sock", "/proc/x: cannot make"), ("/tmp", "/tmp: is there already")):
            file = self.write(f"log: {{level: info}}\napi:\n  socket: {path}\n")
            self.assertIn(f"error: {file}:3: api.socket: {said}", self.run_couad("--config", file).stderr)

    def test_command_line(self):
        self.assertEqual(self.run_couad("--confg", "x").returncode, 2)
        self.assertIn("did you mean --config?", self.run_couad("--confg", "x").stderr)
        self.assertEqual(self.run_couad("--check").returncode, 2)
        self.assertEqual(self.run_couad("--log-level", "loud").returncode, 2)
        self.assertEqual(self.run_couad("x").returncode, 2)
        self.assertIn("usage: couad", self.run_couad("--help").stdout)
        self.assertRegex(self.run_couad("--version").stdout, r"^couad \d")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
