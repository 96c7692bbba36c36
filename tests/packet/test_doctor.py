# SPDX-License-Identifier: Apache-2.0
"""What `coua doctor` says of interfaces that are there."""

import json
import subprocess
import unittest

import lab

OFFLOADS = "tx off tso off gso off gro off rx off"


class test_doctor(unittest.TestCase):
    def findings(self):
        done = subprocess.run([lab.COUA, "doctor", "-j"], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.stderr, "")
        return {each["topic"]: each for each in json.loads(done.stdout)["findings"]}

    def test_the_command_that_it_gives_mends_a_veth(self):
        lab.run("ip link add doc0 type veth peer name doc1")
        self.addCleanup(lab.run, "ip link del doc0")
        found = self.findings()["veth doc0"]
        self.assertEqual(found["verdict"], "worse")
        self.assertIn("TCP through it stalls", found["cost"])
        self.assertEqual(found["mend"], f"sudo ethtool -K doc0 {OFFLOADS}")
        lab.run(found["mend"].removeprefix("sudo "))
        after = self.findings()
        self.assertEqual(after["veth doc0"]["verdict"], "good")
        self.assertEqual(after["veth doc1"]["verdict"], "worse")
        self.assertEqual(after["privileges"]["verdict"], "good")
