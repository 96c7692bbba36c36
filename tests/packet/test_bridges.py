# SPDX-License-Identifier: Apache-2.0
"""Two bridges in one couad: the same VLAN, the same MAC and IP addresses, and nothing of one reaches the
other: no frame, no rule, no controller. Each test says which bug it would show."""

import frames
import lab
import of_wire as of
from cases import tap
from test_controllers import features, with_listeners

MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")


class test_bridges(with_listeners):
    """h1 and h2 behind `red`, h3 and h4 behind `blue`: h1 and h3 have one IP address, and so have h2 and h4."""

    N_HOSTS = 4
    ADDRESSES = ()
    CONFIG = {"bridges": [{"name": "red", "openflow": {"datapath_id": "0xa1", "controllers": ["tcp:127.0.0.1:6654"],
                                                       "backoff_max_s": 1}},
                          {"name": "blue", "openflow": {"datapath_id": "0xb1", "controllers": ["tcp:127.0.0.1:6653"],
                                                        "backoff_max_s": 1}}],
              "ports": [tap("r1", vlan=10), tap("r2", vlan=10), tap("b1", vlan=10, bridge="blue"),
                        tap("b2", vlan=10, bridge="blue"), {"name": "r3", "devargs": "net_null79,no-rx=1", "vlan": 10}]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for n, host in enumerate(cls.hosts):
            host.address(f"10.9.0.{n % 2 + 1}/24")
        cls.original = cls.switch.file.read_text()

    def tearDown(self):
        for bridge in ("red", "blue"):
            self.ofctl(bridge, "replace-flows", "-", stdin="priority=0,actions=NORMAL\n")
        self.apply(self.original)

    def apply(self, text):
        self.switch.file.write_text(text)
        return self.switch.json("config", "apply", self.switch.file)["changes"]

    def ofctl(self, bridge, command, *words, **options):
        socket = self.switch.directory / f"{bridge}.mgmt"
        return lab.run(["ovs-ofctl", "-O", "OpenFlow13", command, f"unix:{socket}", *words], **options).stdout

    def bridges(self):
        return {bridge["name"]: bridge for bridge in self.switch.json("bridge", "list")["bridges"]}

    def r3_hears(self, host):
        """Whether r3 sends the broadcasts of a host. What kernels send by themselves is less than these 50."""
        before, wire = self.counters("r3"), self.wire(host)
        for _ in range(50):
            wire.send(frames.make(frames.BROADCAST, host.mac))
        self.settle()
        return self.counted(before, "tx_packets", "r3") >= 50

    def assert_apart(self):
        self.assertEqual(self.h1.pings("10.9.0.2"), 1)
        self.assertEqual(self.h3.pings("10.9.0.2"), 1)

    def test_one_address_in_both(self):
        """The FIB knows an address by its VLAN alone: the station moves from one bridge to the other, and floods
        reach both."""
        self.assert_apart()
        self.flush()
        wires = [self.wire(host) for host in self.hosts]
        for n, wire in enumerate(wires):  # of a station that is at two ports of two bridges
            wire.send(frames.make(MACS[1 - n % 2], MACS[n % 2]))
        for bridge, ports in (("red", ("r1", "r2")), ("blue", ("b1", "b2"))):
            for mac, port in zip(MACS, ports):
                lab.wait_for(lambda: self.entries("--bridge", bridge, "--mac", mac).get((10, mac), {})
                             .get("port") == port, what=f"{mac} of {bridge} learned on {port}")
        self.assertGreaterEqual(self.flush("--bridge", "red"), 2)
        self.assertGreaterEqual(len(self.entries("--bridge", "blue")), 2)
        self.settle()
        for wire in wires:
            wire.drain()
        # A flood stays in its bridge.
        wires[0].send(frames.make("ff:ff:ff:ff:ff:ff", MACS[0], b"only for red"))
        self.assertEqual(len(wires[1].collect(10, count=1)), 1)
        self.settle()
        self.assertEqual([wire.collect(0.2) for wire in wires[2:]], [[], []])
        self.assertEqual({(vlan["bridge"], vlan["vlan"]) for vlan in self.switch.json("vlan", "list")["vlans"]},
                         {("red", 10), ("blue", 10)})
        self.assert_conserved()

    def test_rules_of_one_leave_the_other_alone(self):
        """A frame, a trace or a name of a port is looked up in another bridge than that of its port: the first,
        or any."""
        self.ofctl("red", "add-flow", "priority=9,icmp,actions=drop")
        self.assertEqual(self.h1.pings("10.9.0.2", wait=1), 0)
        self.assertEqual(self.h3.pings("10.9.0.2"), 1)
        self.assertEqual(len(self.switch.json("flow", "dump", "--bridge", "red")["flows"]), 2)
        self.assertEqual(len(self.switch.json("flow", "dump", "--bridge", "blue")["flows"]), 1)
        self.assertNotIn("(b1)", self.ofctl("red", "show"))
        trace = "in_port={},icmp,dl_dst=" + self.h4.mac
        self.assertEqual(self.switch.json("trace", "red", trace.format("r1"))["outputs"], [])
        outputs = self.switch.json("trace", "blue", trace.format("b1"))["outputs"]
        self.assertEqual({output["to"] for output in outputs}, {"b2"})
        refused = self.switch.coua("trace", "blue", trace.format("r1"), check=False)
        self.assertEqual((refused.returncode, "r1" in refused.stderr), (1, True), refused.stderr)
        self.assertEqual(self.switch.json("explain", "red")["tables"][0]["flows"], 2)
        self.assertEqual(self.switch.json("explain", "blue")["tables"][0]["flows"], 1)
        which = self.switch.coua("flow", "dump", check=False)
        self.assertEqual((which.returncode, "red, blue" in which.stderr), (1, True), which.stderr)
        # A rule names ports of its bridge alone.
        foreign = self.switch.coua("flow", "add", "--bridge", "red", "actions=output:b1", check=False)
        self.assertEqual((foreign.returncode, "b1" in foreign.stderr), (1, True), foreign.stderr)

    def test_each_has_its_controllers(self):
        """A controller speaks with another bridge than the one that connected to it, or is told of packets of
        another one: one way to controllers for all."""
        red, blue = (self.accept(self.listen(number)).configure() for number in (6654, 6653))
        self.assertEqual([features(one)[0] for one in (red, blue)], [0xa1, 0xb1])
        blue.send(of.flow_mod(table=0, priority=9))
        blue.barrier()
        self.assertEqual(self.h3.pings("10.9.0.2", wait=1), 0)
        self.assertEqual(self.h1.pings("10.9.0.2"), 1)
        to_controller = of.apply_actions(of.output(of.CONTROLLER))
        for one in (red, blue):
            one.send(of.flow_mod(priority=10, eth_type=frames.ETHERTYPE_TEST, instructions=to_controller))
            one.barrier()
        # By turns: what one were told of the other's packets would come before its own.
        sides = [(self.wire(self.h1), red, "red"), (self.wire(self.h3), blue, "blue")]
        for n in range(2):
            for wire, controller, bridge in sides:
                frame = frames.make(MACS[1], MACS[0], f"{n} of {bridge}".encode())
                wire.send(frame)
                self.assertEqual(of.packet_in(controller.expect(of.PACKET_IN)[1]).data, frame)
        targets = [("red", "tcp:127.0.0.1:6654"), ("blue", "tcp:127.0.0.1:6653")]
        self.assertEqual(self.configured(), targets)
        for target in targets:
            self.assertEqual(self.configured("--bridge", target[0]), [target])

    def test_another_controller_comes_by_a_file(self):
        """The bridge stays with its old controller, or starts from nothing: its rules are gone, or those of the
        other bridge's controller."""
        red, blue = (self.accept(self.listen(number)).configure() for number in (6654, 6653))
        blue.send(of.flow_mod(table=0, priority=9))
        blue.barrier()
        other = self.listen(6655)
        changes = self.apply(self.original.replace("tcp:127.0.0.1:6653", "tcp:127.0.0.1:6655"))
        self.assertEqual([(change["kind"], change["item"]) for change in changes], [("changed", "bridge blue")])
        while blue.receive() is not None:
            pass  # until it hangs up
        self.assertEqual(features(self.accept(other))[0], 0xb1)
        self.assertEqual(self.h3.pings("10.9.0.2", wait=1), 0)
        self.assertEqual(features(red)[0], 0xa1)
        self.assertEqual(self.configured("--bridge", "blue"), [("blue", "tcp:127.0.0.1:6655")])

    def configured(self, *filters):
        listed = self.switch.json("controller", "list", *filters)["controllers"]
        return [(one["bridge"], one["target"]) for one in listed if one["origin"] == "configured"]

    def test_a_port_moves_under_traffic(self):
        """A port is listed with its new bridge, and its frames are still those of the old one, or of none."""
        self.assertEqual([self.r3_hears(host) for host in (self.h1, self.h3)], [True, False])
        finish = self.echoes(self.h3, "10.9.0.2")
        moved = self.original.replace('name: "r3"', 'name: "r3"\n    bridge: "blue"')
        changes = self.apply(moved)
        self.assertEqual([(change["item"], change["kind"]) for change in changes], [("port r3", "replaced")])
        self.assertEqual(self.bridges()["blue"]["ports"], ["b1", "b2", "r3"])
        self.assertEqual(self.bridges()["red"]["ports"], ["r1", "r2"])
        self.assertEqual(finish(), set())
        self.assertEqual([self.r3_hears(host) for host in (self.h1, self.h3)], [False, True])

    def test_bridges_come_and_go_by_the_api(self):
        """A bridge comes or goes while a worker runs it: others lose frames. Or one that has gone leaves its
        socket or its name behind, or one with ports goes."""
        finish = self.echoes(self.h1, "10.9.0.2")
        for _ in range(5):
            self.switch.coua("bridge", "add", "green", "--start", "none")
            self.switch.coua("port", "add", "g1", "net_null77,no-rx=1", "--bridge", "green")
            refused = self.switch.coua("bridge", "del", "green", check=False)
            self.assertEqual((refused.returncode, "g1" in refused.stderr), (1, True), refused.stderr)
            self.assertIn("n_tables:", self.ofctl("green", "show"))
            self.switch.coua("port", "remove", "g1")
            self.assertEqual(self.switch.coua("bridge", "del", "green").stdout, "bridge green: removed\n")
            self.assertEqual(self.switch.coua("bridge", "del", "green").stdout, "bridge green: unchanged\n")
            self.assertEqual(list(self.bridges()), ["red", "blue"])
        self.assertEqual(finish(), set())

    def test_bridges_come_and_go_by_a_file(self):
        """Another bridge is the first in the file, and stays where it came, or takes the others' ports; its rules
        are sought before its ports are there. Others lose frames meanwhile."""
        finish = self.echoes(self.h1, "10.9.0.2")
        green = self.original.replace("\nbridges:\n", "\nbridges:\n  - {name: green, pipeline: {flows: "
                                      "[\"in_port=g1 actions=drop\"]}}\n") + \
            "  - {name: g1, bridge: green, devargs: \"net_null78,no-rx=1\"}\n"
        # The first one is another one now, so ports say where they belong.
        for port in ("r1", "r2", "r3"):
            green = green.replace(f'name: "{port}"', f'name: "{port}"\n    bridge: "red"')
        changes = self.apply(green)
        self.assertEqual([change["item"] for change in changes],
                         ["bridge green", "port g1", "bridge green: flow in_port=g1"])
        self.assertEqual(list(self.bridges()), ["green", "red", "blue"])
        saved = self.switch.coua("config", "show").stdout
        self.assertEqual(self.apply(saved), [])
        self.apply(self.original)
        self.assertEqual(list(self.bridges()), ["red", "blue"])
        self.assertEqual(finish(), set())

    def test_a_change_that_fails_leaves_all_bridges(self):
        """A bridge that went before the change failed comes back in part: without its rules, its socket or
        its place."""
        self.ofctl("blue", "add-flow", "priority=7,udp,actions=drop")
        self.switch.coua("bridge", "add", "green", "--datapath-id", "c1")
        self.switch.coua("bridge", "add", "last", "--datapath-id", "d1")
        self.switch.coua("flow", "add", "--bridge", "green", "priority=7,tcp,actions=drop")
        texts, bridges = self.switch.coua("config", "show", "--flows").stdout, self.bridges()
        without_green = self.original.replace("\nports:\n", "\n  - {name: last, openflow: {datapath_id: d1}}\nports:\n")
        self.switch.file.write_text(without_green + "  - {name: x, devargs: 'net_nosuch66'}\n")
        refused = self.switch.coua("config", "apply", self.switch.file, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("nothing was changed", refused.stderr)
        self.assertEqual(list(self.bridges()), ["red", "blue", "green", "last"])
        self.assertEqual(self.bridges(), bridges)
        self.assertEqual(self.switch.coua("config", "show", "--flows").stdout, texts)
        self.assertIn("dpid:00000000000000c1", self.ofctl("green", "show"))


class test_fail_modes(with_listeners):
    """Without their controllers one bridge is an L2 switch, and the other keeps its rules."""

    N_HOSTS = 4
    ADDRESSES = ()
    CONFIG = {"bridges": [{"name": name, "pipeline": {"start": "none"},
                           "openflow": {"datapath_id": id, "controllers": [f"tcp:127.0.0.1:{number}"],
                                        "fail_mode": mode, "probe_s": 1, "backoff_max_s": 1}}
                          for name, id, number, mode in (("open", "0xa1", 6653, "standalone"),
                                                         ("closed", "0xb1", 6654, "secure"))],
              "ports": [tap("o1", bridge="open"), tap("o2", bridge="open"), tap("c1", bridge="closed"),
                        tap("c2", bridge="closed")]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for n, host in enumerate(cls.hosts):
            host.address(f"10.9.0.{n % 2 + 1}/24")

    def standalone(self):
        return self.switch.json("controller", "list")["standalone_bridges"]

    def test_each_by_its_own(self):
        """Fail-standalone is a state of the switch, not of one bridge."""
        lab.wait_for(lambda: self.standalone() == ["open"], what="fail-standalone")
        self.assertEqual(self.h1.pings("10.9.0.2"), 1)
        self.assertEqual(self.h3.pings("10.9.0.2", wait=1), 0)
        # The controller of one is back: its rules drop all.
        self.accept(self.listen(6653))
        lab.wait_for(lambda: self.standalone() == [], what="a controller is back")
        self.assertEqual(self.h1.pings("10.9.0.2", wait=1), 0)

    def test_it_changes_by_a_file(self):
        """A bridge that forwards by itself goes on so when its file says that it must not."""
        lab.wait_for(lambda: self.standalone() == ["open"], what="fail-standalone")
        original = self.switch.file.read_text()
        for mode, answers in (("secure", 0), ("standalone", 1)):
            self.switch.file.write_text(original.replace('fail_mode: "standalone"', f'fail_mode: "{mode}"'))
            self.switch.coua("config", "apply", self.switch.file)
            lab.wait_for(lambda: self.standalone() == ["open"][:answers], what=mode)
            self.assertEqual(self.h1.pings("10.9.0.2", wait=1), answers)
