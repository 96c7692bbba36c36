// SPDX-License-Identifier: Apache-2.0
//
// All sets of look-up kernels give the same answers for the same table and keys, in every mode:
// those for tables in the second-level cache, beyond it, and far beyond it.
//
//   byte 0  layout; byte 1  share of slots to fill; byte 2  size of the steps of ahead and
//   pipeline; then one byte per key, which picks a present key, a neighbour of one, or any
#include <algorithm>
#include <memory>
#include <vector>

#include "coua/fib.h"
#include "fuzz.h"
#include "simd/fib_lookup/kernels.h"
#include "table/fib.h"

namespace {

using coua::isa;
using coua::simd::distance;
using coua::simd::fib_kernels;
using coua::simd::fib_reader_state;

struct raw_table {
  std::unique_ptr<coua::fib> fib;
  std::size_t n_slots;
};

constexpr std::uint64_t key_of(std::uint64_t i) {
  return (i * 0x9e3779b97f4a7c15) >> (64 - COUA_FIB_KEY_BITS);
}

raw_table make_table(coua_fib_layout layout, std::size_t sixteenths) {
  static const std::uint8_t hash_key[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.buckets = 16;
  params.value_bits = 2;
  params.layout = layout;
  params.hash_key = hash_key;
  params.populate_threads = 1;
  auto made = coua::fib::create(params);
  COUA_CHECK(made.has_value());
  std::size_t n_slots = 16 * (layout == COUA_FIB_LAYOUT_PACKED4 ? 4 : 8);
  for (std::size_t i = 0; i < n_slots * sixteenths / 16; i++) {
    coua_fib_record record{};
    record.key = key_of(i);
    record.value = i & 3;
    record.is_static = i % 5 == 0;
    (*made)->insert(record);
  }
  return {std::move(*made), n_slots};
}

/// Look-ups change nothing here (refreshes meet no stale age), so each table is made once.
const raw_table& kept_table(std::size_t layout, std::size_t sixteenths) {
  static raw_table tables[3][17];
  const coua_fib_layout layouts[] = {COUA_FIB_LAYOUT_PACKED8, COUA_FIB_LAYOUT_PACKED4,
                                     COUA_FIB_LAYOUT_WIDE8};
  raw_table& table = tables[layout][sixteenths];
  if (!table.fib) table = make_table(layouts[layout], sixteenths);
  return table;
}

/// The answers of one mode of one set.
using answers = std::vector<std::uint32_t>;

answers run_batch(const fib_kernels& kernels, const coua::fib& fib,
                  const std::vector<std::uint64_t>& keys) {
  fib_reader_state state;
  answers got(keys.size());
  std::size_t hits = kernels.batch(fib.view(), state, keys.data(), keys.size(), got.data());
  auto found = std::count_if(got.begin(), got.end(), [](auto e) { return e != COUA_FIB_MISS; });
  COUA_CHECK(hits == static_cast<std::size_t>(found));
  return got;
}

answers run_ahead(const fib_kernels& kernels, const coua::fib& fib,
                  const std::vector<std::uint64_t>& keys, std::size_t step) {
  fib_reader_state state;
  answers got(keys.size());
  for (std::size_t at = 0; at < keys.size(); at += step) {
    std::size_t n = std::min(step, keys.size() - at), next = at + n;
    kernels.ahead(fib.view(), state, keys.data() + at, n, got.data() + at, keys.data() + next,
                  std::min(step, keys.size() - next));
  }
  return got;
}

answers run_pipeline(const fib_kernels& kernels, const coua::fib& fib,
                     const std::vector<std::uint64_t>& keys, std::size_t step) {
  fib_reader_state state;
  answers got(keys.size() + coua::simd::fib_pipeline::capacity);
  std::size_t out = 0;
  for (std::size_t at = 0; at < keys.size(); at += step)
    out += kernels.pipeline(fib.view(), state, keys.data() + at, std::min(step, keys.size() - at),
                            got.data() + out);
  out += kernels.drain(fib.view(), state, got.data() + out);
  COUA_CHECK(out == keys.size());
  got.resize(out);
  return got;
}

answers run_refresh(const fib_kernels& kernels, const coua::fib& fib,
                    const std::vector<std::uint64_t>& keys) {
  fib_reader_state state;
  answers got(keys.size());
  kernels.refresh(fib.view(), state, keys.data(), keys.size(), got.data());
  return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coua::fuzz::input in(data, size);
  std::size_t layout_number = in.take<std::uint8_t>() % 3;
  const raw_table& table = kept_table(layout_number, in.take<std::uint8_t>() % 17);
  std::size_t step = 1 + in.take<std::uint8_t>() % 80;
  std::vector<std::uint64_t> keys;
  while (!in.empty() && keys.size() < 2000) {
    std::uint64_t pick = in.take<std::uint8_t>();
    keys.push_back(key_of(pick % table.n_slots) ^
                   (pick >= 192 ? std::uint64_t{1} << pick % 60 : 0));
  }
  const coua::fib& fib = *table.fib;
  auto layout = fib.geometry().layout;
  // What the writer sees is the truth.
  answers truth;
  for (std::uint64_t key : keys) {
    coua_fib_record r{};
    truth.push_back(!fib.find(key, r) ? COUA_FIB_MISS
                                      : r.value << COUA_FIB_ENTRY_VALUE_SHIFT |
                                            (r.is_static ? COUA_FIB_ENTRY_STATIC : 0));
  }
  for (isa set : {isa::generic, isa::avx2, isa::avx512}) {
    if (set > coua::active_isa()) break;
    for (distance where : {distance::far, distance::near}) {
      const fib_kernels& kernels = coua::simd::select_fib_kernels(layout, set, where);
      COUA_CHECK(kernels.instruction_set == set);
      COUA_CHECK(run_batch(kernels, fib, keys) == truth);
      COUA_CHECK(run_ahead(kernels, fib, keys, step) == truth);
      COUA_CHECK(run_pipeline(kernels, fib, keys, step) == truth);
      COUA_CHECK(run_refresh(kernels, fib, keys) == truth);
    }
  }
  return 0;
}
