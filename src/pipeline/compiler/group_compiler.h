// SPDX-License-Identifier: Apache-2.0
//
// Groups and meters for the datapath: each is one place to which the rules' ops point, and what is
// there has versions (datapath/versions.h). A group whose watched ports or groups come to life or
// die is made anew, with the same counts.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "pipeline/compiler/compile_context.h"
#include "pipeline/model/bridge.h"

namespace coua::pipeline {

class group_compiler {
 public:
  explicit group_compiler(const bridge& model) : model_(model) {}

  /// For the ops of rules; the group is in the model.
  const versioned<group_version>* group_of(group_id id) const { return &groups_.at(id)->place; }
  const versioned<meter_version>* meter_of(meter_id id) const { return &meters_.at(id)->place; }

  // The changes of a version, which the model has already. Errors: no_room (numbers to count
  // under).
  result<void> follow(compile_context& in, const change_list& changes, time_ns now);

  /// When a version could not be made: what it touched, as the model has it now. Meters among that
  /// begin with full buckets.
  result<void> restore(compile_context& in, time_ns now);

  /// Counts since the last time, to the model.
  void collect(compile_context& in, bridge& model);

 private:
  template <class Version>
  struct thing {
    versioned<Version> place;
    std::shared_ptr<Version> latest;
    std::uint32_t counters = 0, n_counters = 0;
  };
  using group_thing = thing<group_version>;
  using meter_thing = thing<meter_version>;

  result<void> change_group(compile_context& in, const group_change& change);
  result<void> change_meter(compile_context& in, const meter_change& change, time_ns now);
  /// Makes the version of a group that is in the model.
  void make(compile_context& in, group_thing& of, const group& from);
  /// Groups whose buckets live otherwise than before.
  void revive(compile_context& in);
  std::vector<bool> lives_of(const group& one) const;
  const bridge& model_;
  std::map<group_id, std::unique_ptr<group_thing>> groups_;
  std::map<meter_id, std::unique_ptr<meter_thing>> meters_;
  std::map<group_id, std::vector<bool>> watching_;  // groups with watches: which buckets live
};

}  // namespace coua::pipeline
