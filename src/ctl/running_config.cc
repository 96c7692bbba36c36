// SPDX-License-Identifier: Apache-2.0
#include "ctl/running_config.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error_place.h"
#include "base/log.h"
#include "ctl/openflow_rules.h"
#include "ctl/pipeline_bundle.h"
#include "net/mac.h"

namespace coua::ctl {
namespace {

// "    - {vlan: 1, mac: "02:00:00:00:00:01", port: p}": no entry takes less of a file.
constexpr std::size_t entry_bytes = 48;
constexpr int reads_most = 3;  // of a table whose entries move meanwhile

/// Rules of those of which a file says some, and of those that go, which may have to come back.
bool has_to_be_read(const config& wanted, const bridge_settings& bridge) {
  const auto at = std::ranges::find(wanted.bridges, bridge.name, &bridge_settings::name);
  return bridge.rules.given || at == wanted.bridges.end() || at->rules.given;
}

std::vector<std::string> names_of_bridges(const std::vector<bridge_settings>& bridges) {
  std::vector<std::string> made;
  for (const bridge_settings& each : bridges) made.push_back(each.name);
  return made;
}

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

/// An error that names `item`, which it may have done already: "port p0: no such device".
std::string message_about(const std::string& item, const error& e) {
  const bool is_named = e.where == item || e.where.starts_with(item + ": ");
  return is_named ? e.message() : at_place(item, e).message();
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
  for (const std::string& each : bridges_.names()) bridges_.close(each);
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
      if (auto done = bring_texts(from, i); !done) return done;
    if (auto opened = open_bridge(from, i); !opened) return opened;
  }
  return {};
}

/// It has these settings, and speaks with its controllers; an error has its place in the file.
result<void> running_config::open_bridge(const config& from, std::size_t index) {
  bridges_.note(from.bridges[index]);
  auto opened = bridges_.open(from.bridges[index].name);
  if (opened) return opened;
  return tl::unexpected(from.at_its_field(opened.error(), from.bridge_path(index) + "openflow."));
}

result<void> running_config::add_bridge(const bridge_settings& bridge) {
  for (const auto* targets : {&bridge.openflow.controllers, &bridge.openflow.listen})
    for (const std::string& each : *targets)
      if (needs_tls(each) && !started_.tls.any())
        return fail(errc::invalid, each,
                    "needs openflow.tls in the file that couad starts with: key, certificate and "
                    "authority");
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
  if (bridges_.names().size() == 1) return fail(errc::busy, "bridge " + name, "is the only one");
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
  const auto entries = statics({});
  if (!entries) return tl::unexpected(entries.error());
  for (const dp::fib_entry& each : *entries)
    if (names.contains(each.port)) out.statics.push_back({each.vlan, each.mac, names[each.port]});
  std::ranges::sort(out.statics, {},
                    [](const static_entry& e) { return std::tie(e.vlan, e.mac, e.port); });
  return out;
}

/// Of those that the filter lets pass.
result<std::vector<dp::fib_entry>> running_config::statics(dp::fib_filter filter) const {
  filter.is_static = true;
  std::vector<dp::fib_entry> found;
  for (int attempt = 1;; attempt++) {
    found.clear();
    const auto read = switch_.fib_dump(filter, [&](std::span<const dp::fib_entry> entries) {
      found.insert(found.end(), entries.begin(), entries.end());
      return true;
    });
    if (read) return found;
    if (read.error().code != errc::busy || attempt == reads_most)
      return tl::unexpected(read.error());
  }
}

result<void> running_config::check_statics_stay(const dp::port_status& now,
                                                const dp::port_config& wanted) const {
  const auto carried = dp::vlans_of(wanted);
  if (carried == dp::vlans_of(now.config) || switch_.fib().statics == 0) return {};
  dp::fib_filter filter;
  filter.port = now.number;
  filter.port_serial = now.serial;
  auto there = statics(filter);
  if (!there) return tl::unexpected(there.error());
  std::erase_if(*there, [&](const dp::fib_entry& each) {
    return std::ranges::binary_search(carried, each.vlan);
  });
  if (there->empty()) return {};
  const auto first = std::ranges::min(
      *there, {}, [](const dp::fib_entry& each) { return std::tie(each.vlan, each.mac); });
  return fail(errc::busy, "port " + wanted.name,
              "has static entries in VLANs that it would no longer carry, " +
                  std::to_string(there->size()) + " in all, the first of them " +
                  std::to_string(first.vlan) + " " + net::format_mac(first.mac) +
                  "; remove them before, as by 'fib flush --static --port " + wanted.name +
                  " --vlan " + std::to_string(first.vlan) + "'");
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

result<std::vector<std::string>> running_config::lost_ports(rules which) {
  const auto hold = changing();
  std::vector<std::string> lost;
  const auto bridges = bridges_.settings();
  for (const bridge_settings& bridge : bridges) {
    if (!bridge.rules.given && which != rules::always) continue;
    const auto held = bridges_.find(bridge.name);
    if (!held) return tl::unexpected(held.error());
    const std::string place = bridges.size() > 1 ? "bridge " + bridge.name + ": " : "";
    for (std::string& each :
         lost_ports_of(read_pipeline(held->pipeline()), held->pipeline().port_names()))
      lost.push_back(place + each);
  }
  return lost;
}

result<std::vector<config_change>> running_config::difference(const config& wanted) {
  const auto there = [&] {
    const auto hold = changing();
    return read([&](const bridge_settings& of) { return has_to_be_read(wanted, of); });
  }();
  if (!there) return tl::unexpected(there.error());
  const config_difference difference = compare(*there, with_names(wanted, *there));
  if (auto good = check_rules(wanted, difference); !good) return tl::unexpected(good.error());
  return describe(difference, wanted);
}

result<std::vector<config_change>> running_config::apply(const config& wanted, bool dry_run) {
  const auto hold = changing();
  const auto there = read([&](const bridge_settings& of) { return has_to_be_read(wanted, of); });
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
  for (const bridge_settings& each : wanted.bridges) bridges_.note(each);
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
    if (!planned)
      return tl::unexpected(wanted.at_its_field(planned.error(), wanted.bridge_path(each.index)));
  }
  return {};
}

result<void> running_config::run(const steps& steps) {
  for (std::size_t i = 0; i < steps.size(); i++) {
    const auto done = steps[i].go();
    if (done) continue;
    error e = at_place(steps[i].place, done.error());
    std::string stuck, anew;
    for (std::size_t j = i + (steps[i].partial ? 1 : 0); j-- > 0;) {
      if (const auto taken_back = steps[j].back(); !taken_back)
        stuck += (stuck.empty() ? "" : "; ") + message_about(steps[j].item, taken_back.error());
      else if (steps[j].anew)
        anew += (anew.empty() ? ", but came back anew: " : ", ") + steps[j].item;
    }
    e.what += stuck.empty() ? "; nothing was changed" + anew
                            : "; what was done before could not be taken back as a whole: " + stuck;
    return tl::unexpected(std::move(e));
  }
  return {};
}

result<void> running_config::bring_texts(const config& wanted, std::size_t bridge) {
  const auto held = bridges_.find(wanted.bridges[bridge].name);
  if (!held) return tl::unexpected(held.error());
  auto done = apply_texts(held->pipeline(), wanted.bridges[bridge].rules);
  if (!done) return tl::unexpected(wanted.at_its_field(done.error(), wanted.bridge_path(bridge)));
  if (!held->pipeline().settle_within(pipeline_control::settle_most))
    log_warning("rules of a configuration: there is a worker that does not run them yet");
  return done;
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
