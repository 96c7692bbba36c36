// SPDX-License-Identifier: Apache-2.0
//
// Learning, the worker's side: compare each source with what the FIB says about it, and report
// those that are new, moved, or not refreshed in this epoch. A port that is closed, because it has
// learned all that it may, brings no frames from others: of its bursts the rest goes on.
#include <rte_mbuf.h>

#include "dp/l2/egress.h"
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
  if (unknown != 0) [[unlikely]]
    learn_unknown(b, unknown);
}

[[gnu::noinline, gnu::cold]] void worker::learn_unknown(burst& b, std::uint64_t unknown) noexcept {
  const bool closed = (shared_.closed.load(std::memory_order_acquire) & port_bit(b.port)) != 0;
  std::uint64_t strangers = 0;
  for (; unknown != 0; unknown &= unknown - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(unknown));
    report(b, i);
    if (closed && is_stranger(b, i)) strangers |= std::uint64_t{1} << i;
  }
  if (strangers != 0) drop_strangers(b, strangers);
}

/// Of a port that is closed. The burst may have been looked up before the address was learned that
/// closed it, so the FIB is asked once more.
bool worker::is_stranger(const burst& b, unsigned i) noexcept {
  return dp::is_stranger(coua_fib_lookup(reader_, b.source(i)), b.port);
}

/// What is known of the sources stays behind: nothing asks for it once they have been learned.
void worker::drop_strangers(burst& b, std::uint64_t strangers) noexcept {
  const unsigned n = b.n;
  unsigned kept = 0;
  for (unsigned i = 0; i < n; ++i) {
    if ((strangers >> i & 1) != 0) {
      count_drop(b.port, b.mbufs[i], port_counter::drop_mac_limit);
      rte_pktmbuf_free(b.mbufs[i]);
      continue;
    }
    b.mbufs[kept] = b.mbufs[i];
    b.keys[kept] = b.keys[i];
    b.entries[kept] = b.entries[i];
    if (!b.uniform) {
      b.domain[kept] = b.domain[i];
      b.tag[kept] = b.tag[i];
    }
    ++kept;
  }
  b.n = kept;
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
