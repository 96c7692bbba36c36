#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coua doctor, on this machine as it is.

usage: doctor_test.py COUA FAKE_COUAD DOCS_DIR
"""

import json
import os
import subprocess
import unittest

from cli_case import COUA, DIFFERS, cli_case, main


def doctor(*words, before=()):
    """Its status, which depends on the machine, and what it prints."""
    if "-s" not in words:
        words = ("-s", "/nobody.sock", *words)
    done = subprocess.run([*before, COUA, "doctor", *words], stdout=subprocess.PIPE, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout


def topics(said):
    return {each["topic"]: each for each in said["findings"]}


class test_doctor(unittest.TestCase):
    def test_the_status_says_what_it_found(self):
        status, text = doctor("-j")
        found = json.loads(text)
        self.assertEqual(status, DIFFERS if found["missing"] else 0)
        strict = doctor("--strict", "-j")
        again = json.loads(strict[1])
        count = [each["verdict"] for each in found["findings"]].count
        self.assertEqual((found["missing"], found["worse"]), (count("missing"), count("worse")))
        self.assertEqual(strict[0], DIFFERS if again["missing"] + again["worse"] else 0)

    def test_text_and_json_say_the_same(self):
        # The machine may change in between: others take huge pages, and make cables.
        for _ in range(20):
            said, text, again = topics(json.loads(doctor("-j")[1])), doctor()[1], doctor("-j")[1]
            if said == topics(json.loads(again)):
                break
        for topic, each in said.items():
            self.assertIn(f" {topic}: ", text)
            for command in each["mend"]:
                self.assertIn(f"$ {command}\n", text)

    def test_a_process_without_privileges(self):
        drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
        if drop and subprocess.run([*drop, "true"], stderr=subprocess.DEVNULL,
                                   check=False).returncode:
            self.skipTest("privileges cannot be dropped here")
        status, text = doctor("-j", before=drop)
        self.assertEqual(status, DIFFERS)
        said = topics(json.loads(text))
        if "user namespace" not in said["privileges"]["what"]:  # of a container
            self.assertIn("CAP_NET_ADMIN, CAP_NET_RAW", said["privileges"]["what"])
        self.assertEqual(said["privileges"]["verdict"], "missing")

    def test_root_of_a_namespace_is_not_root_of_the_machine(self):
        inside = ["unshare", "-Urn"]
        if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("user namespaces are not allowed here")
        status, text = doctor("-j", before=inside)
        self.assertEqual(status, DIFFERS)
        privileges = topics(json.loads(text))["privileges"]
        self.assertIn("is in a user namespace", privileges["what"])
        self.assertIn("AF_XDP, PCI", privileges["cost"])
        for each in json.loads(text)["findings"]:
            for command in each["mend"]:
                self.assertRegex(command, r"(^|\| )sudo ")

    def test_commands_below_sudo(self):
        os.environ["SUDO_UID"] = "1000"
        self.addCleanup(os.environ.pop, "SUDO_UID")
        for each in json.loads(doctor("-j")[1])["findings"]:
            for command in each["mend"]:
                self.assertRegex(command, r"(^|\| )sudo ")

    def test_cores_that_a_process_may_use(self):
        core = min(os.sched_getaffinity(0))
        text = doctor("-j", before=["taskset", "-c", str(core)])[1]
        # Where cores are isolated, it may not use these.
        self.assertRegex(topics(json.loads(text))["cores"]["what"],
                         rf"may use (one: {core}|{core} only)$")


class test_doctor_beside_a_daemon(cli_case):
    def test_one_that_does_not_answer(self):
        import socket  # pylint: disable=import-outside-toplevel
        path = self.daemon.directory.name + "/mute.sock"
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(path)
            mute.listen()
            self.assertIn("privileges", doctor("-s", path, "-t", "0.3")[1])

    def test_one_that_answers(self):
        said = json.loads(doctor("-j", "-s", self.daemon.socket)[1])
        self.assertEqual(said["couad"], self.daemon.process.pid)
        self.assertIn(f"couad (process {said['couad']})", topics(said)["privileges"]["what"])


if __name__ == "__main__":
    main()
