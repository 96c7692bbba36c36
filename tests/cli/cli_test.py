#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coua as a user runs it, against the real API before a switch in memory.

usage: cli_test.py COUA FAKE_COUAD DOCS_DIR
"""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

COUA, FAKE, DOCS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])

DIFFERS = 4  # the status of config diff


class fake:
    """A daemon without packets."""

    def __init__(self, *options):
        self.directory = tempfile.TemporaryDirectory(prefix="coua-cli-")
        self.socket = self.directory.name + "/couad.sock"
        self.process = subprocess.Popen([FAKE, self.socket, *options], stdout=subprocess.PIPE,
                                        text=True)
        assert self.process.stdout.readline() == "ready\n"

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.process.stdout.close()
        self.directory.cleanup()
        return status


class cli_case(unittest.TestCase):
    OPTIONS = ()

    def setUp(self):
        self.daemon = fake(*self.OPTIONS)
        self.addCleanup(self.daemon.close)

    def coua(self, *words, status=0, stdin=None, socket=None):
        done = subprocess.run([COUA, "-s", socket or self.daemon.socket, *map(str, words)],
                              capture_output=True, text=True, timeout=60, input=stdin, check=False)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout}{done.stderr}")
        if status not in (0, DIFFERS):
            self.assertNotEqual(done.stderr, "", words)
        return done

    def text(self, *words, **options):
        return self.coua(*words, **options).stdout

    def json(self, *words, **options):
        return json.loads(self.coua(*words, "-j", **options).stdout)

    def ports(self):
        self.coua("port", "add", "p0", "net_null0", "--vlan", 10)
        self.coua("port", "add", "p1", "net_null1", "--vlan", 10)
        self.coua("port", "add", "up", "net_null2", "--tagged", "10,20-22", "--native", 0)

    def macs(self, *filters):
        return [entry["mac"] for entry in self.json("fib", "show", *filters)["entries"]]


class test_ports(cli_case):
    def test_add_is_idempotent(self):
        self.assertEqual(self.text("port", "add", "p0", "net_null0"), "port p0: added\n")
        self.assertEqual(self.text("port", "add", "p0", "net_null0"), "port p0: unchanged\n")
        self.assertFalse(self.json("port", "add", "p0", "net_null0")["changed"])
        self.assertIn("differs in its VLANs",
                      self.coua("port", "add", "p0", "net_null0", "--vlan", 5, status=1).stderr)

    def test_remove_is_idempotent(self):
        self.ports()
        self.assertEqual(self.text("port", "remove", "p0"), "port p0: removed\n")
        self.assertEqual(self.text("port", "remove", "p0"), "port p0: unchanged\n")
        self.assertFalse(self.json("port", "del", "p0")["changed"])

    def test_list_and_show(self):
        self.ports()
        listed = self.json("port", "list")["ports"]
        self.assertEqual([port["name"] for port in listed], ["p0", "p1", "up"])
        self.assertEqual(listed[0]["vlans"], {"mode": "access", "native": 10, "tagged": []})
        self.assertEqual(listed[2]["vlans"],
                         {"mode": "trunk", "native": 0, "tagged": [10, 20, 21, 22]})
        lines = self.text("port", "list").splitlines()
        self.assertRegex(lines[0], r"^PORT +LINK +VLANS")
        self.assertRegex(lines[3], r"^up +up 10G +trunk 10,20-22 native none ")
        shown = self.json("port", "show", "up")
        self.assertEqual(shown["port"], listed[2])
        self.assertIn("rx_packets", shown["counters"])
        self.assertIn("did you mean 'p0'", self.coua("port", "show", "p9", status=1).stderr)

    def test_set_changes_only_what_is_named(self):
        self.ports()
        self.assertEqual(self.text("port", "set", "up", "--enabled", "off"), "port up: changed\n")
        self.assertEqual(self.text("port", "set", "up", "--enabled", "off"), "port up: unchanged\n")
        port = self.json("port", "set", "up", "--native", 5)["port"]
        self.assertEqual(port["vlans"], {"mode": "trunk", "native": 5, "tagged": [10, 20, 21, 22]})
        self.assertFalse(port["enabled"])
        port = self.json("port", "set", "up", "--tagged", "7")["port"]
        self.assertEqual(port["vlans"], {"mode": "trunk", "native": 5, "tagged": [7]})
        port = self.json("port", "set", "up", "--vlan", 9)["port"]
        self.assertEqual(port["vlans"], {"mode": "access", "native": 9, "tagged": []})
        self.coua("port", "set", "up", "--vlan", 9, "--native", 3, status=2)
        self.coua("port", "set", "nobody", "--mtu", 1500, status=1)


class test_config(cli_case):
    FILE = """# A comment.
