# SPDX-License-Identifier: Apache-2.0
"""Ports that come, go, lose their link and change while traffic runs; learning and ageing."""

import fcntl
import struct
import subprocess
import time

import frames
import lab
from cases import station, tap, with_hosts, with_switch


TUNSETIFF = 0x400454CA
TAP_OF_QUEUES = 0x0002 | 0x1000 | 0x0100  # IFF_TAP, IFF_NO_PI, IFF_MULTI_QUEUE


class test_ports(with_hosts):
    CONFIG = {"ports": [tap("p1"), tap("p2"), tap("p3")]}

    def traffic(self):
        return self.echoes(self.h1, "10.9.0.2")

    def test_port_goes_and_comes_under_traffic(self):
        finish = self.traffic()
        for number in range(10):
            device = f"q{number % 2}"
            self.switch.coua("port", "add", "extra", f"net_tap{950 + number % 2},iface={device}")
            self.assertTrue(lab.os.path.exists(f"/sys/class/net/{device}"))
            wire = self.wire(None, device)
            wire.send(frames.make(frames.BROADCAST, station(1), b""))
            self.wait_learned(1, station(1), "extra")
            self.assertEqual(self.ports()["extra"]["learned"], 1)
            self.switch.coua("port", "remove", "extra")
            self.assertNotIn("extra", self.ports())
            self.assertIsNone(self.port_of(1, station(1)))
            self.assertFalse(lab.os.path.exists(f"/sys/class/net/{device}"))
            wire.close()
        self.assertEqual(finish(), set())
        self.assert_conserved()

    def test_tap_of_another_program(self):
        """The driver would share it: each of the two programs would get some of the frames."""
        name, devargs = "q2", "net_tap952,iface=q2"
        with open("/dev/net/tun", "r+b", buffering=0) as other:
            fcntl.ioctl(other, TUNSETIFF, struct.pack("16sH22x", name.encode(), TAP_OF_QUEUES))
            lab.run(f"ip link set {name} up")
            said = self.switch.coua("port", "add", "extra", devargs, check=False)
            self.assertIn("port extra: interface q2 is there and has a carrier", said.stderr)
            self.assertNotIn("extra", self.ports())
            self.assertTrue(lab.os.path.exists(f"/sys/class/net/{name}"))
        self.switch.coua("port", "add", "extra", devargs)
        self.switch.coua("port", "remove", "extra")

    def test_arguments_of_a_tap(self):
        self.switch.coua("port", "add", "extra", "net_tap953,iface=q3,mac=fixed")
        self.assertEqual(self.ports()["extra"]["mac"][:15], "02:64:74:61:70:")  # "\2dtap"
        self.switch.coua("port", "remove", "extra")
        # Whose driver takes none of them where one is wrong.
        for wrong in ("iface=q3,macc=fixed", "iface=q3,iface=q4"):
            said = self.switch.coua("port", "add", "extra", f"net_tap953,{wrong}", check=False)
            self.assertIn(f"port extra: devargs: net_tap953,{wrong} made the interface ", said.stderr)
            self.assertIn(", not q3: ", said.stderr)
            self.assertNotIn("extra", self.ports())
        self.switch.coua("port", "add", "extra", "net_tap953,iface=q3")  # nothing has stayed
        self.switch.coua("port", "remove", "extra")

    def test_what_a_tap_leaves_to_the_switch_is_no_error(self):
        self.assertEqual(self.h1.pings("10.9.0.3"), 1)
        self.switch.coua("port", "set", "p3", "--mtu", "1000")
        self.addCleanup(self.switch.coua, "port", "set", "p3", "--mtu", "1500")
        self.assertEqual(self.h1.pings("10.9.0.3", 3, wait=0.3, size=1300, whole=True), 0)
        counted = self.switch.json("stats")["ports"]["p3"]
        self.assertEqual((counted["drop_tx_too_long"], counted["tx_errors"]), (3, 0))

    def test_port_in_use_is_removed_and_added_again(self):
        port = self.CONFIG["ports"][2]
        for _ in range(3):
            finish = self.traffic()
            flood = self.h3.start("ping -n -q -f 10.9.0.1", stdout=subprocess.DEVNULL)
            time.sleep(0.2)
            self.switch.coua("port", "remove", "p3")
            flood.kill()
            flood.wait()
            self.assertEqual(self.entries("--vlan", "1", "--mac", self.h1.mac).keys(),
                             {(1, self.h1.mac)})
            self.switch.coua("port", "add", port["name"], port["devargs"])
            # The device went with the port, and the host's interface with the device.
            lab.run("ip link add link p3 name eth0 netns h3 type macvlan mode passthru")
            self.h3.address("10.9.0.3/24")
            lab.wait_for(lambda: self.h3.pings("10.9.0.1", wait=1), what="h3 talks again")
            self.wait_learned(1, self.h3.mac, "p3")
            self.assertEqual(finish(), set())

    def test_link_goes_and_comes(self):
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)
        self.wait_learned(1, self.h3.mac, "p3")
        self.assertTrue(self.ports()["p3"]["link_up"])
        finish = self.traffic()
        mac = self.h3.mac
        lab.run("ip link set p3 down")
        lab.wait_for(lambda: not self.ports()["p3"]["link_up"], what="p3 without link")
        lab.wait_for(lambda: self.port_of(1, mac) is None, what="addresses of p3 flushed")
        self.assertEqual(self.h1.pings("10.9.0.3", 1, wait=0.3), 0)
        lab.run("ip link set p3 up")
        lab.wait_for(lambda: self.ports()["p3"]["link_up"], what="p3 with link")
        lab.wait_for(lambda: self.h3.pings("10.9.0.1", wait=1), what="h3 talks again")
        self.wait_learned(1, mac, "p3")
        self.assertEqual(finish(), set())
        self.assert_conserved()

    def test_port_is_disabled_and_enabled(self):
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)
        self.switch.coua("port", "set", "p3", "--enabled", "off")
        self.addCleanup(self.switch.coua, "port", "set", "p3", "--enabled", "on")
        self.assertEqual(self.h3.pings("10.9.0.1", 2, wait=0.3), 0)
        self.switch.coua("port", "set", "p3", "--enabled", "on")
        lab.wait_for(lambda: self.h3.pings("10.9.0.1", wait=1), what="h3 talks again")

    def test_port_changes_its_vlan(self):
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)
        self.switch.coua("port", "set", "p3", "--vlan", "30")
        self.addCleanup(self.switch.coua, "port", "set", "p3", "--vlan", "1")
        self.assertEqual(self.h3.pings("10.9.0.1", 2, wait=0.3), 0)
        lab.wait_for(lambda: self.port_of(1, self.h3.mac) is None, what="its address flushed")
        self.switch.coua("port", "set", "p3", "--vlan", "1")
        self.assertEqual(self.h3.pings("10.9.0.1"), 1)

    def test_learning_off(self):
        self.switch.coua("port", "set", "p3", "--learning", "off")
        self.addCleanup(self.switch.coua, "port", "set", "p3", "--learning", "on")
        self.flush()
        wire, ear = self.wire(self.h3), self.wire(self.h1)
        wire.send(frames.make(frames.BROADCAST, station(2), b"unlearned"))
        self.assertEqual(len(ear.collect(30, count=1)), 1)
        time.sleep(0.2)
        self.assertIsNone(self.port_of(1, station(2)))

    def test_limit_of_addresses(self):
        self.flush()
        self.switch.coua("port", "set", "p3", "--mac-limit", "5")
        self.addCleanup(self.switch.coua, "port", "set", "p3", "--mac-limit", "0")
        before = self.fib_stats()["limited"]
        wire = self.wire(self.h3)
        for number in range(100, 120):
            wire.send(frames.make(frames.BROADCAST, station(number), b""))
        lab.wait_for(lambda: self.fib_stats()["limited"] > before, what="refusals counted")
        self.settle()
        self.assertLessEqual(len(self.entries("--port", "p3")), 5)

    def test_show_says_what_is_not_as_usual(self):
        usual = ("--learning", "on", "--mac-limit", "0", "--mac-limit-action", "forward", "--promiscuous", "on")
        self.addCleanup(self.switch.coua, "port", "set", "p3", *usual)
        for words, line in (
                (("--mac-limit", "5000"), "learning: at most 5,000; frames from others are forwarded"),
                (("--mac-limit-action", "drop"), "learning: at most 5,000; frames from others are dropped"),
                (("--mac-limit-action", "shutdown"), "learning: at most 5,000; frames from others shut the port down"),
                (("--learning", "off"), "learning: off"),
                (("--promiscuous", "off"), "promiscuous: off")):
            self.assertNotIn(line, self.switch.coua("port", "show", "p3").stdout.splitlines())
            self.switch.coua("port", "set", "p3", *words)
            self.assertIn(line, self.switch.coua("port", "show", "p3").stdout.splitlines())

    def test_its_number_is_that_of_rules(self):
        for name, port in self.ports().items():
            self.switch.coua("flow", "add", f"table=9,in_port={port['number']},actions=drop")  # no packet comes there
            self.assertIn(f"in_port={name} ", self.switch.coua("flow", "dump", "table=9").stdout)

    def test_adding_is_idempotent_and_checked(self):
        port = self.CONFIG["ports"][0]
        self.assertEqual(self.switch.json("port", "add", "p1", port["devargs"])["changed"], False)
        refused = self.switch.coua("port", "add", "p1", "net_null7", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("p1", refused.stderr)
        refused = self.switch.coua("port", "add", "p9", "net_nosuch0", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertNotIn("p9", self.ports())
        self.assertEqual(self.switch.json("port", "remove", "p9")["changed"], False)


def large(name, number, **more):
    """A port whose driver takes frames of more than 1518 bytes, which that of TAP ports does not."""
    return {"name": name, "mtu": 9000, **more,
            "devargs": f"net_pcap{number},rx_iface_in={name},tx_iface={name}"}


class test_mtu(with_switch):
    CONFIG = {"ports": [large("j1", 90), large("j2", 91), large("j3", 92, mtu=1500)]}

    @classmethod
    def setUpClass(cls):
        cls.switch = lab.switch("/run/mtu", cls.CONFIG)
        cls.addClassCleanup(cls.switch.close)
        cls.hosts = [cls.switch.veth_host(f"h{n}", f"j{n}", mtu)
                     for n, mtu in ((1, 9000), (2, 9000), (3, 1500))]
        cls.switch.start()
        for n, host in enumerate(cls.hosts, 1):
            host.address(f"10.9.0.{n}/24")

    def test_jumbo_frames(self):
        self.assertEqual(self.hosts[0].pings("10.9.0.2", 3, size=8972, whole=True), 3)

    def test_small_port_gets_what_fits(self):
        one = self.hosts[0]
        self.assertEqual(one.pings("10.9.0.3", 2, size=1472, whole=True), 2)
        self.assertEqual(one.pings("10.9.0.3", 2, wait=0.3, size=4000, whole=True), 0)
        self.assertEqual(one.pings("10.9.0.3", 2), 2)
        self.assert_conserved()

    def test_port_that_cannot_is_refused(self):
        refused = self.switch.coua("port", "add", "small", "net_tap993,iface=small", "--mtu", "9000",
                                   check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("port small: mtu: 9000 is not in ", refused.stderr)
        self.assertNotIn("small", self.ports())
        refused = self.switch.coua("port", "set", "j3", "--mtu", "9000", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("port j3: mtu: ", refused.stderr)
        self.assertEqual(self.ports()["j3"]["mtu"], 1500)


class test_ageing(with_switch):
    CONFIG = {"fib": {"entries": 1000, "ageing_s": 6}, "ports": [tap("a1"), tap("a2")]}

    def test_silent_addresses_go_and_others_stay(self):
        silent, talking = self.wire(None, "a1"), self.wire(None, "a2")
        silent.send(frames.make(frames.BROADCAST, station(1), b""))
        self.switch.coua("fib", "add", "1", station(3), "a1")
        self.wait_learned(1, station(1), "a1")
        start = time.monotonic()

        def gone():
            talking.send(frames.make(frames.BROADCAST, station(2), b""))
            return self.port_of(1, station(1)) is None

        lab.wait_for(gone, every=0.2, what="the silent address gone")
        self.assertGreater(time.monotonic() - start, 3)
        self.assertEqual(self.port_of(1, station(2)), "a2")
        self.assertEqual(self.port_of(1, station(3)), "a1")
        self.assertGreaterEqual(self.fib_stats()["aged_out"], 1)

    def test_ageing_is_changed_while_it_runs(self):
        self.switch.coua("fib", "ageing", "100")
        self.assertEqual(self.fib_stats()["ageing_s"], 100)
        self.switch.coua("fib", "ageing", "6")


class test_moved_tap(with_switch):
    """TAP devices that were moved into the hosts' namespaces, where their driver cannot see them."""

    CONFIG = {"ports": [tap("m1"), tap("m2")]}

    def test_hosts_that_own_the_devices(self):
        hosts = [lab.host("h1"), lab.host("h2")]
        self.switch.hosts += hosts
        for n, host in enumerate(hosts, 1):
            lab.run(f"ip link set m{n} netns h{n}")
            host.address(f"10.9.0.{n}/24", device=f"m{n}")
        lab.wait_for(lambda: hosts[0].pings("10.9.0.2", wait=1), what="h2 answers")
        self.assertEqual(hosts[0].pings("10.9.0.2", 5), 5)
        # Longer than the switch takes to look at its links.
        time.sleep(1.5)
        self.assertEqual(hosts[0].pings("10.9.0.2", 3), 3)
        self.switch.coua("port", "remove", "m2")
        self.assertNotIn("m2:", hosts[1].run("ip link").stdout)
        self.assert_conserved()
