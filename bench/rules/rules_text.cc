// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/rules_text.h"

#include <cstdio>

#include "net/mac.h"

namespace coua::bench {
namespace {

std::string format_address(std::uint32_t address) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += (out.empty() ? "" : ".") + std::to_string(address >> shift & 0xff);
  }
  return out;
}

std::string format_prefix(const ip_prefix& prefix) {
  return format_address(prefix.address) + "/" + std::to_string(prefix.bits);
}

std::string format_range(const port_range& range) {
  return std::to_string(range.low) + " : " + std::to_string(range.high);
}

std::string format_hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string format_value(wide_field field, const field_match& match) {
  const unsigned width = place_of(field).bits;
  switch (field) {
    case wide_field::eth_dst:
    case wide_field::eth_src: return net::format_mac(match.value);
    case wide_field::ip_src:
    case wide_field::ip_dst: {
      const std::string address = format_address(static_cast<std::uint32_t>(match.value));
      return match.bits == width ? address : address + "/" + std::to_string(match.bits);
    }
    case wide_field::eth_type: return format_hex(match.value);
    default: break;
  }
  if (match.bits == width) return std::to_string(match.value);
  return format_hex(match.value) + "/" + format_hex(prefix_mask(width, match.bits));
}

const char* word_of(wide_field field) {
  switch (field) {
    case wide_field::in_port: return "in_port";
    case wide_field::eth_dst: return "dl_dst";
    case wide_field::eth_src: return "dl_src";
    case wide_field::eth_type: return "dl_type";
    case wide_field::vlan: return "dl_vlan";
    case wide_field::ip_src: return "nw_src";
    case wide_field::ip_dst: return "nw_dst";
    case wide_field::ip_proto: return "nw_proto";
    case wide_field::dscp: return "ip_dscp";
    case wide_field::tp_src: return "tp_src";
    case wide_field::tp_dst: return "tp_dst";
  }
  return "?";
}

}  // namespace

std::string to_text(const five_tuple_set& set) {
  std::string out;
  for (const five_tuple_rule& rule : set.rules) {
    char protocol[16];
    std::snprintf(protocol, sizeof protocol, "0x%02X/0x%02X", rule.protocol.value_or(0),
                  rule.protocol ? 0xff : 0);
    out += "@" + format_prefix(rule.source) + "\t" + format_prefix(rule.destination) + "\t" +
           format_range(rule.source_port) + "\t" + format_range(rule.destination_port) + "\t" +
           protocol + "\t0x0000/0x0000\n";
  }
  return out;
}

std::string to_text(const wide_set& set) {
  std::string out;
  for (const wide_rule& rule : set.rules) {
    out += "priority=" + std::to_string(rule.priority);
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      const auto field = static_cast<wide_field>(i);
      if (rule.fields[i].bits == 0) continue;
      out += std::string(", ") + word_of(field) + "=" + format_value(field, rule.fields[i]);
    }
    out += "\n";
  }
  return out;
}

}  // namespace coua::bench
