// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/action.h"

#include <algorithm>
#include <cstdio>

#include "pipeline/model/learn.h"

namespace coua::pipeline {
namespace {

std::string with_type(const char* name, std::uint16_t ethertype) {
  char text[32];
  std::snprintf(text, sizeof text, "%s:0x%04x", name, ethertype);
  return text;
}

std::string output_text(const act::output& to) {
  if (to.port != port_controller) {
    return is_standard_port(to.port) && to.port != port_local ? "output:" + std::to_string(to.port)
                                                              : port_name(to.port);
  }
  return "CONTROLLER:" + std::to_string(to.max_len);
}

std::string resubmit_text(const act::resubmit& to) {
  const std::string port = to.in_port == port_in_port ? "" : port_name(to.in_port);
  if (!to.table) return "resubmit:" + (port.empty() ? port_name(port_in_port) : port);
  return "resubmit(" + port + "," + std::to_string(*to.table) + ")";
}

}  // namespace

std::optional<port_no> port_of_bits(value128 number) {
  if (number > 0xffff) return std::nullopt;
  const auto to = static_cast<port_no>(number);
  if (to < 0xff00) return to;
  switch (const port_no reserved = to | 0xffff'0000) {
    case port_in_port:
    case port_normal:
    case port_flood:
    case port_all:
    case port_controller:
    case port_local: return reserved;
    default: return std::nullopt;
  }
}

std::string to_string(const action& one) {
  return std::visit(
      overloaded{
          [](const act::output& a) { return output_text(a); },
          [](const act::group& a) { return "group:" + std::to_string(a.id); },
          [](const act::set_queue& a) { return "set_queue:" + std::to_string(a.queue); },
          [](const act::push_vlan& a) { return with_type("push_vlan", a.ethertype); },
          [](const act::pop_vlan&) { return std::string("pop_vlan"); },
          [](const act::push_mpls& a) { return with_type("push_mpls", a.ethertype); },
          [](const act::pop_mpls& a) { return with_type("pop_mpls", a.ethertype); },
          [](const act::set_field& a) {
            return "set_field:" + format_value(a.which, a.value, a.mask) + "->" +
                   info(a.which).name;
          },
          [](const act::set_ip_ttl& a) { return "mod_nw_ttl:" + std::to_string(a.ttl); },
          [](const act::dec_ip_ttl&) { return std::string("dec_ttl"); },
          [](const act::set_mpls_ttl& a) { return "set_mpls_ttl(" + std::to_string(a.ttl) + ")"; },
          [](const act::dec_mpls_ttl&) { return std::string("dec_mpls_ttl"); },
          [](const act::copy_ttl_out&) { return std::string("copy_ttl_out"); },
          [](const act::copy_ttl_in&) { return std::string("copy_ttl_in"); },
          [](const act::move& a) { return "move:" + to_string(a.from) + "->" + to_string(a.to); },
          [](const act::conjunction& a) {
            return "conjunction(" + std::to_string(a.id) + "," + std::to_string(a.clause + 1) +
                   "/" + std::to_string(a.n_clauses) + ")";
          },
          [](const act::resubmit& a) { return resubmit_text(a); },
          [](const act::learn& a) { return to_string(a); },
          [](const act::output_bits& a) {
            const std::string port = to_string(a.from);
            if (a.max_len == controller_max_len_all) return "output:" + port;
            return "output(port=" + port + ",max_len=" + std::to_string(a.max_len) + ")";
          },
      },
      one);
}

std::string to_string(const action_list& list) {
  if (list.empty()) return "drop";
  std::string text;
  for (const action& one : list) {
    if (!text.empty()) text += ',';
    text += to_string(one);
  }
  return text;
}

bool outputs_to(const action_list& list, port_no port) {
  return std::any_of(list.begin(), list.end(), [port](const action& one) {
    const auto* output = std::get_if<act::output>(&one);
    return output != nullptr && output->port == port;
  });
}

bool sends_to_group(const action_list& list, group_id group) {
  return std::any_of(list.begin(), list.end(), [group](const action& one) {
    const auto* to = std::get_if<act::group>(&one);
    return to != nullptr && to->id == group;
  });
}

}  // namespace coua::pipeline
