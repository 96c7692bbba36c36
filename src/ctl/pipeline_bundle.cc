// SPDX-License-Identifier: Apache-2.0
#include "ctl/pipeline_bundle.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace coua::ctl {
namespace {

namespace of = pipeline;

// How often a bundle is planned anew when a controller changed something that it needs meanwhile.
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
  bool is_there = false;
};

bool differs_otherwise(const of::rule& now, const of::rule_mod& wanted) {
  return now.cookie != wanted.cookie || now.flags != wanted.flags ||
         now.idle_timeout_s != wanted.idle_timeout_s || now.hard_timeout_s != wanted.hard_timeout_s;
}

class bundle_planner {
 public:
  explicit bundle_planner(const pipeline_snapshot& now) : now_(now) {}

  result<pipeline_bundle> plan(const pipeline_texts& texts, const ofp::port_names& names) {
    if (auto done = read(texts, names); !done) return tl::unexpected(done.error());
    std::vector<std::pair<of::rule_mod, std::string>> changed;
    compare_rules(changed);
    put_meters();
    put_groups();
    for (auto& [mod, path] : changed) put(std::move(mod), path);
    for (auto& each : rules_)
      if (!each.is_there) put(std::move(each.mod), each.path);
    remove_groups();
    remove_meters();
    return std::move(made_);
  }

 private:
  void put(of::operation what, std::string path) {
    made_.operations.push_back(std::move(what));
    made_.paths.push_back(std::move(path));
  }

  result<void> read(const pipeline_texts& texts, const ofp::port_names& names) {
    for (const text_list which : text_lists) {
      const std::vector<std::string>& list = list_of(texts, which);
      for (std::size_t i = 0; i < list.size(); i++) {
        std::string path = path_of_text(which, i);
        auto one = parse_text(which, list[i], names);
        if (!one) {
          error wrong = one.error();
          wrong.where = ofp::join_places(path, wrong.where);
          return tl::unexpected(std::move(wrong));
        }
        if (auto* rule = std::get_if<of::rule_mod>(&*one))
          rules_.push_back({std::move(*rule), std::move(path)});
        else if (auto* group = std::get_if<of::group_mod>(&*one))
          groups_[group->what.id] = {*group, std::move(path)};
        else if (auto* meter = std::get_if<of::meter_mod>(&*one))
          meters_[meter->what.id] = {*meter, std::move(path)};
      }
    }
    return {};
  }

  void compare_rules(std::vector<std::pair<of::rule_mod, std::string>>& changed) {
    std::unordered_map<rule_key, wanted_item<of::rule_mod>*, rule_key_hash> index;
    for (auto& each : rules_) {
      auto& last = index[{each.mod.table, each.mod.priority, &each.mod.match}];
      // By other names of the same port; check_texts() did not know that.
      if (last != nullptr) last->is_there = true;
      last = &each;
    }
    for (const rule_record& one : now_.rules) {
      const of::rule& rule = *one.rule;
      const auto found = index.find({rule.table, rule.priority, &rule.match});
      if (found == index.end()) {
        if (one.state.is_left_behind) continue;
        of::rule_mod gone;
        gone.command = of::rule_command::remove_strict;
        gone.table = rule.table;
        gone.priority = rule.priority;
        gone.match = rule.match;
        put(std::move(gone), "pipeline.flows");
        continue;
      }
      auto& [mod, path, is_there] = *found->second;
      is_there = true;
      // What a packet left behind becomes one that somebody said.
      const bool otherwise = differs_otherwise(rule, mod) || one.state.is_left_behind;
      if (!otherwise && rule.instructions == mod.instructions) continue;
      of::rule_mod change = mod;
      if (!otherwise) {
        change.command = of::rule_command::modify_strict;
        change.cookie = 0;  // it would look for it
      }
      changed.emplace_back(std::move(change), path);
    }
  }

