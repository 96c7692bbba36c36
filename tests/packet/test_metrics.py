# SPDX-License-Identifier: Apache-2.0
"""What Prometheus reads of a couad that forwards."""

import pathlib
import re
import socket
import unittest
import urllib.request

import lab
from cases import tap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class test_metrics(unittest.TestCase):
    def start(self, listen):
        self.switch = lab.switch("/run/metrics", {
            "metrics": {"listen": listen}, "ports": [
                tap("m1"), tap("m2"), {"name": "b", "bond": {"members": ["net_null7", "net_null8"]}}],
            "openflow": {"controllers": ["tcp:127.0.0.1:6653"]}})
        self.addCleanup(self.switch.close)
        return self.switch

    def read(self, switch):
        port = re.search(r"metrics: port (\d+) of", switch.log.read_text())[1]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def test_they_are_what_coua_shows(self):
        switch = self.start("127.0.0.1:0")
        switch.start()
        shown = switch.json("stats")
        text = self.read(switch)
        for port, counters in shown["ports"].items():
            for name in counters:
                self.assertIn(f'\ncoua_port_{name}_total{{port="{port}"}} ', text)
        for name in switch.json("worker", "list")["workers"][0]["counters"]:
            self.assertRegex(text, rf'\ncoua_worker_{name}_total\{{worker="0",core="\d+"\}} ')
        self.assertIn('\ncoua_controller_connected{bridge="br0",target="tcp:127.0.0.1:6653"} 0\n', text)
        for member in (0, 1):
            self.assertIn(f'\ncoua_port_member_up{{port="b",member="{member}",device="net_null{7 + member}"}} 1\n',
                          text)
        # Whatever a board or an alert asks for is there, but for what has not happened yet.
        not_yet = {"coua_pipeline_drops_total", "coua_port_drop_"}
        for name in ("grafana.json", "alerts.yaml"):
            asked = set(re.findall(r"coua_[a-z_]+", (ROOT / "packaging/monitoring" / name).read_text()))
            self.assertGreater(len(asked), 10)
            for metric in asked - not_yet:
                self.assertRegex(text, rf"\n{metric}[ {{]", name)

    def test_an_address_in_use_is_refused(self):
        switch = self.start("127.0.0.1:0")
        switch.start()
        port = re.search(r"metrics: port (\d+) of", switch.log.read_text())[1]
        other = lab.switch("/run/metrics2", {
            "metrics": {"listen": f"127.0.0.1:{port}"}, "ports": [tap("m3")]})
        self.addCleanup(other.close)
        other.launch()
        self.assertEqual(other.process.wait(60), 1)
        self.assertRegex(other.log.read_text(), r":\d+: .*127\.0\.0\.1:" + port)

    def test_who_stops_reading_holds_nothing_up(self):
        switch = self.start("127.0.0.1:0")
        switch.start()
        port = int(re.search(r"metrics: port (\d+) of", switch.log.read_text())[1])
        held = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(3)]
        for one in held:
            one.sendall(b"GET /metrics HTTP/1.1\r\n")
        self.assertEqual(len(switch.json("port", "list")["ports"]), 3)
        switch.stop()
        for one in held:
            one.close()