fib: {ageing_s: 60, static: [{vlan: 10, mac: "02:00:00:00:00:01", port: p0}]}
ports:
  - {name: p0, devargs: net_null0, vlan: 20}
  - {name: p1, devargs: net_null1, vlan: 10}
  - {name: p2, devargs: net_null7}
"""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="coua-config-")
        self.addCleanup(holder.cleanup)
        self.file = pathlib.Path(holder.name) / "couad.yaml"
        self.file.write_text(self.FILE)
        self.OPTIONS = ("config", str(self.file))
        super().setUp()

    def files(self):
        return [path.name for path in self.file.parent.iterdir()]

    def test_check_needs_no_daemon(self):
        nobody = str(self.file) + ".sock"
        self.assertEqual(self.text("config", "check", self.file, socket=nobody),
                         f"{self.file}: good, 3 ports\n")
        self.assertEqual(self.json("config", "check", "-", socket=nobody, stdin="{}"),
                         {"file": "standard input", "good": True, "ports": 0, "errors": []})
        self.file.write_text("fib: {x: 1}\nports:\n  - {name: p0}\n")
        done = self.coua("config", "check", self.file, "-j", socket=nobody, status=1)
        self.assertEqual(done.stderr.splitlines(),
                         [f"{self.file}:1: fib.x: is unknown; known here: entries, max_load, "
                          "ageing_s, port_bits, numa_node, static",
                          f"{self.file}:3: ports[0].devargs: is missing"])
        self.assertEqual(json.loads(done.stdout)["errors"][1],
                         {"line": 3, "field": "ports[0].devargs", "reason": "is missing"})
        self.assertEqual(self.coua("config", "check", self.file, status=1, socket=nobody).stdout, "")
        self.assertIn("No such file",
                      self.coua("config", "check", "/none", status=1, socket=nobody).stderr)
        self.assertIn("Is a directory",
                      self.coua("config", "check", "/", status=1, socket=nobody).stderr)
        self.coua("config", "show", status=3, socket=nobody)

    def test_diff_apply_show_and_save(self):
        self.ports()
        expected = ["port up: removed", "port p0: vlan: 10 -> 20", "fib.ageing_s: 300 -> 60",
                    "port p2: added: devargs: net_null7",
                    "static 10 02:00:00:00:00:01: added: port: p0"]
        self.assertEqual(
            self.coua("config", "diff", self.file, status=DIFFERS).stdout.splitlines(), expected)
        differs = json.loads(self.coua("config", "diff", self.file, "-j", status=DIFFERS).stdout)
        self.assertTrue(differs["differs"])
        self.assertEqual(differs["changes"][1], {
            "kind": "changed", "item": "port p0", "line": 4,
            "fields": [{"name": "vlan", "before": "10", "after": "20"}]})
        dry = self.text("config", "apply", self.file, "--dry-run").splitlines()
        self.assertEqual(dry, [*expected, f"{self.file}: 5 changes, not applied (--dry-run)"])
        self.assertFalse(self.json("config", "apply", self.file, "--dry-run")["changed"])
        self.assertEqual(len(self.json("port", "list")["ports"]), 3)
        self.assertEqual(self.text("config", "apply", self.file).splitlines(),
                         [*expected, f"{self.file}: 5 changes applied"])
        self.assertEqual(self.text("config", "apply", self.file), f"{self.file}: unchanged\n")
        self.assertEqual(self.text("config", "diff", self.file), "")
        shown = self.text("config", "show")
        self.assertEqual(self.json("config", "apply", "-", stdin=shown)["changes"], [])
        # JSON is a file, too.
        as_json = self.json("config", "show")
        self.assertEqual(as_json["fib"]["ageing_s"], 60)
        self.assertFalse(self.json("config", "apply", "-", stdin=json.dumps(as_json))["changed"])
        # A file that says what runs keeps its comments.
        self.assertEqual(self.text("config", "save"), f"{self.file}: unchanged\n")
        self.assertEqual(self.file.read_text(), self.FILE)
        self.coua("port", "remove", "p2")
        self.assertEqual(self.text("config", "save"), f"{self.file}: saved\n")
        self.assertNotIn("p2", self.file.read_text())
        self.assertFalse(self.json("config", "diff", self.file)["differs"])
        other = self.file.parent / "other.yaml"
        self.assertEqual(self.json("config", "save", other), {"changed": True, "file": str(other)})
        self.assertEqual(other.read_text(), self.file.read_text())
        self.assertEqual(sorted(self.files()), ["couad.yaml", "other.yaml"])

    def test_refusals_change_nothing(self):
        self.ports()
        before = self.text("config", "show")
        self.file.write_text(self.FILE.replace("fib: {", "workers: {count: 3}\nfib: {entries: 5, "))
        for words in ((), ("--dry-run",)):
            done = self.coua("config", "apply", self.file, *words, status=1)
            self.assertIn(f"{self.file}:2: workers.count: only a restart of couad can change "
                          "workers.count (none -> 3), fib.entries (1000000 -> 5)", done.stderr)
        text = self.coua("config", "diff", self.file, status=DIFFERS).stdout
        self.assertIn("workers.count: none -> 3 (needs a restart)\n", text)
        self.file.write_text("fib: {x: 1}\nports: [{name: p0}]\n")
        done = self.coua("config", "apply", self.file, "-j", status=1)
        self.assertEqual(len(done.stderr.splitlines()), 2)
        self.assertEqual(json.loads(done.stdout)["error"]["where"],
                         f"{self.file}:2: ports[0].devargs")
        self.assertEqual(self.text("config", "show"), before)

    def test_a_file_that_cannot_be_written(self):
        self.ports()
        self.assertIn("is not a regular file",
                      self.coua("config", "save", "/dev/null", status=1).stderr)
        self.coua("config", "save", "/none/x", status=1)
        # The disk is full: a file may be no longer than this.
        limited = ["prlimit", "--fsize=20", COUA, "-s", self.daemon.socket, "config", "save"]
        done = subprocess.run(limited, capture_output=True, text=True, timeout=60, check=False,
                              preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{self.file}: cannot be written, and is as it was: ", done.stderr)
        self.assertEqual(self.file.read_text(), self.FILE)
        self.assertEqual(self.files(), ["couad.yaml"])


class test_config_of_no_file(cli_case):
    def test_save_asks_for_a_name(self):
        self.assertIn("FILE must be given", self.coua("config", "save", status=2).stderr)
        self.assertIn("by its name", self.coua("config", "save", "-", status=2).stderr)
        link = pathlib.Path(self.daemon.directory.name) / "link"
        link.symlink_to("nowhere")
        self.assertIn("a file that is not there", self.coua("config", "save", link, status=1).stderr)
        self.assertTrue(link.is_symlink())


class test_config_port_that_fails(cli_case):
    OPTIONS = ("fail-port", "bad")

    def test_all_is_taken_back(self):
        self.ports()
        before = self.text("config", "show")
        file = ("ports:\n  - {name: p1, devargs: net_null1, vlan: 7}\n"
                "  - {name: new, devargs: net_null5}\n  - {name: bad, devargs: net_tap0}\n")
        done = self.coua("config", "apply", "-", stdin=file, status=1)
        self.assertEqual(done.stderr, "coua: standard input:4: ports[2]: port bad: the device is "
                                      "not ours; nothing was changed\n")
        self.assertEqual(sorted(self.text("config", "show").splitlines()),
                         sorted(before.splitlines()))


class test_failing_port(cli_case):
    OPTIONS = ("fail-port", "bad")

    def test_the_reason_arrives(self):
        self.assertEqual(self.coua("port", "add", "bad", "net_tap0", status=1).stderr,
                         "coua: port bad: the device is not ours\n")
        done = self.coua("port", "add", "bad", "net_tap0", "-j", status=1)
        self.assertEqual(json.loads(done.stdout), {"error": {
            "code": "denied", "where": "port bad", "what": "the device is not ours"}})

    def test_a_wrong_command_line_is_json_too(self):
        done = self.coua("version", "extra", "-j", status=2)
        self.assertEqual(json.loads(done.stdout), {"error": {
            "code": "invalid", "where": "coua version",
            "what": "'extra' is one argument too many"}})
        self.assertEqual(json.loads(self.coua("-j", "fly", status=2).stdout)["error"]["where"],
                         "coua")


class test_broken_dump(cli_case):
    OPTIONS = ("stall", "1", "dumps", "1")

    def wait_for_a_free_dump(self):
        end = time.monotonic() + 60
        while subprocess.run([COUA, "-s", self.daemon.socket, "fib", "show", "--limit", "1"],
                             capture_output=True, timeout=60, check=False).returncode != 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def test_json_stays_json(self):
        self.ports()
        self.coua("fib", "load", "--generate", "900K", "--vlan", 10, "--ports", "p0")
        with subprocess.Popen([COUA, "-s", self.daemon.socket, "-j", "fib", "show"], bufsize=0,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as dump:
            first = dump.stdout.read(1)  # it runs, and nobody reads on
            self.wait_for_a_free_dump()  # the daemon has lost its patience
            rest, err = dump.communicate(timeout=60)
        self.assertNotEqual(dump.returncode, 0)
        self.assertIn(b"couad", err)
        got = json.loads(first + rest)
        self.assertEqual(len(got["entries"]), got["count"])
        self.assertGreater(got["count"], 0)
        self.assertEqual(sorted(got["error"]), ["code", "what", "where"])


class test_fib(cli_case):
    def test_static_entries(self):
        self.ports()
        add = ("fib", "add", 10, "02:00:00:00:00:01", "p0")
        self.assertEqual(self.text(*add), "VLAN 10 02:00:00:00:00:01: added\n")
        self.assertEqual(self.text(*add), "VLAN 10 02:00:00:00:00:01: unchanged\n")
        self.assertTrue(self.json("fib", "add", 10, "02-00-00-00-00-01", "p1")["changed"])
        self.assertEqual(self.json("fib", "show")["entries"],
                         [{"vlan": 10, "mac": "02:00:00:00:00:01", "port": "p1", "static": True,
                           "age_s": 0}])
        self.assertTrue(self.json("fib", "del", 10, "02:00:00:00:00:01")["changed"])
        self.assertFalse(self.json("fib", "del", 10, "02:00:00:00:00:01")["changed"])
        self.assertIn("group address",
                      self.coua("fib", "add", 10, "01:00:00:00:00:01", "p0", status=1).stderr)
        self.coua("fib", "add", 10, "02:00:00:00:00:01", "nobody", status=1)
        self.coua("fib", "add", 0, "02:00:00:00:00:01", "p0", status=2)

    def test_load_a_file(self):
        self.ports()
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("# two stations\n10 02:00:00:00:00:01 p0\n20 02:00:00:00:00:02 up static\n")
            file.flush()
            self.assertEqual(self.json("fib", "load", file.name)["stored"], 2)
        self.assertEqual(self.macs("--static"), ["02:00:00:00:00:02"])
        self.assertEqual(self.macs("--dynamic"), ["02:00:00:00:00:01"])

    def test_load_standard_input(self):
        self.ports()
        self.assertRegex(self.text("fib", "load", "-", stdin="10 02:00:00:00:00:01 p0\n"),
                         r"^1 entries stored in ")

    def test_a_wrong_line_loads_nothing(self):
        self.ports()
        done = self.coua("fib", "load", "-", status=1,
                         stdin="10 02:00:00:00:00:01 p0\n10 02:00:00:00:00:0g p0\n")
        self.assertIn("-:2: '02:00:00:00:00:0g' is not a MAC address", done.stderr)
        self.assertEqual(self.macs(), [])

    def test_an_unknown_port_loads_nothing(self):
        self.ports()
        lines = "".join(f"10 02:00:00:00:{i >> 8:02x}:{i & 255:02x} p0\n" for i in range(1, 30000))
        done = self.coua("fib", "load", "-", status=1, stdin=lines + "10 02:00:00:01:00:00 nobody\n")
        self.assertIn("nobody", done.stderr)
        self.assertEqual(self.macs(), [])

    def test_generate_and_filter(self):
        self.ports()
        self.assertEqual(self.json("fib", "load", "--generate", "30K", "--vlan", 10,
                                   "--base", "02:00:00:00:00:00", "--ports", "p0,p1")["stored"],
                         30000)
        self.assertEqual(len(set(self.macs())), 30000)
        self.assertEqual(len(self.macs("--port", "p1")), 15000)
        self.assertEqual(len(self.macs("--vlan", 11)), 0)
        self.assertEqual(len(self.macs("--limit", "5K")), 5000)
        self.assertEqual(self.macs("--mac", "02:00:00:00:00:07"), ["02:00:00:00:00:07"])
        self.assertEqual(self.macs("--mac", "02:00:00:00:00:07", "--vlan", 10, "--port", "p0"), [])
        lines = self.text("fib", "show", "--limit", 1).splitlines()
        self.assertRegex(lines[0], "^VLAN  MAC                TYPE     AGE      PORT$")
        self.assertRegex(lines[1], "^10    02:00:00:00:00:00  learned  0s       p0$")
        self.assertEqual(self.json("fib", "flush", "--port", "p1")["removed"], 15000)
        self.assertEqual(self.text("fib", "flush"), "15,000 entries removed\n")

    def test_wrong_uses(self):
        for words in (("fib", "load"), ("fib", "load", "f", "--generate", 5, "--ports", "p0"),
                      ("fib", "load", "--generate", 5), ("fib", "load", "f", "--vlan", 5),
                      ("fib", "show", "--static", "--dynamic")):
            self.coua(*words, status=2)

    def test_ageing_and_stats(self):
        self.assertEqual(self.json("fib", "ageing"), {"ageing_s": 300, "changed": False})
        self.assertEqual(self.text("fib", "ageing", 600), "ageing: 600 s, was 300 s\n")
        self.assertFalse(self.json("fib", "ageing", 600)["changed"])
        self.assertEqual(self.json("fib", "stats")["ageing_s"], 600)
        self.assertIn("neither 0 (never) nor from 6",
                      self.coua("fib", "ageing", 3, status=1).stderr)
        self.coua("fib", "ageing", -1, status=2)


class test_full_table(cli_case):
    OPTIONS = ("capacity", "20000")

    def setUp(self):
        super().setUp()
        self.ports()

    def generate(self, count, base, **options):
        return self.coua("fib", "load", "--generate", count, "--ports", "p0", "--base",
                         f"02:00:00:00:{base >> 8:02x}:{base & 255:02x}", **options)

    def test_a_load_without_room_stores_nothing(self):
        self.assertIn("30,000 entries do not fit: the table has 20,000 slots, of which 0 are in use; "
                      "nothing was loaded", self.generate(30000, 0, status=1).stderr)
        self.generate(15000, 0)
        self.assertIn("15,000 are in use; nothing", self.generate(15000, 20000, status=1).stderr)
        self.assertIn("15,000 are in use (10,000 by the same entries); nothing",
                      self.generate(16000, 5000, status=1).stderr)
        self.assertEqual(self.json("fib", "stats")["entries"], 15000)

    def test_entries_that_are_there_need_no_room(self):
        self.generate(15000, 0)
        self.generate(15000, 0)
        self.generate(15000, 5000)
        self.assertEqual(self.json("fib", "stats")["entries"], 20000)

    def test_lines_that_come_again_need_no_room(self):
        lines = "1 02:00:00:00:00:01 p0\n1 02:00:00:00:00:02 p0 static\n" * 12000
        self.assertEqual(self.json("fib", "load", "-", stdin=lines)["stored"], 24000)
        self.assertEqual(self.json("fib", "stats")["entries"], 2)


class test_system(cli_case):
    OPTIONS = ("traffic", "1000")

    def test_vlans(self):
        self.ports()
        vlans = {vlan["vlan"]: vlan for vlan in self.json("vlan", "list")["vlans"]}
        self.assertEqual(sorted(vlans), [10, 20, 21, 22])
        self.assertEqual((vlans[10]["untagged"], vlans[10]["tagged"]), (["p0", "p1"], ["up"]))
        self.assertEqual(self.json("vlan", "show", 10)["vlan"], vlans[10])
        self.assertIn("no port is a member", self.coua("vlan", "show", 11, status=1).stderr)

    def test_stats(self):
        self.ports()
        stats = self.json("stats")
        self.assertEqual(stats["totals"]["drop_tx_full"], 100)
        self.assertEqual(sorted(stats["ports"]), ["p0", "p1", "up"])
        self.assertNotIn("drop_runt", self.text("stats"))

    def test_rates(self):
        self.ports()
        rates = self.json("stats", "--rate", "0.2")
        self.assertGreaterEqual(rates["seconds"], 0.2)
        # Each reading of a port moves the one count that all ports of the fake share by 1000, and a
        # reading asks three ports: 3000 packets in the time between two readings of one port.
        self.assertAlmostEqual(rates["ports"]["p0"]["rx_pps"] * rates["seconds"], 3000, delta=3)
        self.assertAlmostEqual(rates["ports"]["p0"]["rx_bps"], rates["ports"]["p0"]["rx_pps"] * 512,
                               delta=512)
        self.assertAlmostEqual(rates["totals"]["rx_pps"],
                               sum(port["rx_pps"] for port in rates["ports"].values()), delta=3)
        self.assertRegex(self.text("stats", "--rate", "0.1"), r"(?m)^all +[\d,]+ +[\d,]+ ")

    def test_workers_and_version(self):
        self.ports()
        worker = self.json("worker", "list")["workers"][0]
        self.assertEqual(worker["queues"], ["p0:0", "p1:0", "up:0"])
        self.assertIn("25.0%", self.text("worker", "list"))
        version = self.json("version")
        self.assertEqual(version["daemon"]["version"], "0.0.0-fake")
        self.assertEqual(version["daemon"]["pid"], self.daemon.process.pid)
        self.assertEqual(self.text("--version"), f"coua {version['client']}\n")


class test_shapes(cli_case):
    """What the document promises of the JSON, the command prints: the same names, the same types."""

    def shape(self, value, path=()):
        if isinstance(value, dict):
            # Names of counters and of ports are data, not part of the shape.
            is_data = path and path[-1] in ("counters", "totals", "ports", "drops", "*")
            keys = ["*"] if is_data else sorted(value)
            return {key: self.shape(next(iter(value.values())) if key == "*" else value[key],
                                    (*path, key)) for key in keys}
        if isinstance(value, list):
            return [self.shape(value[0], (*path, "[]"))] if value else []
        return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) \
            else type(value).__name__

    def fits(self, have, wanted):
        """An empty list fits any list."""
        if isinstance(have, list) and isinstance(wanted, list):
            return not have or (bool(wanted) and self.fits(have[0], wanted[0]))
        if isinstance(have, dict) and isinstance(wanted, dict):
            return set(have) == set(wanted) and all(self.fits(have[k], wanted[k]) for k in have)
        return have == wanted

    def test_documented_shapes(self):
        self.coua("port", "add", "uplink", "net_null0", "--tagged", "10")
        self.coua("port", "add", "p1", "net_null1", "--vlan", "10")
        self.coua("fib", "add", 10, "02:00:00:00:00:09", "p1")
        saved = self.daemon.directory.name + "/saved.yaml"
        self.coua("config", "save", saved)
        lines = {"port list": (), "port show": ("p1",), "port add": ("p0", "net_null9"),
                 "port remove": ("nobody",), "port set": ("uplink", "--tagged", "10,20"),
                 "fib show": (), "fib add": (10, "02:00:00:00:00:01", "p0"),
                 "fib del": (10, "02:00:00:00:00:77"), "fib flush": (),
                 "fib load": ("--generate", 3, "--ports", "p0"), "fib stats": (),
                 "fib ageing": (600,),
                 "flow add": ("tcp,actions=meter:1,group:1,2",),
                 "flow mod": ("udp,actions=2",), "flow del": ("udp",), "flow dump": (),
                 "flow stats": (),
                 "group add": ("group_id=2,type=all",),
                 "group mod": ("group_id=2,type=all,bucket=1",), "group del": ("group_id=9",),
                 "group dump": (),
                 "meter add": ("meter=2,kbps,band=type=drop,rate=1",),
                 "meter mod": ("meter=2,kbps,band=type=drop,rate=2",), "meter del": ("meter=9",),
                 "meter dump": (), "trace": ("br0", "in_port=p0,tcp"), "explain": ("br0",),
                 "vlan list": (), "vlan show": (10,), "stats": (),
                 "worker list": (), "log level": (), "completion": ("bash",), "version": (),
                 "config check": (saved,), "config show": (), "config save": (saved,),
                 "config diff": (saved,), "config apply": (saved,)}
        self.coua("group", "add", "group_id=1,type=select,bucket=1")
        self.coua("meter", "add", "meter=1,kbps,band=type=drop,rate=1")
        self.coua("flow", "add", "udp,actions=1")
        document = (DOCS / "coua.md").read_text()
        found = re.findall(r"### `coua ([a-z ]+?)(?: [A-Z\[]| \[).*?```json\n(.*?)```", document, re.S)
        elsewhere = {"capture", "top"}  # they want a switch with packets, and stream
        self.assertEqual({verb for verb, _ in found} - elsewhere, set(lines))
        for verb, example in found:
            if verb in elsewhere:
                continue
            got = self.json(*verb.split(), *lines[verb])
            if verb == "config show":  # its shape is that of the file
                continue
            wanted = self.shape(json.loads(example))
            have = self.shape(got)
            self.assertTrue(self.fits(have, wanted), f"{verb}: {have} is not {wanted}")


class test_trace(cli_case):
    def test_a_packet_of_a_file(self):
        self.coua("flow", "add", "in_port=p1,dl_dst=02:00:00:00:00:09,actions=output:p2")
        frame = bytes.fromhex("020000000009" "020000000001" "0800") + bytes(46)
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "one.pcap"
        header = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        other = struct.pack("<IIII", 0, 0, 20, 20) + bytes(20)
        path.write_bytes(header + other + struct.pack("<IIII", 1, 0, 60, 60) + frame)
        said = self.json("trace", "br0", "--pcap", path, "--record", 2, "--in-port", "p1")
        self.assertEqual([copy["to"] for copy in said["outputs"]], ["p2"])
        self.assertEqual(said["frame"], frame.hex())
        self.assertIn("it goes nowhere", self.text("trace", "br0", "--pcap", path, "--in-port", "p1"))
        done = self.coua("trace", "br0", "--pcap", path, "--record", 3, "--in-port", "p1", status=1)
        self.assertIn("it has 2 records, none of number 3", done.stderr)

    def test_mistakes(self):
        for words, status, says in (
                (("trace", "br0"), 2, "give either PACKET or --pcap FILE"),
                (("trace", "br0", "tcp", "--record", 1), 2, "--record needs --pcap FILE"),
                (("trace", "br0", "tcp"), 1, "say by which port it comes in"),
                (("trace", "br1", "in_port=p1,tcp"), 1, "there is no such bridge; there is br0"),
                (("trace", "br0", "in_port=p1,tcp", "--pcap", "x"), 2, "give either"),
                (("trace", "br0", "--pcap", "/nowhere.pcap", "--in-port", "p1"), 1, "nowhere.pcap"),
                (("explain", "br1"), 1, "there is no such bridge")):
            self.assertIn(says, self.coua(*words, status=status).stderr, words)

    def test_an_explanation(self):
        self.coua("flow", "add", "--file", "-", stdin="\n".join(
            f"tcp,tp_dst={n},actions=drop" for n in range(1, 20)))
        text = self.text("explain", "br0")
        self.assertRegex(text, r"(?m)^0 +19 +exact ")
        self.assertIn("table 0 is not direct: more than 16 rules (19)", text)
        self.assertRegex(text, r"(?m)^0 +19 +exact .* 1.00 +30 to 90$")
        self.assertIn("predicted  50 to 130 cycles a packet (25 to 65 ns), in full bursts\n", text)
        self.assertIn("measured   150 cycles a packet (75 ns), of 100 packets in bursts of 25.0, "
                      "since the start, 2 s ago\n", text)
        said = self.json("explain", "br0")
        self.assertEqual(said["predicted"], {"cycles": {"lower": 50, "upper": 130},
                                             "ns": {"lower": 25, "upper": 65}})
        self.assertIsNone(said["measured"])
        self.assertEqual(said["measured_since"], "explain")
        self.assertIn("measured   no packets yet, since the last explain, 2 s ago\n",
                      self.text("explain", "br0"))


class test_flows(cli_case):
    def dump(self, *words):
        return self.text("flow", "dump", *words).splitlines()

    def test_rules_come_change_and_go(self):
        rule = "table=1,priority=5,tcp,tp_dst=80 actions=output:p1"
        self.assertEqual(self.text("flow", "add", rule), "1 operation: 1 change\n")
        self.assertEqual(self.text("flow", "add", rule), "1 operation: unchanged\n")
        self.assertEqual(self.dump(),
                         [" cookie=0x0, duration=0s, table=1, n_packets=0, n_bytes=0, "
                          "priority=5,tcp,tp_dst=80 actions=output:p1"])
        self.coua("flow", "mod", "table=1,tcp actions=drop")
        self.assertIn("actions=drop", self.dump()[0])
        self.coua("flow", "mod", "--strict", "table=1,priority=4,tcp,tp_dst=80 actions=1")
        self.assertIn("actions=drop", self.dump()[0])
        self.coua("flow", "add", "udp,actions=1")
        self.assertEqual(len(self.dump("udp")), 1)
        self.assertEqual(len(self.dump("--limit", 1)), 1)
        self.coua("flow", "del", "--strict", "table=1,priority=5,tcp,tp_dst=80")
        self.assertEqual(len(self.dump()), 1)
        self.coua("flow", "del")
        self.assertEqual(self.dump(), [])
        self.assertEqual(self.json("flow", "dump"), {"flows": [], "count": 0})

    def test_what_was_printed_can_be_read(self):
        self.coua("flow", "add", "table=2,priority=7,cookie=0x5,ip,nw_dst=10.0.0.0/8 actions=1")
        lines = self.text("flow", "dump")
        self.coua("flow", "del")
        self.assertEqual(self.text("flow", "add", "--file", "-", stdin=lines),
                         "1 operation: 1 change\n")
        self.assertEqual(self.text("flow", "dump"), lines)

    def test_a_file_is_done_as_a_whole(self):
        lines = ("group group_id=1,type=all,bucket=1\nmeter meter=1,kbps,band=type=drop,rate=1\n"
                 "# a comment\ntcp actions=meter:1,group:1\n")
        self.assertEqual(self.json("flow", "add", "--file", "-", stdin=lines),
                         {"changed": True, "operations": 3, "changes": 3})
        done = self.coua("flow", "add", "--file", "-", stdin="udp actions=1\nfoo=1 actions=1\n",
                         status=1)
        self.assertEqual(done.stderr, "coua: line 2: unknown keyword foo\n")
        self.assertEqual(len(self.dump()), 1)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(f"ip,nw_dst=10.0.{n // 256}.{n % 256},actions=1\n"
                               for n in range(20000)))
            file.flush()
            self.assertEqual(self.json("flow", "add", "--file", file.name)["changes"], 20000)
        self.assertEqual(self.json("flow", "dump", "ip,nw_dst=10.0.0.0/16")["count"], 20000)
        stats = self.json("flow", "stats")
        self.assertEqual((stats["flows"], stats["groups"], stats["meters"]), (20001, 1, 1))
        self.assertIn("no such file", self.coua("flow", "add", "--file", "/no/such",
                                                status=1).stderr.lower())

    def test_errors_name_the_reason(self):
        for words, reason in ((("flow", "add", "actions=ct(commit)"),
                               "ct: the switch has no such action"),
                              (("flow", "add", "tp_dst=80 actions=1"), "TCP"),
                              (("flow", "dump", "foo=1"), "filter: unknown keyword foo"),
                              (("group", "mod", "group_id=1,type=all"), "group 1"),
                              (("meter", "add", "meter=1"), "must specify bands")):
            self.assertIn(reason, self.coua(*words, status=1).stderr)
        for words in (("flow", "add"), ("flow", "add", ""), ("flow", "add", "a", "--file", "-"),
                      ("flow", "del", "--strict"), ("group", "add"), ("meter", "mod")):
            self.coua(*words, status=2)

    def test_groups_and_meters(self):
        self.coua("group", "add", "group_id=1,type=ff,bucket=watch_port:1,output:p0")
        self.coua("group", "add", "group_id=2,type=all", status=0)
        self.assertEqual(self.text("group", "dump", 1),
                         " group_id=1,type=ff,bucket=watch_port:p0,actions=output:p0\n")
        self.assertIn("ref_count=0", self.text("group", "dump", "--stats"))
        self.assertEqual(self.json("group", "dump")["count"], 2)
        self.coua("group", "del", "group_id=1")
        self.coua("group", "del")
        self.assertEqual(self.json("group", "dump"), {"groups": [], "count": 0})
        self.coua("meter", "add", "meter=3,pktps,band=type=drop,rate=5")
        self.coua("meter", "mod", "meter=3,pktps,band=type=drop,rate=6")
        self.assertEqual(self.text("meter", "dump", 3), " meter=3 pktps bands= type=drop rate=6\n")
        self.assertIn("flow_count:0", self.text("meter", "dump", "--stats"))
        self.coua("meter", "del")
        self.assertEqual(self.json("meter", "dump"), {"meters": [], "count": 0})


class test_without_pipeline(cli_case):
    OPTIONS = ("pipeline", "none")

    def test_it_says_so(self):
        for words in (("flow", "dump"), ("flow", "add", "actions=1"), ("flow", "stats")):
            self.assertIn("has no OpenFlow pipeline", self.coua(*words, status=1).stderr)


class test_reaching(cli_case):
    def test_no_daemon(self):
        for path in ("/tmp/coua-no-such.sock", "/" + "x" * 200):
            done = self.coua("port", "list", socket=path, status=3)
            self.assertIn(path, done.stderr)
        done = self.coua("port", "list", "-j", socket="/tmp/coua-no-such.sock", status=3)
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "unavailable")

    def test_socket_from_the_environment(self):
        done = subprocess.run([COUA, "version"], capture_output=True, text=True, check=False,
                              env={**os.environ, "COUA_SOCKET": self.daemon.socket})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_something_that_does_not_answer(self):
        import socket  # pylint: disable=import-outside-toplevel
        path = self.daemon.directory.name + "/mute.sock"
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(path)
            mute.listen()
            self.coua("port", "list", "-t", "0.5", socket=path, status=3)

    def test_a_daemon_that_ends_during_a_dump(self):
        self.ports()
        self.coua("fib", "load", "--generate", "1M", "--ports", "p0")
        with subprocess.Popen([COUA, "-s", self.daemon.socket, "fib", "show"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as dump:
            dump.stdout.readline()
            killer = threading.Timer(0.2, self.daemon.process.send_signal, (signal.SIGTERM,))
            killer.start()
            self.assertEqual(self.daemon.process.wait(60), 0)
            dump.communicate(timeout=60)
            killer.join()
            self.assertIn(dump.returncode, (0, 3))

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([COUA, "-s", self.daemon.socket, "port", "list"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)

    def test_usage(self):
        self.assertIn("did you mean 'port'", self.coua("prot", status=2).stderr)
        self.assertIn("usage: coua VERB", self.coua(status=2).stderr)
        self.assertIn("usage: coua VERB", self.text("help"))


class test_log_level(cli_case):
    def test_is_shown_and_set(self):
        self.assertEqual(self.text("log", "level"), "info\n")
        self.assertEqual(self.text("log", "level", "debug"), "log level: debug, was info\n")
        self.assertEqual(self.text("log", "level", "debug"), "log level: unchanged\n")
        self.assertEqual(self.json("log", "level", "error"), {"level": "error", "changed": True})
        self.assertEqual(self.text("log", "level"), "error\n")
        self.assertIn("'loud' is none of error, warning, info, debug",
                      self.coua("log", "level", "loud", status=2).stderr)


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
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
