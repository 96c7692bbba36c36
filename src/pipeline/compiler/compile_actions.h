// SPDX-License-Identifier: Apache-2.0
//
// Actions and instructions of the model as ops of the datapath (datapath/op.h).
//
// Up to two ops without further memory are kept in a record itself; longer lists are made once and
// shared by all rules that have the same ones (ESWITCH, SIGCOMM 2016, section 3: action sets).
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/datapath/action_record.h"
#include "pipeline/datapath/group_version.h"
#include "pipeline/datapath/learning.h"
#include "pipeline/datapath/meter_version.h"
#include "pipeline/model/packet_in_reason.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

/// Ops with all that they point to, but groups and meters.
struct stored_ops {
  std::vector<op> ops;
  std::list<wide_value> wide;
  std::list<action_set_ops> sets;
  std::list<stored_ops> lists;  // of the sets
  std::vector<std::shared_ptr<const learning>> learnings;

  op_list list() const;
};

/// What both actions write, the one and the next: the addresses of Ethernet, whole, in either
/// order. Where a rule applies them, that is one op. Nothing: they write something else.
std::optional<net::mac_pair> both_macs(const action& one, const action& next);

/// Where groups and meters are found; what an operation names is there.
struct op_references {
  std::function<const versioned<group_version>*(group_id)> group;
  std::function<const versioned<meter_version>*(meter_id)> meter;
};

struct compiled_rule {
  const action_shape* shape = nullptr;
  std::uint8_t next_table = no_table;
  std::vector<op> own;                       // at most action_record::n_inline
  std::shared_ptr<const stored_ops> shared;  // instead
};

class action_compiler {
 public:
  explicit action_compiler(op_references references) : references_(std::move(references)) {}

  compiled_rule compile(const rule& one);
  /// As an action set (ordered) or as it stands.
  stored_ops compile_set(const action_list& list) const;
  stored_ops compile_list(const action_list& list, packet_in_reason reason,
                          std::uint64_t cookie) const;
  /// A shape that compile() gave, once for each time that it did, or was held.
  void release(const action_shape* shape);
  void hold(const action_shape* shape) { ++shapes_.at(*shape); }

  /// What a worker has taken values for. Null: no op refers to it any more.
  std::shared_ptr<const learning> find_learning(std::uint64_t id) const;

  std::size_t n_shapes() const { return shapes_.size(); }
  std::size_t n_shared() const { return shared_.size(); }

 private:
  stored_ops compile(const instructions& what, packet_in_reason reason, std::uint64_t cookie) const;
  std::shared_ptr<const learning> make_learning(const act::learn& how) const;
  void add(stored_ops& to, const action_list& list, packet_in_reason reason,
           std::uint64_t cookie) const;
  void add_applied(stored_ops& to, const action_list& list, packet_in_reason reason,
                   std::uint64_t cookie) const;
  op compile(stored_ops& in, const action& one, packet_in_reason reason,
             std::uint64_t cookie) const;
  const action_shape* intern(action_shape shape);
  /// Whatever ops are made of.
  struct list_key {
    struct instructions instructions;
    std::optional<std::uint64_t> cookie;  // where an op says it
    bool is_miss = false;                 // likewise, the reason
    // What their groups and meters are now, in order: after one has gone, and another one of its
    // number has come, the same instructions are other ops.
    std::vector<const void*> things;

    bool operator==(const list_key&) const = default;
  };
  struct text_hash {
    std::size_t operator()(const list_key& key) const;
  };

  op_references references_;
  std::map<action_shape, std::size_t> shapes_;  // how often each was given
  std::unordered_map<list_key, std::weak_ptr<const stored_ops>, text_hash> shared_;
  // Of those that some stored_ops has; the compiler outlives them.
  mutable std::unordered_map<std::uint64_t, std::weak_ptr<const learning>> learnings_;
  mutable std::uint64_t last_learning_ = 0;
};

}  // namespace coua::pipeline
