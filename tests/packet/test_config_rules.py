# SPDX-License-Identifier: Apache-2.0
"""Rules, groups and meters of the configuration file, on a switch that forwards."""

import signal

import lab
from cases import tap, with_original, with_switch

RULES = """
pipeline:
  meters: ["meter=1,kbps,band=type=drop,rate=1000000"]
  groups:
    - "group_id=1,type=all,bucket=output:k2"
  flows:
    - cookie=0x1,priority=10,icmp,in_port=k1,nw_dst=10.9.0.2 actions=meter:1,group:1
    - cookie=0x2,priority=10,icmp,in_port=k2 actions=output:k1
    - cookie=0x3,priority=9,icmp,in_port=k3 actions=drop
    - priority=0 actions=NORMAL
"""


class test_config_rules(with_original):
    CONFIG = {"ports": [tap("k1"), tap("k2"), tap("k3")]}

    def restore(self):
        super().restore()
        self.switch.coua("flow", "add", "--file", "-",
                         stdin="flow delete\ngroup delete\nmeter delete\n"
                               "flow add priority=0,actions=NORMAL\n")

    def file(self, rules, *pairs):
        """The original file with rules, and with other words."""
        text = self.original + rules
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.switch.file.write_text(text)
        return self.switch.file

    def apply(self, *what):
        return [(c["kind"], c["item"]) for c in
                self.switch.json("config", "apply", self.file(*what))["changes"]]

    def rules(self):
        return sorted(one["text"].split("priority=", 1)[-1]
                      for one in self.switch.json("flow", "dump")["flows"])

    def packets(self, cookie):
        [rule] = self.switch.json("flow", "dump", f"cookie={cookie}/-1")["flows"]
        return rule["packets"]

    def traffic(self):
        return self.echoes(self.h1, "10.9.0.2")

    def test_rules_that_stay_go_on(self):
        self.apply(RULES)
        finish = self.traffic()
        counted = self.packets(1)
        self.assertGreater(counted, 0)
        for _ in range(5):
            changes = self.apply(RULES + "    - priority=8,udp,in_port=k3 actions=drop\n",
                                 ("in_port=k3 actions=drop", "in_port=k3 actions=NORMAL"),
                                 ("rate=1000000", "rate=2000000"))
            self.assertEqual(changes, [("changed", "meter 1"),
                                       ("changed", "flow priority=9,icmp,in_port=k3"),
                                       ("added", "flow priority=8,udp,in_port=k3")])
            self.assertEqual(self.h3.pings("10.9.0.1"), 1)
            self.assertEqual(self.apply(RULES),
                             [("removed", "flow priority=8,udp,in_port=k3"),
                              ("changed", "meter 1"),
                              ("changed", "flow priority=9,icmp,in_port=k3")])
            self.assertEqual(self.h3.pings("10.9.0.1", 1, wait=0.3), 0)
        self.assertEqual(finish(), set())
        self.assertGreater(self.packets(1), counted)
        self.assertEqual(self.apply(RULES), [])
        self.assert_conserved()

    def test_an_item_that_fails_changes_no_rule(self):
        self.apply(RULES)
        finish = self.traffic()
        before, rules = self.switch.coua("config", "show").stdout, self.rules()
        more = RULES + "    - priority=8,udp actions=drop\n"
        bad = "\nports:\n  - {name: bad, devargs: net_nosuch0}\n"
        file = self.file(more, ("\nports:\n", bad))
        refused = self.switch.coua("config", "apply", file, check=False)
        self.assertIn("port bad: ", refused.stderr)
        self.assertIn("nothing was changed", refused.stderr)
        self.assertEqual(self.switch.coua("config", "show").stdout, before)
        # So does a text that is wrong.
        extra = "\nports:\n  - {name: extra, devargs: 'net_tap972,iface=extra'}\n"
        file = self.file(RULES + "    - priority=8,udp actions=output:nobody\n",
                         ("\nports:\n", extra))
        refused = self.switch.coua("config", "apply", file, check=False)
        line = len(file.read_text().splitlines())
        self.assertIn(f"{file}:{line}: pipeline.flows[4]: nobody: output to unknown port",
                      refused.stderr)
        self.assertEqual(self.switch.coua("config", "show").stdout, before)
        self.assertEqual(self.rules(), rules)
        self.assertFalse(lab.os.path.exists("/sys/class/net/extra"))
        self.assertEqual(finish(), set())
        self.assert_conserved()

    def test_saved_and_applied_nothing_changes(self):
        saved = self.switch.directory / "saved.yaml"
        # Left to others, they are not saved but by request.
        self.switch.coua("config", "save", saved)
        self.assertNotIn("flows", saved.read_text())
        self.switch.coua("config", "save", "--flows", saved)
        self.assertIn("actions=NORMAL", saved.read_text())
        self.assertEqual(self.switch.json("config", "save", "--flows", saved)["changed"], False)
        # Said by the file, they are, as they are then.
        self.apply(RULES)
        self.switch.coua("flow", "add", "priority=20,tcp,in_port=k3,idle_timeout=600,"
                         "actions=set_field:02:00:00:00:00:07->eth_dst,output:k2")
        self.switch.coua("flow", "del", "cookie=0x3/-1")
        self.switch.coua("group", "add", "group_id=7,type=ff,bucket=watch_port:k1,output:k1")
        self.assertEqual(self.switch.coua("config", "diff", self.switch.file, check=False)
                         .returncode, 4)
        self.switch.coua("config", "save", saved)
        self.assertEqual(self.switch.json("config", "apply", saved),
                         {"changed": False, "changes": []})
        rules = self.rules()
        self.switch.coua("flow", "del")
        self.assertEqual(len(self.switch.json("config", "apply", saved)["changes"]), len(rules))
        self.assertEqual(self.rules(), rules)

    def test_rules_follow_a_port_by_its_name(self):
        rules = RULES + "    - in_port=e2 actions=output:k1\n"
        ports = ("\nports:\n", "\nports:\n  - {name: e1, devargs: 'net_tap974,iface=e1'}\n"
                 "  - {name: e2, devargs: 'net_tap975,iface=e2'}\n")
        self.apply(rules, ports)
        number = self.ports()["e2"]["number"]
        # e1 goes, e2 comes again and has its number.
        changes = self.apply(rules, (ports[0], "\nports:\n  - {name: e2, devargs: 'net_tap976,"
                                     "iface=e2'}\n"))
        self.assertEqual(changes, [("removed", "port e1"), ("replaced", "port e2")])
        self.assertNotEqual(self.ports()["e2"]["number"], number)
        self.assertIn("32768,in_port=e2 actions=output:k1",
                      [one["text"].split(", ")[-1].replace("in_port", "32768,in_port")
                       for one in self.switch.json("flow", "dump", "in_port=e2")["flows"]])

    def test_hangup(self):
        self.file(RULES)
        self.switch.process.send_signal(signal.SIGHUP)
        lab.wait_for(lambda: len(self.rules()) == 4, what="the file applied")
        self.assertEqual(self.h1.pings("10.9.0.2", 3), 3)


