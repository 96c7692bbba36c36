#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coua as a user runs it, against the real API before a switch in memory.

usage: cli_test.py COUA FAKE_COUAD DOCS_DIR
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

from cli_case import COUA, DOCS, cli_case, main


class test_ports(cli_case):
    def test_add_is_idempotent(self):
        self.assertEqual(self.text("port", "add", "p0", "net_null0"), "port p0: added\n")
        self.assertEqual(self.text("port", "add", "p0", "net_null0"), "port p0: unchanged\n")
        self.assertFalse(self.json("port", "add", "p0", "net_null0")["changed"])
        for words, advice in ((("net_null0", "--vlan", 5), "VLANs; change it with 'port set'"),
                              (("net_null0", "--mtu", 9000), "mtu (1500); change it with 'port set'"),
                              (("net_null1",), "devargs (net_null0); remove it first"),
                              (("net_null0", "--rx-queues", 2),
                               "number of queues; remove it first"),
                              (("net_null0", "--rx-descriptors", 512),
                               "number of descriptors; remove it first")):
            self.assertEqual(self.coua("port", "add", "p0", *words, status=1).stderr,
                             f"coua: port p0: is there already and differs in its {advice}\n")

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
        self.assertRegex(lines[0], r"^PORT +BRIDGE +LINK +VLANS")
        self.assertRegex(lines[3], r"^up +br0 +up 10G +trunk 10,20-22 native none ")
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
    def test_json_stays_json_when_signals_end_it(self):
        """The second one finds it in a write of which nothing is done yet."""
        self.ports()
        self.coua("fib", "load", "--generate", "900K", "--vlan", 10, "--ports", "p0")
        for signals, status, said in (((signal.SIGINT,), 130, b"coua: interrupted\n"),
                                      ((signal.SIGINT, signal.SIGTERM), -signal.SIGTERM, b"")):
            with subprocess.Popen([COUA, "-s", self.daemon.socket, "-j", "fib", "show"], bufsize=0,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as dump:
                first = dump.stdout.read(1)
                for number in signals:
                    time.sleep(0.3)  # it waits for its reader
                    dump.send_signal(number)
                time.sleep(0.3)
                rest, err = dump.communicate(timeout=60)
            self.assertEqual((dump.returncode, err), (status, said))
            got = json.loads(first + rest)
            self.assertEqual(len(got["entries"]), got["count"])
            self.assertEqual(got["error"], {"code": "interrupted", "where": "coua",
                                            "what": "interrupted"})

    def test_a_json_dump_without_a_reader(self):
        self.ports()
        self.coua("fib", "load", "--generate", "900K", "--vlan", 10, "--ports", "p0")
        with subprocess.Popen([COUA, "-s", self.daemon.socket, "-j", "fib", "show"], bufsize=0,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as dump:
            dump.stdout.read(1)
            dump.stdout.close()
            err = dump.stderr.read()
        self.assertEqual((dump.returncode, err), (-signal.SIGPIPE, b""))

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
                         r"^1 entry stored in ")

    def test_a_wrong_line_loads_nothing(self):
        self.ports()
        done = self.coua("fib", "load", "-", status=1,
                         stdin="10 02:00:00:00:00:01 p0\n10 02:00:00:00:00:0g p0\n")
        self.assertIn("-:2: '02:00:00:00:00:0g' is not a MAC address", done.stderr)
        self.assertEqual(self.macs(), [])

    def test_an_entry_is_in_a_vlan_that_its_port_carries(self):
        self.ports()
        self.coua("port", "add", "lag", "--bond", "static", "--members", "net_null8 net_null9")
        self.coua("port", "add", "span", "net_null7", "--mirror-vlans", 10)
        mac = "02:00:00:00:00:01"
        self.assertEqual(self.coua("fib", "add", 20, mac, "p0", status=1).stderr,
                         "coua: vlan: port p0 does not carry VLAN 20; it carries 10\n")
        self.assertIn("it carries 1\n", self.coua("fib", "add", 10, mac, "lag", status=1).stderr)
        self.assertIn("is a mirror port", self.coua("fib", "add", 10, mac, "span", status=1).stderr)
        self.assertIn("--vlan: port p0 does not carry VLAN 20; it carries 10",
                      self.coua("fib", "load", "--generate", 10, "--vlan", 20, "--ports", "up,p0", status=1).stderr)
        done = self.coua("fib", "load", "-", status=1, stdin=f"10 {mac} p0\n1 {mac} up\n10 {mac} span\n")
        self.assertIn("-:2: port up does not carry VLAN 1; it carries 10,20-22\n"
                      "-:3: port span is a mirror port, which carries no VLAN\nnothing was loaded", done.stderr)
        self.assertEqual(self.macs(), [])
        self.coua("fib", "add", 21, mac, "up")
        self.coua("fib", "add", 1, mac, "lag")

    def test_a_port_keeps_the_vlans_of_its_static_entries(self):
        self.ports()
        self.coua("fib", "add", 20, "02:00:00:00:00:02", "up")
        self.coua("fib", "add", 20, "02:00:00:00:00:01", "up")
        self.coua("fib", "add", 10, "02:00:00:00:00:01", "up")
        before = self.json("port", "show", "up")
        for change in (("--vlan", 10), ("--tagged", "10"), ("--mirror-vlans", 10)):
            self.coua("port", "set", "up", *change, status=1)
        self.assertIn("port up: has static entries in VLANs that it would no longer carry, 2 in all, the first of "
                      "them 20 02:00:00:00:00:01; remove them before, as by 'fib flush --static --port up --vlan 20'",
                      self.coua("port", "set", "up", "--vlan", 10, status=1).stderr)
        self.assertEqual(self.json("port", "show", "up"), before)
        self.coua("port", "set", "up", "--tagged", "10,20", "--mtu", 1400)
        self.coua("fib", "flush", "--static", "--port", "up", "--vlan", 20)
        self.coua("port", "set", "up", "--vlan", 10)

    def test_an_unknown_port_loads_nothing(self):
        self.ports()
        lines = "".join(f"10 02:00:00:00:{i >> 8:02x}:{i & 255:02x} p0\n" for i in range(1, 30000))
        done = self.coua("fib", "load", "-", status=1, stdin=lines + "10 02:00:00:01:00:00 nobody\n")
        self.assertIn("-:30000: 'nobody' is no port of the switch", done.stderr)
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
        return self.coua("fib", "load", "--generate", count, "--vlan", 10, "--ports", "p0", "--base",
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
        lines = "10 02:00:00:00:00:01 p0\n10 02:00:00:00:00:02 p0 static\n" * 12000
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
        head, row = (line.split() for line in self.text("worker", "list").splitlines())
        shown = dict(zip(head, row))
        self.assertEqual(shown["BUSY"], "25.0%")
        self.assertEqual((worker["burst_histogram"][32], sum(worker["burst_histogram"])), (7, 7))
        self.assertEqual({name: shown[name] for name in ("BURST", "1", "2-7", "8-31", "32-63", "64")},
                         {"BURST": "32.0", "1": "0%", "2-7": "0%", "8-31": "0%", "32-63": "100%", "64": "0%"})
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
        limits = ("--storm-broadcast", 1000, "--storm-multicast", "1%", "--storm-unknown-unicast", "10Mbps")
        self.coua("port", "add", "uplink", "net_null0", "--tagged", "10", *limits)
        self.coua("port", "add", "p1", "net_null1", "--vlan", "10", *limits)
        self.coua("fib", "add", 10, "02:00:00:00:00:09", "p1")
        saved = self.daemon.directory.name + "/saved.yaml"
        self.coua("config", "save", saved)
        lines = {"bridge list": (), "bridge show": ("br0",), "bridge add": ("br0",),
                 "bridge del": ("nobody",),
                 "port list": (), "port show": ("p1",), "port add": ("p0", "net_null9", *limits),
                 "port remove": ("nobody",), "port set": ("uplink", "--tagged", "10,20"),
                 "fib show": (), "fib add": (10, "02:00:00:00:00:01", "p1"),
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
                 "meter dump": (), "controller list": (), "trace": ("br0", "in_port=p0,tcp"), "explain": ("br0",),
                 "vlan list": (), "vlan show": (10,), "stats": (),
                 "worker list": (), "log level": (), "doctor": (), "completion": ("bash",), "version": (),
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
            if verb == "doctor":  # its status depends on the machine
                got = json.loads(subprocess.run([COUA, "doctor", "-j"], stdout=subprocess.PIPE,
                                                check=False).stdout)
            else:
                got = self.json(*verb.split(), *lines[verb])
            if verb == "config show":  # its shape is that of the file
                continue
            wanted = self.shape(json.loads(example))
            have = self.shape(got)
            self.assertTrue(self.fits(have, wanted), f"{verb}: {have} is not {wanted}")


class test_reaching(cli_case):
    def test_no_daemon(self):
        for path in ("/tmp/coua-no-such.sock", "/" + "x" * 200):
            done = self.coua("port", "list", socket=path, status=3)
            self.assertIn(path, done.stderr)
        self.assertEqual(done.stderr, f"coua: couad at {path}: a socket's path has 1 to 107 bytes, and this one 201\n")
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
        self.coua("fib", "load", "--generate", "1M", "--vlan", 10, "--ports", "p0")
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


if __name__ == "__main__":
    main()
