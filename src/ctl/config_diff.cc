// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/default_socket.h"
#include "ctl/config_schema.h"
#include "ctl/port_rules.h"
#include "net/mac.h"

namespace coua::ctl {
namespace {

// What an owner of a value at run time exists for: running_config.cc sets these.
bool can_change_while_running(const std::string& field) {
  return field == "fib.ageing_s" || field == "log.level" || field == "pipeline.flows";
}

void compare_members(const config_value& before, const config_value& after,
                     const std::string& prefix, std::vector<field_change>& out) {
  static const config_value none;
  const auto note = [&](const std::string& name, const config_value& a, const config_value& b) {
    if (a != b) out.push_back({prefix + name, to_line(a), to_line(b)});
  };
  for (const auto& [name, value] : before.members) {
    const config_value* other = after.find(name);
    note(name, value, other != nullptr ? *other : none);
  }
  for (const auto& [name, value] : after.members)
    if (before.find(name) == nullptr) note(name, none, value);
}

/// The single values of all sections.
config_value settings_of(config c) {
  c.ports.clear();
  c.statics.clear();
  c.rules = {};
  if (c.socket.empty()) c.socket = default_socket();
  return write_mapping(file_fields(), c, extent::all);
}

void compare_settings(const config& now, config wanted, config_difference& out) {
  static const config_value none;
  // It says nothing where rules are said, and else nothing before the next start.
  if (now.rules.given || wanted.rules.given)
    wanted.tables.bridges[0].pipeline.start = now.tables.bridges[0].pipeline.start;
  const config_value before = settings_of(now), after = settings_of(wanted);
  std::vector<field_change> changes;
  for (const auto& field : file_fields()) {
    const std::string& name = field.info.name;
    const config_value *a = before.find(name), *b = after.find(name);
    compare_members(a != nullptr ? *a : none, b != nullptr ? *b : none, name + ".", changes);
  }
  for (field_change& each : changes)
    (can_change_while_running(each.field) ? out.running : out.restart).push_back(std::move(each));
  if (now.rules.given != wanted.rules.given) {
    const std::string others = "left to others", file = "said by the file";
    out.running.push_back(
        {"pipeline.flows", now.rules.given ? file : others, wanted.rules.given ? file : others});
  }
}

/// The texts that only one of them has, by their places.
std::vector<std::size_t> only_in(const std::vector<std::string>& one,
                                 const std::vector<std::string>& other) {
  const std::unordered_set<std::string_view> known(other.begin(), other.end());
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < one.size(); i++)
    if (!known.contains(one[i])) out.push_back(i);
  return out;
}

void compare_list(text_list list, const pipeline_texts& now, const pipeline_texts& wanted,
                  const ofp::port_names& names, std::vector<text_change>& out) {
  struct part {
    std::size_t index;
    text_parts is;
    bool is_met = false;
  };
  const auto parts_of = [&](const std::vector<std::string>& texts, std::size_t index) -> part {
    const auto one = parse_text(list, texts[index], names);
    return {index, one ? describe_text(*one, names) : text_parts{texts[index], {}}};
  };
  const std::vector<std::string>&before = list_of(now, list), &after = list_of(wanted, list);
  std::map<std::string, part> coming;
  for (const std::size_t i : only_in(after, before)) {
    part one = parts_of(after, i);
    const std::string item = one.is.item;
    coming.insert_or_assign(item, std::move(one));
  }
  const auto tree = [](const part* from) {
    config_value made{.is = config_value::shape::mapping};
    if (from == nullptr) return made;
    for (const auto& [name, value] : from->is.parts)
      made.members.emplace_back(name, word_value(value));
    return made;
  };
  const auto note = [&](const part* from, const part* to) {
    text_change change{to != nullptr,
                       from != nullptr,
                       list,
                       to != nullptr ? to->index : 0,
                       (to != nullptr ? to : from)->is.item,
                       {}};
    compare_members(tree(from), tree(to), "", change.fields);
    // Of one that another way of writing says.
    if (from == nullptr || to == nullptr || !change.fields.empty())
      out.push_back(std::move(change));
  };
  for (const std::size_t i : only_in(before, after)) {
    const part one = parts_of(before, i);
    const auto found = coming.find(one.is.item);
    if (found != coming.end()) found->second.is_met = true;
    note(&one, found != coming.end() ? &found->second : nullptr);
  }
  std::vector<const part*> added;
  for (const auto& [item, one] : coming)
    if (!one.is_met) added.push_back(&one);
  std::ranges::sort(added, {}, &part::index);
  for (const part* one : added) note(nullptr, one);
}

void compare_texts(const config& now, const config& wanted, config_difference& out) {
  if (!wanted.rules.given) return;
  ofp::port_names names;
  add_guesses(now, names);
  add_guesses(wanted, names);
  for (const text_list list : text_lists)
    compare_list(list, now.rules, wanted.rules, names, out.texts);
}

std::set<std::string> devices_in_use(const config& now) {
  std::set<std::string> all;
  for (const dp::port_config& port : now.ports)
    for (const std::string& each : devices_of(port)) all.insert(device_of(each));
  return all;
}

/// What a port keeps for as long as it is there. A bond's members come and go, but for one that
/// `now` has in another place, or with other arguments: it must be free first.
bool must_be_replaced(const dp::port_config& a, const dp::port_config& b,
                      const std::set<std::string>& in_use) {
  if (a.devargs != b.devargs || a.bond.any() != b.bond.any() || a.rx_queues != b.rx_queues ||
      a.tx_queues != b.tx_queues || a.rx_descriptors != b.rx_descriptors ||
      a.tx_descriptors != b.tx_descriptors)
    return true;
  return std::ranges::any_of(b.bond.members, [&](const std::string& each) {
    const bool stays = std::ranges::find(a.bond.members, each) != a.bond.members.end();
    return !stays && in_use.contains(device_of(each));
  });
}

void compare_ports(const config& now, const config& wanted, config_difference& out) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < wanted.ports.size(); i++) index[wanted.ports[i].name] = i;
  const std::set<std::string> in_use = devices_in_use(now);
  std::map<std::string, bool> known;
  for (const dp::port_config& before : now.ports) {
    known[before.name] = true;
    const auto found = index.find(before.name);
    if (found == index.end()) {
      out.ports.push_back({.before = before, .after = {}});
      continue;
    }
    const dp::port_config& after = wanted.ports[found->second];
    if (!same_port(before, after))
      out.ports.push_back({before, after, found->second, must_be_replaced(before, after, in_use)});
  }
  for (std::size_t i = 0; i < wanted.ports.size(); i++)
    if (!known.contains(wanted.ports[i].name))
      out.ports.push_back({.before = {}, .after = wanted.ports[i], .index = i});
}

