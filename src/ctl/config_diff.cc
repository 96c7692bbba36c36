// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/default_socket.h"
#include "ctl/config_schema.h"
#include "ctl/port_rules.h"
#include "dp/drivers/devargs.h"
#include "net/mac.h"

namespace coua::ctl {
namespace {

// What an owner of a value at run time exists for: running_config.cc sets these.
bool can_change_while_running(const std::string& field) {
  return field == "fib.ageing_s" || field == "log.level";
}

/// Of a bridge: it is closed, and opened as it is to be.
bool is_of_openflow(const std::string& field) { return field.starts_with("openflow."); }

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

/// The single values of all sections, but for those of bridges.
config_value settings_of(config c) {
  c.ports.clear();
  c.statics.clear();
  c.bridges = config().bridges;
  c.lines.clear();
  if (c.socket.empty()) c.socket = default_socket();
  return write_mapping(file_fields(), c, extent::all);
}

/// The members of members: "fib.ageing_s".
std::vector<field_change> compare_sections(const config_value& before, const config_value& after) {
  static const config_value none;
  const auto member = [](const config_value& of, const std::string& name) -> const config_value& {
    const config_value* found = of.find(name);
    return found != nullptr ? *found : none;
  };
  std::vector<field_change> changes;
  for (const auto& [name, section] : before.members)
    compare_members(section, member(after, name), name + ".", changes);
  for (const auto& [name, section] : after.members)
    if (before.find(name) == nullptr) compare_members(none, section, name + ".", changes);
  return changes;
}

void sort_in(std::vector<field_change> changes, bool (*can_change)(const std::string& field),
             std::vector<field_change>& restart, std::vector<field_change>& running) {
  for (field_change& each : changes)
    (can_change(each.field) ? running : restart).push_back(std::move(each));
}

void compare_settings(const config& now, const config& wanted, config_difference& out) {
  sort_in(compare_sections(settings_of(now), settings_of(wanted)), can_change_while_running,
          out.restart, out.running);
}

/// What of a bridge is neither its name nor one of its rules.
config_value settings_of(bridge_settings b) {
  b.rules = {};
  config_value made = write_mapping(bridge_fields(), b, extent::all);
  std::erase_if(made.members, [](const auto& member) { return member.first == "name"; });
  return made;
}

void compare_settings(const bridge_settings& now, bridge_settings wanted, bridge_change& out) {
  // It says nothing where rules are said, and else nothing before the next start.
  if (now.rules.given || wanted.rules.given) wanted.pipeline.start = now.pipeline.start;
  sort_in(compare_sections(settings_of(now), settings_of(wanted)), is_of_openflow, out.restart,
          out.running);
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

void compare_bridges(const config& now, const config& wanted, config_difference& out) {
  const auto find = [](const config& in, const std::string& name) {
    const auto at = std::ranges::find(in.bridges, name, &bridge_settings::name);
    return at != in.bridges.end() ? &*at : nullptr;
  };
  for (const bridge_settings& before : now.bridges)
    if (find(wanted, before.name) == nullptr)
      out.bridges.push_back({.before = before, .after = {}});
  for (std::size_t i = 0; i < wanted.bridges.size(); i++) {
    const bridge_settings& after = wanted.bridges[i];
    const bridge_settings* before = find(now, after.name);
    bridge_change change{.before = {}, .after = after, .index = i};
    if (before != nullptr) {
      change.before = *before;
      compare_settings(*before, after, change);
    }
    if (after.rules.given) {
      ofp::port_names names;
      add_guesses(now.ports, after.name, names);
      add_guesses(wanted.ports, after.name, names);
      for (const text_list list : text_lists)
        compare_list(list, before != nullptr ? before->rules : pipeline_texts(), after.rules, names,
                     change.texts);
    }
    if (change.comes() || !change.restart.empty() || !change.running.empty() ||
        !change.texts.empty())
      out.bridges.push_back(std::move(change));
  }
}

/// What no two ports have: devices, and the interfaces that they stand on.
struct held_by_ports {
  std::set<std::string> devices, interfaces;
};

held_by_ports held_by(const config& now) {
  held_by_ports all;
  for (const dp::port_config& port : now.ports) {
    for (const std::string& each : devices_of(port)) {
      all.devices.insert(device_of(each));
      all.interfaces.merge(dp::interfaces_in(each));
    }
  }
  return all;
}

/// What a port keeps for as long as it is there. A bond's members come and go, but for one that
/// `now` has in another place, or with other arguments, or whose interface it has: that must be
/// free first.
bool must_be_replaced(const dp::port_config& a, const dp::port_config& b,
                      const held_by_ports& in_use) {
  if (a.bridge != b.bridge || a.local != b.local || a.devargs != b.devargs ||
      a.bond.any() != b.bond.any() || a.rx_queues != b.rx_queues || a.tx_queues != b.tx_queues ||
      a.rx_descriptors != b.rx_descriptors || a.tx_descriptors != b.tx_descriptors)
    return true;
  return std::ranges::any_of(b.bond.members, [&](const std::string& each) {
    const bool stays = std::ranges::find(a.bond.members, each) != a.bond.members.end();
    if (stays) return false;
    return in_use.devices.contains(device_of(each)) ||
           std::ranges::any_of(dp::interfaces_in(each), [&](const std::string& name) {
             return in_use.interfaces.contains(name);
           });
  });
}

void compare_ports(const config& now, const config& wanted, config_difference& out) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < wanted.ports.size(); i++) index[wanted.ports[i].name] = i;
  const held_by_ports in_use = held_by(now);
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

std::map<std::string, std::string> bridges_of_ports(const config& c) {
  std::map<std::string, std::string> made;
  for (const dp::port_config& each : c.ports) made[each.name] = each.bridge;
  return made;
}

/// An entry of the same bridge, VLAN and address is the same one with another port. One whose port
/// goes to another bridge goes with it.
void compare_statics(const config& now, const config& wanted, config_difference& out) {
  auto bridge_now = bridges_of_ports(now), bridge_wanted = bridges_of_ports(wanted);
  const auto by_entry = [](const static_entry& e) { return std::tuple(e.vlan, e.mac, e.port); };
  const auto by_place = [](const static_entry& e, auto& bridge_of) {
    return std::tuple(e.vlan, e.mac, bridge_of[e.port]);
  };
  using key = std::tuple<std::uint16_t, std::uint64_t, std::string>;
  std::set<key> there;
  for (const static_entry& each : now.statics) there.insert(by_entry(each));
  std::set<key> stays;
  std::map<key, std::size_t> index;  // of those of `wanted` that are not there as they are
  for (std::size_t i = 0; i < wanted.statics.size(); i++) {
    const key entry = by_entry(wanted.statics[i]);
    if (there.contains(entry))
      stays.insert(entry);
    else
      index[by_place(wanted.statics[i], bridge_wanted)] = i;
  }
  for (const static_entry& before : now.statics) {
    if (stays.contains(by_entry(before))) continue;
    const auto found = index.find(by_place(before, bridge_now));
    if (found == index.end()) {
      out.statics.push_back({.before = before, .after = {}});
      continue;
    }
    out.statics.push_back({before, wanted.statics[found->second], found->second});
    index.erase(found);
  }
  std::vector<std::size_t> added;
  for (const auto& [unused, i] : index) added.push_back(i);
  std::ranges::sort(added);
  for (const std::size_t i : added)
    out.statics.push_back({.before = {}, .after = wanted.statics[i], .index = i});
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

change_kind kind_of(bool comes, bool goes, bool is_replaced = false) {
  if (!goes) return change_kind::added;
  if (!comes) return change_kind::removed;
  return is_replaced ? change_kind::replaced : change_kind::changed;
}

template <typename Item>
config_change describe_item(const item_change<Item>& change, const char* list,
                            const config& wanted) {
  config_change out;
  const bool comes = change.after.has_value(), goes = change.before.has_value();
  out.kind = kind_of(comes, goes, change.is_replaced);
  out.item = name_of(comes ? *change.after : *change.before);
  if (comes) out.line = nearest_line(wanted.lines, item_path(list, change.index));
  const extent how = comes && goes ? extent::all : extent::needed;
  const config_value none;
  compare_members(goes ? write(*change.before, how) : none,
                  comes ? write(*change.after, how) : none, "", out.fields);
  // It is in `item`; and of a port that comes or goes nobody asks to which bridge, if there is one.
  const bool names_bridge = wanted.lists_bridges() || (comes && goes);
  std::erase_if(out.fields, [&](const field_change& f) {
    return f.field == "name" || (f.field == "bridge" && !names_bridge);
  });
  return out;
}

/// The steps of a change by difference, in their order (running_config.h).
enum class rank {
  static_goes,
  port_goes,
  bridge_goes,
  port_is_replaced,
  setting,
  bridge_comes,
  port_comes,
  static_comes,
  flow_goes,
  other_text_comes,
  flow_comes,
  other_text_goes,
  restart
};

rank rank_of_port(change_kind kind) {
  switch (kind) {
    case change_kind::removed: return rank::port_goes;
    case change_kind::replaced: return rank::port_is_replaced;
    case change_kind::added: return rank::port_comes;
    default: return rank::setting;
  }
}

rank rank_of(const text_change& change) {
  if (change.list == text_list::flows) return change.comes ? rank::flow_comes : rank::flow_goes;
  return change.comes ? rank::other_text_comes : rank::other_text_goes;
}

using ranked = std::vector<std::pair<rank, config_change>>;

void describe_settings(const std::vector<field_change>& changes, rank at, const std::string& label,
                       const std::string& path, const config& wanted, ranked& out) {
  const change_kind kind = at == rank::restart ? change_kind::restart : change_kind::changed;
  for (const field_change& each : changes)
    out.push_back({at,
                   {kind,
                    label.empty() ? each.field : label,
                    {each},
                    nearest_line(wanted.lines, path + each.field)}});
}

void describe_bridge(const bridge_change& change, const config& wanted, ranked& out) {
  const std::string label = label_of(change, wanted);
  const std::string path = wanted.bridge_path(change.index);
  if (change.comes()) {
    config_change came{change_kind::added, label, {}, nearest_line(wanted.lines, path)};
    bridge_settings bare = *change.after;
    bare.rules = {};
    compare_members({}, write_mapping(bridge_fields(), bare, extent::needed), "", came.fields);
    std::erase_if(came.fields, [](const field_change& f) { return f.field == "name"; });
    out.emplace_back(rank::bridge_comes, std::move(came));
  }
  if (change.goes()) out.push_back({rank::bridge_goes, {change_kind::removed, label, {}, 0}});
  describe_settings(change.running, rank::setting, label, path, wanted, out);
  describe_settings(change.restart, rank::restart, label, path, wanted, out);
  for (const text_change& each : change.texts) {
    const std::string text = path + path_of_text(each.list, each.index);
    out.push_back({rank_of(each),
                   {kind_of(each.comes, each.goes), (label.empty() ? "" : label + ": ") + each.item,
                    each.fields, each.comes ? nearest_line(wanted.lines, text) : 0}});
  }
}

}  // namespace

config_difference compare(const config& now, const config& wanted) {
  config_difference out;
  compare_settings(now, wanted, out);
  compare_ports(now, wanted, out);
  compare_statics(now, wanted, out);
  compare_bridges(now, wanted, out);
  return out;
}

std::string label_of(const bridge_change& change, const config& wanted) {
  const bool is_only_one = !wanted.lists_bridges() && !change.comes() && !change.goes();
  return is_only_one ? "" : "bridge " + change.name();
}

std::vector<config_change> describe(const config_difference& difference, const config& wanted) {
  ranked all;
  for (const auto& each : difference.statics)
    all.emplace_back(each.after ? rank::static_comes : rank::static_goes,
                     describe_item(each, "fib.static", wanted));
  for (const auto& each : difference.ports) {
    config_change change = describe_item(each, "ports", wanted);
    all.emplace_back(rank_of_port(change.kind), std::move(change));
  }
  for (const bridge_change& each : difference.bridges) describe_bridge(each, wanted, all);
  describe_settings(difference.running, rank::setting, "", "", wanted, all);
  describe_settings(difference.restart, rank::restart, "", "", wanted, all);
  std::ranges::stable_sort(all, {}, &ranked::value_type::first);
  std::vector<config_change> out;
  for (auto& [unused, change] : all) out.push_back(std::move(change));
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
    case change_kind::added:
      return change.fields.empty() ? change.item + ": added" : with_fields(" added:");
    case change_kind::restart: return with_fields("") + " (needs a restart)";
    case change_kind::changed: break;
  }
  return with_fields("");
}

}  // namespace coua::ctl
