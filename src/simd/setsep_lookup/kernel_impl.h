// SPDX-License-Identifier: Apache-2.0
//
// The stages of kernels.h over one kind of vector. All offsets are of bytes, from the start of the
// blocks, and below 2^31.
#pragma once

#include "base/atomic_word.h"
#include "base/prefetch.h"
#include "simd/setsep_lookup/kernels.h"

// ThreadSanitizer would report reads of words that are written meanwhile. What they mean is found
// out by the table, and its generic kernels are looked into.
#define COUA_SETSEP_READS [[gnu::noinline]] __attribute__((no_sanitize("thread")))
#define COUA_SETSEP_INLINE [[gnu::always_inline]] __attribute__((no_sanitize("thread"))) inline

namespace coua::simd {
namespace {

/// A layout whose numbers the compiler knows: 16+8.
template <unsigned ValueBits>
struct usual_shape {
  static constexpr setsep::layout as{ValueBits, 2, 1};
};
/// Any other.
struct given_shape {
  setsep::layout as;
};

/// `Vector`: `lanes` words of 32 bits in `words`, whose operations are named for what they do. Keys
/// are in the order in which load_hashes() leaves them; store_values() restores theirs.
///
/// Words are read from the table one after the other and put together in registers: gathers take
/// more steps a word on most processors, and a buffer in memory would have to be written before a
/// vector of it can be loaded, until when all that comes later waits.
template <class Vector>
struct setsep_stages {
  static constexpr std::size_t lanes = Vector::lanes;

  static void locate(const setsep_view& view, setsep::extent extent, const setsep::key_hash* hashes,
                     std::size_t n, setsep_keys& keys) noexcept {
    const block_function blocks(extent, view.shape);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) blocks.apply(hashes + i, keys, i);
    if (i < n) {
      setsep::key_hash padded[lanes] = {};
      for (std::size_t k = 0; i + k < n; ++k) padded[k] = hashes[i + k];
      blocks.apply(padded, keys, i);
    }
    if (load_relaxed(&view.near)) return;
    const std::uint8_t* const from = bytes_of(view);
    for (i = 0; i < round_up(n); ++i) prefetch_to_second_level(from + keys.at[i]);
  }

  COUA_SETSEP_READS static void choose(const setsep_view& view, std::size_t n,
                                       setsep_keys& keys) noexcept {
    const std::uint8_t* const from = bytes_of(view);
    const std::size_t end = round_up(n);
    const Vector group_bytes = Vector::all(view.shape.group_bytes());
    for (std::size_t i = 0; i < end; i += lanes) {
      const Vector bucket = Vector::load(keys.bucket + i);
      const Vector choices = Vector::words_at(from, keys.at + i);
      const Vector choice = choices.right((bucket + bucket) & Vector::all(6)) & Vector::all(3);
      const Vector group = ((bucket * Vector::pick(setsep::group_factor, choice) +
                             Vector::pick(setsep::group_addend, choice)) &
                            Vector::all(setsep::block_buckets - 1))
                               .template right<2>();
      const Vector block = Vector::load(keys.at + i) - bucket.template right<2>();
      (block + Vector::all(setsep::choice_bytes) + group * group_bytes).store(keys.at + i);
    }
    if (load_relaxed(&view.near)) return;
    const std::uint32_t last = view.shape.group_bytes() - 1;
    for (std::size_t i = 0; i < end; ++i) {
      prefetch_to_second_level(from + keys.at[i]);
      prefetch_to_second_level(from + keys.at[i] + last);
    }
  }

  COUA_SETSEP_READS static std::uint32_t resolve(const setsep_view& view, std::size_t n,
                                                 const setsep_keys& keys,
                                                 std::uint16_t* values) noexcept {
    const bool usual = view.shape.index_bytes == 2 && view.shape.array_bytes == 1;
    switch (usual ? view.shape.value_bits : 0) {
      case 1: return resolve_as(usual_shape<1>(), view, n, keys, values);
      case 2: return resolve_as(usual_shape<2>(), view, n, keys, values);
      case 3: return resolve_as(usual_shape<3>(), view, n, keys, values);
      case 4: return resolve_as(usual_shape<4>(), view, n, keys, values);
      default: return resolve_as(given_shape{view.shape}, view, n, keys, values);
    }
  }

