#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples_test --pcap PROGRAM [--dpdk PROGRAM]: runs the examples on packets that are made here,
and compares what they print and what they send. Needs no privileges and no device."""

import argparse
import os
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = None
TCP, UDP = 6, 17
SYN, ACK, FIN, RST = 2, 16, 1, 4


def frame(source, target, proto=UDP, flags=0, payload=10, tag=None, fragment=0):
    """An Ethernet frame; source and target are (address, port)."""
    l4 = struct.pack("!HH", source[1], target[1])
    if proto == TCP:
        l4 += struct.pack("!IIBBHHH", 1, 1, 5 << 4, flags, 1000, 0, 0)
    else:
        l4 += struct.pack("!HH", 8 + payload, 0)
    l4 += bytes(payload)
    packed = [bytes(int(part) for part in end[0].split(".")) for end in (source, target)]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(l4), 1, fragment, 64, proto, 0) + b"".join(packed)
    vlan = b"" if tag is None else struct.pack("!HH", 0x8100, tag)
    made = b"\x02\0\0\0\0\1\x02\0\0\0\0\2" + vlan + b"\x08\0" + ip + l4
    return made + bytes(max(0, 60 - len(made)))


def write_pcap(path, packets, order="<", magic=0xa1b2c3d4):
    """Packets are (time in ms, frame)."""
    per_ms = 1000 if magic == 0xa1b2c3d4 else 1_000_000
    with open(path, "wb") as file:
        file.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, 1))
        for ms, data in packets:
            file.write(struct.pack(order + "IIII", ms // 1000, ms % 1000 * per_ms, len(data), len(data)))
            file.write(data)


def read_pcap(path):
    with open(path, "rb") as file:
        data = file.read()
    frames, at = [], 24
    while at < len(data):
        n = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + n])
        at += 16 + n
    return frames


class with_folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="coua-examples-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_program(self, *command, code=0):
        # Programs end when they have done their work; how long that takes is the machine's affair.
        done = subprocess.run(command, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done


HOST, SERVER, NAME = ("10.0.0.1", 4000), ("10.9.0.1", 443), ("10.9.0.2", 53)


class pcap_flows(with_folder):
    def flows(self, packets, *more, **form):
        write_pcap(self.path("in.pcap"), packets, **form)
        lines = self.run_program(PROGRAMS.pcap, self.path("in.pcap"), *more).stdout.splitlines()
        return sorted(lines[:-1]), lines[-1]

    # A TCP flow that is closed, one that is not, a UDP flow that comes back after it expired, a
    # fragment, and an ARP frame.
    PACKETS = [
        (1_000_000, frame(HOST, SERVER, TCP, SYN)),
        (1_000_100, frame(SERVER, HOST, TCP, SYN | ACK)),
        (1_000_200, frame(HOST, NAME, UDP, tag=7)),
        (1_000_250, frame(NAME, HOST, UDP, tag=7)),
        (1_001_000, frame(HOST, SERVER, TCP, FIN | ACK)),
        (1_002_000, b"\xff" * 12 + b"\x08\x06" + bytes(46)),
        (1_003_000, frame(HOST, NAME, UDP, fragment=100)),
        (1_004_000, frame(("10.0.0.9", 1), SERVER, TCP, SYN)),
        (1_029_900, frame(HOST, NAME, UDP)),   # within 30 s: the same flow
        (1_060_500, frame(HOST, NAME, UDP)),   # after them: a new one
        (1_200_000, frame(("10.0.0.9", 1), SERVER, TCP, ACK)),
    ]
    FLOWS = [
        "expired tcp 10.0.0.1:4000 > 10.9.0.1:443 packets 2/1 bytes 128/64 ms 1000 closed",
        "expired udp 10.0.0.1:4000 > 10.9.0.2:53 packets 1/0 bytes 60/0 ms 0",
        "expired udp 10.0.0.1:4000 > 10.9.0.2:53 packets 2/1 bytes 120/60 ms 29700",
        "live tcp 10.0.0.9:1 > 10.9.0.1:443 packets 2/0 bytes 128/0 ms 196000",
    ]
    LAST = "packets 11 other 2 flows 4 expired 3 live 1 refused 0"

    def test_flows_expire_when_they_are_silent(self):
        self.assertEqual(self.flows(self.PACKETS), (self.FLOWS, self.LAST))

    def test_other_forms_of_the_file(self):
        for form in ({"order": ">"}, {"magic": 0xa1b23c4d}, {"order": ">", "magic": 0xa1b23c4d}):
            self.assertEqual(self.flows(self.PACKETS, **form), (self.FLOWS, self.LAST), form)

    def test_many_flows_come_and_go(self):
        ends = [(f"10.1.{i // 250}.{i % 250}", 1000 + i) for i in range(2000)]
        packets = [(100 * i, frame(end, NAME)) for i, end in enumerate(ends)]
        flows, last = self.flows(packets, "1000")
        # 10 new flows a second, each for 30 s, in a table for far fewer than all of them.
        self.assertEqual(last, "packets 2000 other 0 flows 2000 expired 1700 live 300 refused 0")
        self.assertEqual(len(flows), 2000)
        self.assertEqual(len(set(line.split(" ", 1)[1] for line in flows)), 2000)

    def test_a_full_table_refuses_and_says_so(self):
        packets = [(0, frame((f"10.1.0.{i}", 1), NAME)) for i in range(200)]
        _, last = self.flows(packets, "8")
        words = last.split()
        self.assertEqual(int(words[5]) + int(words[11]), 200, last)
        self.assertGreater(int(words[11]), 150, last)

    def test_an_empty_capture_has_no_flows(self):
        self.assertEqual(self.flows([])[1], "packets 0 other 0 flows 0 expired 0 live 0 refused 0")

    def test_bad_files_are_refused(self):
        self.assertIn("No such file", self.run_program(PROGRAMS.pcap, "/nowhere", code=1).stderr)
        with open(self.path("text"), "w") as file:
            file.write("this is no capture of anything\n")
        done = self.run_program(PROGRAMS.pcap, self.path("text"), code=1)
        self.assertIn("not a classic pcap file", done.stderr)
        write_pcap(self.path("cut"), self.PACKETS)
        os.truncate(self.path("cut"), os.path.getsize(self.path("cut")) - 5)
        done = self.run_program(PROGRAMS.pcap, self.path("cut"), code=1)
        self.assertIn("damaged after packet 10", done.stderr)
        self.run_program(PROGRAMS.pcap, code=2)


class dpdk_firewall(with_folder):
    def setUp(self):
        super().setUp()
        if PROGRAMS.dpdk is None:
            self.skipTest("built without DPDK")

    def firewall(self, devices, *options):
        # No privileges, no huge pages, no device, nothing shared with other programs.
        words = ["--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "128", "-l",
                 str(min(os.sched_getaffinity(0))), "--log-level", "lib.*:error"]
        words += [word for device in devices for word in ("--vdev", device)]
        return self.run_program(PROGRAMS.dpdk, *words, "--", *options).stdout.splitlines()[-1]

    def test_answers_pass_and_flows_expire(self):
        ends = [(f"10.0.0.{i + 1}", 5000 + i) for i in range(20)]
        out = [frame(end, SERVER, TCP, SYN) for end in ends] + [frame(ends[0], SERVER, TCP, ACK)]
        answers = [frame(SERVER, end, TCP, SYN | ACK) for end in ends[:15]]
        unasked = [frame(("10.66.0.1", 6), end, TCP, SYN) for end in ends[:4]]
        unasked += [frame(SERVER, (end[0], end[1] + 1), TCP, ACK) for end in ends[:3]]
        unasked += [b"\xff" * 12 + b"\x08\x06" + bytes(46)]
        write_pcap(self.path("in0"), [(0, data) for data in out])
        write_pcap(self.path("in1"), [(0, data) for data in answers + unasked])
        devices = [f"net_pcap{i},rx_pcap={self.path(f'in{i}')},tx_pcap={self.path(f'out{i}')}"
                   for i in (0, 1)]
        # Each file is one burst, and both are taken in at one time: no flow expires between them,
        # however busy the machine.
        self.assertLessEqual(max(len(out), len(answers + unasked)), 32)
        last = self.firewall(devices, "--packets", str(len(out + answers + unasked)),
                             "--unit-ms", "10", "--idle-units", "2", "--flows", "1000")
        self.assertEqual(last, "inside 21 outside 23 passed 36 dropped 8 other 1 opened 20 "
                               "expired 20 live 0 refused 0 answered 15")
        self.assertEqual(read_pcap(self.path("out1")), out)
        self.assertEqual(read_pcap(self.path("out0")), answers)

    def test_runs_on_any_port(self):
        last = self.firewall(["net_null0", "net_null1"], "--packets", "1000").split()
        self.assertGreaterEqual(int(last[1]) + int(last[3]), 1000)
        self.assertEqual(last[last.index("passed") + 1], "0")

    def test_too_few_ports_and_bad_options_are_refused(self):
        words = ["--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "128"]
        done = self.run_program(PROGRAMS.dpdk, *words, code=1)
        self.assertIn("two ports", done.stdout + done.stderr)
        done = self.run_program(PROGRAMS.dpdk, *words, "--", "--idle-units", "2000", code=1)
        self.assertIn("usage", done.stdout + done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pcap", required=True)
    parser.add_argument("--dpdk")
    PROGRAMS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
