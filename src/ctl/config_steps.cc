// SPDX-License-Identifier: Apache-2.0
//
// The steps from the configuration that runs to another one (running_config.h).
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "ctl/pipeline_bundle.h"
#include "ctl/running_config.h"

namespace coua::ctl {
namespace {

constexpr std::size_t entries_at_once = 1024;  // stored by one step: about a millisecond

result<void> nothing() { return {}; }

}  // namespace

running_config::steps running_config::plan(const config& now, const config& wanted,
                                           const config_difference& difference) {
  steps out, leaving, changing, bridges_coming, coming, statics_coming, texts_coming, opening;
  steps bridges_leaving;
  plan_bridges(wanted, difference, out, bridges_leaving, bridges_coming, opening);
  plan_texts(now, wanted, difference, out, texts_coming);
  plan_statics(now, wanted, difference, out, statics_coming);
  plan_ports(wanted, difference, leaving, changing, coming);
  plan_settings(now, wanted, difference, changing);
  const bool none_stays = !bridges_leaving.empty() && bridges_leaving.size() == now.bridges.size();
  if (none_stays) {  // one of them waits for the first that comes
    bridges_coming.insert(bridges_coming.begin() + 1, std::move(bridges_leaving.back()));
    bridges_leaving.pop_back();
  }
  for (auto* part : {&leaving, &bridges_leaving, &changing, &bridges_coming, &coming,
                     &statics_coming, &texts_coming, &opening})
    std::ranges::move(*part, std::back_inserter(out));
  return out;
}

void running_config::plan_bridges(const config& wanted, const config_difference& difference,
                                  steps& closing, steps& leaving, steps& coming, steps& opening) {
  const auto add = [this](const bridge_settings& bridge) {
    return [this, bridge] { return bridges_.add(bridge); };
  };
  const auto remove = [this](const std::string& name) {
    return [this, name] { return bridges_.remove(name); };
  };
  const auto open = [this, &wanted](std::size_t index) {
    return [this, &wanted, index] { return open_bridge(wanted, index); };
  };
  // No file says where that went wrong: it is as it was before.
  const auto open_again = [this](const bridge_settings& was) {
    return [this, was] {
      bridges_.note(was);
      return bridges_.open(was.name);
    };
  };
  const auto close = [this](const std::string& name) {
    return [this, name] {
      bridges_.close(name);
      return result<void>();
    };
  };
  // Whichever way the steps go, a bridge whose datapath id is said opens before one that makes up
  // its own, which must be another one.
  const auto is_said = [](const bridge_settings& of) { return of.openflow.datapath_id != 0; };
  const auto closes = [&](const bridge_settings& was, const std::string& place) {
    closing.insert(is_said(was) ? closing.end() : closing.begin(),
                   {"controllers of bridge " + was.name, place, close(was.name), open_again(was)});
  };
  const auto opens = [&](const bridge_settings& one, std::size_t index) {
    opening.insert(is_said(one) ? opening.begin() : opening.end(),
                   {"controllers of bridge " + one.name, "", open(index), close(one.name)});
  };
  for (const bridge_change& each : difference.bridges) {
    const std::string name = each.name(), item = "bridge " + name;
    if (each.goes()) {
      closes(*each.before, wanted.file);
      leaving.push_back({.item = item,
                         .place = wanted.file,
                         .go = remove(name),
                         .back = add(*each.before),
                         .anew = true});
    } else if (each.comes()) {
      const std::string path = wanted.bridge_path(each.index);
      coming.push_back({item, wanted.place(path + "name"), add(*each.after), remove(name)});
      opens(*each.after, each.index);
    } else if (each.opens_anew()) {
      // Those that change are closed before any opens: one may take what another one had.
      const std::string place = wanted.place(wanted.bridge_path(each.index) + "openflow");
      closes(*each.before, place);
      opens(*each.after, each.index);
    }
  }
}

void running_config::plan_ports(const config& wanted, const config_difference& difference,
                                steps& leaving, steps& changing, steps& coming) {
  const auto add = [this](const dp::port_config& port) {
    return [this, port]() -> result<void> {
      if (auto added = switch_.add_port(port); !added) return tl::unexpected(added.error());
      return {};
    };
  };
  const auto remove = [this](const std::string& name) {
    return [this, name] { return switch_.remove_port(name); };
  };
  const auto update = [this](const dp::port_config& port) {
    return [this, port] { return switch_.update_port(port); };
  };
  // As it is now: what the switch has shut down is more than a configuration says.
  auto there = ports_by_name();
  const auto restore = [&, this](const dp::port_config& port) {
    dp::port_status was = there[port.name];
    was.config = port;
    return [this, was] { return switch_.restore_port(was); };
  };
  for (const auto& [before, after, index, is_replaced] : difference.ports) {
    const std::string place = after ? wanted.place(item_path("ports", index)) : wanted.file;
    const std::string item = "port " + (after ? *after : *before).name;
    if (before && after && !is_replaced) {
      changing.push_back({item, place, update(*after), restore(*before)});
      continue;
    }
    if (before)
      leaving.push_back({.item = item,
                         .place = place,
                         .go = remove(before->name),
                         .back = restore(*before),
                         .anew = true});
    if (after) coming.push_back({item, place, add(*after), remove(after->name)});
  }
}

void running_config::plan_statics(const config& now, const config& wanted,
                                  const config_difference& difference, steps& leaving,
                                  steps& coming) {
  std::set<std::string> ports_leaving;
  for (const auto& each : difference.ports)
    if (each.before && (!each.after || each.is_replaced)) ports_leaving.insert(each.before->name);
  using key = std::tuple<std::uint16_t, std::uint64_t, std::string>;
  std::map<key, const item_change<static_entry>*> changes;  // of those that are there
  for (const auto& each : difference.statics)
    if (each.before) changes[{each.before->vlan, each.before->mac, each.before->port}] = &each;
  // An entry goes with its port, and must be stored again when that comes back.
  struct stored {
    static_entry entry;
    std::optional<static_entry> before;  // that is there until it is stored
    std::string path() const { return named ? item_path("fib.static", index) : "fib.static"; }
    bool named = false;  // in the wanted file, as:
    std::size_t index = 0;
  };
  std::vector<static_entry> erased;
  std::vector<stored> added;
  for (const static_entry& entry : now.statics) {
    const auto found = changes.find({entry.vlan, entry.mac, entry.port});
    const bool changes_itself = found != changes.end();
    const bool port_leaves = ports_leaving.contains(entry.port);
    const bool goes = changes_itself && !found->second->after;
    if (goes || port_leaves) erased.push_back(entry);
    if (!changes_itself && port_leaves) added.push_back({entry, std::nullopt});
    if (changes_itself && !goes)
      added.push_back({*found->second->after, port_leaves ? std::nullopt : found->second->before,
                       true, found->second->index});
  }
  for (const auto& each : difference.statics)
    if (!each.before) added.push_back({*each.after, std::nullopt, true, each.index});

  for (std::size_t i = 0; i < erased.size(); i += entries_at_once) {
    const std::size_t end = std::min(i + entries_at_once, erased.size());
    const auto some = std::make_shared<const std::vector<static_entry>>(
        erased.begin() + static_cast<std::ptrdiff_t>(i),
        erased.begin() + static_cast<std::ptrdiff_t>(end));
    const auto back = [this, some] { return store(*some); };
    leaving.push_back(
        {"static entries", wanted.file, [this, some] { return erase(*some); }, back, true});
  }
  for (std::size_t i = 0; i < added.size(); i += entries_at_once) {
    const std::size_t end = std::min(i + entries_at_once, added.size());
    const auto some = std::make_shared<const std::vector<stored>>(
        added.begin() + static_cast<std::ptrdiff_t>(i),
        added.begin() + static_cast<std::ptrdiff_t>(end));
    const auto back = [this, some]() -> result<void> {
      std::vector<static_entry> gone, restored;
      for (const stored& each : *some) {
        if (each.before)
          restored.push_back(*each.before);
        else
          gone.push_back(each.entry);
      }
      auto erased_them = erase(gone);
      auto stored_them = store(restored);
      return erased_them ? stored_them : erased_them;
    };
    const auto go = [this, some, &wanted]() -> result<void> {
      std::vector<static_entry> entries;
      for (const stored& each : *some) entries.push_back(each.entry);
      std::size_t at = 0;
      const auto done = store(entries, &at);
      if (done) return done;
      return tl::unexpected(wanted.at((*some)[at].path(), done.error()));
    };
    coming.push_back({"static entries", "", go, back, true});
  }
}

void running_config::plan_texts(const config& now, const config& wanted,
                                const config_difference& difference, steps& before, steps& after) {
  const auto renumbers = [&](const std::string& bridge) {
    return std::ranges::any_of(difference.ports, [&](const item_change<dp::port_config>& each) {
      return (each.before && each.before->bridge == bridge && (!each.after || each.is_replaced)) ||
             (each.after && each.after->bridge == bridge && (!each.before || each.is_replaced));
    });
  };
  const auto change_of = [&](const std::string& bridge) {
    return std::ranges::find(difference.bridges, bridge, &bridge_change::name);
  };
  std::map<std::string, std::shared_ptr<bool>> brought;  // rules of a bridge, by these steps
  for (const bridge_settings& each : now.bridges) {
    const auto change = change_of(each.name);
    const bool is_changed = change != difference.bridges.end();
    const bool goes = is_changed && change->goes();
    const bool differs = is_changed && !change->texts.empty();
    // A port that came back has another number, and rules that the file says are of its name. A
    // bridge that came back has none of its rules.
    if (!goes && !differs && !(each.rules.given && renumbers(each.name))) continue;
    const auto is_brought = brought[each.name] = std::make_shared<bool>(false);
    before.push_back({"rules of bridge " + each.name, "", nothing,
                      [this, name = each.name, was = each.rules, goes, is_brought,
                       newest = newest_read_[each.name]]() -> result<void> {
                        const auto held = bridges_.find(name);
                        if (!held) return tl::unexpected(held.error());
                        // What others added stays, unless the rules of the file wiped it out.
                        const bool all = goes || *is_brought;
                        return apply_texts(held->pipeline(), was, all ? going{} : going{newest});
                      }});
  }
  for (std::size_t i = 0; i < wanted.bridges.size(); i++) {
    const bridge_settings& each = wanted.bridges[i];
    const auto change = change_of(each.name);
    const bool differs =
        change != difference.bridges.end() && (change->comes() || !change->texts.empty());
    if (!each.rules.given || !(differs || renumbers(each.name))) continue;
    const auto bring = [this, &wanted, i, is_brought = brought[each.name]] {
      auto done = bring_texts(wanted, i);
      if (done && is_brought) *is_brought = true;
      return done;
    };
    after.push_back({"rules of bridge " + each.name, "", bring, nothing});
  }
}

void running_config::plan_settings(const config& now, const config& wanted,
                                   const config_difference& difference, steps& out) {
  for (const field_change& each : difference.running) {
    const std::string place = wanted.place(each.field);
    if (each.field == "fib.ageing_s") {
      const auto set = [this](unsigned seconds) {
        return [this, seconds] { return switch_.set_ageing(seconds); };
      };
      out.push_back({each.field, place, set(wanted.tables.ageing_s), set(now.tables.ageing_s)});
    } else {
      const auto set = [](log_level level) {
        return [level]() -> result<void> {
          set_log_level(level);
          return {};
        };
      };
      out.push_back({each.field, place, set(wanted.log), set(now.log)});
    }
  }
}

}  // namespace coua::ctl
