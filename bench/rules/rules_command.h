// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"

namespace coua::bench {

struct rules_options {
  run_options run;   // of it `json` and `seed`
  std::string kind;  // acl, fw, ipc, openflow or masks
  std::uint64_t rules = 1000;
  std::uint64_t masks = 20;      // of kind masks, instead of `rules`
  std::uint64_t flows = 10'000;  // of which it is counted how many rules they match
  bool text = false;             // the rules and not their figures
};

/// `coua-bench rules`: the figures of a rule set.
result<report> run_rules(const rules_options&);

/// `coua-bench rules --text`: the rule set itself.
result<std::string> print_rules(const rules_options&);

}  // namespace coua::bench
