# SPDX-License-Identifier: Apache-2.0
"""A thousand changes of a switch that forwards: nothing is lost beside them, and nothing is kept."""

import json
import os
import pathlib
import time

import lab
from cases import tap, with_original


class test_reconfigure(with_original):
    N_HOSTS = 2
    CONFIG = {"ports": [tap("r1"), tap("r2"), tap("r3"),
                        {"name": "lag", "bond": {"mode": "static", "members": ["net_tap974,iface=lag0",
                                                                               "net_tap975,iface=lag1"]}}],
              "pipeline": {"flows": ["priority=0,actions=NORMAL", "priority=7,udp,actions=group:1"],
                           "groups": ["group_id=1,type=all,bucket=output:r1"],
                           "meters": ["meter=1,pktps,band=type=drop,rate=1000"]}}
    CHANGES = 1000

    def held(self):
        """What couad holds of the machine: bytes of memory, files, threads, network devices."""
        process = pathlib.Path(f"/proc/{self.switch.process.pid}")
        status = (process / "status").read_text()
        return {"memory": int(status.split("RssAnon:")[1].split()[0]) * 1024,
                "files": len(os.listdir(process / "fd")),
                "threads": len(os.listdir(process / "task")),
                "devices": len(os.listdir("/sys/class/net"))}

    def steady(self):
        """What is held, when a moment changes nothing of it; else None."""
        before = self.held()
        time.sleep(0.2)
        now = self.held()
        return now if all(now[what] == before[what] for what in ("files", "threads")) else None

    def other(self, n):
        """The file of every second change: a port and a mirror port that were not there, and others of
        r3's settings, the bond's members and mode, ageing, log level, static entries, rules, groups and
        meters."""
        statics = ", ".join(f"{{vlan: {vlan}, mac: '02:00:00:00:0{i}:{n % 256:02x}', port: {port}}}"
                            for i, (vlan, port) in enumerate(((1, "r1"), (1, "extra"))))
        flows = [f"priority=7,udp,actions=meter:{n + 2},group:{n + 2}",
                 f"priority={8 + n % 1000},tcp,tp_dst={n % 60000},actions=output:lag",
                 f"priority=6,in_port=extra,dl_vlan={n % 4000},actions=drop"]
        changes = (('name: "r3"', f'name: "r3"\n    vlan: {2 + n % 4000}'),
                   ("\nports:\n", "\nports:\n  - {name: extra, devargs: 'net_tap972,iface=extra'}\n"
                                  "  - {name: span, devargs: 'net_tap973,iface=span', "
                                  f"mirror: {{received: [r{n % 3 + 1}], sent: [r1]}}}}\n"),
                   ('"static"', f'"{("lacp", "backup")[n % 2]}"'), ("net_tap975,iface=lag1", "net_tap976,iface=lag2"),
                   ("\nfib:\n", f"\nfib:\n  ageing_s: {301 + n % 1000}\n  static: [{statics}]\n"),
                   ('"priority=7,udp,actions=group:1"', ", ".join(map(json.dumps, flows))),
                   ('"group_id=1,type=all,bucket=output:r1"',
                    f'"group_id=1,type=select,bucket=output:r2,bucket=output:lag", '
                    f'"group_id={n + 2},type=all,bucket=group:1"'),
                   ('"meter=1,', f'"meter={n + 2},kbps,band=type=drop,rate={n}", "meter=1,'))
        text = self.original
        for old, new in changes:
            assert text.count(old) == 1, (old, text)
            text = text.replace(old, new)
        return text + f"log: {{level: {('error', 'warning')[n % 2]}}}\n"

    def flip(self, n):
        """There and back; how many changes these were."""
        made = 0
        for text in (self.other(n), self.original):
            self.switch.file.write_text(text)
            made += len(self.switch.json("config", "apply", self.switch.file)["changes"])
        # Those that no file says.
        rules = f"flow add priority={n % 1000 + 1},tcp,tp_dst={n % 60000},actions=drop\n" \
                f"group add group_id={n + 2},type=all,bucket=output:r1\n" \
                f"meter add meter={n + 2},pktps,band=type=drop,rate=1\n"
        back = f"flow delete tcp\ngroup delete group_id={n + 2}\nmeter delete meter={n + 2}\n"
        for text in (rules, back):
            self.switch.coua("flow", "add", "--file", "-", stdin=text)
            made += 3
        return made

    def test_a_thousand_changes_leave_nothing_behind(self):
        finish = self.echoes(self.h1, "10.9.0.2")
        before = self.switch.coua("config", "show").stdout
        made, n = 0, 1
        while made < self.CHANGES // 4:  # buffers grow to what they need
            made, n = made + self.flip(n), n + 1
        first = lab.wait_for(self.steady, what="as much held as a moment ago")
        while made < self.CHANGES:
            made, n = made + self.flip(n), n + 1
        # Its end of a connection goes when couad gets round to it.
        lab.wait_for(lambda: all(self.held()[what] <= first[what] for what in ("files", "devices")),
                     what=f"what was held before, {first}")
        last = self.held()
        self.assertEqual(finish(), set())
        self.assertEqual(self.switch.coua("config", "show").stdout, before)
        self.assertEqual(self.fib_stats()["statics"], 0)
        self.assert_conserved()
        self.assertLessEqual(last["files"], first["files"])
        self.assertEqual(last["devices"], first["devices"])
        self.assertLessEqual(last["threads"], first["threads"] + 2)  # of gRPC's pool
        # One KiB for each change would be three times this.
        self.assertLess(last["memory"] - first["memory"], 256 << 10, f"{first} {last}")
