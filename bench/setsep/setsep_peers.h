// SPDX-License-Identifier: Apache-2.0
//
// What set separation is compared with: DPDK's own, which has no keys either, and tables that have
// them, ours first. All are loaded with the same keys.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/fib/lookup_table.h"
#include "bench/setsep/setsep_contest.h"

namespace coua::bench {

/// `coua-bench setsep --peers NAME,...` takes them.
const std::vector<std::string>& setsep_peer_names();

class setsep_peers {
 public:
  /// `most_keys`: of all sizes of this run. Errors: invalid (no such peer), unsupported.
  static result<setsep_peers> create(std::vector<std::string> names, std::uint64_t most_keys);

  bool any() const { return !names_.empty(); }

  struct loaded {
    std::vector<std::unique_ptr<lookup_table>> tables;
    std::vector<setsep_contender> contenders;  // these, and copies, end before the tables do
  };
  /// Loads all with the population; `params` are those of every row. What can not be compared,
  /// since it answers wrongly or does not take these keys, is left out, and `notes` says why.
  /// Errors: no_memory.
  result<std::unique_ptr<loaded>> load(const population& people,
                                       const std::vector<std::uint64_t>& batches, unsigned threads,
                                       const json& params, progress& shown,
                                       std::vector<std::string>& notes) const;

 private:
  explicit setsep_peers(std::vector<std::string> names) : names_(std::move(names)) {}
  std::vector<std::string> names_;
};

}  // namespace coua::bench
