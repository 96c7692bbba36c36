// SPDX-License-Identifier: Apache-2.0
//
// A keyed hash of 64 bits for keys of a fixed length, 4 to 128 bytes, given as words of 64 bits
// (the last one padded with zero bits).
//
//   x = (a + s0 * k0 + s1 * k1 + ...) mod 2^128 / 2^64      secret 128-bit multipliers and addend
//   h = mix(x)                                              a bijection, with secret odd factors
//
// Why it is safe against chosen keys. For any two different keys, the upper halves of the sums are
// uniform and independent of each other (multiply-add-shift for vectors; Dietzfelbinger, "Universal
// hashing and k-wise independent random variables via integer arithmetic without primes", STACS
// 1996: products of w-bit words with 2w-bit multipliers, the upper half of the sum). So a pair of
// keys that somebody picks without knowing the secrets shares its hash with a probability of 2^-64,
// and its two buckets of B with 1 / B^2: as with a truly random function, whatever the keys are. A
// CRC with a secret seed has no such property: keys whose CRC collides do so under every seed.
//
// What the mix is for. The sum is linear: keys that count up give sums that count up, and a table
// of such keys fills less well than one of random keys. A bijection keeps the independence of pairs
// and takes the progressions apart: two rounds of it (tests/flow/attack_test.cc fills tables with
// structured keys).
//
// What it costs: two multiplications a word, all independent of each other, and two in a row for
// the mix: 16 bytes take about as long as one level-2 cache access.
//
// It is no cryptographic function: who sees hashes can solve for the secrets. Do not show them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hash_key.h"

namespace coua {

class keyed_hash {
 public:
  static constexpr std::size_t max_words = 16;

  keyed_hash() = default;
  /// The secrets are what ChaCha20 makes of the key.
  explicit keyed_hash(const hash_key& key);

  /// Of `n` words; unrolled when `n` is a constant.
  [[gnu::always_inline]] std::uint64_t operator()(const std::uint64_t* words,
                                                  std::size_t n) const noexcept {
    return mix(upper_sum(secret_, words, n), factor_);
  }

  /// The same for keys of `N` words, with secrets of its own: a loop that keeps it in a local
  /// variable does not load them again after each store.
  template <std::size_t N>
  class of {
   public:
    [[gnu::always_inline]] explicit of(const keyed_hash& hash) noexcept {
      for (std::size_t i = 0; i <= N; ++i) secret_[i] = hash.secret_[i];
      for (std::size_t i = 0; i < 2; ++i) factor_[i] = hash.factor_[i];
    }
    [[gnu::always_inline]] std::uint64_t operator()(const std::uint64_t* words) const noexcept {
      return mix(upper_sum(secret_, words, N), factor_);
    }

    // For vectors: the halves of the addend (0) and of the multiplier of word i - 1.
    [[gnu::always_inline]] std::uint64_t low(std::size_t i) const noexcept {
      return static_cast<std::uint64_t>(secret_[i]);
    }
    [[gnu::always_inline]] std::uint64_t high(std::size_t i) const noexcept {
      return static_cast<std::uint64_t>(secret_[i] >> 64);
    }
    [[gnu::always_inline]] std::uint64_t factor(std::size_t i) const noexcept { return factor_[i]; }

   private:
    unsigned __int128 secret_[N + 1];
    std::uint64_t factor_[2];
  };

 private:
  [[gnu::always_inline]] static std::uint64_t upper_sum(const unsigned __int128* secret,
                                                        const std::uint64_t* words,
                                                        std::size_t n) noexcept {
    unsigned __int128 sum = secret[0];
    for (std::size_t i = 0; i < n; ++i) sum += secret[i + 1] * words[i];
    return static_cast<std::uint64_t>(sum >> 64);
  }
  [[gnu::always_inline]] static std::uint64_t mix(std::uint64_t x,
                                                  const std::uint64_t* factor) noexcept {
    x = (x ^ (x >> 32)) * factor[0];
    x = (x ^ (x >> 29)) * factor[1];
    return x ^ (x >> 32);
  }

  unsigned __int128 secret_[max_words + 1] = {};
  std::uint64_t factor_[2] = {1, 1};
};

}  // namespace coua
