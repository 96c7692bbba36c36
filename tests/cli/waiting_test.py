#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coua controller list, and --wait: what is there at once, later, too late, or never.

usage: waiting_test.py COUA FAKE_COUAD DOCS_DIR
"""

import json
import pathlib
import signal
import subprocess
import time

from cli_case import COUA, FAKE, cli_case, main

NOT_YET = 5
LOOKS = 4  # of which the second controller of the fake takes no notice


class test_controllers(cli_case):
    OPTIONS = ("connect-after", str(LOOKS))

    def list(self, *words, **options):
        return self.json("controller", "list", *words, **options)["controllers"]

    def test_they_are_listed(self):
        near, far, guest = self.list()
        self.assertEqual(near, {"bridge": "br0", "target": "tcp:10.0.0.1:6653", "origin": "configured",
                                "connected": True, "for_s": 90, "role": "master", "connections": 2, "received": 1000,
                                "sent": 1001, "trouble": "end of file"})
        self.assertEqual((far["connected"], far["role"], far["trouble"]), (False, None, "Connection refused"))
        self.assertEqual(guest["origin"], "came")
        lines = self.text("controller", "list").splitlines()
        self.assertRegex(lines[1], r"^br0 +tcp:10.0.0.1:6653 +configured +connected +90 s +master +2 +1,000 +1,001 ")
        self.assertRegex(lines[2], r"^br0 +ssl:10.0.0.2:6653 +configured +not connected +3 s +- .* Connection refused$")

    def test_it_waits_until_all_are_connected(self):
        began = time.monotonic()
        self.assertTrue(all(each["connected"] for each in self.list("--wait", 60)))
        self.assertLess(time.monotonic() - began, 50)
        # At once, now that they are.
        self.assertTrue(all(each["connected"] for each in self.list("--wait", 0.1)))

    def test_one_that_does_not_come_in_time(self):
        done = self.coua("controller", "list", "--wait", 0.1, status=NOT_YET)
        self.assertIn("not connected", done.stdout)
        self.assertEqual(done.stderr, "coua controller list: not within 0.1 s: not all controllers are connected\n")

    def test_wrong_times(self):
        for wrong in ("-1", "0", "soon", "1e9"):
            self.assertIn("wait", self.coua("controller", "list", f"--wait={wrong}", status=2).stderr)


class test_port(cli_case):
    def test_one_that_is_up(self):
        self.ports()
        self.assertTrue(self.json("port", "show", "p0", "--wait", 0.1)["port"]["link_up"])

    def test_one_that_is_added_later(self):
        with subprocess.Popen([COUA, "-s", self.daemon.socket, "-j", "port", "show", "p0", "--wait", "60"],
                              text=True, stdout=subprocess.PIPE) as waiting:
            time.sleep(0.3)
            self.assertIsNone(waiting.poll())
            self.ports()
            said = json.loads(waiting.communicate(timeout=60)[0])
        self.assertEqual((waiting.returncode, said["port"]["name"]), (0, "p0"))

    def test_one_that_is_not_up_in_time(self):
        self.assertIn("no such port", self.coua("port", "show", "p0", "--wait", 0.2, status=NOT_YET).stderr)
        self.ports()
        self.coua("port", "set", "p0", "--enabled", "off")
        done = self.coua("port", "show", "p0", "--wait", 0.2, status=NOT_YET)
        self.assertEqual(done.stderr, "coua port show: not within 0.2 s: it is not up\n")
        self.assertIn("disabled", done.stdout)


class links_case(cli_case):
    def file(self):
        file = pathlib.Path(self.daemon.directory.name) / "one.yaml"
        file.write_text("ports: [{name: p0, devargs: net_null0}]\n")
        return file


class test_links(links_case):
    """Verbs after which ports come up, before links that take their time."""
    OPTIONS = ("link-after", "20")

    def add(self, *words):
        return self.json("port", "add", "p0", "net_null0", *words)["port"]

    def test_a_port_is_added_and_has_its_link(self):
        self.assertTrue(self.add("--wait", 60)["link_up"])

    def test_a_port_without_waiting_has_none_yet(self):
        self.assertFalse(self.add()["link_up"])
        self.assertTrue(self.json("port", "set", "p0", "--mtu", 1400, "--wait", 60)["port"]["link_up"])

    def test_one_that_is_disabled_is_not_waited_for(self):
        self.assertFalse(self.add("--enabled", "off", "--wait", 60)["enabled"])
        self.json("port", "list", "--wait", 1)

    def test_all_ports(self):
        self.add()
        self.coua("port", "add", "p1", "net_null1")
        self.assertTrue(all(port["link_up"] for port in self.json("port", "list", "--wait", 60)["ports"]))

    def test_a_configuration(self):
        file = self.file()
        self.assertTrue(self.json("config", "apply", file, "--wait", 60)["changed"])
        self.assertTrue(self.json("port", "show", "p0")["port"]["link_up"])


class test_links_that_do_not_come(links_case):
    OPTIONS = ("link-after", "1000000")

    def test_they_are_named_by_the_exit_status(self):
        file = self.file()
        done = self.coua("config", "apply", file, "--wait", 0.2, status=NOT_YET)
        self.assertEqual(done.stderr, "coua config apply: not within 0.2 s: not all ports are up\n")
        self.assertIn("1 change applied", done.stdout)
        self.coua("config", "apply", file, "--dry-run", "--wait", 0.2)
        self.coua("config", "apply", file)
        done = self.coua("port", "set", "p0", "--wait", 0.2, "--mtu", 1400, status=NOT_YET)
        self.assertEqual(done.stderr, "coua port set: not within 0.2 s: it is not up\n")
        self.assertIn("port p0: changed", done.stdout)
        done = self.coua("port", "list", "--wait", 0.2, status=NOT_YET)
        self.assertEqual(done.stderr, "coua port list: not within 0.2 s: not all ports are up\n")
        self.assertIn("p0", done.stdout)


class test_entries(cli_case):
    def test_one_that_is_learned_later(self):
        self.ports()
        words = ("fib", "show", "--mac", "02:00:00:00:00:09")
        done = self.coua(*words, "--wait", 0.2, status=NOT_YET)
        self.assertEqual(done.stderr, "coua fib show: not within 0.2 s: no entry matches\n")
        with subprocess.Popen([COUA, "-s", self.daemon.socket, "-j", *words, "--wait", "60"], text=True,
                              stdout=subprocess.PIPE) as waiting:
            time.sleep(0.3)
            self.assertIsNone(waiting.poll())
            self.coua("fib", "add", 10, "02:00:00:00:00:09", "p0")
            said = json.loads(waiting.communicate(timeout=60)[0])
        self.assertEqual((waiting.returncode, said["count"]), (0, 1))


class test_daemon(cli_case):
    def test_one_that_comes_later(self):
        socket = self.daemon.directory.name + "/later.sock"
        with subprocess.Popen([COUA, "-s", socket, "-j", "version", "--wait", "60"], text=True,
                              stdout=subprocess.PIPE) as waiting:
            time.sleep(0.3)
            self.assertIsNone(waiting.poll())
            with subprocess.Popen([FAKE, socket], stdout=subprocess.PIPE) as later:
                self.addCleanup(later.kill)
                try:
                    said = json.loads(waiting.communicate(timeout=60)[0])
                finally:
                    later.terminate()
        self.assertEqual(waiting.returncode, 0)
        self.assertEqual(said["daemon"]["pid"], later.pid)

    def test_one_that_does_not_come(self):
        socket = self.daemon.directory.name + "/never.sock"
        began = time.monotonic()
        done = self.coua("version", "--wait", 0.3, socket=socket, status=NOT_YET)
        self.assertIn("no daemon listens there", done.stderr)
        self.assertGreaterEqual(time.monotonic() - began, 0.3)

    def test_one_that_does_not_answer(self):
        """Its socket is there, and takes the call."""
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.daemon.process.send_signal, signal.SIGCONT)
        for more in ((), ("-t", 50)):
            began = time.monotonic()
            self.coua("version", "--wait", 1, *more, status=NOT_YET)
            self.assertLess(time.monotonic() - began, 20)

    def test_ctrl_c_ends_it(self):
        socket = self.daemon.directory.name + "/never.sock"
        with subprocess.Popen([COUA, "-s", socket, "version", "--wait", "60"], stderr=subprocess.PIPE) as waiting:
            time.sleep(0.3)
            waiting.send_signal(signal.SIGINT)
            waiting.communicate(timeout=30)
        self.assertIn(waiting.returncode, (130, -signal.SIGINT))

    def test_ctrl_c_ends_a_script(self):
        socket = self.daemon.directory.name + "/never.sock"
        with subprocess.Popen([COUA, "-s", socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as script:
            script.stdin.write("version --wait 60\nversion\n")
            script.stdin.flush()
            time.sleep(1)
            script.send_signal(signal.SIGINT)
            said = script.communicate(timeout=30)
        self.assertEqual(script.returncode, 130, said)


if __name__ == "__main__":
    main()
