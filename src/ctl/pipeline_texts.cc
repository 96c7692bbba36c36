// SPDX-License-Identifier: Apache-2.0
#include "ctl/pipeline_texts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error_place.h"
#include "ctl/config_reader.h"
#include "pipeline/model/bridge.h"

namespace coua::ctl {
namespace {

namespace of = pipeline;

constexpr std::pair<of::rule_flag, const char*> flag_words[] = {
    {of::rule_send_removed, "send_flow_rem"},    {of::rule_check_overlap, "check_overlap"},
    {of::rule_reset_counts, "reset_counts"},     {of::rule_no_packet_counts, "no_packet_counts"},
    {of::rule_no_byte_counts, "no_byte_counts"},
};

/// "table=1, priority=10,tcp actions=drop" -> "table=1,priority=10,tcp"
std::string head_of(const of::rule& one, const ofp::port_names& names) {
  of::rule bare;
  bare.table = one.table;
  bare.priority = one.priority;
  bare.match = one.match;
  std::string text = ofp::print_rule(bare, names);
  text.resize(std::min(text.size(), text.rfind("actions=")));
  std::erase(text, ' ');
  if (text.ends_with(',')) text.pop_back();
  return text.empty() ? "any" : text;
}

std::string after(const std::string& text, std::string_view word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? text : text.substr(at + word.size());
}

text_parts parts_of_rule(const of::rule& one, const ofp::port_names& names) {
  text_parts made{"flow " + head_of(one, names), {}};
  const auto add = [&](const char* name, std::uint64_t value) {
    if (value != 0) made.parts.emplace_back(name, std::to_string(value));
  };
  add("cookie", one.cookie);
  add("idle_timeout", one.idle_timeout_s);
  add("hard_timeout", one.hard_timeout_s);
  std::string flags;
  for (const auto& [flag, word] : flag_words)
    if ((one.flags & flag) != 0) flags += (flags.empty() ? "" : " ") + std::string(word);
  if (!flags.empty()) made.parts.emplace_back("flags", flags);
  made.parts.emplace_back("actions", after(ofp::print_rule(one, names), "actions="));
  return made;
}

text_parts parts_of_group(const of::group& one, const ofp::port_names& names) {
  text_parts made{"group " + std::to_string(one.id), {}};
  made.parts.emplace_back("type", to_string(one.type));
  const std::string text = ofp::print_group(one, names);
  const std::size_t at = text.find("bucket=");
  if (at != std::string::npos) made.parts.emplace_back("buckets", text.substr(at));
  return made;
}

text_parts parts_of_meter(const of::meter& one) {
  const std::string text = ofp::print_meter(one);
  return {"meter " + std::to_string(one.id), {{"is", after(text, " ")}}};
}

std::string with_place(const std::string& where, const std::string& what) {
  return printable(join_places(where, what));
}

/// Adds what was read to a model, and notes what that refuses.
class text_checker {
 public:
  text_checker(const ofp::port_names& names, std::size_t rules_max,
               std::vector<text_problem>& problems)
      : names_(names), problems_(problems) {
    of::bridge_params params;
    params.rules_max = rules_max;
    model_.emplace(std::move(*of::bridge::create(params)));
  }

  void run(const pipeline_texts& texts) {
    for (const text_list which : text_lists) read(texts, which);
    add_meters();
    add_groups();
    add_rules();
  }

 private:
  struct item {
    of::operation what;
    std::string path;
  };

  void complain(const std::string& path, text_list which, std::string reason) {
    if (reason.empty()) reason = "cannot be read";
    problems_.push_back({path, std::move(reason)});
    if (which != text_list::flows) problems_of_others_++;
  }

  void read(const pipeline_texts& texts, text_list which) {
    const std::vector<std::string>& list = list_of(texts, which);
    for (std::size_t i = 0; i < list.size(); i++) {
      const std::string path = path_of_text(which, i);
      auto one = parse_text(which, list[i], names_);
      if (!one) {
        complain(path, which, with_place(one.error().where, one.error().what));
        continue;
      }
      items_[static_cast<std::size_t>(which)].push_back({std::move(*one), path});
    }
  }

