// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/held_interfaces.h"

#include <net/if.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "dp/drivers/devargs.h"
#include "dp/drivers/kernel_interface.h"

namespace coua::dp {
namespace {

struct interface_state {
  std::string port;           // empty: no port has it
  unsigned index = 0;         // that the kernel had for it then; 0: it was not there
  std::uint64_t left_at = 0;  // 0: no queue was left
};

std::map<std::string, interface_state>& states() {
  static std::map<std::string, interface_state> all;
  return all;
}

/// Of a TAP interface whose port is not there yet: it has a carrier, which comes from a program
/// that has it open. Each of the two would get some of its frames.
bool is_of_another_program(const std::string& devargs, unsigned index) {
  return devargs.starts_with("net_tap") && index != 0 &&
         kernel_interface::of("net_af_packet", index).look() == kernel_interface::state::up;
}

}  // namespace

held_interfaces::held_interfaces(held_interfaces&& other) noexcept
    : names_(std::exchange(other.names_, {})) {}

held_interfaces& held_interfaces::operator=(held_interfaces&& other) noexcept {
  std::swap(names_, other.names_);
  return *this;
}

result<held_interfaces> held_interfaces::take(const std::string& devargs, const std::string& port) {
  held_interfaces taken;
  for (const std::string& name : interfaces_in(devargs)) {
    const unsigned index = if_nametoindex(name.c_str());
    const auto other = std::ranges::find_if(states(), [&](const auto& each) {
      const auto& [its_name, its] = each;
      return !its.port.empty() && (its_name == name || (index != 0 && its.index == index));
    });
    if (other != states().end() && other->second.port == port) continue;  // by another name
    if (other != states().end())
      return fail(
          errc::exists, port,
          "interface " + name + " is that of " + other->second.port +
              ": one port has an interface" +
              (devargs.starts_with("net_af_xdp") ? " (queue_count= gives it more queues)" : ""));
    if (is_of_another_program(devargs, index))
      return fail(errc::exists, port,
                  "interface " + name +
                      " is there and has a carrier: another program, perhaps another couad, has "
                      "it; give iface= another name, or end that program");
    interface_state& its = states()[name];
    its.port = port;
    its.index = index;
    taken.names_.push_back(name);
  }
  return taken;
}

void held_interfaces::give_back() {
  for (const std::string& name : std::exchange(names_, {})) {
    const auto its = states().find(name);
    its->second.port.clear();
    if (its->second.left_at == 0) states().erase(its);
  }
}

void held_interfaces::left_queue() const {
  for (const std::string& name : names_) states()[name].left_at = now_ns();
}

bool held_interfaces::was_left_lately() const {
  return std::ranges::any_of(names_, [](const std::string& name) {
    const std::uint64_t left_at = states()[name].left_at;
    return left_at != 0 && now_ns() < left_at + is_left_ns;
  });
}

}  // namespace coua::dp
