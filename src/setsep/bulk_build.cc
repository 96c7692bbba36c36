// SPDX-License-Identifier: Apache-2.0
#include "setsep/bulk_build.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "base/parallel.h"
#include "setsep/block_builder.h"
#include "setsep/sorted_keys.h"

namespace coua::setsep {
namespace {

// Blocks that a thread takes at a time: some ten milliseconds.
constexpr std::uint64_t chunk_blocks = 16;

result<void> check(std::span<const keyed_value> keys, const build_params& params) {
  const auto bad = [](const std::string& what) { return fail(errc::invalid, "setsep", what); };
  if (params.threads < 1 || params.threads > 256) return bad("there are 1 to 256 threads");
  std::atomic<std::size_t> first_bad{keys.size()};
  in_parallel(params.threads, [&](unsigned t) {
    const std::size_t end = keys.size() * (t + 1) / params.threads;
    for (std::size_t i = keys.size() * t / params.threads; i < end; ++i) {
      if (keys[i].value >> params.shape.value_bits == 0) continue;
      std::size_t now = first_bad.load();
      while (i < now && !first_bad.compare_exchange_weak(now, i)) {
      }
      return;
    }
  });
  const std::size_t i = first_bad.load();
  if (i == keys.size()) return {};
  return bad("key " + std::to_string(i) + ": the value " + std::to_string(keys[i].value) +
             " has more than " + std::to_string(params.shape.value_bits) + " bits");
}

}  // namespace

std::uint64_t blocks_for(std::uint64_t n_keys) {
  return std::max<std::uint64_t>(1, (n_keys + block_keys - 1) / block_keys);
}

result<void> build_into(
    table& into, std::span<const keyed_value> keys, const build_params& params,
    const std::function<void(std::uint64_t block, std::span<const keyed_value> keys)>& kept) {
  if (auto good = check(keys, params); !good) return good;
  const extent size = into.size();
  const sorted_keys sorted(keys, size, params.threads);
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;  // of what follows, and the progress
  std::uint64_t n_done = 0;
  std::vector<keyed_value> all;
  in_parallel(params.threads, [&](unsigned) {
    block_builder builder(params.shape, params.instruction_set);
    std::vector<keyed_value> failed;
    for (;;) {
      const std::uint64_t first = next.fetch_add(chunk_blocks, std::memory_order_relaxed);
      if (first >= size.n_blocks) break;
      const std::uint64_t end = std::min<std::uint64_t>(first + chunk_blocks, size.n_blocks);
      for (std::uint64_t i = first; i < end; ++i) {
        builder.build(sorted.of(i), into.block_to_fill(i), failed);
        if (kept) kept(i, sorted.of(i));
      }
      const std::lock_guard hold(mutex);
      n_done += end - first;
      if (params.progress) params.progress(n_done, size.n_blocks);
    }
    const std::lock_guard hold(mutex);
    all.insert(all.end(), failed.begin(), failed.end());
  });
  // A key with two values is here: nothing separates it.
  std::sort(all.begin(), all.end(), [](const keyed_value& a, const keyed_value& b) {
    return before(a.hash, b.hash) || (a.hash == b.hash && a.value < b.value);
  });
  const auto twice =
      std::adjacent_find(all.begin(), all.end(), [](const keyed_value& a, const keyed_value& b) {
        return a.hash == b.hash && a.value != b.value;
      });
  if (twice != all.end()) {
    return fail(errc::exists, "setsep",
                "a key has two values, " + std::to_string(twice->value) + " and " +
                    std::to_string((twice + 1)->value));
  }
  for (const keyed_value& each : all) into.put_fallback(each);
  return {};
}

result<std::unique_ptr<table>> build_table(std::span<const keyed_value> keys,
                                           const build_params& params) {
  const std::uint64_t n = blocks_for(keys.size());
  const std::uint64_t room = std::max(n, blocks_for(params.keys_room));
  if (room > n_blocks_max) {
    return fail(
        errc::invalid, "setsep",
        "there are " + std::to_string(std::uint64_t{n_blocks_max} * block_keys) + " keys at most");
  }
  const auto n32 = static_cast<std::uint32_t>(n);
  auto made = table::create({.shape = params.shape,
                             .size = {n32, n32},
                             .n_blocks_room = static_cast<std::uint32_t>(room),
                             .instruction_set = params.instruction_set,
                             .memory = params.memory});
  if (!made) return made;
  if (auto built = build_into(**made, keys, params); !built) {
    return tl::unexpected(std::move(built.error()));
  }
  return made;
}

}  // namespace coua::setsep
