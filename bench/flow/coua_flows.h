// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/flow_table.h>

#include "base/arena.h"
#include "bench/flow/flow_options.h"
#include "bench/flow/measured_table.h"

namespace coua::bench {

/// Our tables, through their C API. Their memory comes from arenas of the benchmark, so that the
/// line limit is measured on the very bytes that a table uses.
class coua_flows final : public measured_table {
 public:
  coua_flows(const measured_params& params, flow_variant_word variant, coua_flow_sync sync);

  std::string name() const override { return variant_.word; }
  json params() const override;
  result<void> make(unsigned thread) override;
  std::size_t insert(unsigned thread, const std::uint64_t* keys, const std::uint64_t* values,
                     std::size_t n) override;
  std::unique_ptr<churned> writer(unsigned thread) override;
  std::uint64_t bytes() const override;
  json describe() const override;
  std::vector<std::unique_ptr<flow_lookup>> lookups() override;

  coua_flow_reader* reader(unsigned thread) const { return tables_[thread]->reader; }
  coua_flow_stats stats(unsigned thread) const;
  /// The block of thread 0 that holds keys and values.
  const arena& memory() const { return tables_.front()->blocks.front(); }
  /// How many buckets have 0, 1, ... entries elsewhere.
  std::vector<std::uint64_t> moved_counts(unsigned thread) const;

 private:
  struct one {
    ~one();
    coua_flow_table* table = nullptr;
    coua_flow_reader* reader = nullptr;
    std::vector<arena> blocks;  // the entries first, the buckets last
    page_kind pages = page_kind::automatic;
    error shortage{};  // why the last allocation failed
  };
  /// The life of an entry: none expires while the clock stands still.
  std::uint32_t units() const { return variant_.timers ? COUA_FLOW_UNITS_MAX : 0; }
  static void* allocate_block(void* context, std::size_t bytes, std::size_t alignment);
  static void release_block(void* context, void* memory, std::size_t bytes);

  measured_params params_;
  flow_variant_word variant_;
  coua_flow_sync sync_;
  std::vector<std::unique_ptr<one>> tables_;  // by thread
};

}  // namespace coua::bench
