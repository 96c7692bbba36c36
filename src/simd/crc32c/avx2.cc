// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <cstring>

#include "simd/crc32c/kernels.h"

namespace coua::simd {

std::uint32_t avx2_crc32c(const std::uint8_t* bytes, std::size_t n, std::uint32_t before) noexcept {
  std::uint64_t crc = static_cast<std::uint32_t>(~before);
  std::size_t at = 0;
  for (; at + 8 <= n; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, sizeof word);
    crc = _mm_crc32_u64(crc, word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; at < n; ++at) rest = _mm_crc32_u8(rest, bytes[at]);
  return ~rest;
}

}  // namespace coua::simd
