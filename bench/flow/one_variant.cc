// SPDX-License-Identifier: Apache-2.0
//
// One variant of the flow table, with what a table of one thread needs of it and nothing else.
// Compiled once for each and never linked: count_lines.py reads from which lines of source the
// compiler made code.
#include "flow/cuckoo.h"
#include "simd/flow_lookup/kernel_impl.h"

namespace coua::bench {

using prune = simd::COUA_PRUNE;
using expiry = simd::COUA_EXPIRY;

/// How an instruction set compares tags is not a matter of the variant.
struct any_match {
  static constexpr std::size_t few_keys = SIZE_MAX;
  static constexpr const char* name = "any";
  template <bool Timed>
  static std::uint32_t find(const simd::flow_line&, std::uint32_t tag, std::uint64_t now) noexcept;
};

std::unique_ptr<flow_table> make_writer(const flow_geometry& geometry, const keyed_hash& hash,
                                        flow_memory memory) {
  return std::make_unique<flow_cuckoo<prune, expiry, simd::single>>(geometry, hash,
                                                                    std::move(memory), 0);
}

simd::flow_kernels make_readers() {
  using steps = simd::flow_steps<prune, expiry, simd::single, simd::flow_shape<2, 2>, any_match>;
  return simd::flow_kernel<steps>::set();
}

}  // namespace coua::bench
