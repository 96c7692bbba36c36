// SPDX-License-Identifier: Apache-2.0
#include "ctl/pipeline_bundle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/error_place.h"
#include "pipeline/model/named_ports.h"
#include "pipeline/model/store.h"

namespace coua::ctl {
namespace {

namespace of = pipeline;

// How often a bundle is planned anew when a controller changed something that it needs meanwhile,
// and how many are done one after the other when each took something along.
constexpr int plans_most = 3;

struct rule_key {
  of::table_id table;
  std::uint16_t priority;
  const of::match* what;
  bool operator==(const rule_key& other) const {
    return table == other.table && priority == other.priority && *what == *other.what;
  }
};
struct rule_key_hash {
  std::size_t operator()(const rule_key& key) const {
    of::word_mixer mixer;
    mixer.add(std::uint64_t{key.table} << 16 | key.priority);
    mixer.add(std::uint64_t{key.what->hash()});
    return mixer.hash();
  }
};

template <class Mod>
struct wanted_item {
  Mod mod;
  std::string path;
};

bool differs_otherwise(const of::rule& now, const of::rule_mod& wanted) {
  return now.cookie != wanted.cookie || now.flags != wanted.flags ||
         now.idle_timeout_s != wanted.idle_timeout_s || now.hard_timeout_s != wanted.hard_timeout_s;
}

/// The texts as operations.
class wanted_pipeline {
 public:
  wanted_pipeline(wanted_pipeline&&) = default;
  wanted_pipeline& operator=(wanted_pipeline&&) = default;
  static result<wanted_pipeline> read(const pipeline_texts& texts, const ofp::port_names& names) {
    wanted_pipeline made;
    for (const text_list which : text_lists) {
      const std::vector<std::string>& list = list_of(texts, which);
      for (std::size_t i = 0; i < list.size(); i++) {
        auto one = parse_text(which, list[i], names);
        if (!one) return tl::unexpected(at_place(path_of_text(which, i), one.error()));
        made.take(std::move(*one), path_of_text(which, i));
      }
    }
    if (auto good = made.make_index(); !good) return tl::unexpected(good.error());
    return made;
  }

  /// Its place in `rules`; none: `rules.size()`.
  std::size_t find(const of::rule& one) const {
    const auto found = index_.find({one.table, one.priority, &one.match});
    return found == index_.end() ? rules.size() : found->second;
  }

  std::vector<wanted_item<of::rule_mod>> rules;
  std::map<of::group_id, wanted_item<of::group_mod>> groups;
  std::map<of::meter_id, wanted_item<of::meter_mod>> meters;

 private:
  wanted_pipeline() = default;

  void take(of::operation one, std::string path) {
    if (auto* rule = std::get_if<of::rule_mod>(&one))
      rules.push_back({std::move(*rule), std::move(path)});
    else if (auto* group = std::get_if<of::group_mod>(&one))
      groups[group->what.id] = {*group, std::move(path)};
    else if (auto* meter = std::get_if<of::meter_mod>(&one))
      meters[meter->what.id] = {*meter, std::move(path)};
  }

  /// Two may say one rule by the name and the number of a port; check_texts() did not know that.
  result<void> make_index() {
    for (std::size_t i = 0; i < rules.size(); i++) {
      const of::rule_mod& mod = rules[i].mod;
      const auto [first, fresh] = index_.emplace(rule_key{mod.table, mod.priority, &mod.match}, i);
      if (!fresh)
        return fail(errc::invalid, rules[i].path, same_rule_as(rules[first->second].path));
    }
    return {};
  }

  std::unordered_map<rule_key, std::size_t, rule_key_hash> index_;
};

class bundle_planner {
 public:
  bundle_planner(const pipeline_snapshot& now, const wanted_pipeline& wanted, going what_goes)
      : now_(now), wanted_(wanted), going_(what_goes) {}

  pipeline_bundle plan() {
    std::vector<bool> is_there(wanted_.rules.size());
    std::vector<std::pair<of::rule_mod, std::string>> changed;
    compare_rules(changed, is_there);
    put_meters();
    put_groups();
    for (auto& [mod, path] : changed) put(std::move(mod), path);
    for (std::size_t i = 0; i < is_there.size(); i++)
      if (!is_there[i]) put(wanted_.rules[i].mod, wanted_.rules[i].path);
    if (going_.up_to == going().up_to) {
      remove_groups();
      remove_meters();
    }
    return std::move(made_);
  }

