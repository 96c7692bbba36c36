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

/// A port for as long as it is there: its number alone may be given to another one.
struct port_id {
  unsigned number = 0, serial = 0;
  bool operator==(const port_id&) const = default;
};

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
result<port_id> to_port_id(const std::vector<dp::port_status>& ports, const std::string& name);
/// Null when it is gone.
const dp::port_status* find_port(const std::vector<dp::port_status>& ports, port_id id);
/// "#7" when there is no such port any more.
std::string port_name(const std::vector<dp::port_status>& ports, unsigned number);
result<dp::fib_filter> to_filter(const dp::l2_switch& sw, const v1::FibFilter& filter);

}  // namespace coua::ctl
