// SPDX-License-Identifier: Apache-2.0
//
// Packet files in the pcapng format (draft-ietf-opsawg-pcapng), which Wireshark and tcpdump read:
// one section, one interface per port, Ethernet, times in nanoseconds. Little-endian whatever the
// machine is. Appends blocks to a text; reads and writes no file.
//
//   section header | interface | packet | interface | packet ... | statistics, one per interface
//
// Each block is  type, length, body, options, length;  each option  code, length, value, padding.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace coua::net {

enum class pcapng_direction { unknown, in, out };

struct pcapng_packet {
  std::uint32_t interface = 0;  // in the order of add_interface()
  std::uint64_t time_ns = 0;    // since 1970
  std::uint32_t length = 0;     // on the wire
  std::span<const std::uint8_t> bytes;
  pcapng_direction direction = pcapng_direction::unknown;
  std::string comment;  // empty: none
};

struct pcapng_statistics {
  std::uint64_t start_ns = 0, end_ns = 0;  // since 1970
  std::uint64_t received = 0;              // by the interface
  std::uint64_t accepted = 0;              //   by the filter
  std::uint64_t dropped = 0;               //     lost for want of room
  std::uint64_t delivered = 0;             //     in the file
};

/// Used by one thread at a time.
class pcapng_writer {
 public:
  /// Blocks go to the end of `out`. `snap`: the most bytes kept of a packet.
  explicit pcapng_writer(std::string& out, std::uint32_t snap) : out_(out), snap_(snap) {}

  void begin(const std::string& application);
  /// Numbers them from 0. `filter`: libpcap's language; empty: none.
  void add_interface(const std::string& name, const std::string& filter);
  void add(const pcapng_packet& packet);
  void add_statistics(std::uint32_t interface, const pcapng_statistics& of);

 private:
  std::string& out_;
  const std::uint32_t snap_;
};

}  // namespace coua::net
