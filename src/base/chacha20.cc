// SPDX-License-Identifier: Apache-2.0
#include "base/chacha20.h"

#include <bit>
#include <cstring>

namespace coua {
namespace {

void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
  a += b, d = std::rotl(d ^ a, 16);
  c += d, b = std::rotl(b ^ c, 12);
  a += b, d = std::rotl(d ^ a, 8);
  c += d, b = std::rotl(b ^ c, 7);
}

}  // namespace

void chacha20_block(const hash_key& key, std::uint32_t counter, std::uint32_t (&block)[16]) {
  std::uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  std::memcpy(start + 4, key.data(), key.size());
  start[12] = counter;
  std::uint32_t x[16];
  std::memcpy(x, start, sizeof x);
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 4; ++j) quarter_round(x[j], x[4 + j], x[8 + j], x[12 + j]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
  for (int i = 0; i < 16; ++i) block[i] = x[i] + start[i];
}

}  // namespace coua
