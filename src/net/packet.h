// SPDX-License-Identifier: Apache-2.0
//
// A packet that lies in a buffer with room before it.
//
//        headroom        contiguous             (further buffers)
//   |---------------|---------------------| ... -------------|
//                   bytes                                    bytes + length, were it one piece
//
// Everything here looks at the first buffer only. Its owner copies the members back after a header
// was pushed or popped.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "net/mac_pair.h"

namespace coua::net {

struct packet {
  std::uint8_t* bytes = nullptr;
  std::uint32_t contiguous = 0;  // at most `length`
  std::uint32_t length = 0;      // of the whole frame
  std::uint32_t headroom = 0;
};

/// Makes a gap of `n` bytes at `at` by moving what is before it into the headroom, which must be
/// large enough.
inline void open_gap(packet& p, std::uint32_t at, std::uint32_t n) noexcept {
  COUA_ASSERT(at <= p.contiguous && n <= p.headroom);
  p.bytes -= n;
  p.headroom -= n;
  p.contiguous += n;
  p.length += n;
  std::memmove(p.bytes, p.bytes + n, at);
}

/// Takes `n` bytes at `at` out.
inline void close_gap(packet& p, std::uint32_t at, std::uint32_t n) noexcept {
  COUA_ASSERT(at + n <= p.contiguous);
  std::memmove(p.bytes + n, p.bytes, at);
  p.bytes += n;
  p.headroom += n;
  p.contiguous -= n;
  p.length -= n;
}
/// The same behind the addresses of Ethernet: in two registers, without a call.
[[gnu::always_inline]] inline void close_gap_behind_macs(packet& p, std::uint32_t n) noexcept {
  COUA_ASSERT(2 * mac_bytes + n <= p.contiguous);
  const mac_pair macs = mac_pair::load(p.bytes);
  p.bytes += n;
  macs.store(p.bytes);
  p.headroom += n;
  p.contiguous -= n;
  p.length -= n;
}

}  // namespace coua::net
