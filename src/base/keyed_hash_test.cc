// SPDX-License-Identifier: Apache-2.0
#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/chacha20.h"

namespace coua {
namespace {

// RFC 8439, appendix A.1, test vector 1.
TEST(keyed_hash, chacha20_makes_the_published_stream) {
  const std::uint8_t expected[16] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                     0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28};
  std::uint32_t block[16];
  chacha20_block(hash_key{}, 0, block);
  EXPECT_EQ(std::memcmp(block, expected, sizeof expected), 0);
  std::uint32_t next[16];
  chacha20_block(hash_key{}, 1, next);
  EXPECT_NE(std::memcmp(block, next, sizeof block), 0);
}

TEST(keyed_hash, every_bit_of_every_word_counts) {
  const keyed_hash hash(hash_key{1});
  std::uint64_t words[keyed_hash::max_words] = {};
  for (std::size_t n = 1; n <= keyed_hash::max_words; ++n) {
    const std::uint64_t h = hash(words, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (unsigned bit = 0; bit < 64; ++bit) {
        words[i] = std::uint64_t{1} << bit;
        EXPECT_NE(hash(words, n), h) << n << " words, word " << i << ", bit " << bit;
        words[i] = 0;
      }
    }
  }
}

TEST(keyed_hash, another_key_gives_another_hash) {
  const std::uint64_t words[2] = {1, 2};
  EXPECT_EQ(keyed_hash(hash_key{1})(words, 2), keyed_hash(hash_key{1})(words, 2));
  EXPECT_NE(keyed_hash(hash_key{1})(words, 2), keyed_hash(hash_key{2})(words, 2));
}

// Keys that count up: each byte of the hash takes its 256 values about equally often.
TEST(keyed_hash, hashes_of_counters_spread_evenly) {
  constexpr std::uint64_t n = 1 << 16;
  for (std::uint8_t seed = 0; seed < 20; ++seed) {
    const keyed_hash hash(hash_key{seed});
    std::vector<std::uint32_t> counts(8 * 256);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t words[2] = {i << 20, 5};
      const std::uint64_t h = hash(words, 2);
      for (unsigned byte = 0; byte < 8; ++byte) ++counts[byte * 256 + (h >> 8 * byte & 255)];
    }
    for (unsigned byte = 0; byte < 8; ++byte) {
      double chi2 = 0;
      for (unsigned v = 0; v < 256; ++v) {
        chi2 += std::pow(counts[byte * 256 + v] - n / 256.0, 2) / (n / 256.0);
      }
      // 255 degrees of freedom: 400 is beyond 6 standard deviations.
      EXPECT_LT(chi2, 400) << "byte " << byte << ", seed " << +seed;
    }
  }
}

}  // namespace
}  // namespace coua
