# SPDX-License-Identifier: Apache-2.0
"""A port that is LOCAL to OpenFlow: the machine's own IP stack, behind a TAP device, and its bridge."""

import pathlib
import re

import frames
import lab
import of_wire as of
from cases import tap
from test_openflow import with_controller


class with_local(with_controller):
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("own", local=True)]}
    N_HOSTS = 2
    OWN = "10.0.0.100"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The TAP devices of the hosts' ports are the machine's, too: they must not answer for it.
        pathlib.Path("/proc/sys/net/ipv4/conf/all/arp_ignore").write_text("1")
        cls.give_address()

    @classmethod
    def give_address(cls):
        lab.run(f"ip addr replace {cls.OWN}/24 dev own")
        lab.run("ip link set own up")


class test_local(with_local):
    def counted(self, of_port):
        """Packets received and sent, as port statistics have them."""
        said = " ".join(self.ofctl("dump-ports", of_port).split())
        return tuple(int(n) for n in re.findall(r"pkts=(\d+)", said))

    def test_the_machine_itself_talks_by_it(self):
        self.assertEqual(self.h1.pings(self.OWN, 3), 3)
        self.ofctl("replace-flows", "-", stdin="in_port=1,actions=LOCAL\nin_port=LOCAL,actions=1\n")
        self.assertEqual(sorted(self.flows()), ["in_port=1 actions=LOCAL", "in_port=LOCAL actions=output:1"])
        received, sent = self.counted("LOCAL")
        self.assertEqual(self.h1.pings(self.OWN, 20), 20)
        self.assertGreaterEqual(self.counted("LOCAL")[0] - received, 20)
        self.assertGreaterEqual(self.counted("LOCAL")[1] - sent, 20)
        self.assertEqual(self.h2.pings(self.OWN, 1, wait=0.5), 0)
        self.ofctl("replace-flows", "-", stdin="actions=FLOOD\n")
        self.assertEqual(self.h1.pings(self.OWN, 3), 3)
        self.assertEqual(self.h2.pings(self.OWN, 3), 3)

    def test_it_has_that_number_alone(self):
        said = lab.run(["ovs-ofctl", "-O", "OpenFlow13", "show", f"unix:{self.management}"]).stdout
        self.assertIn(f" LOCAL(own): addr:{self.ports()['own']['mac']}", said)
        self.assertNotIn(" 3(", said)
        self.assertIn("LOCAL", self.ofctl("dump-ports"))
        done = self.ofctl("dump-ports", "3", check=False)
        self.assertIn("OFPBRC_BAD_PORT", done.stdout + done.stderr)
        self.assertEqual(self.ofctl("queue-stats", "LOCAL"), "")
        # ovs-ofctl does not let a bucket watch it; the command does.
        self.switch.coua("group", "add", "group_id=1,type=ff,bucket=watch_port:own,output:own")
        self.assertIn("watch_port:LOCAL,actions=LOCAL", self.ofctl("dump-groups"))
        self.ofctl("replace-flows", "-", stdin="in_port=1,actions=group:1\nin_port=LOCAL,actions=1\n")
        self.assertEqual(self.h1.pings(self.OWN, 3), 3)

    def test_a_switch_made_of_rules_learns_it(self):
        learns = "learn(table=1,priority=7,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])"
        self.ofctl("replace-flows", "-", stdin=f"table=0,actions={learns},resubmit(,1)\n"
                                               "table=1,priority=0,actions=FLOOD\n")
        self.assertEqual(self.h1.pings(self.OWN, 5), 5)
        mac = self.ports()["own"]["mac"]
        lab.wait_for(lambda: f"priority=7,dl_dst={mac} actions=LOCAL" in self.flows("table=1"),
                     what="it is learned")
        self.assertEqual(self.h2.pings(self.OWN, 3), 3)

    def test_it_is_set(self):
        one = self.controller().configure()
        # ovs-ofctl takes a port here by the name that it has, or by its number in decimal.
        self.addCleanup(self.ofctl, "mod-port", "own", "forward")
        self.ofctl("mod-port", "own", "no-forward")
        got = of.port_status(one.expect(of.PORT_STATUS)[1])
        self.assertEqual((got.reason, got.number, got.name), (2, of.LOCAL, "own"))
        self.assertEqual(self.h1.pings(self.OWN, 1, wait=0.5), 0)
        self.ofctl("mod-port", "65534", "forward")
        lab.wait_for(lambda: self.h1.pings(self.OWN, 1, wait=1.0) == 1, what="it forwards")
        self.addCleanup(self.ofctl, "mod-port", "own", "up")
        self.ofctl("mod-port", "own", "down")
        self.assertFalse(self.ports()["own"]["enabled"])

    def test_the_controller_sees_packets_of_it_and_sends_by_it(self):
        one = self.controller().configure()
        one.send(of.flow_mod(priority=9, eth_type=frames.ETHERTYPE_TEST, in_port=of.LOCAL,
                             instructions=of.apply_actions(of.output(of.CONTROLLER))))
        one.barrier()
        frame = frames.make("02:c0:0a:00:00:02", "02:c0:0a:00:00:01", payload=b"of the machine")
        inside, h1 = self.wire(None, "own"), self.wire(self.h1)
        inside.send(frame)
        got = of.packet_in(one.expect(of.PACKET_IN)[1])
        self.assertEqual((got.in_port, got.data), (of.LOCAL, frame))
        one.send(of.packet_out(frame, of.output(of.LOCAL), in_port=1))
        self.assertEqual([each.data for each in inside.collect(2.0, count=1)], [frame])
        one.send(of.packet_out(frame, of.output(of.ALL), in_port=of.LOCAL))
        self.assertEqual([each.data for each in h1.collect(2.0, count=1)], [frame])

    def way(self, packet):
        return [each["to"] for each in self.switch.json("trace", "br0", packet)["outputs"]]

    def test_texts_call_it_local(self):
        # What the L2 switch would do.
        mac = self.ports()["own"]["mac"]
        self.assertEqual(self.h1.pings(self.OWN, 1), 1)
        self.assertEqual(self.way(f"in_port=p2,arp,dl_dst={mac}"), ["LOCAL"])
        self.assertEqual(self.way(f"in_port=own,arp,dl_src={mac},dl_dst={self.h1.mac}"), ["p1"])
        self.switch.coua("flow", "add", "priority=9,in_port=own,ip,actions=output:p1")
        self.switch.coua("flow", "add", "priority=9,in_port=p1,ip,actions=output:own")
        texts = " ".join(each["text"] for each in self.switch.json("flow", "dump")["flows"])
        self.assertIn("in_port=LOCAL actions=output:p1", texts)
        self.assertIn("in_port=p1 actions=LOCAL", texts)
        self.assertEqual(self.way(f"in_port=LOCAL,ip,dl_dst={self.h1.mac}"), ["p1"])
        self.assertEqual(self.way(f"in_port=p1,ip,dl_dst={mac}"), ["LOCAL"])


