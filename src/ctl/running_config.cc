// SPDX-License-Identifier: Apache-2.0
#include "ctl/running_config.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

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

running_config::rules rules_for(const config& wanted) {
  return wanted.rules.given ? running_config::rules::always : running_config::rules::if_said;
}

/// "f:7: pipeline.flows[2]: output", of an error of apply_texts(), which begins with the path.
std::string place_in(const config& of, const std::string& where) {
  const std::size_t end = std::min(where.find(": "), where.size());
  return of.place(where.substr(0, end)) + where.substr(end);
}

/// What the switch does not know.
config settings_only(config c) {
  c.lines.clear();
  c.ports.clear();
  c.statics.clear();
  c.rules = {c.rules.given, {}, {}, {}};
  return c;
}

}  // namespace

running_config::running_config(dp::l2_switch& sw, config started)
    : switch_(sw), started_(settings_only(std::move(started))), file_(started_.file) {}

result<config> running_config::now(rules which) {
  const auto hold = changing();
  return read(which);
}

result<void> running_config::start_pipeline(const config& from) {
  if (!from.rules.given || pipeline_ == nullptr) return {};
  auto done = apply_texts(*pipeline_, from.rules);
  if (!done) done.error().where = place_in(from, done.error().where);
  return done;
}

result<config> running_config::read(rules which) {
  config out = started_;
  if (pipeline_ != nullptr && (out.rules.given || which == rules::always)) {
    const bool said = out.rules.given;
    const pipeline_snapshot there = read_pipeline(*pipeline_);
    for (const rule_record& one : there.rules) newest_read_ = std::max(newest_read_, one.rule->id);
    out.rules = print_pipeline(there, pipeline_->port_names());
    out.rules.given = said;
  }
  out.log = highest_log_level();
  std::map<unsigned, std::string> names;
  const std::string first = switch_.bridges().front().name;
  for (const dp::port_status& port : switch_.ports()) {
    out.ports.push_back(port.config);
    // As files say it, which name no other bridge.
    if (port.config.bridge == first) out.ports.back().bridge.clear();
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
  std::ranges::sort(out.statics, [](const static_entry& a, const static_entry& b) {
    return std::pair(a.vlan, a.mac) < std::pair(b.vlan, b.mac);
  });
  return out;
}

result<std::string> running_config::print(config_format format, rules which) {
  auto c = now(which);
  if (!c) return tl::unexpected(c.error());
  c->rules.given |= which == rules::always;
  // A file that says rules has no word on the first ones.
  if (c->rules.given)
    c->tables.bridges[0].pipeline.start = config().tables.bridges[0].pipeline.start;
  for (const text_list list : text_lists) {
    for (const std::string& each : list_of(c->rules, list))
      if (each.size() > ofp::text_max)
        return fail(errc::no_room, "pipeline",
                    "'" + each.substr(0, 40) + "...' has more than " +
                        std::to_string(ofp::text_max) + " characters");
  }
  std::string text = print_config(std::move(*c), format);
  if (text.size() > config_bytes_max)
    return fail(errc::no_room, "the configuration", "the file would have more than 64 MiB");
  return text;
}

result<std::vector<config_change>> running_config::difference(const config& wanted) {
  const auto there = now(rules_for(wanted));
  if (!there) return tl::unexpected(there.error());
  const config_difference difference = compare(*there, with_names(wanted, *there));
  if (auto good = check_rules(wanted, difference); !good) return tl::unexpected(good.error());
  return describe(difference, wanted);
}

result<std::vector<config_change>> running_config::apply(const config& wanted, bool dry_run) {
  if (wanted.rules.given && pipeline_ == nullptr)
    return fail(errc::unsupported, wanted.place("pipeline"),
                "this daemon has no OpenFlow pipeline; nothing was changed");
  const auto hold = changing();
  const auto there = read(rules_for(wanted));
  if (!there) return tl::unexpected(there.error());
  const config_difference difference = compare(*there, with_names(wanted, *there));
  if (!difference.restart.empty()) {
    std::string all;
    for (const field_change& each : difference.restart)
      all +=
          (all.empty() ? "" : ", ") + each.field + " (" + each.before + " -> " + each.after + ")";
    return fail(errc::unsupported, wanted.place(difference.restart[0].field),
                "only a restart of couad can change " + all + "; nothing was changed");
  }
  if (auto good = check_rules(wanted, difference); !good) {
    good.error().what += "; nothing was changed";
    return tl::unexpected(good.error());
  }
  auto changes = describe(difference, wanted);
  if (dry_run) return changes;
  if (auto done = run(plan(*there, wanted, difference)); !done) return tl::unexpected(done.error());
  if (started_.rules.given || wanted.rules.given)
    started_.tables.bridges[0].pipeline.start = wanted.tables.bridges[0].pipeline.start;
  started_.rules.given = wanted.rules.given;
  return changes;
}

/// The texts as those of what runs are: with the names and numbers that ports have now.
config running_config::with_names(config wanted, const config& now) const {
  if (!wanted.rules.given || pipeline_ == nullptr) return wanted;
  ofp::port_names names = pipeline_->port_names();
  add_guesses(wanted, names);
  wanted.rules = resolve_texts(std::move(wanted.rules), names, now.rules);
  return wanted;
}

/// What the file alone does not show: two that are one rule once ports have their numbers.
result<void> running_config::check_rules(const config& wanted,
                                         const config_difference& difference) const {
  if (pipeline_ == nullptr || difference.texts.empty()) return {};
  ofp::port_names names = pipeline_->port_names();
  add_guesses(wanted, names);
  const auto planned = plan_bundle({}, wanted.rules, names);
  if (planned) return {};
  error wrong = planned.error();
  wrong.where = place_in(wanted, wrong.where);
  return tl::unexpected(std::move(wrong));
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
  steps out, ports_leaving, ports_changing, coming, statics_coming, texts_coming;
  plan_texts(now, wanted, difference, out, texts_coming);
  plan_statics(now, wanted, difference, out, statics_coming);
  plan_ports(wanted, difference, ports_leaving, ports_changing, coming);
  plan_settings(now, wanted, difference, ports_changing);
  for (auto* part : {&ports_leaving, &ports_changing, &coming, &statics_coming, &texts_coming})
    std::ranges::move(*part, std::back_inserter(out));
  return out;
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
  std::map<std::string, dp::port_status> there;
  for (dp::port_status& port : switch_.ports()) there[port.config.name] = std::move(port);
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
  std::map<std::pair<std::uint16_t, std::uint64_t>, const item_change<static_entry>*> changes;
  for (const auto& each : difference.statics) {
    const static_entry& entry = each.before ? *each.before : *each.after;
    changes[{entry.vlan, entry.mac}] = &each;
  }
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
    const auto found = changes.find({entry.vlan, entry.mac});
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
  if (pipeline_ == nullptr) return;
  const bool renumbers =
      std::ranges::any_of(difference.ports, [](const item_change<dp::port_config>& each) {
        return !each.before || !each.after || each.is_replaced;
      });
  // A port that came back has another number, and rules that the file says are of its name.
  if (now.rules.given && renumbers) {
    before.push_back({"", []() -> result<void> { return {}; },
                      [this, was = now.rules, newest = newest_read_] {
                        return apply_texts(*pipeline_, was, going{newest});
                      }});
  }
  if (!wanted.rules.given || (difference.texts.empty() && !renumbers)) return;
  const auto go = [this, &wanted]() -> result<void> {
    auto done = apply_texts(*pipeline_, wanted.rules);
    if (!done) done.error().where = place_in(wanted, done.error().where);
    if (done && !pipeline_->settle_within(pipeline_control::settle_most))
      log_warning("rules of a configuration: there is a worker that does not run them yet");
    return done;
  };
  after.push_back({"", go, []() -> result<void> { return {}; }});
}

void running_config::plan_settings(const config& now, const config& wanted,
                                   const config_difference& difference, steps& out) {
  for (const field_change& each : difference.running) {
    const std::string place = wanted.place(each.field);
    if (each.field == "pipeline.flows") continue;  // apply() notes it when all is done
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
  std::map<std::string, std::pair<unsigned, unsigned>> ports;  // number, serial
  for (const dp::port_status& port : switch_.ports())
    ports[port.config.name] = {port.number, port.serial};
  std::vector<dp::fib_entry> made;
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
    made.push_back({each.vlan, each.mac, port->second.first, true, 0, port->second.second});
  }
  const auto stored = switch_.fib_insert(made);
  if (stored) return {};
  std::size_t at = 0;
  for (; at + 1 < made.size(); at++) {
    const auto there = switch_.fib_find({}, made[at].vlan, made[at].mac);
    if (!there || !there->is_static || there->port != made[at].port) break;
  }
  return refuse(at, stored.error().code, stored.error().what);
}

/// Those that are gone already are no error.
result<void> running_config::erase(std::span<const static_entry> entries) {
  for (const static_entry& each : entries) {
    auto erased = switch_.fib_erase({}, each.vlan, each.mac);
    if (!erased && erased.error().code != errc::not_found) return erased;
  }
  return {};
}

}  // namespace coua::ctl
