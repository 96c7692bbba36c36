// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

namespace coua {

/// What a C caller stored in an enumeration: any number. Reading it as the enumeration would be
/// undefined where it is none of its values.
template <typename Enumeration>
unsigned number_of(const Enumeration& stored) {
  static_assert(sizeof(Enumeration) == sizeof(unsigned));
  unsigned number;
  std::memcpy(&number, &stored, sizeof number);
  return number;
}

}  // namespace coua
