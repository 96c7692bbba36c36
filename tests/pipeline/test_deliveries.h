// SPDX-License-Identifier: Apache-2.0
//
// Packets of tests on their way through an executor, and what it makes of them, as the oracle would
// say it.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/datapath/executor.h"
#include "pipeline/oracle/oracle.h"

namespace coua::test {

/// Packets of tests: each in a block of its own, so that what reads beyond it is caught.
class test_buffers : public pipeline::packet_copier {
 public:
  // For what is pushed as often as resubmits allow: the oracle has room for all.
  static constexpr std::uint32_t headroom = 1 << 16;

  pipeline::owned_packet make(const std::vector<std::uint8_t>& bytes);
  static std::vector<std::uint8_t> bytes_of(const pipeline::owned_packet& one);
  bool copy(const pipeline::owned_packet& from, pipeline::owned_packet& to) noexcept override;
  void give_back(const pipeline::owned_packet& copy) noexcept override;

  bool has_memory = true;  // for copies
  /// That were made and not given back.
  std::size_t n_out = 0;
};

/// A delivery without its buffer.
struct delivered {
  pipeline::delivery how;
  std::vector<std::uint8_t> bytes;
};
/// All of the last run; what it holds goes back.
std::vector<delivered> take_deliveries(const pipeline::executor& from, test_buffers& buffers);

/// What NORMAL does in tests: ports 1 and 2, the second copy with a byte more.
pipeline::normal_switch& two_port_switch();

struct outcome {
  std::vector<pipeline::sent> outputs;
  std::vector<pipeline::packet_in> packet_ins;
  bool operator==(const outcome&) const = default;

  void add(const pipeline::verdict& one);
};
/// With what goes to NORMAL forwarded to the ports of the model.
outcome outcome_of(const std::vector<delivered>& all, const pipeline::bridge& model);

}  // namespace coua::test
