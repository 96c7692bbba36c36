# SPDX-License-Identifier: Apache-2.0
"""Ports whose interface loses its carrier, is set down, is deleted or moved: what the switch shows, forgets,
counts and logs, and that traffic flows again where the interface came back."""

import time
import unittest

import frames
import lab
from cases import station, tap, with_switch


class links(with_switch):
    """h1 on a TAP, p1, which stays; h2 on p2, whose interface is v2."""

    CONFIG = {"ports": [tap("p1")]}
    DRIVER, NEEDS_ROOT = "net_tap", False
    FIXED = "02:00:00:00:00:99"

    @classmethod
    def setUpClass(cls):
        if cls.NEEDS_ROOT and not lab.is_real_root():
            raise unittest.SkipTest(f"{cls.DRIVER} needs root of the machine")
        cls.devargs = f"{cls.DRIVER}2,iface=v2"
        super().setUpClass()
        cls.h1 = cls.switch.tap_host("h1", "p1")
        cls.h1.address("10.9.0.1/24")

    def setUp(self):
        self.connect()
        self.addCleanup(self.disconnect)
        lab.wait_for(lambda: self.h1.pings("10.9.0.2", wait=1), what="h2 answers")
        self.wait_learned(1, self.h2.mac, "p2")
        self.switch.coua("fib", "add", "1", self.FIXED, "p2")
        self.learned = self.h2.mac
        self.logged = len(self.switch.log.read_text())

    def connect(self):
        """A new h2, and p2, for which v2 has to be there."""
        self.add_host(self.switch.veth_host)
        self.add_port()

    def add_host(self, make):
        self.h2 = make("h2", "v2")
        self.switch.hosts.remove(self.h2)
        self.h2.address("10.9.0.2/24")
        self.h1.run("ip neigh flush dev eth0")

    def add_port(self):
        self.switch.coua("port", "add", "p2", self.devargs)

    def disconnect(self):
        self.switch.coua("port", "remove", "p2")
        lab.run("ip link del v2", check=False)
        self.h2.close()

    def state(self):
        port = self.ports()["p2"]
        return "lost" if port["lost"] else "up" if port["link_up"] else "down"

    def wait_state(self, state):
        lab.wait_for(lambda: self.state() == state, what=f"p2 is {state}")

    def log(self):
        """Since the test began."""
        return self.switch.log.read_text()[self.logged:]

    def assert_takes_nothing(self):
        """What was learned is flushed, and a frame that has to go there is dropped, and counted."""
        lab.wait_for(lambda: self.port_of(1, self.learned) is None, what="addresses of p2 flushed")
        before = {port: self.counters(port) for port in ("p1", "p2")}
        self.wire(self.h1).send(frames.make(self.FIXED, station(1), b"for p2"))
        lab.wait_for(lambda: self.counted(before["p1"], "drop_port_down", "p1") >= 1,
                     what="the frame is dropped")
        self.assertEqual(self.counted(before["p2"], "drop_tx_full", "p2"), 0)
        self.assertEqual(self.counted(before["p2"], "tx_packets", "p2"), 0)
        self.assert_is_traced_so()

    def assert_is_traced_so(self):
        match = f"dl_src={station(5)}"
        self.switch.coua("flow", "add", match + ",actions=output:p2")
        [copy] = self.switch.json("trace", "br0", "in_port=p1," + match)["outputs"]
        self.assertEqual((copy["to"], copy["trouble"]), ("p2", "no link: dropped"))
        self.assertEqual(self.switch.json("trace", "br0", "in_port=p2")["lines"][0]["text"],
                         "p2 has no link: this is as if it had one")
        self.switch.coua("flow", "del", match)

    def assert_down_and_back(self, down, up):
        down()
        self.wait_state("down")
        self.assertIn("port p2: link is down\n", self.log())
        self.assert_takes_nothing()
        up()
        self.wait_state("up")
        self.assertIn("port p2: link is up\n", self.log())
        lab.wait_for(lambda: self.h1.pings("10.9.0.2", wait=1), what="h2 answers again")
        self.wait_learned(1, self.learned, "p2")
        self.assert_conserved()

    def assert_lost(self):
        self.wait_state("lost")
        self.assertFalse(self.ports()["p2"]["link_up"])
        self.assertRegex(self.switch.coua("port", "list").stdout, r"(?m)^p2 .* lost ")
        self.assertIn("port p2: the device went away; remove the port, and add it again when it is back", self.log())
        self.assert_takes_nothing()
        self.logged = len(self.switch.log.read_text())

    def assert_stays(self, state):
        """For several looks of the switch at its links."""
        for _ in range(10):
            self.assertEqual(self.state(), state)
            time.sleep(0.1)

    def assert_stays_lost(self):
        """After assert_lost()."""
        self.assert_stays("lost")
        self.assertNotIn("port p2: ", self.log())

    def assert_comes_again(self):
        """It can be removed, and a new one does what it did."""
        self.disconnect()
        self.connect()
        lab.wait_for(lambda: self.h1.pings("10.9.0.2", wait=1), what="the new h2 answers")
        self.assertEqual(self.state(), "up")
        self.assert_conserved()

    def pestering(self):
        """Frames from h1 to p2, so that its interface goes in the middle of them."""
        ping = self.h1.start("ping -n -q -i 0.002 -b 10.9.0.255", stdout=lab.subprocess.DEVNULL,
                             stderr=lab.subprocess.DEVNULL)
        self.addCleanup(ping.wait)
        self.addCleanup(ping.kill)
        before = self.counters("p2")
        lab.wait_for(lambda: self.counted(before, "tx_packets", "p2") > 20, what="frames to p2")
        return ping.kill

    def assert_lost_under(self, finish):
        """As assert_lost(), of a port that is being sent to."""
        self.wait_state("lost")
        finish()
        self.settle()
        self.assert_lost()


