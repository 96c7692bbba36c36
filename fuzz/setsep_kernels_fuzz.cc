// SPDX-License-Identifier: Apache-2.0
//
// All sets of look-up kernels give the same values for the same blocks and keys, all searches find
// the same function for the same keys, and all checksums of the input are the same.
//
//   byte 0  bits of a value; byte 1  layout, near or far, how many functions are searched; byte 2
//   first blocks; byte 3  further blocks, and keys of the value 1; byte 4  keys; then 16 bytes for
//   each key; then blocks, from their start
#include <algorithm>
#include <vector>

#include "fuzz.h"
#include "simd/crc32c/kernels.h"
#include "simd/index_search/kernels.h"
#include "simd/setsep_lookup/kernels.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua;
  fuzz::input in(data, size);
  setsep::layout shape;
  shape.value_bits = 1 + in.take<std::uint8_t>() % setsep::value_bits_max;
  const auto kind = in.take<std::uint8_t>();
  shape.index_bytes = 1 + kind % 2;
  shape.array_bytes = 1 + kind / 2 % 2;
  const std::uint32_t first = 1 + in.take<std::uint8_t>() % 5;
  const auto further = in.take<std::uint8_t>();
  const setsep::extent extent{first, first + further % 20U};
  const std::size_t n = 1 + in.take<std::uint8_t>() % simd::setsep_batch;
  setsep::key_hash hashes[simd::setsep_batch];
  for (std::size_t i = 0; i < n; ++i) hashes[i] = in.take<setsep::key_hash>();
  std::vector<std::uint32_t> words(extent.n_blocks * shape.block_bytes() / 4 +
                                   setsep::slack_bytes / 4);
  std::uint32_t last = 1;
  for (std::uint32_t& each : words) {
    each = in.empty() ? (last = last * 1664525 + 1013904223) : in.take<std::uint32_t>();
  }

  const simd::setsep_view view{words.data(), shape, kind / 4 % 2 != 0};
  struct answer {
    std::uint16_t values[simd::setsep_batch] = {};
    std::uint32_t failed = 0;
  } answers[3];
  for (const isa set : {isa::generic, isa::avx2, isa::avx512}) {
    if (set > best_isa()) break;
    const auto& kernels = simd::select_setsep_kernels(set, words.size() * 4);
    answer& one = answers[static_cast<int>(set)];
    simd::setsep_keys keys;
    kernels.locate(view, extent, hashes, n, keys);
    kernels.choose(view, n, keys);
    one.failed = kernels.resolve(view, n, keys, one.values);
    COUA_CHECK(one.failed == answers[0].failed);
    COUA_CHECK(std::equal(one.values, one.values + n, answers[0].values));
  }

  std::uint32_t base[simd::setsep_batch], step[simd::setsep_batch];
  for (std::size_t i = 0; i < n; ++i) {
    base[i] = base_of(hashes[i]);
    step[i] = step_of(hashes[i]);
  }
  const simd::separation_keys keys{base, step, static_cast<unsigned>(further % (n + 1)),
                                   static_cast<unsigned>(n)};
  // As many as a record counts, and some that no vector's number of lanes divides well.
  const std::uint32_t n_functions = kind / 8 % 2 == 0 ? shape.failed() + 1 : 32U * (1 + kind / 16);
  const simd::separation found = simd::generic_index_search(keys, shape.place_bits(), n_functions);
  const std::uint32_t crc = simd::generic_crc32c(data, size, 0);
  for (const isa set : {isa::avx2, isa::avx512}) {
    if (set > best_isa()) break;
    COUA_CHECK(simd::select_index_search(set)(keys, shape.place_bits(), n_functions) == found);
    COUA_CHECK(simd::select_crc32c(set)(data, size, 0) == crc);
  }
  return 0;
}
