// SPDX-License-Identifier: Apache-2.0
//
// One key after the other. Words are read atomically: this is the set that ThreadSanitizer looks
// into. `at` is in lines of the table, so that any table fits.
#include "base/prefetch.h"
#include "simd/setsep_lookup/kernels.h"

namespace coua::simd {
namespace {

constexpr unsigned line_words = 16;

/// Four bytes at any address, of aligned words.
[[gnu::always_inline]] inline std::uint32_t load_four(const std::uint32_t* words,
                                                      std::size_t byte) noexcept {
  const std::uint32_t* from = words + byte / 4;
  const std::uint64_t both = load_acquire(from) | std::uint64_t{load_acquire(from + 1)} << 32;
  return static_cast<std::uint32_t>(both >> byte % 4 * 8);
}

void locate(const setsep_view& view, setsep::extent extent, const setsep::key_hash* hashes,
            std::size_t n, setsep_keys& keys) noexcept {
  const std::uint32_t block_lines = view.shape.block_bytes() / 64;
  for (std::size_t i = 0; i < n; ++i) {
    keys.at[i] = extent.block_of(hashes[i]) * block_lines;
    keys.bucket[i] = setsep::bucket_of(hashes[i]);
    keys.base[i] = setsep::base_of(hashes[i]);
    keys.step[i] = setsep::step_of(hashes[i]);
    prefetch_to_second_level(view.blocks + std::size_t{keys.at[i]} * line_words);
  }
}

/// The group takes the place of the bucket.
void choose(const setsep_view& view, std::size_t n, setsep_keys& keys) noexcept {
  const unsigned group_bytes = view.shape.group_bytes();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t* block = view.blocks + std::size_t{keys.at[i]} * line_words;
    const unsigned bucket = keys.bucket[i];
    const unsigned choice = load_acquire(block + bucket / 16) >> bucket % 16 * 2 & 3;
    keys.bucket[i] = setsep::group_of(bucket, choice);
    const auto* record =
        reinterpret_cast<const char*>(block + line_words) + keys.bucket[i] * group_bytes;
    prefetch_to_second_level(record);
    prefetch_to_second_level(record + group_bytes - 1);
  }
}

std::uint32_t resolve(const setsep_view& view, std::size_t n, const setsep_keys& keys,
                      std::uint16_t* values) noexcept {
  const setsep::layout shape = view.shape;
  std::uint32_t failed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t* groups = view.blocks + std::size_t{keys.at[i]} * line_words + line_words;
    std::size_t at = std::size_t{keys.bucket[i]} * shape.group_bytes();
    unsigned value = 0;
    for (unsigned bit = 0; bit < shape.value_bits; ++bit, at += shape.part_bytes()) {
      const setsep::group_part part = split_part(shape, load_four(groups, at));
      if (bit == 0 && part.index == shape.failed()) {
        failed |= std::uint32_t{1} << i;
        break;
      }
      value |= bit_of(shape, part, keys.base[i], keys.step[i]) << bit;
    }
    values[i] = static_cast<std::uint16_t>(value);
  }
  return failed;
}

}  // namespace

const setsep_kernels generic_setsep_kernels{isa::generic, &locate, &choose, &resolve};

}  // namespace coua::simd
