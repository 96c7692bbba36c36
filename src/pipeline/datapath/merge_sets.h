// SPDX-License-Identifier: Apache-2.0
//
// The action set that a packet has collected in several tables: model/action_set.h over ops,
// without memory of its own.
#pragma once

#include <span>

#include "pipeline/datapath/op.h"

namespace coua::pipeline {

/// One op of a kind at most; of those that set a field, one for each.
inline constexpr std::size_t merged_ops_max = n_fields + 16;

/// As it is executed. `room` has merged_ops_max ops; the answer may be in it, or be the only set
/// that was written.
op_list merge_sets(std::span<const action_set_ops* const> written, op* room) noexcept;

}  // namespace coua::pipeline
