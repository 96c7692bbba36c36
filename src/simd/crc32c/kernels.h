// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of memory. AVX2 stands for the instruction of
// SSE4.2, which every processor with AVX2 has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace coua::simd {

/// Of `n` bytes; `before`: that of what comes before them. Any thread.
using crc32c_kernel = std::uint32_t (*)(const std::uint8_t* bytes, std::size_t n,
                                        std::uint32_t before) noexcept;

crc32c_kernel select_crc32c(isa instruction_set);

// The built-in sets.
std::uint32_t generic_crc32c(const std::uint8_t*, std::size_t, std::uint32_t) noexcept;
std::uint32_t avx2_crc32c(const std::uint8_t*, std::size_t, std::uint32_t) noexcept;

}  // namespace coua::simd
