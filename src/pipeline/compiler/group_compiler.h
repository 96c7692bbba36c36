// SPDX-License-Identifier: Apache-2.0
//
// Groups and meters for the datapath (versioned_things.h).
//
// A modification makes a version that counts its buckets anew, under other numbers; the group's own
// number stays. A group whose watched ports or groups come to life or die is made anew, too, but
// its buckets count on. The same holds for meters and their bands.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "pipeline/compiler/versioned_things.h"
#include "pipeline/model/bridge.h"

namespace coua::pipeline {

class group_compiler {
 public:
  explicit group_compiler(const bridge& model) : model_(model) {}

  /// For the ops of rules; the group is in the model.
  const versioned<group_version>* group_of(group_id id) const { return &groups_.at(id).place; }
  const versioned<meter_version>* meter_of(meter_id id) const { return &meters_.at(id).place; }

  // The changes of a version, which the model has already. Errors: no_room (numbers to count
  // under).
  result<void> follow(compile_context& in, const change_list& changes, time_ns now);
  // Then one of these:
  /// The version is about to be published.
  void keep(compile_context& in);
  /// It could not be made, and the model is put back.
  void restore(compile_context& in);

  /// Counts since the last time, to the model.
  void collect(compile_context& in, bridge& model);

 private:
  struct stored_group : group_version {
    std::list<stored_ops> ops;  // of the buckets
    std::shared_ptr<const count_block> numbers;
  };
  struct stored_meter : meter_version {
    using meter_version::meter_version;
    std::shared_ptr<const count_block> numbers;
  };

  /// Whether buckets begin to count at nothing.
  enum class counting : std::uint8_t { anew, on };
  /// Makes the version of a group that is in the model.
  result<void> make(compile_context& in, const group& from, counting how);
  result<void> make(compile_context& in, const meter& from, time_ns now);
  /// Groups whose buckets live otherwise than before.
  result<void> revive(compile_context& in);
  void watch(const group& one, std::vector<bool> lives);
  std::vector<bool> lives_of(const group& one) const;

  const bridge& model_;
  versioned_things<group_version, stored_group> groups_;
  versioned_things<meter_version, stored_meter> meters_;
  std::map<group_id, std::vector<bool>> watching_;  // groups with watches: which buckets live
};

}  // namespace coua::pipeline
