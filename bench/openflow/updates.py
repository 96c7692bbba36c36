# SPDX-License-Identifier: Apache-2.0
"""An access gateway whose routes change while it forwards: couad and Open vSwitch with DPDK, on the
same ports, packets and rules, changed by the same client.

The changes add and remove routes that no packet meets, in the table of routes. A window is measured
from the first change to the answer to a barrier behind the last one, next to a window without; the
other switch stands still meanwhile.
"""

import json
import os
import pathlib
import signal
import statistics
import struct
import sys
import time

import lab
import of_wire as of
from switches import CONTROL, coua, load, ovs_dpdk

ROUTES, ROUTE_TABLE, DELETE_STRICT = 1024, 110, 4
PREFIXES, FLOWS = 10_000, 1000
SETTLE_S, GLANCE_S, QUIET_SHARE = 60, 0.5, 1e-5  # of packets that miss, when all flows are known


def numbers(text):
    return [int(each) for each in text.split(",")]


def change(command, i):
    """One more or one less of the routes to 240.0.0.0/8, where no packet goes."""
    actions = of.apply_actions(of.set_eth_dst(b"\2\0\0\0\0\7"), of.dec_ttl(), of.output(2))
    return of.flow_mod(command=command, table=ROUTE_TABLE, priority=124, instructions=actions, eth_type=0x0800,
                       ipv4_dst=(0xF0000000 | i << 8, 0xFFFFFF00))


def changes(batch):
    """What is sent again and again: pieces of `batch` changes; all routes come, and go."""
    n = ROUTES // batch * batch  # no piece is left over
    words = [change(command, i) for command in (of.ADD, DELETE_STRICT) for i in range(n)]
    end = of.message(of.BARRIER_REQUEST, xid=1) if batch > 1 else b""
    return [b"".join(words[at:at + batch]) + end for at in range(0, len(words), batch)]


