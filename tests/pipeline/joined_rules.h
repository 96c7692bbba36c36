// SPDX-License-Identifier: Apache-2.0
//
// What tests of joined tables share: rules that are joined, and when.
#pragma once

#include <optional>
#include <utility>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/model/test_model.h"

namespace coua::test {

/// Direct tables stay short, so that those of some addresses are exact; joined at once.
inline constexpr pipeline::compiler_params joined_at_once{
    .limits = {.direct_long = 0}, .share_from = 1, .join_after = 0};
/// For running_bridge::tend(): whatever is to be joined is.
inline constexpr pipeline::time_ns later = pipeline::time_ns{1} << 60;

inline pipeline::match_term tag(unsigned vid) {
  return pipeline::exact(pipeline::field::vlan_vid, pipeline::vlan_present | vid);
}
inline constexpr std::uint32_t first_user = 0x0a00'0001;  // addresses
inline pipeline::match_term from(unsigned user) {
  return pipeline::exact(pipeline::field::ipv4_src, first_user + user);
}

inline pipeline::instructions then(pipeline::action_list list,
                                   std::optional<pipeline::table_id> next = std::nullopt) {
  pipeline::instructions made = pipeline::test::apply(std::move(list));
  made.goto_table = next;
  return made;
}

}  // namespace coua::test