  void add(const item& one, text_list which, const std::string& name) {
    const auto done = model_->apply(one.what, 0);
    if (done) return;
    // Of a rule that uses a group or meter that is wrong, the same would be said twice.
    const bool uses_one_that_is_wrong = done.error().code == of::of_error::bad_action_out_group ||
                                        done.error().code == of::of_error::meter_mod_unknown_meter;
    if (which == text_list::flows && problems_of_others_ != 0 && uses_one_that_is_wrong) return;
    std::string where = done.error().where;
    if (where.starts_with(name)) where.erase(0, name.size());
    if (where.starts_with(": ") || where.starts_with(", ")) where.erase(0, 2);
    complain(one.path, which, with_place(where, done.error().what));
  }

  void add_meters() {
    std::map<of::meter_id, const item*> known;
    for (const item& one : items_[static_cast<std::size_t>(text_list::meters)]) {
      const of::meter_id id = std::get<of::meter_mod>(one.what).what.id;
      if (const auto [before, fresh] = known.emplace(id, &one); !fresh) {
        complain(one.path, text_list::meters,
                 "meter " + std::to_string(id) + " is in " + before->second->path + " already");
        continue;
      }
      add(one, text_list::meters, "meter " + std::to_string(id));
    }
  }

  void add_groups() {
    std::map<of::group_id, const item*> known;
    std::map<of::group_id, const of::group*> groups;
    for (const item& one : items_[static_cast<std::size_t>(text_list::groups)]) {
      const of::group& what = std::get<of::group_mod>(one.what).what;
      if (const auto [before, fresh] = known.emplace(what.id, &one); !fresh) {
        complain(
            one.path, text_list::groups,
            "group " + std::to_string(what.id) + " is in " + before->second->path + " already");
        continue;
      }
      groups[what.id] = &what;
    }
    std::vector<of::group_id> loops;
    const std::vector<of::group_id> order = by_need(groups, &loops);
    for (const of::group_id id : loops)
      complain(known[id]->path, text_list::groups, "its buckets lead back to it");
    if (!loops.empty()) return;
    for (const of::group_id id : order)
      add(*known[id], text_list::groups, "group " + std::to_string(id));
  }

  using items_by_rule = std::map<of::rule_id, const item*>;

  /// What a rule that asks for it is refused for. The model would say it by numbers of ports, which
  /// are guesses here.
  const item* find_overlap(const of::rule_mod& asked, const items_by_rule& made) const {
    const auto& tables = model_->tables();
    if ((asked.flags & of::rule_check_overlap) == 0 || asked.table >= tables.size()) return nullptr;
    const auto* other = tables[asked.table].find_overlap(asked.priority, asked.match);
    return other != nullptr ? made.at(other->rule->id) : nullptr;
  }

  void add_rules() {
    items_by_rule made;
    for (const item& one : items_[static_cast<std::size_t>(text_list::flows)]) {
      const auto& asked = std::get<of::rule_mod>(one.what);
      const auto& tables = model_->tables();
      const auto* there = asked.table < tables.size()
                              ? tables[asked.table].find(asked.priority, asked.match)
                              : nullptr;
      if (there != nullptr) {
        complain(one.path, text_list::flows, same_rule_as(made[there->rule->id]->path));
        continue;
      }
      if (const item* other = find_overlap(asked, made)) {
        complain(one.path, text_list::flows,
                 "check_overlap: " + other->path +
                     " has the same priority, and matches some of the same packets");
        continue;
      }
      add(one, text_list::flows, of::name_rule(asked.table, asked.priority, asked.match));
      if (asked.table >= tables.size()) continue;
      there = tables[asked.table].find(asked.priority, asked.match);
      if (there != nullptr) made[there->rule->id] = &one;
    }
  }

  const ofp::port_names& names_;
  std::vector<text_problem>& problems_;
  std::optional<of::bridge> model_;
  std::vector<item> items_[3];
  std::size_t problems_of_others_ = 0;
};

/// Depth first; groups lead through at most group_depth_max others, but a file may say more, so
/// nothing here recurses.
struct need_walk {
  const std::map<of::group_id, const of::group*>& groups;
  std::vector<of::group_id> order;
  std::map<of::group_id, int> seen;  // 1: on the way, 2: done
  std::set<of::group_id> loops;

