// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/forward/bench_switch.h"
#include "bench/forward/mover.h"
#include "bench/harness/churn_pairs.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"

namespace coua::bench {

/// One case with everything that moves its packets, and what came out so far.
class forward_case {
 public:
  virtual ~forward_case() = default;
  forward_case(const forward_case&) = delete;
  forward_case& operator=(const forward_case&) = delete;

  const port_plan& ports() const { return ports_; }
  /// What all but the packets takes, in MiB.
  virtual std::uint64_t table_mib() const = 0;

  /// Writes the packets, makes the ports, loads tables or rules, starts testpmd.
  virtual result<void> prepare(const packet_memory&, progress&) = 0;
  /// One window of each, starting with number `first`.
  result<void> run_round(unsigned first, progress&);
  /// Paired windows of the switch with and without updates.
  result<row> run_updates(std::uint64_t per_second, progress&);

  /// Whether this is the same but for the number of rules.
  bool differs_in_rules(const forward_case& other) const;
  /// Paired windows of the switch and of that of `first`, whose ratio the row `coua` gets.
  result<void> compare_with(forward_case& first, progress&);

  /// Rows of what run_round() collected.
  std::vector<row> rows() const;

 protected:
  forward_case(const forward_options& options, port_plan ports)
      : options_(options), ports_(std::move(ports)) {}

  void add(mover& one, double bytes_per_entry = 0) {
    entrants_.push_back({&one, {}, bytes_per_entry});
  }
  /// Takes what outlives the case.
  void add(std::unique_ptr<mover> one, double bytes_per_entry = 0);
  result<void> add_testpmd(const packet_memory&, progress&);
  const forward_options& options() const { return options_; }

 private:
  struct entrant {
    mover* who;
    std::vector<double> rates;
    double bytes_per_entry;  // 0: has no table
  };

  /// What tells the rows of this case apart from those of others.
  virtual json params() const = 0;
  /// Bytes of a frame on the wire, with the check sequence.
  virtual unsigned frame_size() const = 0;
  virtual mover& switching() = 0;
  /// What is written to while the switch works, and how many entries it holds. Errors: of the
  /// switch.
  virtual result<churned*> updated() = 0;
  virtual std::uint64_t updated_entries() const = 0;
  /// Around the windows with updates.
  virtual void set_churning(bool) {}

  row make_row(const std::string& name, std::uint64_t updates, double mops,
               std::optional<double> spread) const;
  double rate_of(const std::string& name) const { return median(rates_of(name)); }
  std::vector<double> rates_of(const std::string& name) const;
  /// What switching adds to raw I/O.
  void add_cost(row& to) const;

  const forward_options& options_;
  port_plan ports_;
  std::vector<std::unique_ptr<mover>> movers_;
  std::vector<entrant> entrants_;
  json to_first_;  // of compare_with()
};

}  // namespace coua::bench
