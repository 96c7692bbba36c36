// SPDX-License-Identifier: Apache-2.0
#include "table/fib.h"

#include <bit>
#include <cstring>

#include "base/hash_key.h"
#include "table/fib_make.h"

namespace coua {
namespace {

constexpr unsigned default_search_budget = 2048;

page_kind to_page_kind(enum coua_fib_pages pages) {
  switch (pages) {
    case COUA_FIB_PAGES_1G: return page_kind::gib1;
    case COUA_FIB_PAGES_2M: return page_kind::mib2;
    case COUA_FIB_PAGES_TRANSPARENT: return page_kind::transparent;
    case COUA_FIB_PAGES_4K: return page_kind::kib4;
    default: return page_kind::automatic;
  }
}

result<void> check(const coua_fib_params& params) {
  if (params.pages < COUA_FIB_PAGES_AUTO || params.pages > COUA_FIB_PAGES_4K) {
    return fail(errc::invalid, "pages",
                "is not a value of enum coua_fib_pages that can be asked for");
  }
  if (params.search_budget > (1u << 20)) {
    return fail(errc::invalid, "search_budget", "must be at most 1,048,576 buckets");
  }
  if ((params.allocate == nullptr) != (params.release == nullptr)) {
    return fail(errc::invalid, "allocate", "and release must be given together");
  }
  return {};
}

result<key_permutation> make_permutation(const std::uint8_t* given) {
  std::uint64_t secret[4];
  if (given != nullptr) {
    std::memcpy(secret, given, sizeof secret);
  } else {
    const auto drawn = draw_hash_key();
    if (!drawn) return tl::unexpected(drawn.error());
    static_assert(sizeof(hash_key) >= sizeof secret);
    std::memcpy(secret, drawn->data(), sizeof secret);
  }
  return key_permutation::create(secret);
}

}  // namespace

result<fib_parts> fib_parts::create(const coua_fib_params& params) {
  if (auto checked = check(params); !checked) return tl::unexpected(checked.error());
  const auto geometry = fib_geometry::plan(params);
  if (!geometry) return tl::unexpected(geometry.error());
  const auto keys = make_permutation(params.hash_key);
  if (!keys) return tl::unexpected(keys.error());

  arena_params memory_params{};
  memory_params.pages = to_page_kind(params.pages);
  memory_params.numa_node = params.numa_node;
  memory_params.populate_threads = params.populate_threads;
  memory_params.allocate = params.allocate;
  memory_params.release = params.release;
  memory_params.context = params.context;
  auto memory = arena::create(geometry->bytes(), memory_params, 128);
  if (!memory) return tl::unexpected(memory.error());
  const std::uint64_t n_stripes = std::min(max_stripes, std::bit_floor(geometry->n_buckets));
  arena_params stamp_params = memory_params;
  stamp_params.pages = page_kind::automatic;
  auto stamps = arena::create(n_stripes * sizeof(std::uint64_t), stamp_params, 64);
  if (!stamps) return tl::unexpected(stamps.error());

  const unsigned budget = params.search_budget != 0 ? params.search_budget : default_search_budget;
  return fib_parts{*geometry, std::move(*memory), std::move(*stamps), *keys, budget};
}

result<std::unique_ptr<fib>> fib::create(const coua_fib_params& params) {
  auto parts = fib_parts::create(params);
  if (!parts) return tl::unexpected(parts.error());
  const simd::fib_layout layout = parts->geometry.layout;
  std::unique_ptr<fib> table;
  switch (layout) {
    case simd::fib_layout::packed8:
      table = make_fib_table<simd::packed8, move_stamps>(std::move(*parts));
      break;
    case simd::fib_layout::packed4:
      table = make_fib_table<simd::packed4, move_stamps>(std::move(*parts));
      break;
    case simd::fib_layout::wide8:
      table = make_fib_table<simd::wide8, move_stamps>(std::move(*parts));
      break;
  }
  return table;
}

}  // namespace coua