void compare_statics(const config& now, const config& wanted, config_difference& out) {
  using key = std::pair<std::uint16_t, std::uint64_t>;
  std::map<key, std::size_t> index;
  for (std::size_t i = 0; i < wanted.statics.size(); i++)
    index[{wanted.statics[i].vlan, wanted.statics[i].mac}] = i;
  for (const static_entry& before : now.statics) {
    const auto found = index.find({before.vlan, before.mac});
    if (found == index.end()) {
      out.statics.push_back({.before = before, .after = {}});
      continue;
    }
    const static_entry& after = wanted.statics[found->second];
    if (after != before) out.statics.push_back({before, after, found->second});
    index.erase(found);
  }
  std::vector<std::size_t> added;
  for (const auto& [unused, i] : index) added.push_back(i);
  std::ranges::sort(added);
  for (const std::size_t i : added)
    out.statics.push_back({.before = {}, .after = wanted.statics[i], .index = i});
}

std::string item_path(const char* list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::string name_of(const dp::port_config& port) { return "port " + port.name; }
std::string name_of(const static_entry& entry) {
  return "static " + std::to_string(entry.vlan) + " " + net::format_mac(entry.mac);
}

config_value write(dp::port_config port, extent how) {
  return write_mapping(port_fields(), port, how);
}
config_value write(const static_entry& entry, extent) {
  config_value out{.is = config_value::shape::mapping};
  out.members.emplace_back("port", text_value(entry.port));
  return out;
}

template <typename Item>
config_change describe_item(const item_change<Item>& change, const char* list,
                            const config& wanted) {
  config_change out;
  const bool comes = change.after.has_value(), goes = change.before.has_value();
  out.kind = !goes                ? change_kind::added
             : !comes             ? change_kind::removed
             : change.is_replaced ? change_kind::replaced
                                  : change_kind::changed;
  out.item = name_of(comes ? *change.after : *change.before);
  if (comes) out.line = nearest_line(wanted.lines, item_path(list, change.index));
  const extent how = comes && goes ? extent::all : extent::needed;
  const config_value none;
  compare_members(goes ? write(*change.before, how) : none,
                  comes ? write(*change.after, how) : none, "", out.fields);
  // It is in `item`.
  std::erase_if(out.fields, [](const field_change& f) { return f.field == "name"; });
  return out;
}

}  // namespace

