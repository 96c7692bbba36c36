# SPDX-License-Identifier: Apache-2.0
"""couad itself: how it starts, refuses and stops."""

import itertools
import os
import pathlib
import signal
import unittest

import lab
from cases import tap

_numbers = itertools.count()


class test_daemon(unittest.TestCase):
    def make(self, config=None, text=None):
        self.switch = lab.switch(f"/run/daemon{next(_numbers)}", config, text)
        self.addCleanup(self.switch.close)
        return self.switch

    def ends(self, switch):
        """The exit status and the log of a couad that ends by itself."""
        return switch.process.wait(60), switch.log.read_text()

    def refuses(self, text, *words):
        """couad does not start with this file, and says where and why."""
        switch = self.make(text=text)
        status, log = self.ends(switch.launch())
        self.assertNotIn(status, (0, -signal.SIGSEGV, -signal.SIGABRT), log)
        for word in words:
            self.assertIn(word, log)
        self.assertFalse(switch.socket.exists())
        return log

    def test_errors_name_file_line_field_and_reason(self):
        log = self.refuses("ports:\n  - name: p1\n    devargs: net_null0\n    mtu: 20\n",
                           "couad.yaml:4", "ports[0].mtu", "20")
        self.assertNotIn("p1 is", log)
        self.refuses("fib:\n  ageing: 1000\n", "couad.yaml:2", "ageing", "ageing_s")
        self.refuses("ports:\n  - name: p1\n    devargs: net_null0\n  - name: p1\n"
                     "    devargs: net_null1\n", "couad.yaml:4", "ports[1].name")
        self.refuses("ports: [\n", "couad.yaml", "YAML")

    def test_all_errors_of_a_file_at_once(self):
        self.refuses("fib:\n  entries: none\nports:\n  - name: 'p 1'\n    devargs: net_null0\n",
                     "couad.yaml:2", "couad.yaml:4")

    def test_file_that_is_not_there(self):
        switch = self.make(text="")
        switch.file.unlink()
        status, log = self.ends(switch.launch())
        self.assertNotEqual(status, 0)
        self.assertIn("couad.yaml", log)

    def test_port_that_does_not_start_leaves_nothing(self):
        good = tap("left")
        switch = self.make({"ports": [good, {"name": "bad", "devargs": "net_nosuch0"}]})
        status, log = self.ends(switch.launch())
        self.assertNotEqual(status, 0)
        self.assertIn("bad", log)
        self.assertIn("couad.yaml:", log)
        self.assertFalse(os.path.exists("/sys/class/net/left"))
        self.assertFalse(switch.socket.exists())

    def test_packets_smaller_than_the_frames_of_a_driver_that_cannot_spread_them(self):
        text = ("memory: {mbuf_bytes: 1024}\n"
                "ports: [{name: p1, devargs: 'net_af_packet0,iface=lo'%s}]\n")
        self.refuses(text % "", "couad.yaml:2", "p1: memory.mbuf_bytes", "1024", "1522")

    def test_clean_stop(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            before = set(os.listdir("/sys/class/net"))
            switch = self.make({"ports": [tap("s1"), tap("s2")]}).start()
            self.assertTrue(switch.socket.exists())
            self.assertEqual(switch.stop(number), 0, switch.log.read_text())
            self.assertEqual(set(os.listdir("/sys/class/net")), before)
            self.assertFalse(switch.socket.exists())
            self.assertEqual([str(p) for p in pathlib.Path("/run/dpdk").rglob("*socket*")], [])

    def test_stop_while_dpdk_starts_leaves_no_folder(self):
        folders = lambda: list(pathlib.Path(os.environ["TMPDIR"]).glob("coua-eal-*"))  # noqa: E731
        for number in (signal.SIGTERM, signal.SIGINT):
            switch = self.make({"ports": [tap("s1")]}).launch()
            lab.wait_for(folders, every=0, what="the folder of DPDK's start, in TMPDIR")
            self.assertEqual(switch.stop(number), 0, switch.log.read_text())
            self.assertEqual(folders(), [])

    def test_second_daemon_is_refused(self):
        first = self.make({"ports": [tap("d1")]}).start()
        second = lab.switch(f"/run/daemon{next(_numbers)}",
                            {"api": {"socket": str(first.socket)}, "ports": [tap("d2")]})
        self.addCleanup(second.close)
        status, log = self.ends(second.launch())
        self.assertNotEqual(status, 0)
        self.assertIn(str(first.socket), log)
        # The first one lives on, its socket and port untouched.
        self.assertEqual(first.coua("port", "list").returncode, 0)
        self.assertTrue(os.path.exists("/sys/class/net/d1"))
        self.assertFalse(os.path.exists("/sys/class/net/d2"))

    def test_two_daemons_on_two_sockets(self):
        one = self.make({"ports": [tap("t1")]}).start()
        two = self.make({"ports": [tap("t2")]}).start()
        for switch, name in ((one, "t1"), (two, "t2")):
            self.assertEqual([port["name"] for port in switch.json("port", "list")["ports"]], [name])

    def test_socket_of_a_daemon_that_died(self):
        switch = self.make({"ports": [tap("k1")]}).start()
        switch.stop(signal.SIGKILL)
        self.assertTrue(switch.socket.exists())
        switch.start()
        self.assertEqual([port["name"] for port in switch.json("port", "list")["ports"]], ["k1"])

    def test_without_huge_pages_it_says_so(self):
        switch = self.make({"ports": []}).start()
        self.assertIn("ordinary memory", switch.log.read_text())

    def test_required_huge_pages(self):
        # More than any machine has free.
        log = self.refuses("memory:\n  huge_pages: required\n  packet_mib: 1048576\n", "huge")
        self.assertIn("couad.yaml:2", log)

    def test_command_without_daemon(self):
        switch = self.make(text="")
        done = switch.coua("port", "list", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(switch.socket), done.stderr)
