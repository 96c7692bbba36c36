// SPDX-License-Identifier: Apache-2.0
//
// Two keyed permutations P and Q of the 60-bit keys. The primary bucket of a key is the high part
// of P, the secondary bucket the high part of Q; a slot keeps only the low part, and bucket and
// slot together give the key back.
//
//   y = x ^ k                 secret 60-bit mask
//   y = y * m mod 2^60        secret odd multiplier
//   y = y ^ (y >> 30)         high half into the low half; its own inverse
//   y = y * m mod 2^60        once more, and
//   y = y ^ (y >> 30)         once more
//   P = y * p mod 2^60        secret odd multipliers, independent of each other
//   Q = y * q mod 2^60
//
// Why two rounds. Keys that differ in their top bits only (one MAC in all VLANs) stay arithmetic
// progressions through one round, and some 4 of 100 random hash keys spread them badly enough to
// lower the reachable load. After two rounds structured keys fill a table like random ones
// (tests/fib/attack_test.cc).
//
// Why it is safe against chosen keys. All steps but the last are a bijection, so two keys that
// differ stay different; for any two different words, the products with a random odd multiplier
// agree in their top l bits with a probability of at most 2 / 2^l (Dietzfelbinger et al., "A
// reliable randomized algorithm for the closest-pair problem", 1997: multiply-shift is 2-universal
// up to the factor 2). p and q are independent, so the chance that a pair of keys, chosen without
// knowledge of the secrets, shares both of its buckets is at most about 4 / B^2. It is no
// cryptographic function: whoever reads the table's answers *with their positions* could solve for
// the secrets; nobody outside the process sees positions.
//
// What makes it cheap. Q = P * (q / p) mod 2^60: one multiplication leads from one bucket of an
// entry to the other, without the key. Keys are kept in the top 60 bits of a word, where the
// machine's product mod 2^64 is the product mod 2^60.
#pragma once

#include <cstdint>

namespace coua {

struct key_permutation {
  static constexpr unsigned key_bits = 60;
  static constexpr std::uint64_t key_mask = (std::uint64_t{1} << key_bits) - 1;
  static constexpr std::uint64_t top_mask = ~std::uint64_t{15};

  std::uint64_t mask;        // k, in the top 60 bits
  std::uint64_t multiplier;  // m
  std::uint64_t primary;     // p
  std::uint64_t p_to_q;      // q / p
  std::uint64_t q_to_p;      // p / q
  std::uint64_t multiplier_inverse;
  std::uint64_t primary_inverse;

  /// `secret`: four words of random bits.
  static constexpr key_permutation create(const std::uint64_t (&secret)[4]) {
    key_permutation s{};
    const std::uint64_t q = secret[3] | 1;
    s.mask = secret[0] & top_mask;
    s.multiplier = secret[1] | 1;
    s.primary = secret[2] | 1;
    s.multiplier_inverse = inverse(s.multiplier);
    s.primary_inverse = inverse(s.primary);
    s.p_to_q = q * s.primary_inverse;
    s.q_to_p = s.primary * inverse(q);
    return s;
  }

  /// P of a key (below 2^60), in the top 60 bits of the answer.
  constexpr std::uint64_t p(std::uint64_t key) const {
    std::uint64_t y = ((key << 4) ^ mask) * multiplier;
    y = (y ^ ((y >> 30) & top_mask)) * multiplier;
    return (y ^ ((y >> 30) & top_mask)) * primary;
  }
  constexpr std::uint64_t q_of_p(std::uint64_t p_top) const { return p_top * p_to_q; }
  constexpr std::uint64_t p_of_q(std::uint64_t q_top) const { return q_top * q_to_p; }

  /// The key whose P this is.
  constexpr std::uint64_t key_of_p(std::uint64_t p_top) const {
    std::uint64_t y = p_top * primary_inverse;
    y = (y ^ ((y >> 30) & top_mask)) * multiplier_inverse;
    y = (y ^ ((y >> 30) & top_mask)) * multiplier_inverse;
    return (y ^ mask) >> 4;
  }

 private:
  /// The inverse of an odd number mod 2^64: Newton's iteration doubles the right bits; a itself is
  /// right in 3 bits, five rounds give 96.
  static constexpr std::uint64_t inverse(std::uint64_t a) {
    std::uint64_t x = a;
    for (int i = 0; i < 5; ++i) x *= 2 - a * x;
    return x;
  }
};

}  // namespace coua