config_difference compare(const config& now, const config& wanted) {
  config_difference out;
  compare_settings(now, wanted, out);
  compare_ports(now, wanted, out);
  compare_statics(now, wanted, out);
  compare_texts(now, wanted, out);
  return out;
}

std::vector<config_change> describe(const config_difference& difference, const config& wanted) {
  std::vector<config_change> out;
  const auto settings = [&](const std::vector<field_change>& changes, change_kind kind) {
    for (const field_change& each : changes)
      out.push_back({kind, each.field, {each}, nearest_line(wanted.lines, each.field)});
  };
  for (const auto& each : difference.statics)
    out.push_back(describe_item(each, "fib.static", wanted));
  for (const auto& each : difference.ports) out.push_back(describe_item(each, "ports", wanted));
  for (const text_change& each : difference.texts) {
    const change_kind kind = !each.goes    ? change_kind::added
                             : !each.comes ? change_kind::removed
                                           : change_kind::changed;
    const std::string path = path_of_text(each.list, each.index);
    out.push_back(
        {kind, each.item, each.fields, each.comes ? nearest_line(wanted.lines, path) : 0});
  }
  settings(difference.running, change_kind::changed);
  settings(difference.restart, change_kind::restart);
  const auto rank = [](const config_change& change) {
    // Entries go before their ports and come after them.
    const int is_port = change.item.starts_with("port ") ? 1 : 0;
    // Rules come when the ports are there, and what they need before them.
    const bool is_rule = change.item.starts_with("flow ");
    if (is_rule) return change.kind == change_kind::removed ? 6 : 8;
    if (change.item.starts_with("group ") || change.item.starts_with("meter "))
      return change.kind == change_kind::removed ? 9 : 7;
    switch (change.kind) {
      case change_kind::removed: return is_port;
      case change_kind::replaced: return 2;
      case change_kind::changed: return change.item.starts_with("static ") ? 5 : 3;
      case change_kind::added: return 5 - is_port;
      case change_kind::restart: return 10;
    }
    return 11;
  };
  std::ranges::stable_sort(out, {}, rank);
  return out;
}

std::string to_string(const config_change& change) {
  const auto with_fields = [&](const std::string& word) {
    std::string out;
    for (const field_change& each : change.fields) {
      const std::string name = each.field == change.item ? "" : each.field + ": ";
      out += (out.empty() ? " " : ", ") + name;
      if (change.kind == change_kind::added)
        out += each.after;
      else
        out += each.before + " -> " + each.after;
    }
    return change.item + ":" + word + out;
  };
  switch (change.kind) {
    case change_kind::removed: return change.item + ": removed";
    case change_kind::replaced: return with_fields(" replaced:");
    case change_kind::added: return with_fields(" added:");
    case change_kind::restart: return with_fields("") + " (needs a restart)";
    case change_kind::changed: break;
  }
  return with_fields("");
}

}  // namespace coua::ctl
