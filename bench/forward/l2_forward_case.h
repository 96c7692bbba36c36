// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/fib/lookup_table.h"
#include "bench/forward/forward_case.h"
#include "bench/forward/l2_bed.h"

namespace coua::bench {

/// The learning switch.
class l2_forward_case final : public forward_case {
 public:
  /// `packets` is a file that prepare() writes and that must outlive it. With a crew, the tables of
  /// a figure are put under the same packets.
  l2_forward_case(const forward_options&, const l2_traffic&, unsigned serial, std::string packets,
                  crew* figure);
  ~l2_forward_case() override;

  const l2_traffic& traffic() const { return traffic_; }
  std::uint64_t table_mib() const override;
  result<void> prepare(const packet_memory&, progress&) override;
  /// Adds a bare forwarder with another table, which it keeps.
  result<void> add_table(const std::string& prefix, std::unique_ptr<lookup_table>, crew&,
                         progress&);

 private:
  class switch_writer;

  json params() const override;
  unsigned frame_size() const override { return traffic_.size; }
  mover& switching() override { return bed_->switching(); }
  result<churned*> updated() override;
  std::uint64_t updated_entries() const override { return traffic_.rules; }
  void set_churning(bool on) override { bed_->set_churning(on); }

  l2_traffic traffic_;
  std::string packets_;
  crew* figure_;
  std::unique_ptr<l2_bed> bed_;
  std::unique_ptr<switch_writer> writer_;
  std::vector<std::unique_ptr<lookup_table>> tables_;
  std::vector<std::unique_ptr<lookup>> lookups_;
};

}  // namespace coua::bench
