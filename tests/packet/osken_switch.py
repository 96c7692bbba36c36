# SPDX-License-Identifier: Apache-2.0
"""A learning switch for OpenFlow 1.3 on os-ken, which has a codec of its own."""

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class learning_switch(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ports = {}  # of each address

    def add_rule(self, switch, priority, match, actions):
        parser, ofproto = switch.ofproto_parser, switch.ofproto
        apply = parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, actions)
        switch.send_msg(parser.OFPFlowMod(datapath=switch, priority=priority, match=match, instructions=[apply]))

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def greeted(self, event):
        switch = event.msg.datapath
        parser, ofproto = switch.ofproto_parser, switch.ofproto
        self.add_rule(switch, 0, parser.OFPMatch(), [parser.OFPActionOutput(
            ofproto.OFPP_CONTROLLER, ofproto.OFPCML_NO_BUFFER)])

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def packet_in(self, event):
        message = event.msg
        switch, in_port = message.datapath, message.match["in_port"]
        parser, ofproto = switch.ofproto_parser, switch.ofproto
        header = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        self.ports[header.src] = in_port
        out = self.ports.get(header.dst, ofproto.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out)]
        if out != ofproto.OFPP_FLOOD:
            self.add_rule(switch, 1, parser.OFPMatch(in_port=in_port, eth_dst=header.dst, eth_src=header.src),
                          actions)
        switch.send_msg(parser.OFPPacketOut(datapath=switch, buffer_id=ofproto.OFP_NO_BUFFER, in_port=in_port,
                                            actions=actions, data=message.data))
