# SPDX-License-Identifier: Apache-2.0
"""Tests that speak with the switch in os-ken's messages, all that it says decoded by os-ken, too."""

import of_wire as of
import osken_lab
from cases import tap, with_switch


class speaker(of.controller):
    """A connection that speaks in os-ken's messages."""

    def __init__(self, connected, codec):
        super().__init__(connected)
        self.codec, self.number, self.came = codec, 100, []

    def say(self, message):
        """Sends it; returns its number."""
        self.number += 1
        self.send(self.codec.encode(message, self.number))
        return self.number

    def hear(self):
        got = self.receive()
        if got is None:
            raise ConnectionError("the switch has closed the connection")
        kind, xid, body = got
        return self.codec.decode(of.message(kind, body, xid))

    def wait(self, kind):
        """The next one of a class, after those that came before it."""
        while True:
            one = self.hear()
            if type(one).__name__ == kind:
                return one

    def parts(self, number):
        """Of the answer to a multipart request, undecoded, what its parts hold together."""
        held, more = b"", True
        while more:
            kind, xid, body = self.receive()
            if xid != number or kind != 19:
                raise AssertionError(f"message {xid} of type {kind} instead of {number}: {body[:100]}")
            held, more = held + body[8:], body[3] & 1
        return held

    def ask(self, message, kind):
        """The answer, which has the same number; of several parts: their lists together."""
        number, answer = self.say(message), None
        while True:
            one = self.hear()
            # Nothing that was said before may have been refused.
            if one.xid != number and type(one).__name__ != "OFPErrorMsg":
                continue
            if type(one).__name__ != kind:
                raise AssertionError(f"{type(one).__name__} instead of {kind}: {str(one)[:1000]}")
            if answer is None:
                answer = one
            else:
                answer.body += one.body
            if not getattr(one, "flags", 0) & 1 or "Stats" not in kind:
                return answer


class codec_case(with_switch):
    CONFIG = {"ports": [tap("p1"), tap("p2")], "pipeline": {"start": "none"},
              "openflow": {"datapath_id": "0x1122334455667788"}}

    @classmethod
    def setUpClass(cls):
        cls.codec = osken_lab.codec()
        cls.p, cls.n = cls.codec.parser, cls.codec.numbers
        super().setUpClass()
        cls.h1, cls.h2 = (cls.switch.tap_host(f"h{n}", f"p{n}") for n in (1, 2))

    def setUp(self):
        self.one = self.visitor()
        self.say("OFPFlowMod", command=self.n.OFPFC_DELETE, table_id=self.n.OFPTT_ALL,
                 out_port=self.n.OFPP_ANY, out_group=self.n.OFPG_ANY)
        self.say("OFPGroupMod", command=self.n.OFPGC_DELETE, group_id=self.n.OFPG_ALL)
        self.say("OFPMeterMod", command=self.n.OFPMC_DELETE, meter_id=self.n.OFPM_ALL)
        self.barrier()

    def visitor(self):
        made = speaker(of.controller.to(self.switch.directory / "br0.mgmt").socket, self.codec)
        self.addCleanup(made.close)
        made.say(self.codec.make("OFPHello", [self.p.OFPHelloElemVersionBitmap([4])]))
        self.assertEqual(made.wait("OFPHello").elements[0].versions, [4])
        return made

    # Short for what all tests do.

    def say(self, kind, *words, **named):
        return self.one.say(self.codec.make(kind, *words, **named))

    def ask(self, kind, answer, *words, **named):
        return self.one.ask(self.codec.make(kind, *words, **named), answer)

    def barrier(self):
        self.ask("OFPBarrierRequest", "OFPBarrierReply")

    def refused(self, kind, *words, **named):
        """Type and code of the error that a message brings, which has the message's bytes."""
        number = self.say(kind, *words, **named)
        error = self.one.wait("OFPErrorMsg")
        self.assertEqual(error.xid, number)
        message = self.codec.make(kind, *words, **named)
        self.assertEqual(bytes(error.data), self.codec.encode(message, number))
        return error.type, error.code

    def add(self, match=None, instructions=(), **named):
        named.setdefault("table_id", 0)
        self.say("OFPFlowMod", match=match or self.p.OFPMatch(), instructions=list(instructions), **named)

    def apply(self, *actions):
        return self.p.OFPInstructionActions(self.n.OFPIT_APPLY_ACTIONS, list(actions))

    def output(self, port, max_len=0):
        return self.p.OFPActionOutput(port, max_len)

    def flows(self, **named):
        named = {"table_id": self.n.OFPTT_ALL, "out_port": self.n.OFPP_ANY, "out_group": self.n.OFPG_ANY, **named}
        return self.ask("OFPFlowStatsRequest", "OFPFlowStatsReply", 0, **named).body

    def only_flow(self):
        found = self.flows()
        self.assertEqual(len(found), 1)
        return found[0]