class any_interface:
    """What is asked of all."""

    def test_interface_down_and_up(self):
        self.assert_down_and_back(lambda: lab.run("ip link set v2 down"), lambda: lab.run("ip link set v2 up"))

    def test_interface_is_deleted(self):
        finish = self.pestering()
        lab.run("ip link del v2")
        self.assert_lost_under(finish)
        self.assert_stays_lost()
        self.assert_comes_again()


    def assert_has_it_alone(self, name):
        for driver in ("net_af_packet9", "net_tap9"):
            said = self.switch.coua("port", "add", "p9", f"{driver},iface={name}", check=False)
            self.assertIn(f"port p9: interface {name} is that of port p2", said.stderr)
        self.assertEqual(set(self.ports()), {"p1", "p2"})
        self.assertTrue(self.h1.pings("10.9.0.2"))

    def test_another_port_on_it_is_refused(self):
        self.assert_has_it_alone("v2")
        # And in a file, which says two that are not there yet, too.
        file = self.switch.directory / "two.yaml"
        file.write_text("ports:\n  - {name: p7, devargs: 'net_af_packet7,iface=v7'}\n"
                        f"  - {{name: p8, devargs: '{self.devargs.replace('2,', '8,').replace('v2', 'v7')}'}}\n")
        for verb in "check", "apply":
            said = self.switch.coua("config", verb, file, check=False)
            self.assertIn("ports[1].devargs: port p8 would have interface v7, which is that of port p7", said.stderr)


class by_socket(any_interface):
    """Drivers whose sockets are bound to the interface for good."""

    def test_another_port_on_it_by_another_name_is_refused(self):
        lab.run("ip link property add dev v2 altname v2too")
        self.assert_has_it_alone("v2too")

    def test_carrier_lost_and_back(self):
        self.assert_down_and_back(lambda: self.h2.run("ip link set eth0 down"),
                                  lambda: self.h2.run("ip link set eth0 up"))

    def test_interface_is_another_one(self):
        """Of the same name, whether the switch looks in between or not."""
        lab.run("ip link del v2")
        lab.run("ip link add v2 type veth peer name v2peer")
        lab.run("ip link set v2peer up")
        lab.run("ip link set v2 up")
        self.assert_lost()
        self.assert_stays_lost()
        self.assert_comes_again()

    def test_interface_is_moved(self):
        """Its sockets are dead, also when it comes back."""
        lab.run("ip link set v2 netns h1")
        self.assert_lost()
        self.h1.run(f"ip link set v2 netns {lab.os.getpid()}")
        lab.run("ip link set v2 up")
        self.assert_stays_lost()
        self.assert_comes_again()

    def test_interface_is_renamed(self):
        lab.run("ip link set v2 name w2")
        self.addCleanup(lab.run, "ip link del w2", check=False)
        self.assert_down_and_back(lambda: self.h2.run("ip link set eth0 down"),
                                  lambda: self.h2.run("ip link set eth0 up"))

    def test_port_that_is_added_without_a_carrier(self):
        self.switch.coua("port", "remove", "p2")
        self.h2.run("ip link set eth0 down")
        self.switch.coua("port", "add", "p2", self.devargs)
        self.assertEqual(self.state(), "down")
        self.h2.run("ip link set eth0 up")
        self.wait_state("up")
        lab.wait_for(lambda: self.h1.pings("10.9.0.2", wait=1), what="h2 answers")


class test_links_of_af_packet(by_socket, links):
    DRIVER = "net_af_packet"


