// SPDX-License-Identifier: Apache-2.0
//
// A bridge that forwards, beside a model that the oracle interprets: the same operations and
// packets go to both, and what comes of them must be the same, bit for bit, counters included.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/compiler/running_bridge.h"
#include "test_deliveries.h"

namespace coua::test {

/// Tables of tests are small. They are to be decomposed or a classifier's, and their rules to share
/// records, all the same.
inline constexpr pipeline::compiler_params no_mixed{.limits = pipeline::no_mixed_tables,
                                                    .share_from = 1};

class checked_pipeline {
 public:
  explicit checked_pipeline(const pipeline::compiler_params& params = no_mixed)
      : checked_pipeline(1 << 16, params) {}
  checked_pipeline(std::size_t rules_max, const pipeline::compiler_params& params,
                   unsigned n_tables = 9);

  /// One bundle. Whether it was taken; throws where one side takes what the other refuses.
  bool apply(const std::vector<pipeline::operation>& bundle);
  void wait(pipeline::time_ns passed);
  /// Takes over what was counted. Elsewhere that is done only before the clock goes on and where
  /// counters are compared, so changes come between packets and their counts.
  void collect();
  /// Throws with what differs.
  void receive(const std::vector<pipeline::packet>& burst);
  /// In full bursts, and counters as well. How many packets came out.
  std::size_t receive_all(std::span<const pipeline::packet> packets);
  void packet_out(const pipeline::packet& one, const pipeline::action_list& actions);
  void check_counters();
  /// At the end: removes all but the ports; throws when something of it stays behind.
  void check_nothing_stays();

  pipeline::running_bridge& bridge() { return *bridge_; }
  std::size_t n_outputs = 0, n_packet_ins = 0, n_full = 0, n_learned = 0;
  std::size_t n_learned_together = 0, n_learned_apart = 0;  // bursts
  mutable std::size_t n_takers = 0;
  // As the oracle counts them.
  std::size_t n_resubmits = 0, n_ended = 0, n_conjunctions = 0, n_remarked = 0;

 private:
  struct result_of_burst {
    outcome sent;
    std::vector<std::string> learned;  // rules, sorted
    std::uint64_t n_beyond = 0;        // deliveries that the datapath had no room for
  };
  result_of_burst deliver();
  void learn(const std::vector<pipeline::rule_mod>& learned);
  void check_learners() const;
  void compare(const result_of_burst& got, const result_of_burst& expected) const;
  /// The tables with their templates, for what failed.
  std::string tables_text() const;

  std::unique_ptr<pipeline::running_bridge> bridge_;
  test_buffers buffers_;
  std::unique_ptr<pipeline::executor> executor_;
  pipeline::bridge model_;
  pipeline::oracle oracle_;
  pipeline::time_ns now_ = 1;
  std::uint64_t n_beyond_ = 0;  // counted so far
};

}  // namespace coua::test