class test_config_rules_start(with_switch):
    CONFIG = {"ports": [tap("k4"), tap("k5")]}

    def dump(self):
        """Rules, groups and meters without what counts and ages."""
        rules = [one["text"].split(" n_bytes=")[-1].split(", ", 1)[-1]
                 for one in self.switch.json("flow", "dump")["flows"]]
        others = [one["text"] for kind in ("group", "meter")
                  for one in self.switch.json(kind, "dump")[f"{kind}s"]]
        return rules, others

    def test_a_saved_file_brings_them_back(self):
        text = self.switch.file.read_text() + RULES.replace("k2", "k4").replace("k1", "k5")
        self.switch.file.write_text(text.replace("k3", "k4"))
        self.switch.coua("config", "apply", self.switch.file)
        self.switch.coua("flow", "add", "priority=30,arp,in_port=k4,actions=NORMAL")
        self.switch.coua("config", "save")
        before, show = self.dump(), self.switch.coua("config", "show").stdout
        self.assertEqual([len(each) for each in before], [5, 2])
        self.assertEqual(self.switch.stop(), 0)
        self.switch.start()
        self.assertEqual(self.dump(), before)
        self.assertEqual(self.switch.coua("config", "show").stdout, show)
        self.assertEqual(self.switch.json("config", "apply", self.switch.file)["changed"], False)
