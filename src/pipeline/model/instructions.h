// SPDX-License-Identifier: Apache-2.0
//
// What a rule does with its packets, at most one instruction of each kind, executed in the order of
// the members (OpenFlow 1.3.5, section 5.9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/model/action.h"

namespace coua::pipeline {

using table_id = std::uint8_t;
inline constexpr table_id table_max = 254;
inline constexpr table_id table_all = 255;  // every table, in a deletion

using meter_id = std::uint32_t;

struct metadata_write {
  std::uint64_t value = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  bool operator==(const metadata_write&) const = default;
};

struct instructions {
  std::optional<meter_id> meter;
  std::optional<action_list> apply;
  bool clear_actions = false;
  std::optional<action_list> write;
  std::optional<metadata_write> metadata;
  std::optional<table_id> goto_table;

  bool operator==(const instructions&) const = default;
};

/// As ovs-ofctl writes them: "meter:1,output:2,clear_actions,write_actions(group:1),goto_table:3".
std::string to_string(const instructions& what);

}  // namespace coua::pipeline
