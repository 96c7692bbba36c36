// SPDX-License-Identifier: Apache-2.0
#include "setsep/key_hasher.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace coua::setsep {
namespace {

TEST(key_hasher, batches_are_what_single_keys_are) {
  hash_key secret;
  std::mt19937 random(3);
  for (auto& each : secret) each = static_cast<std::uint8_t>(random());
  for (std::size_t bytes = 1; bytes <= key_hasher::key_bytes_max; ++bytes) {
    const key_hasher hasher(secret, bytes);
    constexpr std::size_t n = 5;
    // Of the very length, so that a sanitizer sees what is read behind it.
    std::vector<std::uint8_t> keys(n * bytes);
    for (auto& each : keys) each = static_cast<std::uint8_t>(random());
    std::vector<key_hash> hashes(n);
    hasher.hash_batch(keys.data(), n, hashes.data());
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(hashes[i], hasher(&keys[i * bytes])) << bytes << " bytes, key " << i;
      if (bytes >= 4) {
        EXPECT_NE(hashes[i], hashes[(i + 1) % n]) << bytes << " bytes, key " << i;
      }
    }
  }
}

}  // namespace
}  // namespace coua::setsep
