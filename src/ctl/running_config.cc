// SPDX-License-Identifier: Apache-2.0
#include "ctl/running_config.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "base/log.h"
#include "ctl/pipeline_bundle.h"
#include "net/mac.h"

namespace coua::ctl {
namespace {

constexpr std::size_t entries_at_once = 1024;  // stored by one step: about a millisecond
// "    - {vlan: 1, mac: "02:00:00:00:00:01", port: p}": no entry takes less of a file.
constexpr std::size_t entry_bytes = 48;
constexpr int reads_most = 3;  // of a table whose entries move meanwhile

std::string path_of(const char* list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

/// Of those whose rules the file says, and of those that go, which may have to come back.
bool has_to_be_read(const config& wanted, const std::string& bridge) {
  const auto at = std::ranges::find(wanted.bridges, bridge, &bridge_settings::name);
  return at == wanted.bridges.end() || at->rules.given;
}

std::vector<std::string> names_of_bridges(const std::vector<bridge_settings>& bridges) {
  std::vector<std::string> made;
  for (const bridge_settings& each : bridges) made.push_back(each.name);
  return made;
}

result<void> nothing() { return {}; }

/// Errors: unsupported, with all that only a restart can change.
result<void> needs_no_restart(const config& wanted, const config_difference& difference) {
  std::string all, path;
  const auto note = [&](const field_change& each, const std::string& label,
                        const std::string& before) {
    if (path.empty()) path = before + each.field;
    all += (all.empty() ? "" : ", ") + (label.empty() ? "" : label + ": ") + each.field + " (" +
           each.before + " -> " + each.after + ")";
  };
  for (const field_change& each : difference.restart) note(each, "", "");
  for (const bridge_change& bridge : difference.bridges)
    for (const field_change& each : bridge.restart)
      note(each, label_of(bridge, wanted), wanted.bridge_path(bridge.index));
  if (all.empty()) return {};
  return fail(errc::unsupported, wanted.place(path),
              "only a restart of couad can change " + all + "; nothing was changed");
}

/// "f:7: pipeline.flows[2]: output", of an error of apply_texts(), which begins with the path.
std::string place_in(const config& of, const std::string& where) {
  const std::size_t end = std::min(where.find(": "), where.size());
  return of.place(where.substr(0, end)) + where.substr(end);
}

/// What the switch does not know.
config settings_only(config c) {
  c.lines.clear();
  c.bridges = config().bridges;
  c.ports.clear();
  c.statics.clear();
  return c;
}

}  // namespace

running_config::running_config(dp::l2_switch& sw, running_bridges& bridges, config started)
    : switch_(sw),
      bridges_(bridges),
      started_(settings_only(std::move(started))),
      file_(started_.file) {}

running_config::~running_config() {
  for (const bridge_settings& each : bridges_.settings()) bridges_.close(each.name);
}

running_config::hold running_config::changing_unless(const std::atomic<bool>& ends) {
  hold made(mutex_, std::defer_lock);
  while (!ends && !made.try_lock_for(std::chrono::milliseconds(10))) {
  }
  return made;
}

result<config> running_config::now(rules which) {
  const auto hold = changing();
  return read([&](const bridge_settings& of) { return of.rules.given || which == rules::always; });
}

result<void> running_config::start_bridges(const config& from) {
  for (const bridge_settings& each : from.bridges) bridges_.take(each);
  for (std::size_t i = 0; i < from.bridges.size(); i++) {
    if (from.bridges[i].rules.given)
      if (auto done = bring_texts(from, i).go(); !done) return done;
    auto opened = bridges_.open(from.bridges[i].name);
    if (opened) continue;
    error& e = opened.error();
    e.where =
        from.place(from.bridge_path(i) + "openflow") + (e.where.empty() ? "" : ": " + e.where);
    return opened;
  }
  return {};
}

result<void> running_config::add_bridge(const bridge_settings& bridge) {
  if (auto added = bridges_.add(bridge); !added) return added;
  auto opened = bridges_.open(bridge.name);
  if (opened) return opened;
  if (const auto removed = bridges_.remove(bridge.name); !removed)
    opened.error().what += "; it could not be removed again: " + removed.error().message();
  return opened;
}

result<void> running_config::remove_bridge(const std::string& name) {
  std::string ports;
  for (const dp::port_status& each : switch_.ports())
    if (each.config.bridge == name) ports += (ports.empty() ? "" : ", ") + each.config.name;
  if (!ports.empty())
    return fail(errc::busy, "bridge " + name, "has ports: " + ports + "; remove them first");
  if (bridges_.settings().size() == 1) return fail(errc::busy, "bridge " + name, "is the only one");
  return bridges_.remove(name);
}

result<config> running_config::read(const bridge_test& with_rules) {
  config out = started_;
  out.bridges = bridges_.settings();
  for (bridge_settings& each : out.bridges) {
    if (!with_rules(each)) continue;
    const auto held = bridges_.find(each.name);
    if (!held) return tl::unexpected(held.error());
    const bool said = each.rules.given;
    const pipeline_snapshot there = read_pipeline(held->pipeline());
    pipeline::rule_id& newest = newest_read_[each.name] = 0;
    for (const rule_record& one : there.rules) newest = std::max(newest, one.rule->id);
    each.rules = print_pipeline(there, held->pipeline().port_names());
    each.rules.given = said;
  }
  out.log = highest_log_level();
  std::map<unsigned, std::string> names;
  for (const dp::port_status& port : switch_.ports()) {
    out.ports.push_back(port.config);
    names[port.number] = port.config.name;
  }
  const dp::fib_status fib = switch_.fib();
  out.tables.ageing_s = fib.ageing_s;
  if (fib.statics == 0) return out;
  if (fib.statics > config_bytes_max / entry_bytes)
    return fail(errc::no_room, "fib.static",
                "there are " + std::to_string(fib.statics) +
                    " static entries, more than a file of 64 MiB can have");
  dp::fib_filter filter;
  filter.is_static = true;
  for (int attempt = 1;; attempt++) {
    out.statics.clear();
    const auto read = switch_.fib_dump(filter, [&](std::span<const dp::fib_entry> entries) {
      for (const dp::fib_entry& each : entries)
        if (names.contains(each.port))
          out.statics.push_back({each.vlan, each.mac, names[each.port]});
      return true;
    });
    if (read) break;
    if (read.error().code != errc::busy || attempt == reads_most)
      return tl::unexpected(read.error());
  }
  std::ranges::sort(out.statics, {},
                    [](const static_entry& e) { return std::tie(e.vlan, e.mac, e.port); });
  return out;
}

result<std::string> running_config::print(config_format format, rules which) {
  auto c = now(which);
  if (!c) return tl::unexpected(c.error());
  for (bridge_settings& bridge : c->bridges) {
    bridge.rules.given |= which == rules::always;
    // A file that says rules has no word on the first ones.
    if (bridge.rules.given) bridge.pipeline.start = dp::pipeline_config().start;
    for (const text_list list : text_lists) {
      for (const std::string& each : list_of(bridge.rules, list))
        if (each.size() > ofp::text_max)
          return fail(errc::no_room, "pipeline",
                      "'" + each.substr(0, 40) + "...' has more than " +
                          std::to_string(ofp::text_max) + " characters");
    }
  }
  std::string text = print_config(std::move(*c), format);
  if (text.size() > config_bytes_max)
    return fail(errc::no_room, "the configuration", "the file would have more than 64 MiB");
  return text;
}

result<std::vector<config_change>> running_config::difference(const config& wanted) {
  const auto there = [&] {
    const auto hold = changing();
    return read([&](const bridge_settings& of) {
      return of.rules.given || has_to_be_read(wanted, of.name);
    });
  }();
  if (!there) return tl::unexpected(there.error());
  const config_difference difference = compare(*there, with_names(wanted, *there));
  if (auto good = check_rules(wanted, difference); !good) return tl::unexpected(good.error());
  return describe(difference, wanted);
}

result<std::vector<config_change>> running_config::apply(const config& wanted, bool dry_run) {
  const auto hold = changing();
  const auto there = read(
      [&](const bridge_settings& of) { return of.rules.given || has_to_be_read(wanted, of.name); });
  if (!there) return tl::unexpected(there.error());
  const config_difference difference = compare(*there, with_names(wanted, *there));
  if (auto good = needs_no_restart(wanted, difference); !good) return tl::unexpected(good.error());
  if (auto good = check_rules(wanted, difference); !good) {
    good.error().what += "; nothing was changed";
    return tl::unexpected(good.error());
  }
  auto changes = describe(difference, wanted);
  if (dry_run) return changes;
  if (auto done = run(plan(*there, wanted, difference)); !done) {
    bridges_.arrange(names_of_bridges(there->bridges));
    return tl::unexpected(done.error());
  }
  for (bridge_settings each : wanted.bridges) {
    const auto before = std::ranges::find(there->bridges, each.name, &bridge_settings::name);
    if (before == there->bridges.end()) continue;
    if (!before->rules.given && !each.rules.given) each.pipeline.start = before->pipeline.start;
    bridges_.note(each);
  }
  bridges_.arrange(names_of_bridges(wanted.bridges));
  return changes;
}

/// Names of ports as the bridge has them now, and guesses for those that come.
ofp::port_names running_config::names_of(const config& wanted, const std::string& bridge) const {
  ofp::port_names names;
  if (const auto held = bridges_.find(bridge)) names = held->pipeline().port_names();
  add_guesses(wanted.ports, bridge, names);
  return names;
}

/// The texts as those of what runs are: with the names and numbers that ports have now.
config running_config::with_names(config wanted, const config& now) const {
  for (bridge_settings& each : wanted.bridges) {
    if (!each.rules.given) continue;
    const auto there = std::ranges::find(now.bridges, each.name, &bridge_settings::name);
    each.rules = resolve_texts(std::move(each.rules), names_of(wanted, each.name),
                               there != now.bridges.end() ? there->rules : pipeline_texts());
  }
  return wanted;
}

/// What the file alone does not show: two that are one rule once ports have their numbers.
result<void> running_config::check_rules(const config& wanted,
                                         const config_difference& difference) const {
  for (const bridge_change& each : difference.bridges) {
    if (each.texts.empty()) continue;
    const auto planned =
        plan_bundle({}, wanted.bridges[each.index].rules, names_of(wanted, each.name()));
    if (planned) continue;
    error wrong = planned.error();
    wrong.where = place_in(wanted, wanted.bridge_path(each.index) + wrong.where);
    return tl::unexpected(std::move(wrong));
  }
  return {};
}

result<void> running_config::run(const steps& steps) {
  for (std::size_t i = 0; i < steps.size(); i++) {
    auto done = steps[i].go();
    if (done) continue;
    error& e = done.error();
    if (!steps[i].place.empty()) e.where = steps[i].place + (e.where.empty() ? "" : ": " + e.where);
    std::string stuck;
    for (std::size_t j = i + (steps[i].partial ? 1 : 0); j-- > 0;) {
      if (const auto taken_back = steps[j].back(); !taken_back)
        stuck += (stuck.empty() ? "" : "; ") + taken_back.error().message();
    }
    e.what += stuck.empty() ? "; nothing was changed"
                            : "; what was done before could not be taken back as a whole: " + stuck;
    return done;
  }
  return {};
}

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
  const auto open = [this](const std::string& name) {
    return [this, name] { return bridges_.open(name); };
  };
  const auto close = [this](const std::string& name) {
    return [this, name] {
      bridges_.close(name);
      return result<void>();
    };
  };
  for (const bridge_change& each : difference.bridges) {
    const std::string name = each.name();
    if (each.goes()) {
      closing.push_back({wanted.file, close(name), open(name)});
      leaving.push_back({wanted.file, remove(name), add(*each.before)});
    } else if (each.comes()) {
      const std::string path = wanted.bridge_path(each.index);
      coming.push_back({wanted.place(path + "name"), add(*each.after), remove(name)});
      opening.push_back({wanted.place(path + "openflow"), open(name), close(name)});
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
    const std::string place = after ? wanted.place(path_of("ports", index)) : wanted.file;
    if (before && after && !is_replaced) {
      changing.push_back({place, update(*after), restore(*before)});
      continue;
    }
    if (before) leaving.push_back({place, remove(before->name), restore(*before)});
    if (after) coming.push_back({place, add(*after), remove(after->name)});
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
    std::string path() const { return named ? path_of("fib.static", index) : "fib.static"; }
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
    leaving.push_back({wanted.file, [this, some] { return erase(*some); }, back, true});
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
      auto done = store(entries, &at);
      if (done) return done;
      error& e = done.error();
      e.where = wanted.place((*some)[at].path()) + (e.where.empty() ? "" : ": " + e.where);
      return done;
    };
    coming.push_back({"", go, back, true});
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
  for (const bridge_settings& each : now.bridges) {
    const auto change = change_of(each.name);
    const bool goes = change != difference.bridges.end() && change->goes();
    // A port that came back has another number, and rules that the file says are of its name. A
    // bridge that came back has none of its rules.
    if (!goes && !(each.rules.given && renumbers(each.name))) continue;
    const going what = goes ? going{} : going{newest_read_[each.name]};
    before.push_back(
        {"", nothing, [this, name = each.name, was = each.rules, what]() -> result<void> {
           const auto held = bridges_.find(name);
           if (!held) return tl::unexpected(held.error());
           return apply_texts(held->pipeline(), was, what);
         }});
  }
  for (std::size_t i = 0; i < wanted.bridges.size(); i++) {
    const bridge_settings& each = wanted.bridges[i];
    const auto change = change_of(each.name);
    const bool differs =
        change != difference.bridges.end() && (change->comes() || !change->texts.empty());
    if (each.rules.given && (differs || renumbers(each.name)))
      after.push_back(bring_texts(wanted, i));
  }
}

running_config::step running_config::bring_texts(const config& wanted, std::size_t bridge) {
  const auto go = [this, &wanted, bridge]() -> result<void> {
    const auto held = bridges_.find(wanted.bridges[bridge].name);
    if (!held) return tl::unexpected(held.error());
    auto done = apply_texts(held->pipeline(), wanted.bridges[bridge].rules);
    if (!done)
      done.error().where = place_in(wanted, wanted.bridge_path(bridge) + done.error().where);
    if (done && !held->pipeline().settle_within(pipeline_control::settle_most))
      log_warning("rules of a configuration: there is a worker that does not run them yet");
    return done;
  };
  return {"", go, nothing};
}

void running_config::plan_settings(const config& now, const config& wanted,
                                   const config_difference& difference, steps& out) {
  for (const field_change& each : difference.running) {
    const std::string place = wanted.place(each.field);
    if (each.field == "fib.ageing_s") {
      const auto set = [this](unsigned seconds) {
        return [this, seconds] { return switch_.set_ageing(seconds); };
      };
      out.push_back({place, set(wanted.tables.ageing_s), set(now.tables.ageing_s)});
    } else {
      const auto set = [](log_level level) {
        return [level]() -> result<void> {
          set_log_level(level);
          return {};
        };
      };
      out.push_back({place, set(wanted.log), set(now.log)});
    }
  }
}

/// `failed`: the index of the first that was not stored.
result<void> running_config::store(std::span<const static_entry> entries, std::size_t* failed) {
  const auto ports = ports_by_name();
  std::vector<dp::fib_entry> made;
  std::vector<std::string> bridges;  // of each
  const auto refuse = [&](std::size_t at, errc code, std::string what) {
    if (failed != nullptr) *failed = at;
    return fail(
        code,
        "static entry " + std::to_string(entries[at].vlan) + " " + net::format_mac(entries[at].mac),
        std::move(what));
  };
  for (std::size_t i = 0; i < entries.size(); i++) {
    const static_entry& each = entries[i];
    const auto port = ports.find(each.port);
    if (port == ports.end()) return refuse(i, errc::not_found, "port " + each.port + " is gone");
    const dp::port_status& at = port->second;
    made.push_back({each.vlan, each.mac, at.number, true, 0, at.serial});
    bridges.push_back(at.config.bridge);
  }
  const auto stored = switch_.fib_insert(made);
  if (stored) return {};
  std::size_t at = 0;
  for (; at + 1 < made.size(); at++) {
    const auto there = switch_.fib_find(bridges[at], made[at].vlan, made[at].mac);
    if (!there || !there->is_static || there->port != made[at].port) break;
  }
  return refuse(at, stored.error().code, stored.error().what);
}

/// Those that are gone already, with their port or without it, are no error.
result<void> running_config::erase(std::span<const static_entry> entries) {
  const auto ports = ports_by_name();
  for (const static_entry& each : entries) {
    const auto port = ports.find(each.port);
    if (port == ports.end()) continue;
    auto erased = switch_.fib_erase(port->second.config.bridge, each.vlan, each.mac);
    if (!erased && erased.error().code != errc::not_found) return erased;
  }
  return {};
}

std::map<std::string, dp::port_status> running_config::ports_by_name() const {
  std::map<std::string, dp::port_status> made;
  for (dp::port_status& port : switch_.ports()) made[port.config.name] = std::move(port);
  return made;
}

}  // namespace coua::ctl
