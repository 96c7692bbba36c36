// SPDX-License-Identifier: Apache-2.0
//
// The fields of `ports`.
#include "ctl/config_schema.h"
#include "ctl/port_rules.h"
#include "ctl/ranges.h"

namespace coua::ctl {
namespace {

using port = dp::port_config;

const field_table<port>& vlans_fields() {
  static const field_table<port> fields = {
      choice_field<port>({.name = "mode",
                          .meaning = "`access`: untagged frames of one VLAN; `trunk`: tagged "
                                     "frames of many",
                          .example = "trunk",
                          .default_value = "trunk when `tagged` is given, else access"},
                         {"access", "trunk"}, [](port& p) -> auto& { return p.mode; }),
      integer_field<port>({.name = "native",
                           .meaning = "The VLAN of untagged frames; 0 on a trunk: they are "
                                      "dropped",
                           .example = "1"},
                          0, limits::vlan_max, [](port& p) -> auto& { return p.native_vlan; }),
      and_then(ranges_field<port>({.name = "tagged",
                                   .meaning = "Trunk: VLANs that are carried with a tag",
                                   .example = "[10, 20-30]"},
                                  "1 to 4094, without the native VLAN", limits::vlan_min,
                                  limits::vlan_max, [](port& p) -> auto& { return p.tagged; }),
               [](port& p) { normalise_vlans(p.tagged); })};
  return fields;
}

field<port> flood_limit_field(field_info info, flood_limit dp::storm_limits::*member) {
  info.type = "limit";
  info.range = flood_limit_range();
  info.default_value = "0";
  return {info,
          [member](config_reader& reader, const YAML::Node& node, port& p) {
            std::string text;
            if (!read_scalar(reader, node, text)) return;
            const auto value = parse_flood_limit(text);
            if (!value) return reader.complain(node, printable(value.error().what));
            if (std::string reason = check_flood_limit(*value); !reason.empty())
              return reader.complain(node, std::move(reason));
            p.storm.*member = *value;
          },
          [member](port& p, extent) {
            const flood_limit& limit = p.storm.*member;
            const std::string text = format_flood_limit(limit);
            return limit.unit == flood_limit::units::packets ? bare_value(text) : word_value(text);
          }};
}

const field_table<port>& storm_fields() {
  static const field_table<port> fields = {
      flood_limit_field({.name = "broadcast",
                         .meaning = "Frames for all stations, in packets/s, bits/s or percent of "
                                    "the link; 0: no limit; `block`: none pass",
                         .example = "1000"},
                        &dp::storm_limits::broadcast),
      flood_limit_field(
          {.name = "multicast", .meaning = "Frames for any other group address", .example = "1%"},
          &dp::storm_limits::multicast),
      flood_limit_field({.name = "unknown_unicast",
                         .meaning = "Frames for a station that is not in the FIB",
                         .example = "10Mbps"},
                        &dp::storm_limits::unknown_unicast),
      choice_field<port>({.name = "action",
                          .meaning = "What becomes of a port that brings more: `drop`: the rest is "
                                     "dropped; `shutdown`: and the port is shut down, until it is "
                                     "enabled again or its `recover_s` are over",
                          .example = "shutdown"},
                         {"drop", "shutdown"}, [](port& p) -> auto& { return p.storm.action; })};
  return fields;
}

const field_table<port>& mirror_fields() {
  static const field_table<port> fields = [] {
    const auto normalised = [](field<port> made) {
      return and_then(std::move(made), [](port& p) { normalise_mirror(p.mirror); });
    };
    const auto names = [&](std::string name, std::string meaning,
                           std::vector<std::string> dp::mirror_sources::*member) {
      return normalised(texts_field<port>(
          {.name = std::move(name), .meaning = std::move(meaning), .example = "[p1, p2]"},
          "names of ports, there or not",
          [](const std::string& text, const auto&) { return check_port_name(text); },
          [member](port& p) -> auto& { return p.mirror.*member; }));
    };
    return field_table<port>{
        names("received", "Copies of what these ports receive", &dp::mirror_sources::received),
        names("sent", "Copies of what these ports send", &dp::mirror_sources::sent),
        normalised(ranges_field<port>({.name = "vlans",
                                       .meaning = "Copies of what any port receives in these VLANs",
                                       .example = "[10, 20-30]"},
                                      "1 to 4094", limits::vlan_min, limits::vlan_max,
                                      [](port& p) -> auto& { return p.mirror.vlans; }))};
  }();
  return fields;
}

/// Without a source it would be a port like others, which whoever wrote it does not expect.
field<port> mirror_field() {
  field<port> made = section_field<port>(
      "mirror",
      "Makes it a mirror port, which sends copies of what others receive and send, and nothing "
      "else (operations.md)",
      "{received: [p1], sent: [p1, p2]}", mirror_fields(), [](port& p) -> auto& { return p; });
  made.read = [inner = made.read](config_reader& reader, const YAML::Node& node, port& p) {
    inner(reader, node, p);
    if (!p.mirror.any() && !reader.troubled(reader.path()))
      reader.complain(node, "names nothing to copy; give received, sent or vlans, or no mirror");
  };
  return made;
}

/// As a list of texts, but never an empty one.
field<port> members_field() {
  field<port> made = texts_field<port>(
      {.name = "members",
       .meaning = "The DPDK devices, each as `devargs` would name it",
       .example = "[\"0000:03:00.0\", \"0000:03:00.1\"]",
       .required = true},
      "1 to " + std::to_string(limits::bond_members_max) + ", each once",
      [](const std::string& text, const auto&) { return check_devargs(text); },
      [](port& p) -> auto& { return p.bond.members; });
  made.read = [inner = made.read](config_reader& reader, const YAML::Node& node, port& p) {
    if (node.IsNull() || (node.IsSequence() && node.size() == 0))
      return reader.complain(node, "is empty; a bond has members");
    inner(reader, node, p);
  };
  return made;
}

const field_table<port>& bond_fields() {
  static const field_table<port> fields = {
      choice_field<port>({.name = "mode",
                          .meaning = "`static`: all members that have a link, each flow by one of "
                                     "them; `lacp`: those with which the other end agrees by "
                                     "LACP; `backup`: one member at a time, the next one when it "
                                     "has no link",
                          .example = "backup"},
                         {"static", "lacp", "backup"},
                         [](port& p) -> auto& { return p.bond.mode; }),
      choice_field<port>({.name = "hash",
                          .meaning = "What makes a flow: `l2`: MAC addresses and VLAN; `l23`: MAC "
                                     "and IP addresses; `l34`: IP addresses and ports",
                          .example = "l23"},
                         {"l2", "l23", "l34"}, [](port& p) -> auto& { return p.bond.hash; }),
      choice_field<port>({.name = "rate",
                          .meaning = "By LACP, how often the other end is to speak: `slow`: every "
                                     "30 s; `fast`: every second. It is gone after three times "
                                     "that",
                          .example = "fast"},
                         {"slow", "fast"}, [](port& p) -> auto& { return p.bond.rate; }),
      integer_field<port>({.name = "min_links",
                           .meaning = "While fewer members could send, the bond has no link: it "
                                      "carries nothing, and an other end that speaks LACP is told. "
                                      "At most as many as there are members; not in mode `backup`",
                           .example = "2"},
                          1, limits::bond_members_max,
                          [](port& p) -> auto& { return p.bond.min_links; }),
      members_field()};
  return fields;
}

field<port> queue_field(std::string name, std::string meaning, unsigned high, std::string example,
                        unsigned port::*member) {
  return integer_field<port>(
      {.name = std::move(name), .meaning = std::move(meaning), .example = std::move(example)}, 0,
      high, [member](port& p) -> auto& { return p.*member; });
}

// Two fields read the same members; one of them says what they are.
template <dp::vlan_mode Mode>
bool has_mode(const port& p) {
  return p.mode == Mode;
}
/// A bond has members, any other port has devargs.
bool is_bond(const port& p) { return p.bond.any(); }
bool is_no_bond(const port& p) { return !p.bond.any(); }

}  // namespace

const field_table<port>& port_fields() {
  static const field_table<port> fields = {
      text_field<port>({.name = "name",
                        .meaning = "Name of the port everywhere; unique",
                        .example = "p0",
                        .required = true},
                       "1 to 32 letters, digits, `_`, `.`, `-`; not `-` first, and no word of "
                       "OpenFlow for other ports, such as `all`",
                       check_new_port_name, [](port& p) -> auto& { return p.name; }),
      text_field<port>({.name = "bridge",
                        .meaning = "The bridge that it belongs to",
                        .example = "br0",
                        .default_value = "the first one"},
                       "name of a bridge", check_port_name,
                       [](port& p) -> auto& { return p.bridge; }),
      written_if(
          is_no_bond,
          text_field<port>({.name = "devargs",
                            .meaning = "The DPDK device: a PCI address, or a driver with a number "
                                       "and arguments. Every port has this or `bond`, and its "
                                       "device, and the interface on which that stands, alone",
                            .example = "\"net_tap0,iface=tap0\"",
                            .default_value = "none"},
                           "printable, without blanks, at most 1024 bytes", check_devargs,
                           [](port& p) -> auto& { return p.devargs; })),
      written_if(is_bond, section_field<port>("bond", "Several devices as one port (operations.md)",
                                              "{mode: static, members: [net_tap0, net_tap1]}",
                                              bond_fields(), [](port& p) -> auto& { return p; })),
      queue_field("rx_queues", "Receive queues; 0: one per worker, where the port can",
                  limits::queues_max, "2", &port::rx_queues),
      queue_field(
          "tx_queues",
          "Transmit queues; 0: one per worker, where the port can. With fewer than workers, "
          "workers share them",
          limits::queues_max, "2", &port::tx_queues),
      queue_field("rx_descriptors", "Length of a receive queue; 0: the driver's default",
                  limits::descriptors_max, "1024", &port::rx_descriptors),
      queue_field("tx_descriptors", "Length of a transmit queue; 0: the driver's default",
                  limits::descriptors_max, "1024", &port::tx_descriptors),
      integer_field<port>({.name = "mtu",
                           .meaning = "Largest payload of a frame",
                           .example = "9000",
                           .unit = "bytes"},
                          limits::mtu_min, limits::mtu_max, [](port& p) -> auto& { return p.mtu; }),
      boolean_field<port>({.name = "promiscuous",
                           .meaning = "Receive frames for every address, as a switch must",
                           .example = "true"},
                          [](port& p) -> auto& { return p.promiscuous; }),
      boolean_field<port>({.name = "enabled",
                           .meaning = "Administratively up; a port that is not forwards nothing",
                           .example = "true"},
                          [](port& p) -> auto& { return p.enabled; }),
      boolean_field<port>(
          {.name = "local",
           .meaning = "To OpenFlow it is the port LOCAL of its bridge, which has one at most, as "
                      "one by which the machine itself joins the bridge (openflow.md). Not a "
                      "mirror port",
           .example = "true"},
          [](port& p) -> auto& { return p.local; }),
      boolean_field<port>(
          {.name = "learning", .meaning = "Learn source addresses", .example = "true"},
          [](port& p) -> auto& { return p.learning; }),
      integer_field<port>({.name = "mac_limit",
                           .meaning = "Addresses that the port learns at most; 0: no limit. Those "
                                      "that `coua fib load` brings are not refused, but count",
                           .example = "1000",
                           .unit = "addresses"},
                          0, limits::mac_limit_max, [](port& p) -> auto& { return p.mac_limit; }),
      choice_field<port>(
          {.name = "mac_limit_action",
           .meaning =
               "At `mac_limit`, what becomes of frames from other addresses: `forward`: they "
               "go on, and answers are flooded; `drop`: they are dropped; `shutdown`: the "
               "port is shut down, until it is enabled again or its `recover_s` are over",
           .example = "drop"},
          {"forward", "drop", "shutdown"}, [](port& p) -> auto& { return p.mac_limit_action; }),
      section_field<port>("storm",
                          "Limits of what the port may bring that is flooded; above them it is "
                          "dropped (operations.md)",
                          "{broadcast: 1000, multicast: 1%, unknown_unicast: 10Mbps}",
                          storm_fields(), [](port& p) -> auto& { return p; }),
      integer_field<port>(
          {.name = "recover_s",
           .meaning = "After how long the port comes back that `mac_limit_action` or "
                      "`storm.action` has shut down; 0: never by itself",
           .example = "300",
           .unit = "s"},
          0, limits::recover_max_s, [](port& p) -> auto& { return p.recover_s; }),
      mirror_field(),
      written_if(has_mode<dp::vlan_mode::access>,
                 vlan_field<port>({.name = "vlan",
                                   .meaning = "Short for `vlans: {mode: access, native: N}`. Not "
                                              "together with `vlans`",
                                   .example = "10"},
                                  [](port& p) -> auto& { return p.native_vlan; })),
      written_if(has_mode<dp::vlan_mode::trunk>,
                 section_field<port>("vlans", "How the port belongs to VLANs",
                                     "{mode: trunk, native: 1, tagged: [10, 20-30]}",
                                     vlans_fields(), [](port& p) -> auto& { return p; })),
  };
  return fields;
}

field<config> ports_field() {
  field_info info{.name = "ports",
                  .meaning = "The ports, in the order of their start",
                  .example = "[{name: p0, devargs: net_null0}]"};
  info.type = "list of mappings";
  info.default_value = "none";
  return {info,
          [](config_reader& reader, const YAML::Node& node, config& c) {
            read_list(reader, node, [&](const YAML::Node& item) {
              port one;
              if (item.IsNull()) return reader.complain(item, "has no value");
              read_mapping(reader, item, port_fields(), one);
              if (item.IsMap() && item["bond"] && item["bond"].IsNull()) {
                const config_reader::step step(reader, "bond");
                reader.complain(item["bond"], "has no value");
              }
              if (item.IsMap() && !item["devargs"] && !item["bond"]) {
                const config_reader::step step(reader, "devargs");
                reader.complain(item, "is missing");
              }
              if (reader.has(reader.path() + ".vlans.tagged") &&
                  !reader.has(reader.path() + ".vlans.mode"))
                one.mode = dp::vlan_mode::trunk;
              c.ports.push_back(std::move(one));
            });
          },
          [](config& c, extent how) {
            std::vector<config_value> items;
            for (port& each : c.ports) items.push_back(write_mapping(port_fields(), each, how));
            return list_value(std::move(items));
          }};
}

std::vector<section_info> describe_ports() {
  return {describe("ports[]", "One port.", port_fields()),
          describe("ports[].bond", "Several devices as one port.", bond_fields()),
          describe("ports[].storm", "Storm control of a port.", storm_fields()),
          describe("ports[].mirror", "What a mirror port sends.", mirror_fields()),
          describe("ports[].vlans", "The VLANs of a port.", vlans_fields())};
}

}  // namespace coua::ctl
