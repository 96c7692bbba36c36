// SPDX-License-Identifier: Apache-2.0
#include "dp/bench_hooks.h"

#include "dp/switch_impl.h"

namespace coua::dp {

// There is one implementation of l2_switch.
void set_raw_io(l2_switch& target, bool on) { static_cast<switch_impl&>(target).set_raw_io(on); }
void set_paused(l2_switch& target, bool on) { static_cast<switch_impl&>(target).set_paused(on); }
std::size_t fib_store(l2_switch& target, std::span<const coua_fib_record> records) {
  return static_cast<switch_impl&>(target).fib_store(records);
}
std::size_t fib_remove(l2_switch& target, std::span<const std::uint64_t> keys) {
  return static_cast<switch_impl&>(target).fib_remove(keys);
}
unsigned packets_in_use(const l2_switch& target) {
  return static_cast<const switch_impl&>(target).packets_in_use();
}

}  // namespace coua::dp
