// SPDX-License-Identifier: Apache-2.0
//
// Adding, modifying and removing rules (OpenFlow 1.3.5, section 6.4).
#include <algorithm>

#include "pipeline/model/action_check.h"
#include "pipeline/model/operations.h"

namespace coua::pipeline {
namespace {

of_result<void> check_goto(const store& in, table_id from, table_id to) {
  if (to <= from) {
    return refuse(of_error::bad_instruction_table_id, "goto_table:" + std::to_string(to),
                  "packets only go to later tables than " + std::to_string(from));
  }
  if (to >= in.tables().size()) {
    return refuse(of_error::bad_instruction_table_id, "goto_table:" + std::to_string(to),
                  "the last table is " + std::to_string(in.tables().size() - 1));
  }
  return {};
}

/// A rule that is a clause does nothing else.
of_result<void> check_conjunctions(const instructions& asked) {
  if (!asked.apply) return {};
  const auto is_one = [](const action& one) {
    return std::holds_alternative<act::conjunction>(one);
  };
  const auto n = std::count_if(asked.apply->begin(), asked.apply->end(), is_one);
  if (n == 0) return {};
  instructions alone;
  alone.apply = asked.apply;
  if (static_cast<std::size_t>(n) == asked.apply->size() && asked == alone) return {};
  return refuse(of_error::nicira_bad_conjunction, "conjunction",
                "a rule that is a clause of a conjunction does nothing else");
}

of_result<void> check_instructions(store& in, table_id table, const match& what,
                                   const instructions& asked, action_place place) {
  packet_knowledge known(what);
  const auto group_exists = [&in](group_id id) { return in.find_group(id) != nullptr; };
  if (asked.meter && in.find_meter(*asked.meter) == nullptr) {
    return refuse(of_error::meter_mod_unknown_meter, "meter:" + std::to_string(*asked.meter),
                  "there is no such meter");
  }
  if (auto good = check_conjunctions(asked); !good) return good;
  const std::size_t n_tables = in.tables().size();
  if (asked.apply) {
    auto good = check_actions(*asked.apply, place, known, n_tables, group_exists);
    if (!good) return good;
  }
  if (asked.write) {
    auto good =
        check_actions(*asked.write, action_place::write_actions, known, n_tables, group_exists);
    if (!good) return good;
  }
  return asked.goto_table ? check_goto(in, table, *asked.goto_table) : of_result<void>{};
}

/// The same, with the rule named in the error.
of_result<void> check_rule(store& in, table_id table, std::uint16_t priority, const match& what,
                           const instructions& asked, action_place place = action_place::rule) {
  auto good = check_instructions(in, table, what, asked, place);
  if (good) return good;
  of_failure failure = std::move(good.error());
  failure.where = name_rule(table, priority, what) + ": " + failure.where;
  return tl::unexpected(std::move(failure));
}

rule_counts counts_after(const rule_mod& asked) {
  return (asked.flags & rule_reset_counts) != 0 ? rule_counts::cleared : rule_counts::kept;
}

of_result<void> add(store& in, const rule_mod& asked, time_ns now) {
  rule_table& table = in.tables()[asked.table];
  const action_place place =
      asked.command == rule_command::learn ? action_place::learned_rule : action_place::rule;
  if (auto good =
          check_rule(in, asked.table, asked.priority, asked.match, asked.instructions, place);
      !good) {
    return good;
  }
  const auto named = [&] { return name_rule(asked.table, asked.priority, asked.match); };
  if ((asked.flags & rule_check_overlap) != 0) {
    if (const auto* other = table.find_overlap(asked.priority, asked.match)) {
      return refuse(of_error::flow_mod_overlap, named(),
                    "overlaps " + other->rule->match.to_string() + " of the same priority");
    }
  }
  const bool by_packet = asked.command == rule_command::learn;
  const time_ns learned = by_packet ? now : 0;
  rule made = to_rule(asked, now);
  if (store::rule_entry* old = table.find(asked.priority, asked.match)) {
    made.id = old->rule->id;
    in.swap_rule(*old, std::make_shared<const rule>(std::move(made)),
                 {old->state.counted, now, learned, by_packet}, counts_after(asked));
    return {};
  }
  if (in.n_rules() >= in.params().rules_max) {
    return refuse(of_error::flow_mod_table_full, named(),
                  "the bridge has its " + std::to_string(in.params().rules_max) + " rules already");
  }
  made.id = in.next_rule_id();
  in.put_rule(std::make_shared<const rule>(std::move(made)), {{}, now, learned, by_packet});
  return {};
}

/// What a packet asked for: as an addition, but one that is there and the same lives on, and a
/// limit is no error.
of_result<void> learn(store& in, const rule_mod& asked, time_ns now) {
  store::rule_entry* old = in.tables()[asked.table].find(asked.priority, asked.match);
  // Who asked is gone meanwhile, and took its rules along.
  if (asked.takes_along && !in.takes_along(asked.table, asked.cookie)) return {};
  if (old == nullptr) {
    const bool is_over =
        asked.limit != 0 && in.tables()[asked.table].n_of(asked.cookie) >= asked.limit;
    return is_over ? of_result<void>{} : add(in, asked, now);
  }
  const rule& there = *old->rule;
  const bool is_same = there.cookie == asked.cookie && there.flags == asked.flags &&
                       there.idle_timeout_s == asked.idle_timeout_s &&
                       there.hard_timeout_s == asked.hard_timeout_s &&
                       there.instructions == asked.instructions;
  if (!is_same) return add(in, asked, now);
  in.restart(*old, now);
  return {};
}

bool is_removal(rule_command command) {
  return command == rule_command::remove || command == rule_command::remove_strict;
}

bool sends_to(const rule& one, port_no port) {
  return (one.instructions.apply && outputs_to(*one.instructions.apply, port)) ||
         (one.instructions.write && outputs_to(*one.instructions.write, port));
}

bool uses_group(const rule& one, group_id group) {
  return (one.instructions.apply && sends_to_group(*one.instructions.apply, group)) ||
         (one.instructions.write && sends_to_group(*one.instructions.write, group));
}

/// Whether the filters let the operation touch the rule.
bool passes(const rule_mod& asked, const rule& one) {
  if (((one.cookie ^ asked.cookie) & asked.cookie_mask) != 0) return false;
  if (!is_removal(asked.command)) return true;
  return (asked.out_port == port_any || sends_to(one, asked.out_port)) &&
         (asked.out_group == group_any || uses_group(one, asked.out_group));
}

/// The rules that a modification or removal means.
std::vector<store::rule_entry*> find_meant(rule_table& table, const rule_mod& asked) {
  std::vector<store::rule_entry*> meant;
  if (asked.command == rule_command::modify_strict ||
      asked.command == rule_command::remove_strict) {
    store::rule_entry* one = table.find(asked.priority, asked.match);
    if (one != nullptr && passes(asked, *one->rule)) meant.push_back(one);
    return meant;
  }
  table.each([&](store::rule_entry& one) {
    if (asked.match.covers(one.rule->match) && passes(asked, *one.rule)) meant.push_back(&one);
  });
  return meant;
}

of_result<void> modify(store& in, const rule_mod& asked) {
  for (store::rule_entry* one : find_meant(in.tables()[asked.table], asked)) {
    const rule& old = *one->rule;
    if (auto good = check_rule(in, old.table, old.priority, old.match, asked.instructions); !good) {
      return good;
    }
    rule made = old;
    made.instructions = asked.instructions;
    in.swap_rule(*one, std::make_shared<const rule>(std::move(made)), one->state,
                 counts_after(asked));
  }
  return {};
}

void remove_rules(store& in, const rule_mod& asked) {
  for (std::size_t id = 0; id < in.tables().size(); ++id) {
    if (asked.table != table_all && asked.table != id) continue;
    for (store::rule_entry* one : find_meant(in.tables()[id], asked)) {
      in.drop_rule(*one, removal_reason::deleted);
    }
  }
}

}  // namespace

of_result<void> perform(store& in, const rule_mod& asked, time_ns now) {
  const bool all = asked.table == table_all && is_removal(asked.command);
  if (!all && asked.table >= in.tables().size()) {
    return refuse(of_error::flow_mod_bad_table_id, "table " + std::to_string(asked.table),
                  asked.table == table_all
                      ? "only a removal may name all tables"
                      : "the last table is " + std::to_string(in.tables().size() - 1));
  }
  switch (asked.command) {
    case rule_command::add: return add(in, asked, now);
    case rule_command::modify:
    case rule_command::modify_strict: return modify(in, asked);
    case rule_command::remove:
    case rule_command::remove_strict: remove_rules(in, asked); return {};
    case rule_command::learn: return learn(in, asked, now);
  }
  return {};
}

}  // namespace coua::pipeline
