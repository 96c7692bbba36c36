// SPDX-License-Identifier: Apache-2.0
//
// The fields that a packet has, with their values. A field whose header is missing or cut off is
// absent, and no match on it holds.
#pragma once

#include <array>
#include <bitset>

#include "pipeline/model/field.h"

namespace coua::pipeline {

class field_values {
 public:
  bool has(field which) const { return present_[index_of(which)]; }
  /// 0 when it is absent.
  value128 get(field which) const { return value_[index_of(which)]; }
  void set(field which, value128 value) {
    value_[index_of(which)] = value;
    present_.set(index_of(which));
  }
  bool operator==(const field_values&) const = default;

 private:
  std::array<value128, n_fields> value_{};
  std::bitset<n_fields> present_;
};

}  // namespace coua::pipeline
