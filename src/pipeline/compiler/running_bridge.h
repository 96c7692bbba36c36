// SPDX-License-Identifier: Apache-2.0
//
// A bridge that forwards: the model, and the plan that the compiler keeps of it. An operation is
// done in both or in none.
//
// Thread rules: one thread. Workers take published() and counts().
#pragma once

#include <memory>
#include <span>

#include "pipeline/compiler/pipeline_compiler.h"
#include "pipeline/model/bridge.h"

namespace coua::pipeline {

class running_bridge {
 public:
  /// Errors: invalid, no_memory.
  static result<std::unique_ptr<running_bridge>> create(const bridge_params& params = {},
                                                        const compiler_params& compiler = {});

  /// As bridge::apply; besides, flow_mod_table_full when the datapath has no room.
  of_result<change_list> apply(std::span<const operation> bundle, time_ns now);
  of_result<change_list> apply(const operation& one, time_ns now) { return apply({&one, 1}, now); }
  /// apply() of each would be done in a moment (pipeline_compiler::is_quick).
  bool is_quick(std::span<const operation> operations) { return compiler_->is_quick(operations); }
  /// Removes rules whose time has come, by what was collected of their packets. If the datapath has
  /// no room for that, they go with a later call.
  change_list expire(time_ns now);
  /// Why there is no rule.
  enum class not_learned : std::uint8_t {
    gone,      // no rule learns so any more
    no_match,  // the packet's values make no match
  };
  /// The rule that a packet left behind (model/learn.h), as an operation.
  tl::expected<operation, not_learned> to_operation(const learned_values& from) const;
  /// Takes over what workers counted.
  void collect(time_ns now) { compiler_->collect(model_, now); }
  /// Now and then: what waits for a time without changes (pipeline_compiler::tend).
  void tend(time_ns now) { compiler_->tend(now); }
  std::size_t reclaim() { return compiler_->reclaim(); }

  const bridge& model() const { return model_; }
  pipeline_compiler& compiler() { return *compiler_; }
  const pipeline_compiler& compiler() const { return *compiler_; }

 private:
  explicit running_bridge(bridge model) : model_(std::move(model)) {}
  /// Has the compiler follow, and sets `failed` when it could not.
  bridge::follower follower(time_ns now, bool& failed);

  bridge model_;
  std::unique_ptr<pipeline_compiler> compiler_;
};

}  // namespace coua::pipeline
