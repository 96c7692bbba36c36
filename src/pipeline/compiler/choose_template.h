// SPDX-License-Identifier: Apache-2.0
//
// Which template serves a table (ESWITCH, SIGCOMM 2016, section 3). From the cheapest to the most
// general; a table gets the first whose prerequisite its rules meet:
//
//   direct       16 rules at most, of any kind: all are compared at once
//   exact        rules take the same bits of the same fields: one hash look-up decides
//   lpm          rules are prefixes of one field and otherwise the same, a longer one above every
//                shorter one in priority
//   classifier   any rules: tuple space search (classify/classifier.h)
//
// Beside exact and lpm, rules that match every packet may stand below all others. Of one priority,
// the rule that was added first counts: neither template knows that order, so there must be none.
//
// Going down to a more general template is a must, and happens at once. Going up again waits, so
// that a rule that comes and goes does not have the table built anew each time: for direct until
// the table is half as large as it may be, for the others until as many changes have passed as a
// quarter of its rules, since what is built costs as much as they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/compiler/table_shape.h"
#include "pipeline/datapath/table_template.h"

namespace coua::pipeline {

inline constexpr std::size_t direct_rules_max = 16;

/// Why a cheaper template does not serve a table, for `coua explain`.
struct refused_template {
  table_template which;
  std::string reason;
};

struct template_choice {
  table_template which = table_template::direct;
  std::optional<field> prefix_field{};      // of lpm
  std::vector<refused_template> cheaper{};  // those before it, in order
};

/// By the prerequisites alone.
template_choice choose_template(const table_shape& shape);

/// What a table has, through its changes.
class template_keeper {
 public:
  const template_choice& now() const { return now_; }

  /// After every change of the rules. True: the table must be built anew, by now().
  bool follow(const table_shape& shape);

 private:
  /// What the table has, by its own prerequisite.
  bool still_serves(const table_shape& shape) const;

  template_choice now_{};
  std::size_t n_waited_ = 0;  // changes since a cheaper one would do
};

}  // namespace coua::pipeline
