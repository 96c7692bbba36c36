// SPDX-License-Identifier: Apache-2.0
//
// Memory of callers of the C API, as the tables take it.
#pragma once

#include <cstdint>

namespace coua {

inline const std::uint8_t* bytes(const void* memory) {
  return static_cast<const std::uint8_t*>(memory);
}
inline std::uint8_t* bytes(void* memory) { return static_cast<std::uint8_t*>(memory); }

}  // namespace coua
