// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace coua::bench {

/// What the frames of a case differ in. All are TCP over IPv4 with right checksums; what is behind
/// the headers is zeros.
struct tcp_frame {
  std::uint64_t eth_dst = 0, eth_src = 0;
  std::uint16_t vid = 0;  // of its tag; 0: it has none
  std::uint32_t ip_src = 0, ip_dst = 0;
  std::uint8_t ttl = 64;
  std::uint16_t tcp_src = 0, tcp_dst = 0;
};

/// Fills all of `out`: at least 58 bytes, without the check sequence.
void write_frame(const tcp_frame& what, std::span<std::uint8_t> out);

}  // namespace coua::bench
