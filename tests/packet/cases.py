# SPDX-License-Identifier: Apache-2.0
"""What the packet tests share: a switch per class of tests, and its state as Python values."""

import itertools
import json
import re
import signal
import subprocess
import unittest

import frames
import lab

_numbers = itertools.count()


def tap(name, **more):
    """A port on a TAP device of the same name."""
    number = next(_numbers)
    return {"name": name, "devargs": f"net_tap{number},iface={name}", **more}


class with_switch(unittest.TestCase):
    """Runs one couad with `CONFIG` for all tests of the class."""

    CONFIG = {}

    @classmethod
    def setUpClass(cls):
        cls.switch = lab.switch(f"/run/lab{next(_numbers)}", cls.CONFIG)
        cls.addClassCleanup(cls.switch.close)
        cls.switch.start()

    def wire(self, host, interface="eth0"):
        """A raw socket in a host (or with None: in the switch's namespace), closed after the test."""
        with lab.in_namespace(host.name if host else None):
            wire = frames.wire(interface)
        self.addCleanup(wire.close)
        return wire

    # The state of the switch, as the command shows it.

    def ports(self):
        return {port["name"]: port for port in self.switch.json("port", "list")["ports"]}

    def counters(self, port=None):
        """Counters by name: of one port, or the totals."""
        if port is not None:
            return self.switch.json("port", "show", port)["counters"]
        return self.switch.json("stats")["totals"]

    def counted(self, before, name, port=None):
        """How much a counter grew since `before`, an earlier answer of `counters`."""
        return self.counters(port)[name] - before[name]

    def entries(self, *filters):
        """(VLAN, MAC) -> entry, of the entries that the filters of `coua fib show` choose."""
        found = self.switch.json("fib", "show", *filters)["entries"]
        return {(entry["vlan"], entry["mac"]): entry for entry in found}

    def fib_stats(self):
        return self.switch.json("fib", "stats")

    def port_of(self, vlan, mac):
        entry = self.entries("--vlan", str(vlan), "--mac", mac).get((vlan, mac))
        return entry and entry["port"]

    def wait_learned(self, vlan, mac, port):
        lab.wait_for(lambda: self.port_of(vlan, mac) == port,
                     what=f"{mac} of VLAN {vlan} learned on {port}")

    def flush(self, *filters):
        return self.switch.json("fib", "flush", *filters)["removed"]

    def settle(self):
        """Waits until no frame is on its way: the counters stand still, while every worker looks into
        all its queues."""
        last = [None, None]

        def still():
            rounds = [worker["counters"]["rounds"] for worker in self.switch.json("worker", "list")["workers"]]
            now = self.counters()
            before, last[:] = list(last), [now, rounds]
            return before[0] is not None and now == before[0] and \
                all(n - m >= 2 for n, m in zip(rounds, before[1]))

        lab.wait_for(still, every=0.2, what="counters at rest")
        return last[0]

    def echoes(self, host, address):
        """Echo requests from a host to an address, which are answered, until `finish` is called. It
        answers which were lost: not those that were on their way when they ended, however many these
        are on a busy machine."""
        log = self.switch.directory / "ping.log"
        with open(log, "w") as out:
            ping = host.start(f"ping -n -i 0.002 {address}", stdout=out)
        self.addCleanup(ping.wait)
        self.addCleanup(ping.kill)

        def answered():
            return {int(number) for number in re.findall(r"icmp_seq=(\d+) ttl", log.read_text())}

        def wait_for_more():
            before = len(answered())
            lab.wait_for(lambda: len(answered()) > before, what=f"answers of {address}")

        def finish():
            wait_for_more()
            ping.send_signal(signal.SIGINT)
            ping.wait(60)
            numbers = answered()
            assert max(numbers) < 65000, "ping counts to 65535"
            return set(range(1, max(numbers))) - numbers

        wait_for_more()
        return finish

    def assert_tcp(self, client, server, address):
        """16 MiB are sent, and arrive in frames that are not flooded. How fast is the machine's affair;
        only a switch that loses a good share of them takes longer than there is time."""
        listener = server.start("iperf3 -s -1", stdout=subprocess.DEVNULL)
        self.addCleanup(listener.wait)
        self.addCleanup(listener.kill)
        lab.wait_for(lambda: ":5201" in server.run("ss -ltn").stdout, what="iperf3 listens")
        before = self.counters()
        done = json.loads(client.run(f"iperf3 -J -n 16M -c {address}", timeout=120).stdout)
        # What is still on its way to the server when the client ends is not counted.
        self.assertGreater(done["end"]["sum_received"]["bytes"], 8 << 20)
        self.assertGreater(self.counted(before, "forwarded"), 20 * self.counted(before, "flooded"))

    def assert_conserved(self):
        """Every frame that came in, and every copy that rules made of it, was forwarded, flooded,
        given to the controller or dropped under a name, and every copy was sent or dropped under a
        name."""
        now = self.settle()
        received_drops = sum(now[name] for name in now if name.startswith("drop_")
                             and name not in ("drop_no_mbuf", "drop_lacp_tx", "drop_mirror_no_mbuf", "drop_shut_down",
                                             "drop_tx_full", "drop_tx_too_long"))
        self.assertEqual(now["rx_packets"] + now["from_controller"] + now["pipeline_copies"],
                         now["forwarded"] + now["flooded"] + now["to_controller"] + now["to_lacp"] + received_drops,
                         now)
        self.assertEqual(now["forwarded"] + now["flood_copies"] + now["mirrored"],
                         now["tx_packets"] + now["drop_tx_full"] + now["drop_tx_too_long"],
                         now)


class with_hosts(with_switch):
    """A host behind each of the first `N_HOSTS` ports, which are TAPs: `hosts`, and h1, h2... by name."""

    N_HOSTS = 3
    ADDRESSES = ("10.9.0.{n}/24",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.hosts = []
        for n, port in enumerate(cls.CONFIG["ports"][:cls.N_HOSTS], 1):
            host = cls.switch.tap_host(f"h{n}", port["name"])
            host.address(*(address.format(n=n) for address in cls.ADDRESSES))
            cls.hosts.append(host)
            setattr(cls, f"h{n}", host)


class with_original(with_hosts):
    """After each test the switch is configured again by its file as it was at first: `original`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.original = cls.switch.file.read_text()

    def restore(self):
        self.switch.file.write_text(self.original)
        self.switch.coua("config", "apply", self.switch.file)

    def tearDown(self):
        self.restore()


def station(number):
    """A made-up unicast address."""
    return f"02:c0:0a:00:{number >> 8:02x}:{number & 255:02x}"
