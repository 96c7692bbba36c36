# SPDX-License-Identifier: Apache-2.0
"""The other end of an LACP bond: a small partner of its own making (IEEE 802.1AX, clause 5), since
kernels in containers often have none. It speaks by raw sockets on the hosts' interfaces."""

import dataclasses
import struct
import threading
import time

import frames

SLOW_ADDRESS, SLOW_TYPE = "01:80:c2:00:00:02", 0x8809
ACTIVE, SHORT, AGGREGATES, IN_SYNC, COLLECTING, DISTRIBUTING, DEFAULTED, EXPIRED = (
    1 << bit for bit in range(8))


@dataclasses.dataclass
class side:
    system: str = "00:00:00:00:00:00"
    key: int = 0
    port: int = 0
    flags: int = 0
    system_priority: int = 0
    port_priority: int = 0

    def pack(self, kind):
        return struct.pack("!BBH6sHHHB3x", kind, 20, self.system_priority,
                           frames.mac_bytes(self.system), self.key, self.port_priority, self.port,
                           self.flags)

    @staticmethod
    def unpack(raw):
        _, _, system_priority, system, key, port_priority, port, flags = struct.unpack(
            "!BBH6sHHHB3x", raw)
        return side(frames.mac_text(system), key, port, flags, system_priority, port_priority)


class link:
    """One end of a cable: what it says, and what it has heard."""

    def __init__(self, wire, mac, says):
        self.wire, self.mac, self.says = wire, mac, says
        self.heard = side()
        self.heard_of_us = side()
        self.n_heard = 0
        self.silent = False

    def hear(self):
        while (frame := self.wire.receive(0)) is not None:
            if frame.ethertype != SLOW_TYPE or frame.payload[0] != 1:
                continue
            self.heard = side.unpack(frame.payload[2:22])
            self.heard_of_us = side.unpack(frame.payload[22:42])
            self.n_heard += 1

    def say(self):
        flags = ACTIVE | SHORT | AGGREGATES
        if self.n_heard:
            flags |= IN_SYNC
            if self.heard.flags & IN_SYNC:
                flags |= COLLECTING | DISTRIBUTING
        self.says.flags = flags
        body = (b"\1\1" + self.says.pack(1) + self.heard.pack(2)
                + struct.pack("!BBH12x", 3, 16, 0) + bytes(52))
        self.wire.send(frames.make(SLOW_ADDRESS, self.mac, body, SLOW_TYPE))


class partner:
    """Speaks on all its links five times a second, until it is closed."""

    def __init__(self, wires, macs, system="02:aa:aa:aa:aa:01", key=7):
        self.links = [link(wire, mac, side(system, key, port, 0, 0x8000, 0x8000))
                      for port, (wire, mac) in enumerate(zip(wires, macs), 1)]
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ending.is_set():
            for each in self.links:
                try:
                    each.hear()
                    if not each.silent:
                        each.say()
                except OSError:
                    pass  # the link is down
            time.sleep(0.2)

    def close(self):
        self.ending.set()
        self.thread.join()
