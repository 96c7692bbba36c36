// SPDX-License-Identifier: Apache-2.0
#include "base/keyed_hash.h"

#include <algorithm>
#include <cstring>

#include "base/chacha20.h"

namespace coua {

keyed_hash::keyed_hash(const hash_key& key) {
  std::uint32_t block[16];
  std::uint64_t words[2 * (max_words + 1) + 2];
  std::uint32_t counter = 0;
  for (std::size_t done = 0; done < sizeof words;) {
    chacha20_block(key, counter++, block);
    const std::size_t n = std::min(sizeof block, sizeof words - done);
    std::memcpy(reinterpret_cast<char*>(words) + done, block, n);
    done += n;
  }
  for (std::size_t i = 0; i <= max_words; ++i) {
    secret_[i] = static_cast<unsigned __int128>(words[2 * i]) << 64 | words[2 * i + 1];
  }
  factor_[0] = words[2 * max_words + 2] | 1;
  factor_[1] = words[2 * max_words + 3] | 1;
}

}  // namespace coua
