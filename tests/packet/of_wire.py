# SPDX-License-Identifier: Apache-2.0
"""OpenFlow 1.3 in bytes, as far as the tests need it: what ovs-ofctl would not send, or not fast."""

import socket
import struct

import lab

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY, FEATURES_REQUEST, FEATURES_REPLY = 0, 1, 2, 3, 5, 6
SET_CONFIG, PACKET_IN, FLOW_REMOVED, PORT_STATUS, PACKET_OUT, FLOW_MOD = 9, 10, 11, 12, 13, 14
MULTIPART_REQUEST, MULTIPART_REPLY, BARRIER_REQUEST, BARRIER_REPLY = 18, 19, 20, 21
ROLE_REQUEST, ROLE_REPLY, GET_ASYNC, ASYNC_REPLY, SET_ASYNC = 24, 25, 26, 27, 28
EQUAL, MASTER, SLAVE = 1, 2, 3
ADD, DELETE = 0, 3
NO_BUFFER = ANY = 0xffffffff
TABLE, NORMAL, FLOOD, ALL, CONTROLLER, LOCAL = (0xfffffff9 + n for n in range(6))


def message(kind, body=b"", xid=0, version=4):
    return struct.pack("!BBHI", version, kind, 8 + len(body), xid) + body


def match(**fields):
    """Matches on fields of OXM: values, or (value, mask)."""
    numbers = {"in_port": (0, 4), "eth_type": (5, 2), "ip_proto": (10, 1), "ipv4_dst": (12, 4), "udp_dst": (16, 2)}
    oxm = b""
    for name, value in fields.items():
        number, size = numbers[name]
        parts = value if isinstance(value, tuple) else (value,)
        oxm += struct.pack("!HBB", 0x8000, number << 1 | (len(parts) - 1), size * len(parts))
        oxm += b"".join(part.to_bytes(size, "big") for part in parts)
    body = struct.pack("!HH", 1, 4 + len(oxm)) + oxm
    return body + bytes(-len(body) % 8)


def output(port, max_len=0xffff):
    return struct.pack("!HHIH6x", 0, 16, port, max_len)


def group(number):
    return struct.pack("!HHI", 22, 8, number)


def dec_ttl():
    return struct.pack("!HH4x", 24, 8)


def set_eth_dst(mac):
    return struct.pack("!HHHBB6s2x", 25, 16, 0x8000, 3 << 1, 6, mac)


def goto_table(table):
    return struct.pack("!HHB3x", 1, 8, table)


def conjunction(number, clause, n_clauses):
    """Of Nicira's extensions; clauses are counted from 1."""
    return struct.pack("!HHIHBBI", 0xffff, 16, 0x2320, 34, clause - 1, n_clauses, number)


def apply_actions(*actions):
    body = b"".join(actions)
    return struct.pack("!HHI", 4, 8 + len(body), 0) + body


def flow_mod(xid=0, command=ADD, table=0, priority=1, instructions=b"", flags=0, idle=0, hard=0, cookie=0,
             **fields):
    body = struct.pack("!QQBBHHHIIIHxx", cookie, 0, table, command, idle, hard, priority, NO_BUFFER, ANY, ANY,
                       flags)
    return message(FLOW_MOD, body + match(**fields) + instructions, xid)


def packet_out(data, *actions, in_port=CONTROLLER, xid=0):
    list_ = b"".join(actions)
    return message(PACKET_OUT, struct.pack("!IIH6x", NO_BUFFER, in_port, len(list_)) + list_ + data, xid)


class controller:
    """A connection to the switch, from either side."""

    def __init__(self, connected):
        self.socket = connected
        self.socket.settimeout(20)
        self.got = b""

    @classmethod
    def to(cls, path):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.connect(str(path))
        return cls(made)

    def close(self):
        self.socket.close()

    def send(self, *messages):
        self.socket.sendall(b"".join(messages))

    def receive(self):
        """(type, xid, body) of the next message; None: the switch has closed the connection."""
        while len(self.got) < 8 or len(self.got) < struct.unpack_from("!H", self.got, 2)[0]:
            more = self.socket.recv(65536)
            if not more:
                return None
            self.got += more
        _, kind, length, xid = struct.unpack_from("!BBHI", self.got)
        body, self.got = self.got[8:length], self.got[length:]
        return kind, xid, body

    def expect(self, kind):
        """The next message of a kind, passing over what comes before it."""
        for _ in range(100000):
            one = self.receive()
            if one is None:
                raise lab.lab_error("the switch has closed the connection")
            if one[0] == kind:
                return one[1], one[2]
        raise lab.lab_error(f"no message of type {kind}")

    def told(self, seconds=0.5):
        """The types of what comes within a while."""
        self.socket.settimeout(seconds)
        made = []
        try:
            while True:
                made.append(self.receive()[0])
        except TimeoutError:
            return made
        finally:
            self.socket.settimeout(20)

    def configure(self, miss_send_len=0xffff):
        """What every controller sends, and a visitor does not: from now on it is told of events."""
        self.send(message(SET_CONFIG, struct.pack("!HH", 0, miss_send_len)))
        self.barrier()
        return self

    def greet(self):
        self.send(message(HELLO, struct.pack("!HHI", 1, 8, 1 << 4)))
        self.expect(HELLO)
        return self

    def barrier(self, xid=0x777):
        self.send(message(BARRIER_REQUEST, xid=xid))
        while self.expect(BARRIER_REPLY)[0] != xid:
            pass

    def carried_out(self):
        """Returns when all that was sent is carried out. lab_error: some of it was refused."""
        self.send(message(BARRIER_REQUEST, xid=0x778))
        while True:
            one = self.receive()
            if one is None:
                raise lab.lab_error("the switch has closed the connection")
            if one[0] == ERROR:
                raise lab.lab_error(f"the switch refuses a message: error {error(one[2])}")
            if one[:2] == (BARRIER_REPLY, 0x778):
                return

    def role(self, wanted, generation=0):
        """The role that was given, or the error."""
        self.send(message(ROLE_REQUEST, struct.pack("!I4xQ", wanted, generation)))
        while True:
            kind, _, body = self.receive()
            if kind == ROLE_REPLY:
                return struct.unpack_from("!I", body)[0]
            if kind == ERROR:
                return error(body)


class packet_in:
    def __init__(self, body):
        (self.buffer, self.length, self.reason, self.table, self.cookie, _, match_len) = struct.unpack_from(
            "!IHBBQHH", body)
        match_end = 16 + (match_len + 7) // 8 * 8
        self.in_port = struct.unpack_from("!I", body, 24)[0]  # the first field, behind its OXM header
        self.data = body[match_end + 2:]


class flow_removed:
    def __init__(self, body):
        (self.cookie, self.priority, self.reason, self.table, self.seconds, _, self.idle, self.hard, self.packets,
         self.bytes) = struct.unpack_from("!QHBBIIHHQQ", body)


class port_status:
    def __init__(self, body):
        self.reason, self.number = struct.unpack_from("!B7xI", body)
        self.name = body[8 + 16:8 + 32].rstrip(b"\0").decode()
        self.config, self.state = struct.unpack_from("!II", body, 8 + 32)


def error(body):
    """(type, code) of an error message."""
    return struct.unpack_from("!HH", body)
