// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/fib/lookup_table.h"
#include "bench/forward/forward_options.h"
#include "bench/forward/mover.h"
#include "bench/forward/test_bed.h"
#include "bench/harness/progress.h"

namespace coua::bench {

/// One case with everything that moves its packets, and what came out so far.
class forward_case {
 public:
  /// `packets` is a file that forward_case writes and that must outlive it.
  forward_case(const forward_options&, const l2_traffic&, unsigned serial, std::string packets);

  std::uint64_t memory_mib() const { return ports_.memory_mib; }
  const l2_traffic& traffic() const { return traffic_; }
  const port_plan& ports() const { return ports_; }

  /// Writes the packets, makes the ports, loads the FIB, starts testpmd.
  result<void> prepare(const packet_memory&, progress&);
  /// Adds a bare forwarder with another table, which it keeps.
  result<void> add_table(const std::string& prefix, std::unique_ptr<lookup_table>, crew&,
                         progress&);

  /// One window of each, starting with number `first`.
  result<void> run_round(unsigned first, progress&);
  /// Paired windows of the switch with and without updates.
  result<row> run_updates(std::uint64_t per_second, progress&);

  /// Rows of what run_round() collected.
  std::vector<row> rows() const;

 private:
  struct entrant {
    mover* who;
    std::vector<double> rates;
    double bytes_per_entry;  // 0: has no table
  };
  row make_row(const std::string& name, std::uint64_t updates, double mops, double spread) const;
  double rate_of(const std::string& name) const;

  const forward_options& options_;
  l2_traffic traffic_;
  std::string packets_;
  port_plan ports_;
  std::unique_ptr<test_bed> bed_;
  std::vector<std::unique_ptr<lookup_table>> tables_;
  std::vector<std::unique_ptr<lookup>> lookups_;
  std::vector<std::unique_ptr<mover>> others_;
  std::vector<entrant> entrants_;
};

}  // namespace coua::bench
