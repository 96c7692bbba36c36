// SPDX-License-Identifier: Apache-2.0
#include "dp/switch_impl.h"

namespace coua::dp {

result<std::string> switch_impl::bridge_named(const std::string& name) const {
  const std::string& first = config_.bridges.front().name;
  if (name.empty() || name == first) return first;
  return fail(errc::not_found, "bridge " + name, "there is no such bridge");
}

result<void> switch_impl::add_bridge(const bridge_config& config) {
  return fail(errc::unsupported, "bridge " + config.name, "there is one bridge");
}

result<void> switch_impl::remove_bridge(const std::string& name) {
  if (auto found = bridge_named(name); !found) return tl::unexpected(found.error());
  return fail(errc::busy, "bridge " + name, "is the only one");
}

pipeline_owner* switch_impl::pipeline(const std::string& bridge) {
  return bridge_named(bridge) ? pipeline_.get() : nullptr;
}

void switch_impl::set_standalone(const std::string& bridge, bool on) {
  if (bridge_named(bridge)) shared_.standalone.store(on, std::memory_order_relaxed);
}

}  // namespace coua::dp
