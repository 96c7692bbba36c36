// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "pipeline/model/rule_table.h"

namespace coua::pipeline {

struct found_rule {
  const rule_table::entry* entry = nullptr;
  std::optional<std::uint32_t> conjunction{};  // through which it was found
};

/// The rule that counts for a packet, conjunctions and all (model/conjunction.h), as plainly as it
/// can be told. Goes over the rules.
found_rule find_rule(const rule_table& in, const field_values& packet);

}  // namespace coua::pipeline
