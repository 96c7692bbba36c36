// SPDX-License-Identifier: Apache-2.0
//
// Between the messages of the API and the structs of the switch. Whatever a client sends ends in a
// valid struct or in an error that names the field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "coua/v1/fib.pb.h"
#include "coua/v1/port.pb.h"
#include "coua/v1/system.pb.h"
#include "dp/switch.h"

namespace coua::ctl {

result<dp::port_config> to_port_config(const v1::PortSpec& spec);
/// `base` with the fields that are present in `change`.
result<dp::port_config> with_changes(dp::port_config base, const v1::SetPortRequest& change);
void to_message(const dp::port_status& port, v1::Port& out);

template <typename Counters>
void to_messages(const std::vector<dp::counter>& counters, Counters& out) {
  for (const auto& counter : counters) {
    auto* added = out.Add();
    added->set_name(counter.name);
    added->set_value(counter.value);
  }
}

result<std::uint16_t> to_vlan(std::uint32_t vlan);
/// Any address.
result<std::uint64_t> to_mac(const std::string& text);
/// An address that an entry may be added for.
result<std::uint64_t> to_fib_mac(const std::string& text);
/// The name is checked, then looked up: invalid or not_found.
result<unsigned> to_port_number(const std::vector<dp::port_status>& ports, const std::string& name);
/// "#7" when there is no such port any more.
std::string port_name(const std::vector<dp::port_status>& ports, unsigned number);
result<dp::fib_filter> to_filter(const dp::l2_switch& sw, const v1::FibFilter& filter);

}  // namespace coua::ctl
