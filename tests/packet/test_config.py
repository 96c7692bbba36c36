# SPDX-License-Identifier: Apache-2.0
"""The configuration of a switch that forwards: what a file changes, and what it leaves alone."""

import re
import signal
import subprocess

import lab
from cases import tap, with_original


class test_config(with_original):
    CONFIG = {"ports": [tap("c1"), tap("c2"), tap("c3")]}

    def changed(self, *pairs):
        """The original file with other words."""
        text = self.original
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.switch.file.write_text(text)
        return self.switch.file

    def traffic(self):
        return self.echoes(self.h1, "10.9.0.2")

    @staticmethod
    def port(name, more):
        """A port of the original file says `more`."""
        return f'name: "{name}"', f'name: "{name}"\n    {more}'

    EXTRA = "\nports:\n  - {name: extra, devargs: 'net_tap970,iface=extra'}\n"

    def test_other_ports_forward_on(self):
        finish = self.traffic()
        for _ in range(5):
            file = self.changed(self.port("c3", "vlan: 30"), ("\nports:\n", self.EXTRA))
            done = self.switch.json("config", "apply", file)
            self.assertEqual([(c["kind"], c["item"]) for c in done["changes"]],
                             [("changed", "port c3"), ("added", "port extra")])
            self.assertEqual(self.h3.pings("10.9.0.1", 1, wait=0.3), 0)
            self.assertTrue(lab.os.path.exists("/sys/class/net/extra"))
            self.switch.file.write_text(self.original)
            done = self.switch.json("config", "apply", file)
            self.assertEqual([(c["kind"], c["item"]) for c in done["changes"]],
                             [("removed", "port extra"), ("changed", "port c3")])
            self.assertEqual(self.h3.pings("10.9.0.1"), 1)
            self.assertFalse(lab.os.path.exists("/sys/class/net/extra"))
        self.assertEqual(finish(), set())
        self.assert_conserved()

    def test_an_item_that_fails_changes_nothing(self):
        finish = self.traffic()
        before = self.switch.coua("config", "show").stdout
        bad = self.EXTRA + "  - name: bad\n    devargs: net_nosuch0\n"
        file = self.changed(self.port("c3", "vlan: 30"), ("\nports:\n", bad))
        line = file.read_text().splitlines().index("  - name: bad") + 1
        refused = self.switch.coua("config", "apply", file, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"{file}:{line}: ports[1]: port bad: ", refused.stderr)
        self.assertIn("nothing was changed", refused.stderr)
        self.assertEqual(self.switch.coua("config", "show").stdout, before)
        self.assertFalse(lab.os.path.exists("/sys/class/net/extra"))
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)
        # An MTU that the driver refuses, after another port has changed.
        file = self.changed(self.port("c3", "vlan: 30"), self.port("c2", "mtu: 9000"))
        refused = self.switch.coua("config", "apply", file, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("port c2: mtu: ", refused.stderr)
        self.assertEqual(self.switch.coua("config", "show").stdout, before)
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)
        # What needs a restart is refused before anything is done.
        file = self.changed(self.port("c3", "vlan: 30"), ("entries: 100000", "entries: 200000"))
        refused = self.switch.coua("config", "apply", file, check=False)
        self.assertIn("fib.entries: only a restart", refused.stderr)
        self.assertEqual(self.switch.coua("config", "show").stdout, before)
        self.assertEqual(finish(), set())
        self.assert_conserved()

    def test_saved_and_applied_nothing_changes(self):
        self.switch.coua("port", "add", "more", "net_tap971,iface=more", "--tagged", "5-7")
        self.switch.coua("port", "set", "c3", "--mac-limit", "100")
        self.switch.coua("fib", "add", "1", "02:00:00:00:00:09", "c3")
        saved = self.switch.directory / "saved.yaml"
        self.switch.coua("config", "save", saved)
        self.assertEqual(self.switch.json("config", "apply", saved),
                         {"changed": False, "changes": []})
        self.switch.coua("port", "remove", "more")
        self.switch.coua("fib", "flush", "--static")
        self.assertEqual(len(self.switch.json("config", "apply", saved)["changes"]), 2)
        self.assertEqual(self.port_of(1, "02:00:00:00:00:09"), "c3")

    def test_saved_rules_of_a_port_that_is_gone_are_named(self):
        self.switch.coua("port", "add", "more", "net_tap971,iface=more")
        self.switch.coua("flow", "add", "in_port=more,actions=drop")
        self.addCleanup(self.switch.coua, "flow", "del")
        saved = self.switch.directory / "saved.yaml"
        self.assertEqual(self.switch.coua("config", "save", saved, "--flows").stderr, "")
        self.assertIn("in_port=more", saved.read_text())
        self.switch.coua("port", "remove", "more")
        said = self.switch.coua("config", "save", saved, "--flows").stderr
        number = re.search(r"in_port=(\d+)", saved.read_text()).group(1)
        self.assertEqual(said, f"warning: flow in_port={number}: port {number} is gone; the file has the number, "
                               "which may be another port's after a restart\n")
        self.assertEqual(self.switch.json("config", "save", saved, "--flows")["warnings"],
                         [f"flow in_port={number}: port {number} is gone"])

    def test_full_disk_keeps_the_old_file(self):
        disk = self.switch.directory / "disk"
        disk.mkdir()
        lab.run(f"mount -t tmpfs -o size=64k tmpfs {disk}")
        self.addCleanup(lab.run, f"umount {disk}")
        file = disk / "couad.yaml"
        self.switch.coua("config", "save", file)
        old = file.read_text()
        file.chmod(0o640)
        subprocess.run(["dd", "if=/dev/zero", f"of={disk}/fill", "bs=4096"], check=False,
                       capture_output=True)
        self.switch.coua("fib", "ageing", "60")
        refused = self.switch.coua("config", "save", file, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"{file}: ", refused.stderr)
        self.assertIn("No space left on device", refused.stderr)
        self.assertEqual(file.read_text(), old)
        self.assertEqual(sorted(each.name for each in disk.iterdir()), ["couad.yaml", "fill"])
        (disk / "fill").unlink()
        self.switch.coua("config", "save", file)
        self.assertIn("ageing_s: 60", file.read_text())
        self.assertEqual(file.stat().st_mode & 0o777, 0o640)

    def test_hangup_applies_the_file(self):
        finish = self.traffic()
        self.changed(self.port("c3", "vlan: 30"))
        self.switch.process.send_signal(signal.SIGHUP)
        lab.wait_for(lambda: self.ports()["c3"]["vlans"]["native"] == 30, what="the file applied")
        self.assertEqual(finish(), set())