class test_local_changes(with_local):
    """Another port becomes it while the switch runs."""

    def test_a_file_says_another_one(self):
        self.ofctl("replace-flows", "-", stdin="in_port=1,actions=LOCAL\nin_port=LOCAL,actions=1\n")
        self.assertEqual(self.h1.pings(self.OWN, 1), 1)
        one = self.controller().configure()
        text = self.switch.file.read_text()
        self.addCleanup(self.switch.file.write_text, text)
        self.switch.file.write_text(text.replace("local: true", "local: false"))
        changes = self.switch.json("config", "apply", self.switch.file)["changes"]
        self.assertEqual([(each["kind"], each["item"]) for each in changes], [("replaced", "port own")])
        told = [of.port_status(one.expect(of.PORT_STATUS)[1]) for _ in range(2)]
        self.assertEqual([(each.reason, each.number == of.LOCAL, each.name) for each in told],
                         [(1, True, "own"), (0, False, "own")])
        # Its device has come again, without an address. Now LOCAL leads nowhere.
        self.give_address()
        self.h1.run("ip neigh flush dev eth0")
        self.assertNotIn("LOCAL(", self.ofctl("show"))
        self.assertEqual(self.h1.pings(self.OWN, 1, wait=0.5), 0)
        self.ofctl("add-flow", "priority=0,actions=NORMAL")
        self.ofctl("del-flows", "in_port=1")
        self.ofctl("del-flows", "in_port=LOCAL")
        self.assertEqual(self.h1.pings(self.OWN, 1), 1)
        # And by the command, once it is gone.
        refused = self.switch.coua("port", "add", "own", "net_tap77,iface=own", "--local", check=False)
        self.assertIn("differs in its", refused.stderr)
        self.switch.coua("port", "del", "own")
        self.switch.coua("port", "add", "own", "net_tap77,iface=own", "--local")
        self.assertIn("LOCAL of bridge br0", self.switch.coua("port", "show", "own").stdout)
        second = self.switch.coua("port", "add", "more", "net_null77", "--local", check=False)
        self.assertIn("bridge br0 has a local port, own", second.stderr)
        self.give_address()
        self.h1.run("ip neigh flush dev eth0")  # the new device has another MAC address
        self.ofctl("replace-flows", "-", stdin="in_port=1,actions=LOCAL\nin_port=LOCAL,actions=1\n")
        self.assertEqual(self.h1.pings(self.OWN, 1), 1)
