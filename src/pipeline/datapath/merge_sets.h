// SPDX-License-Identifier: Apache-2.0
//
// The action set that a packet has collected in several tables: model/action_set.h over ops,
// without memory of its own.
#pragma once

#include <cstddef>
#include <span>

#include "pipeline/datapath/op.h"

namespace coua::pipeline {

/// One op of a kind at most; of those that set a field, one for each.
inline constexpr std::size_t merged_ops_max = n_fields + 16;

struct merge_room {
  op ops[merged_ops_max];
  alignas(wide_value) std::byte wide[n_fields][sizeof(wide_value)];  // of fields written in parts
};

/// As it is executed. The answer may be in `room`, or be the only set that was written.
op_list merge_sets(std::span<const action_set_ops* const> written, merge_room& room) noexcept;

}  // namespace coua::pipeline
