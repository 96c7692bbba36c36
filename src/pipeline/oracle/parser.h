// SPDX-License-Identifier: Apache-2.0
//
// The parser's inside: one function a header, in parse_l2.cc, parse_ip.cc and parse_l4.cc.
#pragma once

#include "base/check.h"
#include "pipeline/oracle/parse.h"

namespace coua::pipeline {

class parser {
 public:
  explicit parser(const packet& from) : packet_(from) {}
  parsed run();

 private:
  std::size_t size() const { return packet_.bytes.size(); }
  /// The bytes from `offset` on, `n` of them, are within `end`.
  static bool fits(std::size_t offset, std::size_t n, std::size_t end) {
    return offset <= end && n <= end - offset;
  }
  std::uint8_t byte(std::size_t offset) const {
    COUA_CHECK(offset < size());
    return packet_.bytes[offset];
  }
  std::uint16_t be16(std::size_t offset) const {
    return static_cast<std::uint16_t>(byte(offset) << 8 | byte(offset + 1));
  }

  void set(field which, value128 value) { out_.values.set(which, value); }
  /// A field that stands in the packet as it is; its width is the field's.
  void place(field which, std::size_t offset, unsigned n_bytes, unsigned shift = 0);

  void pipeline_fields();
  void ethernet();
  void network(std::uint16_t type, std::size_t offset);
  void mpls(std::size_t offset);
  void arp(std::size_t offset);
  void ipv4(std::size_t offset);
  void ipv6(std::size_t offset);
  void ipv6_extensions(std::size_t offset);
  void transport(std::uint8_t proto, std::size_t offset);
  void neighbour_discovery(std::size_t offset);

  const packet& packet_;
  parsed out_;
};

}  // namespace coua::pipeline
