// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/choose_template.h"

#include <algorithm>

#include "pipeline/datapath/rule_rank.h"

namespace coua::pipeline {
namespace {

constexpr std::size_t shortest_wait = 16;  // changes

/// So many rows may be apart: there are none, or records know which of two rules is older.
bool may_be_apart(const table_shape& shape, std::size_t n_rows, std::size_t most_rows) {
  return n_rows == 0 || (n_rows <= most_rows && shape.newest() < recorded_ids);
}

bool serves_exact(const table_shape& shape, std::size_t most_rows) {
  if (!shape.catch_alls_are_last()) return false;
  const auto main = shape.find_main(most_rows);
  return shape.n_masks() == 0 || (main && may_be_apart(shape, main->n_rows_apart, most_rows));
}

/// As most large tables are.
bool is_best_exact(const table_shape& shape) {
  return shape.n_rules() > direct_rules_max && serves_exact(shape, 0);
}

bool serves_lpm(const table_shape& shape, const prefix_shape& of, std::size_t most_rows) {
  if (!shape.catch_alls_are_last()) return false;
  const auto main = of.find_main(most_rows);
  return main && may_be_apart(shape, main->n_rows_apart, most_rows) && of.is_ordered(*main);
}

/// The first that would do.
const prefix_shape* find_prefixes(const table_shape& shape, std::size_t most_rows) {
  const auto& all = shape.prefixes();
  const auto found = std::find_if(all.begin(), all.end(), [&](const prefix_shape& each) {
    return serves_lpm(shape, each, most_rows);
  });
  return found == all.end() ? nullptr : &*found;
}
const prefix_shape& prefixes_of(const table_shape& shape, field which) {
  const auto& all = shape.prefixes();
  return *std::find_if(all.begin(), all.end(),
                       [which](const prefix_shape& each) { return each.which() == which; });
}

std::string why_not_last(const table_shape& shape) {
  if (shape.catch_alls_are_last()) return {};
  return "a rule that matches every packet is not below all others";
}

/// From the cheapest on.
unsigned rank_of(const template_choice& one) {
  switch (one.which) {
    case table_template::direct: return one.is_long ? 3 : 0;
    case table_template::exact: return one.has_apart ? 4 : 1;
    case table_template::lpm: return one.has_apart ? 5 : 2;
    case table_template::decomposed: return 6;
    case table_template::classifier: return 7;
  }
  return 7;
}

std::string more_than(std::size_t max, std::size_t n, const char* what) {
  return "more than " + std::to_string(max) + ' ' + what + " (" + std::to_string(n) + ")";
}

std::string why_not_direct(const table_shape& shape, const template_limits& limits) {
  const std::size_t long_max = limits.direct_long;
  const template_choice best = choose_template(shape, limits);
  if (best.which == table_template::direct) return {};
  const bool would_be_long = best.which == table_template::classifier || best.has_apart;
  if (!would_be_long || long_max <= direct_rules_max)
    return more_than(direct_rules_max, shape.n_rules(), "rules");
  if (shape.n_rules() > long_max) return more_than(long_max, shape.n_rules(), "rules");
  return more_than(long_max, shape.n_rows(), "rows, two of some rules");
}

constexpr const char* too_many_to_tell =
    "a rule is unlike most, and too many were added to tell which is older";

std::string why_not_exact(const table_shape& shape, const template_limits& limits) {
  const auto main = shape.find_main(limits.apart);
  if (shape.n_masks() > 1 && !main) {
    return "rules take " + std::to_string(shape.n_masks()) + " different sets of bits";
  }
  if (main && main->n_rows_apart > limits.apart) {
    return more_than(limits.apart, main->n_rows_apart,
                     "rows of rules that take other bits than most");
  }
  if (main && !may_be_apart(shape, main->n_rows_apart, limits.apart)) return too_many_to_tell;
  return why_not_last(shape);
}

std::string why_not_lpm(const table_shape& shape, const prefix_shape& of, std::size_t most_rows) {
  const std::string name = info(of.which()).name;
  if (!of.is_matched()) return "no rule matches " + name;
  if (serves_lpm(shape, of, most_rows)) return {};
  const auto main = of.find_main(shape.n_rules());
  if (of.has_uncounted()) {
    return "rules differ in more than " + name + " in too many ways, or did when they came";
  }
  if (main && main->n_rows_apart > most_rows && most_rows != 0) {
    return more_than(most_rows, main->n_rows_apart, "rows of rules") + " that are no prefixes of " +
           name + " or differ in more";
  }
  if (!main || main->n_rows_apart > most_rows) {
    return of.n_groups() > 1 ? "rules differ in more than " + name
                             : "rules have a mask of " + name + " that is not a prefix";
  }
  if (!may_be_apart(shape, main->n_rows_apart, most_rows)) return too_many_to_tell;
  return of.why_unordered(*main);
}

std::string why_not_lpm(const table_shape& shape, const template_limits& limits) {
  if (std::string why = why_not_last(shape); !why.empty()) return why;
  std::string all;
  for (const prefix_shape& each : shape.prefixes()) {
    const std::string why = why_not_lpm(shape, each, limits.apart);
    if (why.empty()) return {};
    if (each.is_matched()) all += (all.empty() ? "" : "; ") + why;
  }
  return all.empty() ? "no rule matches an IP address" : all;
}

}  // namespace

const char* to_string(table_template which) {
  switch (which) {
    case table_template::direct: return "direct";
    case table_template::exact: return "exact";
    case table_template::lpm: return "lpm";
    case table_template::decomposed: return "decomposed";
    case table_template::classifier: return "classifier";
  }
  return "?";
}

std::string why_not(table_template which, const table_shape& shape, const template_limits& limits) {
  switch (which) {
    case table_template::direct: return why_not_direct(shape, limits);
    case table_template::exact: return why_not_exact(shape, limits);
    case table_template::lpm: return why_not_lpm(shape, limits);
    case table_template::decomposed:
    case table_template::classifier: break;
  }
  return {};
}

template_choice choose_template(const table_shape& shape, const template_limits& limits) {
  if (shape.n_rules() <= direct_rules_max) return {};
  if (is_best_exact(shape)) return {table_template::exact};
  if (const prefix_shape* of = find_prefixes(shape, 0))
    return {.which = table_template::lpm, .prefix_field = of->which()};
  if (shape.n_rows() <= limits.direct_long) return {.is_long = true};
  if (serves_exact(shape, limits.apart)) return {.which = table_template::exact, .has_apart = true};
  if (const prefix_shape* of = find_prefixes(shape, limits.apart))
    return {.which = table_template::lpm, .has_apart = true, .prefix_field = of->which()};
  return {table_template::classifier};
}

bool template_keeper::still_serves(const table_shape& shape) const {
  switch (now_.which) {
    case table_template::direct:
      return now_.is_long ? shape.n_rows() <= limits_.direct_long
                          : shape.n_rules() <= direct_rules_max;
    case table_template::exact: return serves_exact(shape, limits_.most_apart());
    case table_template::lpm:
      return serves_lpm(shape, prefixes_of(shape, *now_.prefix_field), limits_.most_apart());
    case table_template::decomposed:
    case table_template::classifier: return true;
  }
  return false;
}

const match* template_keeper::find_main(const table_shape& shape) const {
  std::optional<main_rules> main;
  if (now_.which == table_template::exact) {
    main = shape.find_main(limits_.most_apart());
  } else if (now_.which == table_template::lpm) {
    main = prefixes_of(shape, *now_.prefix_field).find_main(limits_.most_apart());
  }
  return main ? main->of : nullptr;
}

template_choice template_keeper::as_it_is(const table_shape& shape) const {
  template_choice now = now_;
  if (now.which == table_template::exact) {
    now.has_apart = !serves_exact(shape, 0);
  } else if (now.which == table_template::lpm) {
    now.has_apart = !serves_lpm(shape, prefixes_of(shape, *now.prefix_field), 0);
  }
  return now;
}

bool template_keeper::outlasts(const template_choice& best, const table_shape& shape) const {
  const bool has_more = now_.which == table_template::exact || now_.which == table_template::lpm;
  return has_more && rank_of(best) >= rank_of(as_it_is(shape)) && still_serves(shape);
}

std::size_t template_keeper::wait_of(const table_shape& shape) {
  return std::max(shortest_wait, shape.n_rules() / 4);
}

bool template_keeper::is_due(const template_choice& better, const table_shape& shape) const {
  if (better.which != table_template::direct) return n_waited_ >= wait_of(shape);
  return better.is_long ? shape.n_rows() <= limits_.direct_long / 2
                        : shape.n_rules() <= direct_rules_max / 2;
}

void template_keeper::consider_parts(const table_shape& shape, changed what,
                                     const decomposer& decompose, template_choice& best) {
  const bool has_parts = now_.which == table_template::decomposed && what.fits;
  n_since_asked_ += what.n;
  const bool is_due = n_since_asked_ >= wait_of(shape);
  if (has_parts && !is_due) {
    best.which = table_template::decomposed;
    best.parts = now_.parts;
    return;
  }
  if (now_.which == table_template::classifier && !is_due) return;
  n_since_asked_ = 0;
  decompose_answer answer = decompose(has_parts ? now_.parts : nullptr);
  if (answer.found != nullptr) {
    best.which = table_template::decomposed;
    best.parts = std::move(answer.found);
  } else {
    why_no_parts_ = std::move(answer.why_not);
  }
}

bool template_keeper::follow(const table_shape& shape, changed what, const decomposer& decompose) {
  not_built_.reset();
  if (now_.which == table_template::exact && what.fits && is_best_exact(shape)) {
    now_.has_apart = false;
    n_waited_ = 0;
    return false;
  }
  template_choice best = choose_template(shape, limits_);
  now_ = as_it_is(shape);
  if (what.fits && outlasts(best, shape)) {
    n_waited_ = 0;
    return false;
  }
  if (best.which == table_template::classifier) consider_parts(shape, what, decompose, best);
  const bool same = best.which == now_.which && best.prefix_field == now_.prefix_field &&
                    best.parts == now_.parts && what.fits;
  if (same) {
    now_.is_long = best.is_long;
    n_waited_ = 0;
    return false;
  }
  if (rank_of(best) < rank_of(now_) && best.which != table_template::decomposed) {
    n_waited_ += what.n;
    // What it has serves as long as its own prerequisite holds.
    if (!is_due(best, shape) && what.fits && still_serves(shape)) return false;
  }
  now_ = std::move(best);
  n_waited_ = 0;
  return true;
}

bool template_keeper::would_stay(const table_shape& shape, std::size_t n_changes) const {
  const template_choice best = choose_template(shape, limits_);
  if (outlasts(best, shape)) return true;
  if (best.which == table_template::classifier)
    return now_.which >= table_template::decomposed && n_since_asked_ + n_changes < wait_of(shape);
  if (best.which == now_.which) return best.prefix_field == now_.prefix_field;
  return rank_of(best) < rank_of(as_it_is(shape)) && still_serves(shape) &&
         n_waited_ + n_changes < wait_of(shape);
}

void template_keeper::stay(template_keeper before, std::string reason) {
  const template_choice wanted = std::move(now_);
  *this = std::move(before);
  n_waited_ = n_since_asked_ = 0;  // not again with the next change
  if (rank_of(wanted) < rank_of(now_)) not_built_ = {wanted.which, std::move(reason)};
}

std::vector<refused_template> template_keeper::why_not_cheaper(const table_shape& shape) const {
  const template_choice best = choose_template(shape, limits_);
  // With rules apart, exact and lpm cost more than these, or than what it has.
  const bool is_beyond = best.is_long || (best.which == table_template::lpm && !best.has_apart);
  const auto limits_of = [&](table_template which) {
    const bool is_dearer = rank_of({.which = which, .has_apart = true}) >= rank_of(now_);
    return template_limits{limits_.direct_long, is_beyond || is_dearer ? 0 : limits_.apart};
  };
  std::vector<refused_template> made;
  for (const table_template each : {table_template::direct, table_template::exact,
                                    table_template::lpm, table_template::decomposed}) {
    if (rank_of({each}) >= rank_of(now_)) break;
    if (each == now_.which) continue;  // a long one, or with rules apart
    std::string why =
        each == table_template::decomposed ? why_no_parts() : why_not(each, shape, limits_of(each));
    const bool would_serve = why.empty();
    if (not_built_ && not_built_->which == each) {
      why = not_built_->reason;
    } else if (would_serve) {
      why = when_built(each, shape);
    }
    made.push_back({each, std::move(why)});
    if (would_serve) break;
  }
  return made;
}

/// Rules have changed since the last question, but for so many it is not asked again.
std::string template_keeper::why_no_parts() const {
  return n_since_asked_ == 0 ? why_no_parts_ : why_no_parts_ + " (when last asked)";
}

std::string template_keeper::when_built(table_template which, const table_shape& shape) const {
  if (which == table_template::direct) {
    const bool is_long = choose_template(shape, limits_).is_long;
    return "would serve; it is built when no more than " +
           std::to_string((is_long ? limits_.direct_long : direct_rules_max) / 2) +
           " rules are left";
  }
  const std::size_t wait = wait_of(shape);
  const std::size_t n = wait > n_waited_ ? wait - n_waited_ : 1;
  return "would serve; " + std::to_string(n) + (n == 1 ? " more change" : " more changes") +
         " of rules until it is built";
}

}  // namespace coua::pipeline
