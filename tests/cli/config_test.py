#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Configuration files, before a switch in memory.

usage: config_test.py COUA FAKE_COUAD DOCS_DIR
"""

import json
import pathlib
import signal
import subprocess
import tempfile

from cli_case import COUA, DIFFERS, cli_case, main


class test_config(cli_case):
    FILE = """# A comment.
fib: {ageing_s: 60, static: [{vlan: 20, mac: "02:00:00:00:00:01", port: p0}]}
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

    def test_save_names_some_rules_of_ports_that_are_gone(self):
        for n in range(12):
            self.coua("flow", "add", f"priority={n + 1},actions=77")
        said = self.coua("config", "save", self.file.parent / "other.yaml", "--flows").stderr.splitlines()
        self.assertEqual(len(said), 11)
        self.assertEqual(said[0], "warning: flow priority=12: port 77 is gone; the file has the number, which may be "
                                  "another port's after a restart")
        self.assertEqual(said[10], "warning: and 2 more")

    def test_diff_apply_show_and_save(self):
        self.ports()
        expected = ["port up: removed", "port p0: vlan: 10 -> 20", "fib.ageing_s: 300 -> 60",
                    "port p2: added: devargs: net_null7",
                    "static 20 02:00:00:00:00:01: added: port: p0"]
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
        self.assertEqual(self.json("config", "save", other), {"changed": True, "file": str(other), "warnings": []})
        self.assertEqual(other.read_text(), self.file.read_text())
        self.assertEqual(sorted(self.files()), ["couad.yaml", "other.yaml"])

    def test_rules_by_request(self):
        self.ports()
        self.coua("flow", "add", "tcp,actions=output:1")
        self.assertNotIn("flows", self.text("config", "show"))
        flows = 'flows: ["tcp actions=output:p0"]'
        self.assertIn(flows, self.text("config", "show", "--flows"))
        other = self.file.parent / "flows.yaml"
        self.assertEqual(self.text("config", "save", "--flows", other), f"{other}: saved\n")
        self.assertIn(flows, other.read_text())
        self.assertEqual(self.text("config", "save", "--flows", other), f"{other}: unchanged\n")
        done = self.text("config", "apply", other).splitlines()
        self.assertEqual(done, ["pipeline.flows: left to others -> said by the file",
                                f"{other}: 1 change applied"])
        self.assertIn(flows, self.text("config", "show"))

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
        said = json.loads(done.stdout)
        self.assertEqual(said["error"]["where"], f"{self.file}:2: ports[0].devargs")
        self.assertEqual([(each["line"], each["field"]) for each in said["errors"]],
                         [(1, "fib.x"), (2, "ports[0].devargs")])
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
                                      "not ours; nothing was changed, but came back anew: port up, port p0\n")
        self.assertEqual(sorted(self.text("config", "show").splitlines()),
                         sorted(before.splitlines()))


if __name__ == "__main__":
    main()
