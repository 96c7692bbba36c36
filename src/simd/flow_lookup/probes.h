// SPDX-License-Identifier: Apache-2.0
//
// Single keys looked up in many tables: each probe names its own. For tuple space search, where the
// keys of one burst go to different subtables. Tables of one kind: bloom, without timers, one
// writer, values of two words.
//
// The caller hashes and fetches the primary buckets (`fetch_probe`) before it probes: so the
// buckets of all probes travel at once, whatever table they belong to.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "simd/flow_lookup/view.h"

namespace coua::simd {

struct flow_probe {
  static constexpr unsigned max = 64;  // at once
  const flow_view* view;
  const std::uint64_t* key;  // view->key_words words
  std::uint64_t hash;
};

struct flow_probe_value {
  std::uint64_t words[2];
};

[[gnu::always_inline]] inline void fetch_probe(const flow_probe& probe) noexcept {
  __builtin_prefetch(&probe.view->lines[home_bucket(probe.hash, probe.view->n_buckets)], 0, 3);
}

/// Looks up to 64 probes up. Returns a bit for each that was found, and writes its value. Any
/// number of threads, while the tables' writers run.
using flow_probe_kernel = std::uint64_t (*)(const flow_probe* probes, unsigned n,
                                            flow_probe_value* values) noexcept;

flow_probe_kernel select_flow_probes(isa instruction_set);

}  // namespace coua::simd
