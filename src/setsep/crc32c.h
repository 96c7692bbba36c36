// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace coua::setsep {

/// CRC-32C (Castagnoli, RFC 3720, appendix B.4) of `bytes`; `before`: that of what comes before.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before = 0) noexcept;

}  // namespace coua::setsep
