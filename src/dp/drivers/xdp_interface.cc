// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/xdp_interface.h"

#include <map>

#include "base/clock.h"
#include "dp/drivers/devargs.h"

namespace coua::dp {
namespace {

struct interface_state {
  std::string port;           // empty: no port has it
  std::uint64_t left_at = 0;  // 0: none was there
};

std::map<std::string, interface_state>& states() {
  static std::map<std::string, interface_state> all;
  return all;
}

}  // namespace

xdp_interface::xdp_interface(xdp_interface&& other) noexcept
    : name_(std::exchange(other.name_, {})) {}

xdp_interface& xdp_interface::operator=(xdp_interface&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}

result<xdp_interface> xdp_interface::take(const std::string& devargs, const std::string& port) {
  const std::string name = text_in(devargs, "iface");
  if (!devargs.starts_with("net_af_xdp") || name.empty()) return xdp_interface();
  std::string& has = states()[name].port;
  if (!has.empty())
    return fail(errc::exists, port,
                "interface " + name + " is that of " + has +
                    ": one AF_XDP port has an interface (queue_count= gives it more queues)");
  has = port;
  return xdp_interface(name);
}

void xdp_interface::give_back() {
  if (!name_.empty()) states()[std::exchange(name_, {})].port.clear();
}

void xdp_interface::left_queue() const {
  if (!name_.empty()) states()[name_].left_at = now_ns();
}

bool xdp_interface::was_left_lately() const {
  if (name_.empty()) return false;
  const std::uint64_t left_at = states()[name_].left_at;
  return left_at != 0 && now_ns() < left_at + is_left_ns;
}

}  // namespace coua::dp
