// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/choose_template.h"

#include <algorithm>

namespace coua::pipeline {
namespace {

constexpr std::size_t shortest_wait = 16;  // changes

bool serves(const table_shape& shape, const prefix_shape& of) {
  return shape.catch_alls_are_last() && of.serves();
}

std::string why_not_last(const table_shape& shape) {
  if (shape.catch_alls_are_last()) return {};
  return "a rule that matches every packet is not below all others";
}

std::string why_not_direct(const table_shape& shape) {
  if (shape.n_rules() <= direct_rules_max) return {};
  return "more than " + std::to_string(direct_rules_max) + " rules (" +
         std::to_string(shape.n_rules()) + ")";
}

std::string why_not_exact(const table_shape& shape) {
  if (shape.n_masks() > 1) {
    return "rules take " + std::to_string(shape.n_masks()) + " different sets of bits";
  }
  return why_not_last(shape);
}

std::string why_not_lpm(const table_shape& shape) {
  if (std::string why = why_not_last(shape); !why.empty()) return why;
  std::string all;
  for (const prefix_shape& each : shape.prefixes()) {
    const std::string why = each.why_not();
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

std::string why_not(table_template which, const table_shape& shape) {
  switch (which) {
    case table_template::direct: return why_not_direct(shape);
    case table_template::exact: return why_not_exact(shape);
    case table_template::lpm: return why_not_lpm(shape);
    case table_template::decomposed:
    case table_template::classifier: break;
  }
  return {};
}

template_choice choose_template(const table_shape& shape) {
  if (shape.n_rules() <= direct_rules_max) return {table_template::direct};
  if (shape.n_masks() <= 1 && shape.catch_alls_are_last()) return {table_template::exact};
  for (const prefix_shape& each : shape.prefixes()) {
    if (serves(shape, each)) return {table_template::lpm, each.which()};
  }
  return {table_template::classifier};
}

bool template_keeper::still_serves(const table_shape& shape) const {
  switch (now_.which) {
    case table_template::direct:
    case table_template::exact: return why_not(now_.which, shape).empty();
    case table_template::lpm:
      return std::any_of(shape.prefixes().begin(), shape.prefixes().end(), [&](const auto& each) {
        return each.which() == now_.prefix_field && serves(shape, each);
      });
    case table_template::decomposed:
    case table_template::classifier: return true;
  }
  return false;
}

std::size_t template_keeper::wait_of(const table_shape& shape) {
  return std::max(shortest_wait, shape.n_rules() / 4);
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
  template_choice best = choose_template(shape);
  if (best.which == table_template::classifier) consider_parts(shape, what, decompose, best);
  const bool same = best.which == now_.which && best.prefix_field == now_.prefix_field &&
                    best.parts == now_.parts && what.fits;
  if (same) {
    n_waited_ = 0;
    return false;
  }
  if (best.which < now_.which && best.which != table_template::decomposed) {
    n_waited_ += what.n;
    const bool is_due = best.which == table_template::direct
                            ? shape.n_rules() <= direct_rules_max / 2
                            : n_waited_ >= wait_of(shape);
    // What it has serves as long as its own prerequisite holds.
    if (!is_due && what.fits && still_serves(shape)) return false;
  }
  now_ = std::move(best);
  n_waited_ = 0;
  return true;
}

bool template_keeper::would_stay(const table_shape& shape, std::size_t n_changes) const {
  const template_choice best = choose_template(shape);
  if (best.which == table_template::classifier)
    return now_.which >= table_template::decomposed && n_since_asked_ + n_changes < wait_of(shape);
  if (best.which == now_.which) return best.prefix_field == now_.prefix_field;
  return best.which < now_.which && still_serves(shape) && n_waited_ + n_changes < wait_of(shape);
}

void template_keeper::stay(template_keeper before, std::string reason) {
  const table_template wanted = now_.which;
  *this = std::move(before);
  n_waited_ = n_since_asked_ = 0;  // not again with the next change
  if (wanted < now_.which) not_built_ = {wanted, std::move(reason)};
}

std::vector<refused_template> template_keeper::why_not_cheaper(const table_shape& shape) const {
  std::vector<refused_template> made;
  for (const table_template each : {table_template::direct, table_template::exact,
                                    table_template::lpm, table_template::decomposed}) {
    if (each >= now_.which) break;
    std::string why = each == table_template::decomposed ? why_no_parts() : why_not(each, shape);
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
    return "would serve; it is built when no more than " + std::to_string(direct_rules_max / 2) +
           " rules are left";
  }
  const std::size_t wait = wait_of(shape);
  const std::size_t n = wait > n_waited_ ? wait - n_waited_ : 1;
  return "would serve; " + std::to_string(n) + (n == 1 ? " more change" : " more changes") +
         " of rules until it is built";
}

}  // namespace coua::pipeline
