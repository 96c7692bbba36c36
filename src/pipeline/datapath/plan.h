// SPDX-License-Identifier: Apache-2.0
//
// What workers follow: the plan of a bridge, made by the compiler and never changed afterwards.
//
//   published.root --> plan --> table_stage, one for each table that has rules
//                       |           |--> what its template keeps: direct_table, exact_store, ...
//                       |           '--> head of the records of its catch-all
//                       '--> ports
//
// Entries change in place, under the same plan (versions.h). What changes the shape of a table (its
// template, the bits that its rules take, room) makes a new stage, and a new plan that shares all
// others; a port that changes, or the first rule apart of a table, makes a new plan. A batch
// loads the version first and then the root, and uses the later of the version and plan.from: who
// sees a version sees its plan.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/qsbr.h"
#include "net/layers.h"
#include "pipeline/datapath/action_record.h"
#include "pipeline/datapath/decomposed_table.h"
#include "pipeline/datapath/direct_table.h"
#include "pipeline/datapath/exact_store.h"
#include "pipeline/datapath/joined_tables.h"
#include "pipeline/datapath/port_list.h"
#include "pipeline/datapath/prefix_table.h"
#include "pipeline/datapath/table_template.h"
#include "pipeline/datapath/wildcard_table.h"
#include "pipeline/model/instructions.h"

namespace coua::pipeline {

/// A table; of the pointers, that of its kind.
struct table_stage {
  table_template kind = table_template::direct;
  table_id table = 0;
  std::atomic<const direct_table*> direct{nullptr};
  const exact_store* exact = nullptr;
  /// Of exact and lpm: rules apart, mostly none.
  const std::atomic<const direct_table*>* apart = nullptr;
  const prefix_table* prefixes = nullptr;
  const decomposed_table* decomposed = nullptr;
  const wildcard_table* wildcard = nullptr;
  /// Of exact and lpm: for packets that no other rule takes; 0: none.
  std::atomic<record_id> catch_all{0};

  /// Null: there are none.
  const direct_table* rules_apart() const noexcept {
    if (apart == nullptr) return nullptr;
    const direct_table* const rules = apart->load(std::memory_order_acquire);
    return rules != nullptr && rules->n_rules != 0 ? rules : nullptr;
  }
};

inline constexpr std::size_t n_tables_max = std::size_t{table_max} + 1;

struct plan {
  version_no from = 0;
  net::parse_depth depth = net::parse_depth::link;
  const port_list* ports = nullptr;
  std::array<const table_stage*, n_tables_max> tables{};  // null: no rules
  /// By table: the first of those whose packets are looked up with its own, as one batch. A table
  /// with rules apart is looked up alone.
  std::array<table_id, n_tables_max> batch_of{};
  /// By table: some are apart. Stages know it, too, but further away.
  std::array<bool, n_tables_max> has_apart{};
  /// Rules that are clauses of conjunctions (model/conjunction.h). They are in no stage; null:
  /// none.
  std::array<const wildcard_table*, n_tables_max> clauses{};
  bool some_clauses = false;
};

/// What the compiler gives the workers of a bridge.
struct published_plan {
  /// Of `all_normal`: it is not so.
  static constexpr std::uint32_t not_normal = ~std::uint32_t{0};

  std::atomic<version_no> version{0};
  std::atomic<const plan*> root{nullptr};
  /// While all that the pipeline does is to send every packet to NORMAL: the number of the rule
  /// that says so. It is taken back before a version that does something else, and set after one
  /// that does not; so who goes by it does what a version says that is published.
  std::atomic<std::uint32_t> all_normal{not_normal};
  /// Ports 1 to 64, LOCAL by its own number, from the lowest bit on, to which NORMAL must not
  /// forward. Who sees a version sees what it has here, too.
  std::atomic<std::uint64_t> no_fwd{0};
  /// Likewise, from which packets are dropped: for those that do not come to the pipeline.
  std::atomic<std::uint64_t> no_recv{0};
  /// What packets that arrive are looked up in before they go to table 0; null: nothing. It is
  /// taken back before a version, and a plan, of which it is not so; so who goes by it has loaded
  /// both before.
  std::atomic<const joined_tables*> joined{nullptr};
  const action_records* records = nullptr;
  qsbr grace;
};

}  // namespace coua::pipeline