 private:
  void put(of::operation what, std::string path) {
    made_.operations.push_back(std::move(what));
    made_.paths.push_back(std::move(path));
  }

  static of::rule_mod removal_of(const of::rule& one) {
    of::rule_mod gone;
    gone.command = of::rule_command::remove_strict;
    gone.table = one.table;
    gone.priority = one.priority;
    gone.match = one.match;
    return gone;
  }

  void compare_rules(std::vector<std::pair<of::rule_mod, std::string>>& changed,
                     std::vector<bool>& is_there) {
    for (const rule_record& one : now_.rules) {
      const of::rule& rule = *one.rule;
      const std::size_t at = wanted_.find(rule);
      if (at == wanted_.rules.size()) {
        if (one.state.is_left_behind || rule.id > going_.up_to) continue;
        put(removal_of(rule), "pipeline.flows");
        made_.may_take_along = true;
        continue;
      }
      is_there[at] = true;
      const auto& [mod, path] = wanted_.rules[at];
      // What a packet left behind becomes one that somebody said.
      const bool otherwise = differs_otherwise(rule, mod) || one.state.is_left_behind;
      if (!otherwise && rule.instructions == mod.instructions) continue;
      made_.may_take_along = true;
      of::rule_mod change = mod;
      if (!otherwise) {
        change.command = of::rule_command::modify_strict;
        change.cookie = 0;  // it would look for it
        // Its counters stay; that it had the flag stays as well.
        change.flags &= static_cast<std::uint16_t>(~of::rule_reset_counts);
      } else if ((mod.flags & of::rule_check_overlap) != 0) {
        // It would overlap itself.
        changed.emplace_back(removal_of(rule), path);
      }
      changed.emplace_back(std::move(change), path);
    }
  }

  void put_meters() {
    std::set<of::meter_id> there;
    for (const meter_record& one : now_.meters) {
      const auto found = wanted_.meters.find(one.meter->id);
      if (found == wanted_.meters.end()) continue;
      there.insert(one.meter->id);
      const auto& [mod, path] = found->second;
      if (mod.what != *one.meter) put(of::meter_mod{of::mod_command::modify, mod.what}, path);
    }
    for (const auto& [id, each] : wanted_.meters)
      if (!there.contains(id)) put(each.mod, each.path);
  }

  void put_groups() {
    std::map<of::group_id, const of::group*> moving;  // that come or change
    std::set<of::group_id> there;
    for (const group_record& one : now_.groups) {
      const auto found = wanted_.groups.find(one.group->id);
      if (found == wanted_.groups.end()) continue;
      there.insert(one.group->id);
      const auto& [mod, path] = found->second;
      if (mod.what.type == one.group->type && mod.what.buckets == one.group->buckets) continue;
      moving[one.group->id] = &mod.what;
      // Two groups that change may each have needed the other's new self: for a moment they need
      // nothing.
      if (!of::needs_of(*one.group).empty())
        put(of::group_mod{of::mod_command::modify, {.id = one.group->id}}, path);
    }
    for (const auto& [id, each] : wanted_.groups)
      if (!there.contains(id)) moving[id] = &each.mod.what;
    for (const of::group_id id : by_need(moving)) {
      const auto& [mod, path] = wanted_.groups.at(id);
      const auto how = there.contains(id) ? of::mod_command::modify : of::mod_command::add;
      put(of::group_mod{how, mod.what}, path);
    }
  }

  void remove_groups() {
    std::map<of::group_id, const of::group*> leaving;
    for (const group_record& one : now_.groups)
      if (!wanted_.groups.contains(one.group->id)) leaving[one.group->id] = one.group.get();
    std::vector<of::group_id> order = by_need(leaving);
    std::ranges::reverse(order);
    for (const of::group_id id : order)
      put(of::group_mod{of::mod_command::remove, {.id = id}}, "pipeline.groups");
  }

  void remove_meters() {
    for (const meter_record& one : now_.meters)
      if (!wanted_.meters.contains(one.meter->id))
        put(of::meter_mod{of::mod_command::remove, {.id = one.meter->id}}, "pipeline.meters");
  }

