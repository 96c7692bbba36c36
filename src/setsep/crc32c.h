// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "simd/crc32c/kernels.h"

namespace coua::setsep {

/// CRC-32C of `bytes`; `before`: that of what comes before.
inline std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before = 0) {
  static const simd::crc32c_kernel kernel = simd::select_crc32c(active_isa());
  return kernel(bytes.data(), bytes.size(), before);
}

}  // namespace coua::setsep
