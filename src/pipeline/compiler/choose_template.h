// SPDX-License-Identifier: Apache-2.0
//
// Which template serves a table (ESWITCH, SIGCOMM 2016, section 3). From the cheapest to the most
// general; a table gets the first whose prerequisite its rules meet:
//
//   direct       16 rules at most, of any kind: all are compared at once
//   exact        rules take the same bits of the same fields: one hash look-up decides
//   lpm          rules are prefixes of one field and otherwise the same, a longer one above every
//                shorter one in priority
//   direct       "long": up to 48 rows of rules
//   exact, lpm   with rules apart: at most 16 rows of rules that are unlike the others, compared
//                as those of a direct table; they take other bits, or are no prefixes of the
//                field, or are not the same otherwise
//   decomposed   rules fall into sets, small ones or of prefixes, by the values of some fields
//                (decompose.h)
//   classifier   any rules: tuple space search (classify/classifier.h)
//
// Beside exact and lpm, rules that match every packet may stand below all others. Of one priority,
// the rule that was added first counts: neither template knows that order of them, so there must be
// none.
//
// Rules apart come and go as those of a direct table do, however many others there are: these are
// not touched. So there may be more of them (32 rows) before the table is built anew. Which of two
// rules is older, records know of the first 2^32 rules that were added to a bridge; later, none is
// apart.
//
// Going down to a template that costs more is a must, and happens at once. Going up again waits, so
// that a rule that comes and goes does not have the table built anew each time: for direct until
// the table is half as large as it may be, for the others until as many changes have passed as a
// quarter of its rules, since what is built costs as much as they do. Whether a table decomposes is
// asked of all its rules, so it is asked as seldom: when the table must be built anew, and after as
// many changes, of one that is decomposed whether it should still be. What is due then and cannot
// be built (a rule that parts hold may take more than a classifier has room for) is as if it did
// not serve: the table keeps what it has, so that a rule can always go.
//
// Each change of a rule asks for the template, and hardly anybody why it is no cheaper one: texts
// are made of the rules of that moment, when somebody asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/compiler/decompose.h"
#include "pipeline/compiler/table_shape.h"
#include "pipeline/datapath/table_template.h"

namespace coua::pipeline {

inline constexpr std::size_t direct_rules_max = 16;
/// Rows of a long direct table. A direct table has room for more: for rules that are going.
inline constexpr std::size_t direct_long_max = 48;

struct template_limits {
  /// Rows of a long direct table; direct_rules_max and less: there is none.
  std::size_t direct_long = direct_long_max;
  /// Rows of the rules apart of a table that becomes exact or lpm; 0: none are apart.
  std::size_t apart = 16;
  /// Of one that is.
  constexpr std::size_t most_apart() const { return 2 * apart; }
};
/// Mixed tables are decomposed or a classifier's, for who tests or measures these.
inline constexpr template_limits no_mixed_tables{.direct_long = 0, .apart = 0};

/// Why a cheaper template does not serve a table, for `coua explain`.
struct refused_template {
  table_template which;
  std::string reason;
};

struct template_choice {
  table_template which = table_template::direct;
  bool is_long = false;                          // direct, of more than direct_rules_max
  bool has_apart = false;                        // exact or lpm, with rules apart
  std::optional<field> prefix_field{};           // of lpm
  std::shared_ptr<const decomposition> parts{};  // of decomposed
};

/// By the prerequisites alone, but for that of decomposed.
template_choice choose_template(const table_shape& shape, const template_limits& limits = {});
/// Of direct, exact or lpm; empty: it serves.
std::string why_not(table_template which, const table_shape& shape,
                    const template_limits& limits = {});

/// What a table has, through its changes.
class template_keeper {
 public:
  explicit template_keeper(const template_limits& limits = {}) : limits_(limits) {}

  const template_choice& now() const { return now_; }

  /// After changes of the rules. `fits`: what the table has takes them. True: it must be built
  /// anew, by now().
  struct changed {
    std::size_t n = 1;
    bool fits = true;
  };
  /// As decompose(): told what the table has, if that holds its rules.
  using decomposer = std::function<decompose_answer(std::shared_ptr<const decomposition> has)>;
  bool follow(const table_shape& shape, changed what, const decomposer& decompose);

  /// Whether, after so many changes more that make the rules this shape, it is what it is now, and
  /// nothing is asked about parts. `shape` is of thousands of rules.
  bool would_stay(const table_shape& shape, std::size_t n_changes) const;

  /// now(), by its own prerequisite.
  bool still_serves(const table_shape& shape) const;
  /// The rules that are not apart, of one that has such; null: it has none.
  const match* find_main(const table_shape& shape) const;

  /// What now() asks for could not be built, for this reason: the table keeps what it had `before`,
  /// and waits anew before that is asked for again.
  void stay(template_keeper before, std::string reason);

  /// Of the templates that are cheaper than now(), in order, up to one that would serve and waits.
  std::vector<refused_template> why_not_cheaper(const table_shape& shape) const;

 private:
  static std::size_t wait_of(const table_shape& shape);
  /// As now(), by what the rules are.
  template_choice as_it_is(const table_shape& shape) const;
  /// What it has serves as long as its own prerequisite holds, which may be longer than that of
  /// `best`, and nothing is gained by the other.
  bool outlasts(const template_choice& best, const table_shape& shape) const;
  /// Whether one that costs less than now() has been waited for long enough.
  bool is_due(const template_choice& better, const table_shape& shape) const;
  /// Of a table that nothing cheaper serves.
  void consider_parts(const table_shape& shape, changed what, const decomposer& decompose,
                      template_choice& best);
  std::string why_no_parts() const;
  /// Of one that would serve.
  std::string when_built(table_template which, const table_shape& shape) const;

  template_limits limits_;
  template_choice now_{};
  std::string why_no_parts_;                   // at the last question, if there were none
  std::optional<refused_template> not_built_;  // with the last change
  std::size_t n_waited_ = 0;                   // changes since a cheaper one would do
  std::size_t n_since_asked_ = 0;              // changes since the last question about parts
};

}  // namespace coua::pipeline