  void put_meters() {
    for (const meter_record& one : now_.meters) {
      const auto found = meters_.find(one.meter->id);
      if (found == meters_.end()) continue;
      auto& [mod, path, is_there] = found->second;
      is_there = true;
      if (mod.what != *one.meter) put(of::meter_mod{of::mod_command::modify, mod.what}, path);
    }
    for (const auto& [id, each] : meters_)
      if (!each.is_there) put(each.mod, each.path);
  }

  void put_groups() {
    std::map<of::group_id, const of::group*> moving;  // that come or change
    for (const group_record& one : now_.groups) {
      const auto found = groups_.find(one.group->id);
      if (found == groups_.end()) continue;
      auto& [mod, path, is_there] = found->second;
      is_there = true;
      if (mod.what.type == one.group->type && mod.what.buckets == one.group->buckets) continue;
      moving[one.group->id] = &mod.what;
      // Two groups that change may each have needed the other's new self: for a moment they need
      // nothing.
      if (!of::needs_of(*one.group).empty())
        put(of::group_mod{of::mod_command::modify, {.id = one.group->id}}, path);
    }
    for (const auto& [id, each] : groups_)
      if (!each.is_there) moving[id] = &each.mod.what;
    for (const of::group_id id : by_need(moving)) {
      const auto& [mod, path, is_there] = groups_[id];
      put(of::group_mod{is_there ? of::mod_command::modify : of::mod_command::add, mod.what}, path);
    }
  }

  void remove_groups() {
    std::map<of::group_id, const of::group*> leaving;
    for (const group_record& one : now_.groups)
      if (!groups_.contains(one.group->id)) leaving[one.group->id] = one.group.get();
    std::vector<of::group_id> order = by_need(leaving);
    std::ranges::reverse(order);
    for (const of::group_id id : order)
      put(of::group_mod{of::mod_command::remove, {.id = id}}, "pipeline.groups");
  }

  void remove_meters() {
    for (const meter_record& one : now_.meters)
      if (!meters_.contains(one.meter->id))
        put(of::meter_mod{of::mod_command::remove, {.id = one.meter->id}}, "pipeline.meters");
  }

  const pipeline_snapshot& now_;
  std::vector<wanted_item<of::rule_mod>> rules_;
  std::map<of::group_id, wanted_item<of::group_mod>> groups_;
  std::map<of::meter_id, wanted_item<of::meter_mod>> meters_;
  pipeline_bundle made_;
};

}  // namespace

pipeline_snapshot read_pipeline(pipeline_control& from) {
  pipeline_snapshot made;
  made.groups = from.groups();
  made.meters = from.meters();
  from.dump_rules({}, [&](std::span<const rule_record> some) {
    made.rules.insert(made.rules.end(), some.begin(), some.end());
    return true;
  });
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

result<pipeline_bundle> plan_bundle(const pipeline_snapshot& now, const pipeline_texts& wanted,
                                    const ofp::port_names& names) {
  return bundle_planner(now).plan(wanted, names);
}

result<void> apply_texts(pipeline_control& to, const pipeline_texts& wanted) {
  const ofp::port_names names = to.port_names();
  for (int attempt = 1;; attempt++) {
    const auto bundle = plan_bundle(read_pipeline(to), wanted, names);
    if (!bundle) return tl::unexpected(bundle.error());
    if (bundle->operations.empty()) return {};
    const auto done = to.apply(bundle->operations);
    if (done) return {};
    if (attempt < plans_most) continue;
    const of::of_failure& failure = done.error();
    error wrong = to_error(failure);
    const std::string counted = "operation " + std::to_string(failure.operation) + ": ";
    if (wrong.where.starts_with(counted)) wrong.where.erase(0, counted.size());
    const std::string path =
        failure.operation > 0 ? bundle->paths[failure.operation - 1] : "pipeline.flows";
    wrong.where = ofp::join_places(path, wrong.where);
    return tl::unexpected(std::move(wrong));
  }
}

}  // namespace coua::ctl
