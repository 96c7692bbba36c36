// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the bytes of messages, in network order.
#pragma once

#include "ctl/ofp/message.h"

namespace coua::ofp {

/// The bytes from `at` on are there.
constexpr std::uint16_t u16(message_view of, std::size_t at) {
  return static_cast<std::uint16_t>(of[at] << 8 | of[at + 1]);
}
constexpr std::uint32_t u32(message_view of, std::size_t at) {
  return static_cast<std::uint32_t>(u16(of, at)) << 16 | u16(of, at + 2);
}
constexpr std::uint64_t u64(message_view of, std::size_t at) {
  return static_cast<std::uint64_t>(u32(of, at)) << 32 | u32(of, at + 4);
}

/// Appends the low bytes of a number.
inline void put(message& into, std::uint64_t value, unsigned n_bytes) {
  for (unsigned shift = 8 * n_bytes; shift != 0;) {
    into.push_back(static_cast<std::uint8_t>(value >> (shift -= 8)));
  }
}

inline void set_u16(message& of, std::size_t at, std::size_t value) {
  of[at] = static_cast<std::uint8_t>(value >> 8);
  of[at + 1] = static_cast<std::uint8_t>(value);
}

/// A header, whose length end_message() writes.
inline message begin_message(std::uint8_t type, std::uint32_t xid) {
  message made;
  made.reserve(header_bytes);
  made.assign({wire_version, type, 0, 0});
  put(made, xid, 4);
  return made;
}
inline message end_message(message made) {
  set_u16(made, 2, made.size());
  return made;
}

}  // namespace coua::ofp
