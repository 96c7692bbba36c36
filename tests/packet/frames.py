# SPDX-License-Identifier: Apache-2.0
"""Ethernet frames as bytes, and a raw socket that sends and receives them with their tags."""

import dataclasses
import select
import socket
import struct
import time

SOL_PACKET = 263
PACKET_ADD_MEMBERSHIP, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 1, 8, 23
PACKET_MR_PROMISC = 1
TP_STATUS_VLAN_VALID = 0x10
TP_STATUS_VLAN_TPID_VALID = 0x40
ETH_P_ALL = 3
ETHERTYPE_TEST = 0x88B5  # for local experiments, IEEE 802
ETHERTYPE_VLAN = 0x8100
BROADCAST = "ff:ff:ff:ff:ff:ff"


def mac_bytes(mac):
    return bytes.fromhex(mac.replace(":", ""))


def mac_text(raw):
    return raw.hex(":")


def make(dst, src, payload=b"", ethertype=ETHERTYPE_TEST, vlan=None, pad=60):
    """A frame; `vlan` is a VLAN number or a whole tag control field. Padded to `pad` bytes."""
    frame = mac_bytes(dst) + mac_bytes(src) + struct.pack("!H", ethertype) + payload
    return tagged(frame, vlan).ljust(pad, b"\0") if vlan is not None else frame.ljust(pad, b"\0")


def tagged(frame, tci, tpid=ETHERTYPE_VLAN):
    return frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]


@dataclasses.dataclass
class received:
    data: bytes  # with its tag, as on the wire

    @property
    def dst(self):
        return mac_text(self.data[:6])

    @property
    def src(self):
        return mac_text(self.data[6:12])

    @property
    def vlan(self):
        """The VLAN of the outer tag; None: untagged."""
        kind, tci = struct.unpack("!HH", self.data[12:16])
        return tci & 0xFFF if kind == ETHERTYPE_VLAN else None

    @property
    def untagged(self):
        return self.data[:12] + self.data[16:] if self.vlan is not None else self.data

    @property
    def ethertype(self):
        return struct.unpack("!H", self.untagged[12:14])[0]

    @property
    def payload(self):
        return self.untagged[14:]


class wire:
    """A raw socket on one interface. Sees every frame that comes in, none that goes out."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        index = socket.if_nametoindex(interface)
        self.socket.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                               struct.pack("iHH8s", index, PACKET_MR_PROMISC, 0, b""))
        # Bound last, so that no frame of another interface is queued.
        self.socket.bind((interface, ETH_P_ALL))

    def fileno(self):
        return self.socket.fileno()

    def send(self, frame):
        self.socket.send(frame)

    def receive(self, timeout=1.0):
        """The next frame, or None. The kernel takes a tag off the frame; it is put back."""
        if not select.select([self.socket], [], [], timeout)[0]:
            return None
        data, control, _, _ = self.socket.recvmsg(65536, 256)
        for level, kind, value in control:
            if level == SOL_PACKET and kind == PACKET_AUXDATA:
                status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", value[:20])
                if status & TP_STATUS_VLAN_VALID:
                    valid = status & TP_STATUS_VLAN_TPID_VALID
                    data = tagged(data, tci, tpid if valid else ETHERTYPE_VLAN)
        return received(data)

    def collect(self, seconds, wanted=lambda frame: frame.ethertype == ETHERTYPE_TEST, count=None):
        """Frames that come within `seconds`, or until there are `count` of them."""
        end = time.monotonic() + seconds
        frames = []
        while count is None or len(frames) < count:
            left = end - time.monotonic()
            if left <= 0:
                break
            frame = self.receive(left)
            if frame is not None and wanted(frame):
                frames.append(frame)
        return frames

    def drain(self):
        while self.receive(0) is not None:
            pass

    def close(self):
        self.socket.close()
