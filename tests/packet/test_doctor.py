# SPDX-License-Identifier: Apache-2.0
"""What `coua doctor` says of a switch that runs, and of virtual cables that lead to it."""

import json
import signal
import socket
import subprocess

import lab
from cases import with_switch


def findings(*words):
    done = subprocess.run([lab.COUA, "doctor", "-j", *words], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.stderr == "", done.stderr
    said = json.loads(done.stdout)
    return {**{each["topic"]: each for each in said["findings"]}, "couad": said["couad"]}


def mend(found):
    for command in found["mend"]:
        subprocess.run(["sh", "-ec", command.replace("sudo ", "")], check=True, timeout=60,
                       env={"PATH": lab.PATH}, stdout=subprocess.DEVNULL)


class test_doctor(with_switch):
    """Hosts whose ends leave checksums to the switch: pings come through, TCP stalls."""

    CONFIG = {"memory": {"packet_mib": 128},
              "ports": [{"name": f"p{n}", "devargs": f"net_af_packet{n},iface=v{n}"}
                        for n in (1, 2)]}

    @classmethod
    def setUpClass(cls):
        cls.switch = lab.switch("/run/doctor", cls.CONFIG)
        cls.addClassCleanup(cls.switch.close)
        cls.hosts = [cls.switch.veth_host(f"h{n}", f"v{n}") for n in (1, 2)]
        cls.switch.start()
        for n, host in enumerate(cls.hosts, 1):
            host.address(f"10.9.0.{n}/24", f"fd09::{n}/64")

    def findings(self):
        return findings("-s", self.switch.socket)

    def connects(self, client, server, address):
        with lab.in_namespace(server.name):
            listener = socket.create_server((address, 0))
        with lab.in_namespace(client.name):
            made = socket.socket()
        with listener, made:
            made.settimeout(3)
            try:
                made.connect(listener.getsockname())
            except TimeoutError:
                return False
            return True

    def test_the_command_that_it_gives_lets_tcp_through(self):
        one, two = self.hosts
        for host in self.hosts:
            lab.run("ethtool -K eth0 tx on sg on tso on gso on gro on", ns=host.name)
        found = self.findings()
        for host in self.hosts:
            each = found[f"veth eth0 in {host.name}"]
            self.assertEqual(each["verdict"], "worse")
            self.assertIn("TCP through that port stalls", each["cost"])
        self.assertEqual(one.pings("10.9.0.2", 3), 3)
        self.assertFalse(self.connects(one, two, "10.9.0.2"))
        for host in self.hosts:
            mend(found[f"veth eth0 in {host.name}"])
        after = self.findings()
        for host in self.hosts:
            self.assertEqual(after[f"veth eth0 in {host.name}"]["verdict"], "good")
        self.assertTrue(self.connects(one, two, "10.9.0.2"))
        self.assert_tcp(one, two, "10.9.0.2")

    def test_it_looks_at_the_daemon(self):
        found = self.findings()
        self.assertEqual(found["couad"], self.switch.process.pid)
        self.assertIn(f"couad (process {found['couad']})", found["privileges"]["what"])
        # The same when it answers nothing.
        self.switch.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.switch.process.send_signal, signal.SIGCONT)
        self.assertEqual(findings("-s", self.switch.socket, "-t", "0.3")["couad"], found["couad"])
        self.assertEqual(findings("-s", "/run/nobody.sock")["couad"], 0)

    def test_a_cable_that_leads_nowhere_special(self):
        lab.run("ip link add doc0 type veth peer name doc1")
        self.addCleanup(lab.run, "ip link del doc0")
        found = self.findings()["veth doc0"]
        self.assertEqual(found["verdict"], "note")
        mend(found)
        after = self.findings()
        self.assertEqual(after["veth doc0"]["verdict"], "good")
        self.assertEqual(after["veth doc1"]["verdict"], "note")
