// SPDX-License-Identifier: Apache-2.0
//
// Sizes as people write them: "64K", "16M", "1G", "1T" are powers of ten, "64Ki", "2Mi", "8Gi",
// "1Ti" powers of two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coua {

/// Digits, an optional fraction ("1.5G"; the result must be whole), an optional unit in upper or
/// lower case. No sign, no blanks. 0 to 2^64-1. Errors: invalid, with the text in `where`.
result<std::uint64_t> parse_size(std::string_view text);

/// "512 B", "8.0 GiB": powers of two, one decimal, rounded to nearest.
std::string format_bytes(std::uint64_t bytes);

/// "950", "16.0 M", "1.1 G": powers of ten, one decimal, rounded to nearest.
std::string format_count(std::uint64_t count);

}  // namespace coua
