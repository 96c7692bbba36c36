#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verbs of bridges, and what of other verbs is of one: coua as a user runs it (cli_case.py)."""

from cli_case import cli_case, main


class test_bridges(cli_case):
    def test_they_come_and_go_once(self):
        add = ("bridge", "add", "br1", "--datapath-id", "b1", "--controllers", "tcp:10.0.0.1:6653,tcp:10.0.0.2:6653",
               "--rules", "10K", "--fail-mode", "standalone")
        self.assertEqual(self.text(*add), "bridge br1: added\n")
        self.assertEqual(self.text(*add), "bridge br1: unchanged\n")
        self.assertIn("differs in its number of rules", self.coua("bridge", "add", "br1", "--datapath-id", "b1",
                                                                 status=1).stderr)
        shown = self.json("bridge", "show", "br1")["bridge"]
        self.assertEqual((shown["datapath_id"], shown["rules"], shown["fail_mode"], shown["controllers"]),
                         ("00:00:00:00:00:00:00:b1", 10000, "standalone", ["tcp:10.0.0.1:6653", "tcp:10.0.0.2:6653"]))
        lines = self.text("bridge", "list").splitlines()
        self.assertRegex(lines[0], r"^BRIDGE +DATAPATH ID +FLOWS")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["br0", "br1"])
        self.assertIn("controllers     tcp:10.0.0.1:6653 tcp:10.0.0.2:6653", self.text("bridge", "show", "br1"))
        self.assertEqual(self.text("bridge", "del", "br1"), "bridge br1: removed\n")
        self.assertEqual(self.json("bridge", "remove", "br1"), {"changed": False})
        self.assertIn("is the only one", self.coua("bridge", "del", "br0", status=1).stderr)
        self.assertIn("controllers[0]", self.coua("bridge", "add", "br1", "--controllers", "10.0.0.1", status=1).stderr)

    def test_ports_vlans_and_entries_are_of_one(self):
        self.ports()
        self.coua("bridge", "add", "br1")
        self.coua("port", "add", "q0", "net_null9", "--vlan", 10, "--bridge", "br1")
        self.assertIn("no such bridge", self.coua("port", "add", "q1", "net_null8", "--bridge", "b", status=1).stderr)
        bridges = {port["name"]: port["bridge"] for port in self.json("port", "list")["ports"]}
        self.assertEqual(bridges, {"p0": "br0", "p1": "br0", "up": "br0", "q0": "br1"})
        self.assertIn("has ports: q0; remove them first", self.coua("bridge", "del", "br1", status=1).stderr)
        mac = "02:00:00:00:00:01"
        self.coua("fib", "add", 10, mac, "p0")
        self.coua("fib", "add", 10, mac, "q0")
        self.assertEqual(self.macs(), [mac, mac])
        self.assertEqual(self.macs("--bridge", "br1", "--mac", mac, "--vlan", 10), [mac])
        self.assertIn("say which one", self.coua("fib", "del", 10, mac, status=1).stderr)
        self.assertEqual(self.json("fib", "del", 10, mac, "--bridge", "br1"), {"changed": True})
        self.assertEqual(self.json("fib", "flush", "--static", "--bridge", "br0"), {"removed": 1})
        self.assertEqual([vlan["bridge"] for vlan in self.json("vlan", "list")["vlans"] if vlan["vlan"] == 10],
                         ["br0", "br1"])
        self.assertEqual(self.json("vlan", "show", 10, "--bridge", "br1")["vlan"]["untagged"], ["q0"])
        self.assertEqual(self.json("controller", "list", "--bridge", "br1")["controllers"], [])

    def test_a_file_brings_and_takes_them(self):
        file = "bridges: [{name: br0}, {name: br1, pipeline: {flows: [tcp actions=drop]}}]\n" \
               "ports: [{name: p0, bridge: br1, devargs: net_null0}]\n"
        said = self.text("config", "apply", "-", stdin=file)
        self.assertEqual(said.splitlines()[:3], ["bridge br1: added", "port p0: added: bridge: br1, devargs: net_null0",
                                                 "bridge br1: flow tcp: added: actions: drop"])
        self.assertEqual(self.text("config", "show"), "bridges:\n  - {name: br0}\n  - {name: br1, pipeline: {flows: "
                         "[\"tcp actions=drop\"]}}\nports:\n  - {name: p0, bridge: br1, devargs: net_null0}\n")
        self.assertIn("bridge br1: removed", self.text("config", "apply", "-", stdin="ports: []\n"))


if __name__ == "__main__":
    main()
