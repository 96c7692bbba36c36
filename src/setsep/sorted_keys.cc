// SPDX-License-Identifier: Apache-2.0
#include "setsep/sorted_keys.h"

#include <algorithm>
#include <new>

#include "base/parallel.h"

namespace coua::setsep {

sorted_keys::sorted_keys(std::span<const keyed_value> keys, extent blocks, unsigned threads)
    : begin_(blocks.n_blocks + std::size_t{1}) {
  auto memory = arena::create(std::max<std::size_t>(1, keys.size()) * sizeof(keyed_value),
                              {.populate_threads = threads});
  if (!memory) throw std::bad_alloc();
  memory_ = std::move(*memory);
  keyed_value* const to = this->keys();
  const auto share = [&](unsigned t) {
    const std::size_t from = keys.size() * t / threads;
    return keys.subspan(from, keys.size() * (t + 1) / threads - from);
  };
  std::vector<std::vector<std::uint64_t>> at(threads);
  in_parallel(threads, [&](unsigned t) {
    at[t].resize(blocks.n_blocks);
    for (const keyed_value& each : share(t)) ++at[t][blocks.block_of(each.hash)];
  });
  std::uint64_t sum = 0;
  for (std::size_t block = 0; block < blocks.n_blocks; ++block) {
    begin_[block] = sum;
    for (unsigned t = 0; t < threads; ++t) {
      const std::uint64_t n = at[t][block];
      at[t][block] = sum;
      sum += n;
    }
  }
  begin_[blocks.n_blocks] = sum;
  in_parallel(threads, [&](unsigned t) {
    for (const keyed_value& each : share(t)) to[at[t][blocks.block_of(each.hash)]++] = each;
  });
}

}  // namespace coua::setsep
