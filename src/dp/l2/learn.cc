// SPDX-License-Identifier: Apache-2.0
//
// Learning, the worker's side: compare each source with what the FIB says about it, and report
// those that are new, moved, or not refreshed in this epoch.
#include "dp/worker.h"

namespace coua::dp {

void worker::learn(burst& b) noexcept {
  const std::uint32_t here = b.port << COUA_FIB_ENTRY_VALUE_SHIFT;
  const std::uint32_t fresh = here | epoch_;
  const std::uint32_t fixed = here | COUA_FIB_ENTRY_STATIC;
  const std::uint32_t* sources = b.entries.data() + b.n;
  std::uint64_t unknown = 0;
  for (unsigned i = 0; i < b.n; ++i) {
    const bool known = sources[i] == fresh || (sources[i] & ~COUA_FIB_ENTRY_AGE_MASK) == fixed;
    unknown |= std::uint64_t{!known} << i;
  }
  for (; unknown != 0; unknown &= unknown - 1)
    report(b, static_cast<unsigned>(std::countr_zero(unknown)));
}

[[gnu::noinline, gnu::cold]] void worker::report(const burst& b, unsigned i) noexcept {
  const std::uint32_t entry = b.entries[b.n + i];
  const counters::row count = port_counters_.of(b.port);
  if (entry != COUA_FIB_MISS && (entry & COUA_FIB_ENTRY_STATIC) != 0) {
    count.add(port_counter::source_static_elsewhere);
    return;
  }
  const std::uint64_t key = b.source(i);
  if (suppress_.is_repeat(key, b.port, now_)) {
    count.add(port_counter::learn_suppressed);
    return;
  }
  if (!ring_.push({key, now_, b.port, 0})) {
    count.add(port_counter::learn_ring_full);
    return;
  }
  count.add(port_counter::learn_reports);
  suppress_.remember(key, b.port, now_);
}

}  // namespace coua::dp
