// SPDX-License-Identifier: Apache-2.0
//
// What tables can do, as messages of table features say it: what a controller asks for is compared
// with what we report, both read from their bytes. (The library's decoder leaves out what it does
// not know, so that a table would seem to be asked for less than it is.)
#pragma once

#include <map>
#include <vector>

#include "ctl/ofp/reply.h"

namespace coua::ofp {

struct table_ability {
  pipeline::table_id table = 0;
  std::uint64_t metadata_match = 0, metadata_write = 0;
  std::uint32_t config = 0, max_entries = 0;
  /// By ofp_table_feature_prop_type: instructions, tables, actions or fields, ascending.
  std::map<std::uint16_t, std::vector<std::uint64_t>> properties;
};

/// Of each table in the body of a request or reply. Errors: those of
/// ofp_table_features_failed_code, for what is no such list, or has a table or property twice.
tl::expected<std::vector<table_ability>, refusal> read_abilities(message_view body);

/// As we report it in the answer to `request`.
table_ability ability_of(const table_facts& one, message_view request);

/// Errors: ofp_table_features_failed_code, when more is wanted than is there. A property that is
/// left out asks for nothing.
tl::expected<void, refusal> check_ability(const table_ability& wanted, const table_ability& there);

}  // namespace coua::ofp
