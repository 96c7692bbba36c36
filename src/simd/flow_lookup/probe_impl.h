// SPDX-License-Identifier: Apache-2.0
//
// The kernel of probes.h over one way to compare tags.
#pragma once

#include "simd/flow_lookup/again.h"
#include "simd/flow_lookup/probes.h"

namespace coua::simd {
namespace {

template <class Match>
struct flow_probes {
  template <unsigned KeyWords>
  using one = flow_again<bloom, no_expiry, one_writer, flow_shape<KeyWords, 2>, Match>;

  /// What changes under a probe is a step that the writer completed: it ends as the others do.
  template <unsigned KeyWords>
  [[gnu::always_inline]] static bool find(const flow_probe& probe,
                                          flow_probe_value& value) noexcept {
    using answer = typename one<KeyWords>::answer;
    answer found;
    do {
      found = one<KeyWords>::attempt(*probe.view, probe.key, probe.hash, 0,
                                     reinterpret_cast<std::uint8_t*>(value.words));
    } while (found == answer::changed);
    return found == answer::hit;
  }

  static std::uint64_t run(const flow_probe* probes, unsigned n,
                           flow_probe_value* values) noexcept {
    std::uint64_t hits = 0;
    for (unsigned i = 0; i < n; ++i) {
      bool hit;
      switch (probes[i].view->key_words) {
        case 1: hit = find<1>(probes[i], values[i]); break;
        case 2: hit = find<2>(probes[i], values[i]); break;
        default: hit = find<0>(probes[i], values[i]);
      }
      hits |= std::uint64_t{hit} << i;
    }
    return hits;
  }
};

}  // namespace
}  // namespace coua::simd