  const pipeline_snapshot& now_;
  const wanted_pipeline& wanted_;
  const going going_;
  pipeline_bundle made_;
};

/// In turns: what changes meanwhile may leave rules of groups and meters that have gone since, and
/// which these took along. False: there are such.
bool read_in_turns(pipeline_control& from, pipeline_snapshot& made) {
  made = {};
  from.dump_rules({}, [&](std::span<const rule_record> some) {
    made.rules.insert(made.rules.end(), some.begin(), some.end());
    return true;
  });
  made.groups = from.groups();
  made.meters = from.meters();
  std::set<of::group_id> groups;
  std::set<of::meter_id> meters;
  for (const group_record& one : made.groups) groups.insert(one.group->id);
  for (const meter_record& one : made.meters) meters.insert(one.meter->id);
  return std::erase_if(made.rules, [&](const rule_record& one) {
           const std::optional<of::meter_id>& meter = one.rule->instructions.meter;
           return (meter && !meters.contains(*meter)) ||
                  std::ranges::any_of(of::groups_of(*one.rule),
                                      [&](of::group_id id) { return !groups.contains(id); });
         }) == 0;
}

error failure_of(const of::of_failure& failure, const pipeline_bundle& bundle) {
  error wrong = to_error(failure);
  const std::string counted = "operation " + std::to_string(failure.operation) + ": ";
  if (wrong.where.starts_with(counted)) wrong.where.erase(0, counted.size());
  const std::string path =
      failure.operation > 0 ? bundle.paths[failure.operation - 1] : "pipeline.flows";
  return at_place(path, std::move(wrong));
}

}  // namespace

pipeline_snapshot read_pipeline(pipeline_control& from) {
  pipeline_snapshot made;
  // A rule that is not taken along, but changed, is in the next reading.
  for (int attempt = 1; !read_in_turns(from, made) && attempt < plans_most; attempt++) {
  }
  return made;
}

pipeline_texts print_pipeline(const pipeline_snapshot& from, const ofp::port_names& names) {
  pipeline_texts made;
  made.given = true;
  for (const rule_record& one : from.rules)
    if (!one.state.is_left_behind) made.flows.push_back(ofp::print_rule(*one.rule, names));
  for (const group_record& one : from.groups)
    made.groups.push_back(ofp::print_group(*one.group, names));
  for (const meter_record& one : from.meters) made.meters.push_back(ofp::print_meter(*one.meter));
  return made;
}

std::vector<std::string> lost_ports_of(const pipeline_snapshot& from,
                                       const ofp::port_names& names) {
  std::vector<std::string> lost;
  const auto look = [&](const std::set<of::port_no>& named, const auto& name) {
    std::string gone;
    std::size_t n = 0;
    for (const of::port_no each : named) {
      if (names.all().contains(each)) continue;
      gone += (n++ == 0 ? "" : ", ") + std::to_string(each);
    }
    if (n != 0)
      lost.push_back(name() + (n == 1 ? ": port " : ": ports ") + gone +
                     (n == 1 ? " is gone" : " are gone"));
  };
  for (const rule_record& one : from.rules) {
    if (one.state.is_left_behind) continue;
    look(of::named_ports(*one.rule), [&] {
      of::rule_mod same;
      same.table = one.rule->table;
      same.priority = one.rule->priority;
      same.match = one.rule->match;
      return describe_text(same, names).item;
    });
  }
  for (const group_record& one : from.groups)
    look(of::named_ports(*one.group), [&] { return "group " + std::to_string(one.group->id); });
  return lost;
}

result<pipeline_bundle> plan_bundle(const pipeline_snapshot& now, const pipeline_texts& wanted,
                                    const ofp::port_names& names) {
  const auto read = wanted_pipeline::read(wanted, names);
  if (!read) return tl::unexpected(read.error());
  return bundle_planner(now, *read, {}).plan();
}

result<void> apply_texts(pipeline_control& to, const pipeline_texts& texts, going what_goes) {
  const ofp::port_names names = to.port_names();
  const auto wanted = wanted_pipeline::read(texts, names);
  if (!wanted) return tl::unexpected(wanted.error());
  const pipeline_snapshot first = read_pipeline(to);
  for (int n_done = 0, n_refused = 0; n_done < plans_most;) {
    const pipeline_bundle bundle =
        bundle_planner(n_done + n_refused == 0 ? first : read_pipeline(to), *wanted, what_goes)
            .plan();
    if (bundle.operations.empty()) return {};
    const auto done = to.apply(bundle.operations);
    if (done && !bundle.may_take_along) return {};
    if (done) {
      n_done++;
      continue;
    }
    if (++n_refused < plans_most) continue;
    if (n_done > 0) {
      // As before those that were done.
      const auto back = plan_bundle(read_pipeline(to), print_pipeline(first, names), names);
      if (back) static_cast<void>(to.apply(back->operations));
    }
    return tl::unexpected(failure_of(done.error(), bundle));
  }
  return {};
}

}  // namespace coua::ctl