  static constexpr setsep_kernels set(isa instruction_set) {
    return {instruction_set, &locate, &choose, &resolve};
  }

 private:
  static constexpr std::size_t n_vectors = setsep_batch / lanes;
  static constexpr std::size_t round_up(std::size_t n) { return (n + lanes - 1) / lanes * lanes; }
  COUA_SETSEP_INLINE static const std::uint8_t* bytes_of(const setsep_view& view) noexcept {
    return reinterpret_cast<const std::uint8_t*>(view.blocks);
  }

  /// extent::block_of(), and what else a hash is used for.
  struct block_function {
    Vector n_first, n_blocks, split_mask, turn, block_bytes;

    COUA_SETSEP_INLINE block_function(setsep::extent extent, const setsep::layout& shape) noexcept
        : n_first(Vector::all(extent.n_first)),
          n_blocks(Vector::all(extent.n_blocks)),
          split_mask(Vector::all((std::uint32_t{2} << extent.level()) - 1)),
          turn(Vector::all(extent.n_first << extent.level())),
          block_bytes(Vector::all(shape.block_bytes())) {}

    COUA_SETSEP_INLINE void apply(const setsep::key_hash* hashes, setsep_keys& keys,
                                  std::size_t i) const noexcept {
      Vector step, place, low, base;
      Vector::load_hashes(hashes, step, place, low, base);
      const Vector split = low.template right<8>() & split_mask;
      const Vector block =
          (place.upper_product(n_first) + n_first * split).minus_unless_below(n_blocks, turn);
      const Vector bucket = low & Vector::all(0xff);
      (block * block_bytes + bucket.template right<2>()).store(keys.at + i);
      bucket.store(keys.bucket + i);
      base.store(keys.base + i);
      (step | Vector::all(1)).store(keys.step + i);
    }
  };

  /// One bit of the value of each key, of the four bytes of its index and array.
  template <class Shape>
  COUA_SETSEP_INLINE static Vector bit_of(const Shape& shape, Vector word, Vector base,
                                          Vector step) noexcept {
    const Vector index = word & Vector::all(shape.as.failed());
    const Vector place = (base + index * step).right(Vector::all(32 - shape.as.place_bits()));
    return word.right(place + Vector::all(8 * shape.as.index_bytes)) & Vector::all(1);
  }

  /// Two bits of the value at a time: their indices and arrays have eight bytes at most.
  template <class Shape>
  COUA_SETSEP_INLINE static std::uint32_t resolve_as(const Shape& shape, const setsep_view& view,
                                                     std::size_t n, const setsep_keys& keys,
                                                     std::uint16_t* values) noexcept {
    const std::uint8_t* from = bytes_of(view);
    const std::size_t end = round_up(n);
    Vector value[n_vectors];
    std::uint32_t failed[n_vectors];
    for (unsigned bit = 0; bit < shape.as.value_bits; bit += 2) {
      const bool both = bit + 1 < shape.as.value_bits;
      for (std::size_t i = 0; i < end; i += lanes) {
        Vector first, second;
        Vector::pairs_at(from, keys.at + i, 8 * shape.as.part_bytes(), first, second);
        const Vector base = Vector::load(keys.base + i), step = Vector::load(keys.step + i);
        Vector bits = bit_of(shape, first, base, step);
        if (both) bits = bits | bit_of(shape, second, base, step).template left<1>();
        if (bit == 0) {
          const Vector mark = Vector::all(shape.as.failed());
          failed[i / lanes] = (first & mark).equals(mark);
          value[i / lanes] = bits;
        } else {
          value[i / lanes] = value[i / lanes] | bits.left(bit);
        }
      }
      from += std::size_t{2} * shape.as.part_bytes();
    }
    std::uint32_t all_failed = 0;
    alignas(64) std::uint16_t out[setsep_batch];
    std::uint16_t* const to = n == end ? values : out;
    for (std::size_t i = 0; i < end; i += lanes) {
      all_failed |= value[i / lanes].store_values(to + i, failed[i / lanes]) << i;
    }
    if (n == end) return all_failed;
    std::memcpy(values, out, n * sizeof *values);
    return all_failed & ((std::uint32_t{1} << n) - 1);
  }
};

}  // namespace
}  // namespace coua::simd