class client:
    """A controller that changes routes at a rate."""

    def __init__(self, name, path):
        self.name = name
        self.of = of.controller.to(path).greet()

    def work(self, pieces, batch, rate, seconds):
        """Changes per second that the switch has carried out. Where it is too slow for the rate, the
        socket fills and sending waits."""
        began = time.monotonic()
        sent = 0
        while (now := time.monotonic() - began) < seconds:
            due = int(now * rate / batch) - sent
            if due <= 0:
                time.sleep(0.0002)
                continue
            due = min(due, max(1, 64 // batch))
            self.of.send(*(pieces[(sent + i) % len(pieces)] for i in range(due)))
            sent += due
            self.drain()
        self.of.carried_out()
        return sent * batch / (time.monotonic() - began)

    def forget(self):
        """Removes the routes that are left over: each window finds the same state."""
        self.of.send(*(change(DELETE_STRICT, i) for i in range(ROUTES)))
        self.of.carried_out()

    def drain(self):
        """Answers to barriers, which nobody waits for; an error ends the benchmark."""
        self.of.socket.setblocking(False)
        try:
            self.of.got += self.of.socket.recv(1 << 16)
        except BlockingIOError:
            pass
        finally:
            self.of.socket.settimeout(60)
        while len(self.of.got) >= 8:
            _, kind, length, _ = struct.unpack_from("!BBHI", self.of.got)
            if len(self.of.got) < length:
                break
            if kind == of.ERROR:
                raise lab.lab_error(f"{self.name} refuses a change: error {of.error(self.of.got[8:length])}")
            self.of.got = self.of.got[length:]

    def close(self):
        self.of.close()


def name_of(task):
    """Of a thread, which may have ended meanwhile."""
    try:
        return (task / "comm").read_text()
    except OSError:
        return ""


class bed:
    """A switch with the case, its ports and a client; it stands still but in its windows."""

    def __init__(self, switch):
        self.switch, self.name = switch, switch.name
        self.client = client(switch.name, str(switch.target).removeprefix("unix:"))
        self.workers = [task for task in pathlib.Path(f"/proc/{switch.pid}/task").iterdir()
                        if name_of(task).startswith(switch.WORKER)]
        if not self.workers:
            raise lab.lab_error(f"the workers of {self.name} are not found")
        self.pause()

    def pause(self):
        os.kill(self.switch.pid, signal.SIGSTOP)

    def go_on(self):
        os.kill(self.switch.pid, signal.SIGCONT)
        self.switch.go_on()

    def settle(self):
        """Until no packet misses any more."""
        last = self.switch.misses()
        if last is None:
            return
        until = time.monotonic() + SETTLE_S
        while True:
            time.sleep(GLANCE_S)
            now = self.switch.misses()
            missed, came = (b - a for a, b in zip(last, now))
            if came > 0 and missed <= QUIET_SHARE * came:
                return
            if time.monotonic() > until:
                raise lab.lab_error(f"{self.name} still misses flows after {SETTLE_S} s")
            last = now

    def sent(self):
        """Packets that left by the second port, as OpenFlow counts them, and the seconds that the
        worker has had on its CPU: where another program takes it for a while, that is not counted."""
        done = lab.run(["ovs-ofctl", "-O", "OpenFlow13", "dump-ports", self.switch.target, "2"])
        return int(done.stdout.split("tx pkts=", 1)[1].split(",", 1)[0]), self.worker_seconds()

    def worker_seconds(self):
        return sum(int((task / "schedstat").read_text().split()[0]) for task in self.workers) / 1e9

    def window(self, seconds, pieces=None, batch=1, rate=0):
        """Packets per second of the worker's time, and changes per second. One without a packet is done
        again: another program had the CPU all the while."""
        until = time.monotonic() + SETTLE_S
        while True:
            packets, worked, done = self.one_window(seconds, pieces, batch, rate)
            if packets > 0 and worked > 0:
                return packets / worked, done
            if time.monotonic() > until:
                raise lab.lab_error(f"{self.name} forwards nothing")

    def one_window(self, seconds, pieces, batch, rate):
        self.go_on()
        time.sleep(0.05)
        before, began = self.sent()
        done = 0
        if pieces:
            done = self.client.work(pieces, batch, rate, seconds)
        else:
            time.sleep(seconds)
        after, ended = self.sent()
        if pieces:
            self.client.forget()
        self.pause()
        return after - before, ended - began, done

    def close(self):
        self.go_on()
        self.client.close()
        self.switch.close()


def make_case(folder):
    lab.run([lab.COUA_BENCH, "traffic", "--case", "gateway", "--rules", str(PREFIXES), "--flows", str(FLOWS), "--out",
             folder], timeout=120)
    return folder / "rules.txt", folder / "traffic-1.pcap"


def start_coua(file):
    made = coua(memory={"huge_pages": "off", "packet_mib": 256}, pipeline={"start": "none", "rules": 100_000})
    return made, lambda: (
        made.switch.coua("port", "add", "p1", f"net_pcap0,rx_pcap={file},infinite_rx=1", "--rx-descriptors", "2048"),
        made.switch.coua("port", "add", "p2", "net_null0,no-rx=1,copy=0"))


def start_ovs(file):
    made = ovs_dpdk()
    return made, lambda: (made.add_port("p2", 2, "net_null0,no-rx=1,copy=0"),
                          made.add_port("p1", 1, f"net_pcap0,rx_pcap={file},infinite_rx=1"))


def make_bed(start, rules, file):
    """The bed, and the seconds of both ways of loading."""
    switch, add_ports = start(file)
    seconds = {way: load(switch, rules, words)[0] for way, words in (("add-flows", []), ("bundle", ["--bundle"]))}
    add_ports()
    made = bed(switch)
    made.go_on()
    made.settle()
    made.pause()
    return made, seconds


def run(options):
    rules, file = make_case(pathlib.Path("/run/case"))
    beds, loads, notes = [], {}, []
    cpus = os.sched_getaffinity(0)
    try:
        starts = [("coua", start_coua)]
        if os.path.exists(ovs_dpdk.DAEMON):
            starts.append(("ovs", start_ovs))
        else:
            notes.append("Open vSwitch with DPDK is not installed (openvswitch-switch-dpdk): no comparison")
        for name, start in starts:
            one, loads[name] = make_bed(start, rules, file)
            beds.append(one)
        os.sched_setaffinity(0, {CONTROL})
        rows = measure(beds, options)
    finally:
        os.sched_setaffinity(0, cpus)
        for each in beds:
            each.close()
    rows += [{"name": name, "params": {"way": way}, "seconds": seconds}
             for name, ways in loads.items() for way, seconds in ways.items()]
    show(rows, notes, sum(1 for _ in open(rules)), options)


def measure(beds, options):
    kept = {}
    for turn in range(options.rounds):
        for batch in options.batches:
            pieces = changes(batch)
            for rate in options.rates:
                for each in beds if turn % 2 == 0 else beds[::-1]:
                    alone, _ = each.window(options.seconds)
                    with_them, done = each.window(options.seconds, pieces, batch, rate)
                    kept.setdefault((each.name, batch, rate), []).append((alone, with_them, done))
    rows = []
    for (name, batch, rate), windows in kept.items():
        alone, with_them, done = (statistics.median(column) for column in zip(*windows))
        ratio = statistics.median(b / a for a, b, _ in windows)
        rows.append({"name": name, "params": {"updates": rate, "batch": batch}, "mops": with_them / 1e6,
                     "none_mops": alone / 1e6, "ratio_to_none": ratio, "updates_per_s": done})
    return rows


def show(rows, notes, n_rules, options):
    if options.json:
        json.dump({"bench": "openflow updates", "params": {"rules": n_rules, "rounds": options.rounds,
                                                           "seconds": options.seconds},
                   "machine": {}, "rows": rows, **({"notes": notes} if notes else {})}, sys.stdout, indent=1)
        print()
        return
    print(f"updates: access gateway, {n_rules:,} rules, {FLOWS:,} flows, median of {options.rounds} rounds\n"
          f"{'switch':<8}{'asked/s':>10}{'batch':>7}{'done/s':>10}{'Mpps without':>14}{'Mpps with':>11}{'ratio':>8}")
    for row in rows:
        if "mops" in row:
            print(f"{row['name']:<8}{row['params']['updates']:>10,}{row['params']['batch']:>7}"
                  f"{row['updates_per_s']:>10,.0f}{row['none_mops']:>14.2f}{row['mops']:>11.2f}"
                  f"{row['ratio_to_none']:>8.2f}")
    print(f"load: {n_rules:,} rules by ovs-ofctl, once\n{'switch':<8}{'way':<12}{'s':>8}")
    for row in rows:
        if "seconds" in row:
            print(f"{row['name']:<8}{row['params']['way']:<12}{row['seconds']:>8.2f}")
    for note in notes:
        print(f"note: {note}")
