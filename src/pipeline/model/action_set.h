// SPDX-License-Identifier: Apache-2.0
//
// The action set that a packet collects by write-actions, and the one of a group's bucket
// (OpenFlow 1.3.5, section 5.10). At most one action of a kind, of set_field and move one for each
// field that is written: the last one counts. A set_field of some bits leaves to a set_field before
// it the others. Executed in this order, whatever the order of writing:
//
//   copy_ttl_in, pop, push_mpls, push_vlan, copy_ttl_out, dec_ttl, set, set_queue, group,
//   resubmit, output
//
// Of the last three only the first is executed; with none, the packet is dropped. A resubmit is in
// the sets of buckets only.
#pragma once

#include "pipeline/model/action.h"

namespace coua::pipeline {

class action_set {
 public:
  action_set() = default;
  /// The set that these make, written one after the other.
  explicit action_set(const action_list& list) { write(list); }

  void write(const action& one);
  void write(const action_list& list) {
    for (const action& one : list) write(one);
    ++n_writes_;
  }
  /// Of lists, since it was clear.
  unsigned n_writes() const { return n_writes_; }
  void clear() {
    actions_.clear();
    n_writes_ = 0;
  }
  bool empty() const { return actions_.empty(); }

  /// In the order of execution, without what is hidden. Sets of fields keep the order
  /// in which their fields were first written.
  action_list ordered() const;

 private:
  action_list actions_;  // by first writing
  unsigned n_writes_ = 0;
};

}  // namespace coua::pipeline
