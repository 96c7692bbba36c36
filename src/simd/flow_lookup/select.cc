// SPDX-License-Identifier: Apache-2.0
#include "simd/flow_lookup/kernel_sets.h"
#include "simd/flow_lookup/sets.h"

namespace coua::simd {

flow_reader_state::flow_reader_state(const flow_view& view)
    : is_near(view.n_buckets * sizeof(flow_line) <= near_bytes) {
  const std::size_t n_keys = std::size_t{flow_group::size} * view.key_words;
  const std::size_t n_values = std::size_t{flow_group::size} * view.value_words;
  memory_.resize((n_keys + n_values) * ring.size() + n_keys * batch.size());
  std::uint64_t* next = memory_.data();
  for (flow_group& group : ring) {
    group.keys = next;
    group.values = reinterpret_cast<std::uint8_t*>(next + n_keys);
    next += n_keys + n_values;
  }
  for (flow_group& group : batch) {
    group.keys = next;
    next += n_keys;
  }
}

const flow_kernels& select_flow_kernels(flow_kind kind, unsigned key_words, unsigned value_bytes,
                                        isa instruction_set) {
  flow_shapes shape = shape_any;
  if (key_words == 5) shape = shape_5;
  if (key_words == 2) {
    shape = shape_2;
    if (value_bytes == 16) shape = shape_2_2;
    if (value_bytes != 0 && value_bytes <= 8) shape = shape_2_1;
  }
#if defined(__x86_64__)
  if (instruction_set == isa::avx512 && kind.variant == flow_variant::bloom) {
    return avx512_bloom_kernels(kind, shape);
  }
  // The tags and timers of a bucket are one load of AVX2.
  if (instruction_set != isa::generic) return avx2_flow_kernels(kind, shape);
#endif
  return generic_flow_kernels(kind, shape);
}

flow_probe_kernel select_flow_probes(isa instruction_set) {
#if defined(__x86_64__)
  if (instruction_set != isa::generic) return avx2_flow_probes();
#endif
  return generic_flow_probes();
}

}  // namespace coua::simd
