// SPDX-License-Identifier: Apache-2.0
//
// How many buckets a FIB gets and how its slot words are divided.
//
// A slot keeps the low w bits of a permuted key (base/key_permutation.h). The high part is implied
// by the bucket: bucket b of B holds the values in [b * 2^60 / B, (b + 1) * 2^60 / B), so w is the
// number of bits that tells apart the values of one such interval, 60 - log2(B) rounded up.
//
//   packed (8 bytes)   63      63-w    62-w  61-w      3+v   4   3        2  0
//                      [ tag: w ][occupied][guest][ unused ][value: v][static][age]
//   wide (2 x 8 bytes) [ tag: 60 ][occupied][guest][0 0]  and  [value][static][age]
//
// `guest` says that the entry is in its secondary bucket, where the tag is of Q instead of P.
// A packed slot must have w + v + 6 <= 64, which gives the smallest B: 2^18 buckets for 16-bit
// values, 2^12 for 10-bit values. Below it, `automatic` takes the wide layout.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "coua/fib.h"
#include "simd/fib_lookup/kernels.h"

namespace coua {

struct fib_geometry {
  simd::fib_layout layout;
  std::uint64_t n_buckets;
  std::uint64_t n_buckets_asked;
  unsigned tag_bits;  // w
  unsigned value_bits;

  unsigned n_slots() const { return layout == simd::fib_layout::packed4 ? 4 : 8; }
  std::uint64_t bucket_bytes() const;
  std::uint64_t bytes() const { return n_buckets * bucket_bytes(); }

  /// Errors: invalid, naming the parameter of coua_fib_params and its range.
  static result<fib_geometry> plan(const coua_fib_params& params);
};

}  // namespace coua
