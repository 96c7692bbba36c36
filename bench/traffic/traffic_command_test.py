#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traffic_command_test.py COUA_BENCH: short runs of coua-bench traffic."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

from command_case import CommandCase, run  # noqa: E402  (the path is set above)


class TrafficTest(CommandCase):
    def test_traffic(self):
        with tempfile.TemporaryDirectory() as folder:
            packets, addresses = folder + "/x.pcap", folder + "/x.txt"
            self.report("traffic", "--case", "l2", "--rules", "1K", "--flows", "40", "--size",
                        "128", "--vlan", "7", "--out", packets, "--addresses", addresses)
            with open(addresses) as file:
                lines = [line.split() for line in file]
            self.assertEqual(len(lines), 1000)
            self.assertEqual({(vlan, port) for vlan, _, port in lines}, {("7", "p1")})
            known = {mac for _, mac, _ in lines}
            self.assertEqual(len(known), 1000)
            with open(packets, "rb") as file:
                data = file.read()
            self.assertEqual(len(data), 24 + 40 * (16 + 124))
            frames = [data[24 + i * 140 + 16:24 + (i + 1) * 140] for i in range(40)]
            targets = {frame[:6].hex(":") for frame in frames}
            self.assertEqual(len(targets), 40)
            self.assertTrue(targets <= known)
            self.assertFalse({frame[6:12].hex(":") for frame in frames} & known)

    def test_packets_go_to_all_addresses_in_another_order(self):
        with tempfile.TemporaryDirectory() as folder:
            packets, addresses = folder + "/x.pcap", folder + "/x.txt"
            orders = []
            for seed in ("1", "1", "2"):
                self.report("traffic", "--case", "l2", "--rules", "500", "--flows", "500", "--seed", seed,
                            "--out", packets, "--addresses", addresses)
                lines = pathlib.Path(addresses).read_text().splitlines()
                index = {line.split()[1]: i for i, line in enumerate(lines)}
                data = pathlib.Path(packets).read_bytes()[24:]
                orders.append([index[data[at + 16:at + 22].hex(":")] for at in range(0, len(data), 16 + 60)])
                self.assertEqual(sorted(orders[-1]), list(range(500)))
                steps = [b - a for a, b in zip(orders[-1], orders[-1][1:])]
                self.assertTrue(200 < sum(step > 0 for step in steps) < 300)
                self.assertLess(sum(abs(step) < 8 for step in steps), 50)
            self.assertEqual(orders[0], orders[1])
            self.assertNotEqual(orders[0], orders[2])

    def test_traffic_of_pipelines(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = parent + "/new"
            if "no libopenvswitch" in run("traffic", "--case", "l3", "--out", folder).stderr:
                self.skipTest("built without libopenvswitch")
            out = self.report("traffic", "--case", "gateway", "--rules", "70", "--flows", "40",
                              "--direction", "both", "--size", "128", "--packets", "100", "--out",
                              folder)
            self.assertEqual(out["params"], {"case": "gateway", "rules": 70, "flows": 40,
                                             "size": 128, "users": 20, "direction": "both",
                                             "seed": 1})
            rules, *packets = out["rows"]
            self.assertEqual((rules["file"], rules["count"]), (folder + "/rules.txt", 491))
            with open(rules["file"]) as file:
                lines = file.read().splitlines()
            self.assertEqual(len(lines), 491)
            self.assertEqual(sum("table=110," in line for line in lines), 70)
            for line in lines:
                self.assertRegex(line, r"^(table=\d+, )?priority=\d+,\S+ actions=\S+$")
            self.assertEqual([r["file"] for r in packets],
                             [f"{folder}/traffic-{port}.pcap" for port in (1, 2)])
            self.assertEqual(sum(r["count"] for r in packets), 100)
            for row in packets:
                self.assertEqual(os.path.getsize(row["file"]), 24 + row["count"] * (16 + 124))
            files = list(pathlib.Path(folder).iterdir())
            self.assertEqual(len(files), 3)
            first = [each.read_bytes() for each in files]
            run("traffic", "--case", "gateway", "--rules", "70", "--flows", "40", "--direction",
                "both", "--size", "128", "--packets", "100", "--out", folder)
            self.assertEqual([each.read_bytes() for each in files], first)


if __name__ == "__main__":
    unittest.main()
