// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/choose_template.h"

#include <algorithm>

namespace coua::pipeline {
namespace {

constexpr std::size_t shortest_wait = 16;  // changes

std::string why_not_direct(const table_shape& shape) {
  if (shape.n_rules() <= direct_rules_max) return {};
  return "more than " + std::to_string(direct_rules_max) + " rules (" +
         std::to_string(shape.n_rules()) + ")";
}

std::string why_not_last(const table_shape& shape) {
  if (shape.catch_alls_are_last()) return {};
  return "a rule that matches every packet is not below all others";
}

std::string why_not_exact(const table_shape& shape) {
  if (shape.n_masks() > 1) {
    return "rules take " + std::to_string(shape.n_masks()) + " different sets of bits";
  }
  return why_not_last(shape);
}

std::string why_not_lpm(const table_shape& shape, const prefix_shape& of) {
  std::string why = why_not_last(shape);
  return why.empty() ? of.why_not() : why;
}

/// The field in which the rules are prefixes, or why in none.
std::string why_not_lpm(const table_shape& shape, std::optional<field>& which) {
  if (std::string why = why_not_last(shape); !why.empty()) return why;
  std::string all;
  for (const prefix_shape& each : shape.prefixes()) {
    const std::string why = each.why_not();
    if (why.empty()) {
      which = each.which();
      return {};
    }
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

template_choice choose_template(const table_shape& shape) {
  template_choice made;
  const auto serves = [&](table_template which, std::string why_not) {
    made.which = which;
    if (why_not.empty()) return true;
    made.cheaper.push_back({which, std::move(why_not)});
    return false;
  };
  if (serves(table_template::direct, why_not_direct(shape))) return made;
  if (serves(table_template::exact, why_not_exact(shape))) return made;
  if (serves(table_template::lpm, why_not_lpm(shape, made.prefix_field))) return made;
  made.which = table_template::classifier;
  return made;
}

bool template_keeper::still_serves(const table_shape& shape) const {
  switch (now_.which) {
    case table_template::direct: return why_not_direct(shape).empty();
    case table_template::exact: return why_not_exact(shape).empty();
    case table_template::lpm:
      return std::any_of(shape.prefixes().begin(), shape.prefixes().end(), [&](const auto& each) {
        return each.which() == now_.prefix_field && why_not_lpm(shape, each).empty();
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
  if (now_.which == table_template::classifier && !is_due) {
    for (const refused_template& each : now_.cheaper) {
      if (each.which == table_template::decomposed) best.cheaper.push_back(each);
    }
    return;
  }
  n_since_asked_ = 0;
  decompose_answer answer = decompose(has_parts ? now_.parts : nullptr);
  if (answer.found != nullptr) {
    best.which = table_template::decomposed;
    best.parts = std::move(answer.found);
  } else {
    best.cheaper.push_back({table_template::decomposed, std::move(answer.why_not)});
  }
}

bool template_keeper::follow(const table_shape& shape, changed what, const decomposer& decompose) {
  template_choice best = choose_template(shape);
  if (best.which == table_template::classifier) consider_parts(shape, what, decompose, best);
  const bool same = best.which == now_.which && best.prefix_field == now_.prefix_field &&
                    best.parts == now_.parts && what.fits;
  if (same) {
    now_ = std::move(best);  // with the reasons of today
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

void template_keeper::stay(template_keeper before, std::string reason) {
  std::vector<refused_template> cheaper = std::move(now_.cheaper);
  if (now_.which < before.now_.which) cheaper.push_back({now_.which, std::move(reason)});
  for (refused_template& each : before.now_.cheaper) {
    if (each.which > now_.which) cheaper.push_back(std::move(each));
  }
  *this = std::move(before);
  now_.cheaper = std::move(cheaper);
}

}  // namespace coua::pipeline