class test_links_of_af_xdp(by_socket, links):
    DRIVER, NEEDS_ROOT = "net_af_xdp", True
    # Fits the packets of p2 twice, and not three times: red when a port that was lost leaves its own.
    CONFIG = {**links.CONFIG, "memory": {"packet_mib": 100}}


class test_links_of_tap(any_interface, links):
    def connect(self):
        """A new p2, whose device is v2, and h2."""
        self.add_port()
        self.add_host(self.switch.tap_host)

    def move(self):
        """The device itself is h2's now, which has it under another name."""
        lab.run("ip link set v2 netns h2")
        self.h2.run("ip link del eth0", check=False)
        self.h2.run("ip link set v2 name eth0")
        self.h2.address("10.9.0.2/24")
        lab.wait_for(lambda: self.h1.pings("10.9.0.2", wait=1), what="h2 answers")
        self.learned = self.h2.mac
        self.wait_learned(1, self.learned, "p2")
        self.assertEqual(self.state(), "up")
        # On its way it may have been seen down, for a moment.
        lab.wait_for(lambda: self.port_of(1, self.FIXED), what="what is fixed is still there")
        self.logged = len(self.switch.log.read_text())

    def test_carrier_lost_and_back(self):
        if lab.run("ip link set v2 carrier on", check=False).returncode:
            self.skipTest("TAP devices of this kernel cannot lose their carrier")
        self.assert_down_and_back(lambda: lab.run("ip link set v2 carrier off"),
                                  lambda: lab.run("ip link set v2 carrier on"))

    def test_interface_is_deleted_where_it_was_moved_to(self):
        self.move()
        finish = self.pestering()
        self.h2.run("ip link del eth0")
        self.assert_lost_under(finish)
        self.assert_stays_lost()
        self.assert_comes_again()

    def test_namespace_that_it_was_moved_to_goes(self):
        self.move()
        self.h2.close()
        self.assert_lost()
        self.assert_stays_lost()
        self.assert_comes_again()

    def test_another_has_the_name_of_one_that_was_moved(self):
        """The switch's TAP is the host's; what has its name here is not asked for its link."""
        self.move()
        lab.run("ip link add v2 type veth peer name v2peer")
        self.assert_stays("up")
        self.assertEqual(self.h1.pings("10.9.0.2", 3), 3)


class test_links_of_a_bond(with_switch):
    """Members of AF_PACKET, whose driver says nothing of their links."""

    MEMBERS = [f"net_af_packet{n},iface=v{n}" for n in (1, 2)]
    CONFIG = {"ports": [tap("p1"), {"name": "bond", "bond": {"mode": "backup", "members": MEMBERS}}]}

    @classmethod
    def setUpClass(cls):
        cls.switch = lab.switch("/run/bondlinks", cls.CONFIG)
        cls.addClassCleanup(cls.switch.close)
        cls.members = [cls.switch.veth_host(f"m{n}", f"v{n}") for n in (1, 2)]
        cls.switch.start()
        cls.h1 = cls.switch.tap_host("h1", "p1")

    def states(self):
        return [member["state"] for member in self.ports()["bond"]["bond"]["members"]]

    def wait_states(self, *states):
        lab.wait_for(lambda: self.states() == list(states), what=f"members {states}")

    def assert_reaches(self, n):
        """A frame from h1 comes out by that member."""
        ear = self.wire(self.members[n])
        wire = self.wire(self.h1)

        def comes():
            wire.send(frames.make(frames.BROADCAST, station(1), b"by the bond"))
            return ear.collect(0.2, lambda frame: b"by the bond" in frame.payload, 1)

        lab.wait_for(comes, what=f"a frame by member {n}")

    def test_the_other_member_takes_over(self):
        self.wait_states("active", "standby")
        self.assert_reaches(0)
        self.members[0].run("ip link set eth0 down")
        self.wait_states("down", "active")
        self.assertIn("member net_af_packet1,iface=v1 is down, was active", self.switch.log.read_text())
        self.assert_reaches(1)
        self.members[0].run("ip link set eth0 up")
        self.wait_states("standby", "active")
        lab.run("ip link set v2 down")
        self.wait_states("active", "down")
        self.assert_reaches(0)
        lab.run("ip link del v2")
        self.wait_states("active", "lost")
        lab.run("ip link set v1 down")
        self.wait_states("down", "lost")
        self.assertFalse(self.ports()["bond"]["link_up"])
        lab.run("ip link set v1 up")
        self.wait_states("active", "lost")
        self.assert_reaches(0)
        lab.run("ip link del v1")
        lab.wait_for(lambda: self.ports()["bond"]["lost"], what="the bond is lost")
        self.assertIn("port bond: the device went away", self.switch.log.read_text())
        self.assert_conserved()
