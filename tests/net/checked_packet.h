// SPDX-License-Identifier: Apache-2.0
//
// A packet that goes through the parser and the rewrites of src/net and through those of the
// pipeline's oracle, which share no code: after each step both must say the same, bit for bit, and
// what the rewrite kept of the parse must be what a new parse finds. A transport checksum that was
// right must then be what a sum over everything gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/rewrite.h"
#include "pipeline/model/action.h"
#include "pipeline/oracle/packet.h"

namespace coua::test {

class checked_packet {
 public:
  /// The frame lies at the end of a block of its own, so that the sanitizer sees a read behind it.
  checked_packet(const std::vector<std::uint8_t>& frame, std::size_t headroom);

  /// Does one action both ways; a difference is thrown. `what` changes packets.
  net::rewrite_result apply(const pipeline::action& what);

  const net::layers& layers() const { return layers_; }
  std::vector<std::uint8_t> bytes() const;

 private:
  void check() const;
  /// The transport header has a checksum over a message that is all here, and it is right.
  bool checksum_holds() const;

  std::unique_ptr<std::uint8_t[]> block_;
  net::packet packet_;
  net::layers layers_;
  pipeline::packet oracle_;
};

/// Writable fields of headers, and actions without a field, by number: any number gives one. The
/// value is cut to what the action takes.
pipeline::action make_action(std::uint8_t number, net::uint128 value, net::uint128 mask);

}  // namespace coua::test