  void from(of::group_id first) {
    if (seen[first] != 0) return;
    std::vector<std::pair<of::group_id, std::vector<of::group_id>>> way;
    const auto enter = [&](of::group_id id) {
      seen[id] = 1;
      const auto needed = of::needs_of(*groups.at(id));
      way.emplace_back(id, std::vector<of::group_id>(needed.begin(), needed.end()));
    };
    enter(first);
    while (!way.empty()) {
      auto& [id, left] = way.back();
      if (left.empty()) {
        seen[id] = 2;
        order.push_back(id);
        way.pop_back();
        continue;
      }
      const of::group_id next = left.back();
      left.pop_back();
      if (!groups.contains(next)) continue;
      if (seen[next] == 0)
        enter(next);
      else if (seen[next] == 1)
        loops.insert(next);
    }
  }
};

}  // namespace

const std::vector<std::string>& list_of(const pipeline_texts& of, text_list which) {
  return which == text_list::flows ? of.flows : which == text_list::groups ? of.groups : of.meters;
}
std::vector<std::string>& list_of(pipeline_texts& of, text_list which) {
  return which == text_list::flows ? of.flows : which == text_list::groups ? of.groups : of.meters;
}

std::string path_of_text(text_list which, std::size_t index) {
  const char* name = which == text_list::flows    ? "flows"
                     : which == text_list::groups ? "groups"
                                                  : "meters";
  return std::string("pipeline.") + name + "[" + std::to_string(index) + "]";
}

result<of::operation> parse_text(text_list which, const std::string& text,
                                 const ofp::port_names& names) {
  const auto widen = [](auto made) -> result<of::operation> {
    if (!made) return tl::unexpected(made.error());
    return of::operation(std::move(*made));
  };
  switch (which) {
    case text_list::flows: return widen(ofp::parse_rule(text, of::rule_command::add, names));
    case text_list::groups: return widen(ofp::parse_group(text, of::mod_command::add, names));
    case text_list::meters: break;
  }
  return widen(ofp::parse_meter(text, of::mod_command::add));
}

std::string same_rule_as(const std::string& path) {
  return "is the same rule as " + path + ": table, priority and match are equal";
}

std::string print_operation(const of::operation& one, const ofp::port_names& names) {
  if (const auto* rule = std::get_if<of::rule_mod>(&one))
    return ofp::print_rule(of::to_rule(*rule), names);
  if (const auto* group = std::get_if<of::group_mod>(&one))
    return ofp::print_group(group->what, names);
  return ofp::print_meter(std::get<of::meter_mod>(one).what);
}

std::vector<text_problem> check_texts(const pipeline_texts& texts, const ofp::port_names& names,
                                      std::size_t rules_max) {
  std::vector<text_problem> problems;
  text_checker(names, rules_max, problems).run(texts);
  return problems;
}

pipeline_texts resolve_texts(pipeline_texts texts, const ofp::port_names& names,
                             const pipeline_texts& printed) {
  for (const text_list which : text_lists) {
    const auto& known = list_of(printed, which);
    const std::unordered_set<std::string_view> as_it_is(known.begin(), known.end());
    for (std::string& text : list_of(texts, which)) {
      if (as_it_is.contains(text)) continue;
      if (const auto one = parse_text(which, text, names)) text = print_operation(*one, names);
    }
  }
  return texts;
}

void add_guesses(const std::vector<dp::port_config>& ports, const std::string& bridge,
                 ofp::port_names& names) {
  std::set<std::string> known;
  for (const auto& [number, name] : names.all()) known.insert(name);
  pipeline::port_no next = first_guess;
  while (names.all().contains(next)) next++;
  for (const dp::port_config& port : ports) {
    if (port.bridge != bridge || port.name.empty() || !known.insert(port.name).second) continue;
    // While another port takes its place, both have names.
    const bool is_local = port.local && !names.all().contains(of::port_local);
    names.add(is_local ? of::port_local : next++, port.name);
  }
}

text_parts describe_text(const of::operation& one, const ofp::port_names& names) {
  if (const auto* rule = std::get_if<of::rule_mod>(&one))
    return parts_of_rule(of::to_rule(*rule), names);
  if (const auto* group = std::get_if<of::group_mod>(&one))
    return parts_of_group(group->what, names);
  return parts_of_meter(std::get<of::meter_mod>(one).what);
}

std::vector<of::group_id> by_need(const std::map<of::group_id, const of::group*>& groups,
                                  std::vector<of::group_id>* loops) {
  need_walk walk{groups, {}, {}, {}};
  for (const auto& [id, one] : groups) walk.from(id);
  if (loops != nullptr) loops->assign(walk.loops.begin(), walk.loops.end());
  return walk.order;
}

}  // namespace coua::ctl
