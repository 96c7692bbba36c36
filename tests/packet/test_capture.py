# SPDX-License-Identifier: Apache-2.0
"""`coua capture`: real hosts talk, and what it shows is read by this file and by tcpdump."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import struct
import subprocess
import time

import frames
import lab
from cases import station, tap, with_hosts

PACKET, INTERFACE, STATISTICS = 6, 1, 5
_numbers = itertools.count()


def blocks(data):
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length >= 12 and length % 4 == 0, f"a block of {length} bytes at {at}"
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8:at + length - 4]
        at += length
    assert at == len(data), "the last block is cut"


def options(body, at):
    found = {}
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            break
        found[code] = body[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return found


def parse(data):
    """The packets of a pcapng file, and the statistics by port."""
    ports, packets, statistics = [], [], {}
    for kind, body in blocks(data):
        if kind == INTERFACE:
            ports.append(options(body, 8)[2].decode())
        elif kind == STATISTICS:
            of = {code: struct.unpack("<Q", value)[0] for code, value in options(body, 12).items()
                  if code >= 4}
            statistics[ports[struct.unpack_from("<I", body)[0]]] = of
        elif kind == PACKET:
            port, high, low, size, length = struct.unpack_from("<5I", body)
            more = options(body, 20 + (size + 3) // 4 * 4)
            packets.append({"port": ports[port], "time": (high << 32 | low) / 1e9,
                            "bytes": body[20:20 + size], "length": length,
                            "direction": {1: "in", 2: "out"}[struct.unpack("<I", more[2])[0]],
                            "drop": more.get(1, b"").decode()})
    return packets, statistics


class test_capture(with_hosts):
    CONFIG = {"ports": [tap("p1", vlan=10), tap("p2", vlan=10), tap("p3", vlan=20),
                        tap("p4", vlans={"mode": "trunk", "native": 0, "tagged": [10, 20]})]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trunk = cls.switch.tap_host("h4", "p4")
        assert cls.h1.pings("10.9.0.2")

    def start(self, *words, stdout=subprocess.PIPE):
        """A capture that has begun."""
        process = lab.start([lab.COUA, "-s", self.switch.socket, "capture", *words], stdout=stdout,
                            stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if process.stdout:
            self.addCleanup(process.stdout.close)
        line = process.stderr.readline()
        self.assertIn("capturing", line)
        return process

    @contextlib.contextmanager
    def captured(self, *words):
        """Fills a list with the packets of a capture of what is done meanwhile."""
        path = self.switch.directory / f"capture{next(_numbers)}.pcapng"
        process = self.start(*words, "-w", path)
        found = []
        yield found
        self.settle()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        self.last_error = process.stderr.read()
        self.assertEqual(process.wait(30), 0, self.last_error)
        packets, self.statistics = parse(path.read_bytes())
        found += packets

    def captures_left(self):
        """How many captures more the switch takes."""
        n = 0
        with contextlib.ExitStack() as stack:
            while n < 20:
                process = lab.start([lab.COUA, "-s", self.switch.socket, "capture", "--filter",
                                     "ether proto 0x9999", "-w", "-"], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE)
                stack.callback(process.stderr.close)
                stack.callback(process.wait)
                stack.callback(process.kill)
                if "capturing" not in process.stderr.readline():
                    break
                n += 1
        return n

    def send(self, host, *args, count=1, **options):
        wire = self.wire(host)
        for _ in range(count):
            wire.send(frames.make(*args, **options))

    def test_a_ping_in_both_directions(self):
        before = time.time()
        with self.captured("--port", "p1", "--filter", "icmp") as found:
            self.assertEqual(self.h1.pings("10.9.0.2", 3), 3)
        directions = [packet["direction"] for packet in found]
        self.assertEqual(sorted(directions), ["in"] * 3 + ["out"] * 3)
        for n in range(1, 7):
            self.assertGreaterEqual(directions[:n].count("in"), directions[:n].count("out"),
                                    "an answer before what it answers")
        self.assertEqual({packet["port"] for packet in found}, {"p1"})
        self.assertEqual({packet["drop"] for packet in found}, {""})
        for packet in found:
            self.assertLess(abs(packet["time"] - before), 60)
            self.assertEqual(packet["length"], len(packet["bytes"]))
            self.assertEqual(packet["bytes"][23], 1, "ICMP")
        self.assertEqual(self.statistics["p1"][8], 6)
        self.assertEqual(self.statistics["p1"][5], 0)
        self.assertIn("6 captured, 0 matched but lost", self.last_error)

    def test_directions_vlans_and_tags(self):
        payload = b"vlans"
        mine = "ether proto 0x88b5 or (vlan and ether proto 0x88b5)"
        with self.captured("--vlan", "20", "--filter", mine) as of_20, \
                self.captured("--direction", "out", "--filter", mine) as sent:
            self.send(self.trunk, station(9), station(1), payload, vlan=20)
            self.send(self.h1, station(9), station(2), payload)
        self.assertEqual([(p["port"], p["direction"]) for p in of_20], [("p4", "in"), ("p3", "out")])
        self.assertEqual(frames.received(of_20[0]["bytes"]).vlan, 20)
        self.assertEqual(frames.received(of_20[1]["bytes"]).vlan, None)
        self.assertEqual({(p["port"], frames.received(p["bytes"]).vlan) for p in sent},
                         {("p3", None), ("p2", None), ("p4", 10)})

    def test_drops_have_their_reason(self):
        local = "01:80:c2:00:00:03"
        with self.captured("--drop", "any", "--port", "p1") as any_drop, \
                self.captured("--drop", "link_local,hairpin") as some:
            self.send(self.h1, local, station(1), b"local")
            self.send(self.h1, station(9), station(1), b"vlan", vlan=77)
        self.assertEqual([p["drop"] for p in any_drop if p["bytes"][6:12] ==
                          frames.mac_bytes(station(1))], ["drop_link_local", "drop_ingress_vlan"])
        self.assertEqual({p["drop"] for p in some}, {"drop_link_local"})

    def test_limits_end_it(self):
        path = self.switch.directory / "limit.pcapng"
        process = self.start("--port", "p1", "--direction", "in", "--filter", "ether proto 0x88b5",
                             "--count", "5", "--snap", "20", "-j", "-w", path)
        self.send(self.h1, station(9), station(1), b"limit", pad=100, count=50)
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(json.loads(process.stdout.read())["captured"], 5)
        packets, _ = parse(path.read_bytes())
        self.assertEqual([(len(p["bytes"]), p["length"]) for p in packets], [(20, 100)] * 5)
        begin = time.monotonic()
        done = self.switch.coua("capture", "--seconds", "0.5", "-w", path)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn("matched but lost", done.stderr)

    def test_json_and_names_of_what_is_wrong(self):
        process = self.start("-j", "--filter", "ether proto 0x88b5", "--count", "2")
        self.send(self.h1, station(9), station(1), b"json")
        told = json.loads(process.stdout.read())
        self.assertEqual(told["packets"][0]["port"], "p1")
        self.assertEqual(bytes.fromhex(told["packets"][0]["bytes"])[14:18], b"json")
        for words, reason in ((["--port", "nowhere"], "port nowhere: there is no such port"),
                              (["--filter", "tcp porto"], "filter: 'tcp porto': "),
                              (["--drop", "boredom"], "'boredom' is none of any, "),
                              (["--vlan", "5000"], "5000")):
            with self.subTest(reason):
                path = self.switch.directory / "kept"
                path.write_text("old")
                done = self.switch.coua("capture", *words, "-w", path, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(reason, done.stderr)
                self.assertEqual(path.read_text(), "old")

    def test_tcpdump_reads_it(self):
        if not shutil.which("tcpdump", path=lab.PATH):
            self.skipTest("tcpdump is not installed: run `make deps`")
        path = self.switch.directory / "tcpdump.pcapng"
        process = self.start("--port", "p1", "--filter", "icmp", "-w", path)
        self.assertEqual(self.h1.pings("10.9.0.2", 2), 2)
        self.settle()
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 0)
        told = lab.run(["tcpdump", "-nr", path]).stdout
        self.assertEqual(told.count("10.9.0.1 > 10.9.0.2: ICMP echo request"), 2, told)
        self.assertEqual(told.count("10.9.0.2 > 10.9.0.1: ICMP echo reply"), 2, told)
        # And while it runs, by a pipe.
        process = self.start("--port", "p1", "--filter", "icmp")
        reader = subprocess.Popen(["tcpdump", "-lnc", "2", "-r", "-"], stdin=process.stdout,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  env={**os.environ, "PATH": lab.PATH})
        process.stdout.close()
        self.assertEqual(self.h1.pings("10.9.0.2", 1), 1)
        self.assertEqual(reader.communicate(timeout=30)[0].count("ICMP echo"), 2)
        self.assertEqual(process.wait(30), 0, "its reader is gone, so it ends")

    def test_a_reader_that_goes_away_ends_it_though_nothing_passes(self):
        process = self.start("--filter", "ether proto 0x9999")
        process.stdout.close()
        self.assertEqual(process.wait(30), 0)

    def test_clients_that_vanish_or_hang_leave_nothing_behind(self):
        self.assertEqual(self.captures_left(), 8)
        hanging = self.start("--buffer", "256Ki")  # nobody reads its pipe
        vanishing = self.start("-w", self.switch.directory / "vanish.pcapng")
        stopped = self.start("-w", self.switch.directory / "stopped.pcapng", "--buffer", "256Ki")
        stopped.send_signal(signal.SIGSTOP)
        vanishing.kill()
        for _ in range(20):
            self.send(self.h1, station(9), station(1), bytes(1400), count=100)
        # The others go on as if nothing were, once h1's own queue is not full of it.
        self.settle()
        self.assertEqual(self.h1.pings("10.9.0.2", 20), 20)
        self.assertEqual(self.switch.coua("port", "add", "q", "net_null7").returncode, 0)
        self.assertEqual(self.switch.coua("port", "remove", "q").returncode, 0)
        stopped.send_signal(signal.SIGCONT)
        self.settle()
        stopped.send_signal(signal.SIGINT)
        self.assertEqual(stopped.wait(30), 0)
        packets, of = parse((self.switch.directory / "stopped.pcapng").read_bytes())
        self.assertEqual(len(packets), sum(each[8] for each in of.values()))
        self.assertGreater(sum(each[5] for each in of.values()), 0, "what it lost is counted")
        hanging.send_signal(signal.SIGINT)
        self.assertEqual(hanging.wait(30), 0)
        lab.wait_for(lambda: self.captures_left() == 8, what="all captures given back")

    def test_what_the_daemon_still_holds_at_the_end_is_in_the_file(self):
        """The client takes nothing while frames pass, and is told to end before it goes on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            path = self.switch.directory / "held.pcapng"
            process = self.start("--port", "p1", "--direction", "in", "--filter", "ether proto 0x88b5",
                                 "--buffer", "64Mi", "-w", path)
            process.send_signal(signal.SIGSTOP)
            for _ in range(5):
                self.send(self.h1, station(9), station(1), bytes(1400), count=100)
                self.settle()  # before h1's own queue is full of it
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            self.assertEqual(process.wait(30), 0)
            packets, of = parse(path.read_bytes())
            self.assertEqual((len(packets), of["p1"][5], of["p1"][8]), (500, 0, 500))

    def test_a_daemon_that_ends(self):
        other = lab.switch(self.switch.directory / "other", {"ports": [
            {"name": "n", "devargs": "net_null8"}]})
        self.addCleanup(other.close)
        other.start()
        path = self.switch.directory / "end.pcapng"
        process = lab.start([lab.COUA, "-s", other.socket, "capture", "--filter",
                             "ether proto 0x9999", "-w", path], stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.assertIn("capturing", process.stderr.readline())
        self.assertEqual(other.stop(), 0)
        self.assertEqual(process.wait(30), 3)
        parse(path.read_bytes())
