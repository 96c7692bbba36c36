// SPDX-License-Identifier: Apache-2.0
//
// What comes of one rule in a version. It points into the change list, which outlives it: no counts
// of references are touched for each of a million rules.
#pragma once

#include "pipeline/model/change.h"

namespace coua::pipeline {

struct rule_step {
  const rule_ptr* before = nullptr;  // null: it comes
  const rule_ptr* after = nullptr;   // null: it goes
};
inline bool is_nothing(const rule_step& one) {
  return one.before == nullptr && one.after == nullptr;
}
/// With both, they have one id and one table.
inline const rule_ptr& any_of(const rule_step& one) {
  return one.before != nullptr ? *one.before : *one.after;
}

}  // namespace coua::pipeline
