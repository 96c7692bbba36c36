// SPDX-License-Identifier: Apache-2.0
#include "ctl/running_bridges.h"

#include <algorithm>
#include <set>

#include "ctl/openflow_rules.h"

namespace coua::ctl {
namespace {

/// What the switch has of it: rules that a file says come when the ports are there.
dp::bridge_config in_switch(const bridge_settings& bridge) {
  dp::bridge_config made = bridge;
  if (bridge.rules.given) made.pipeline.start = dp::first_rules::none;
  return made;
}

/// Without what is asked of the pipeline.
bridge_settings bare(bridge_settings bridge) {
  bridge.rules = {bridge.rules.given, {}, {}, {}};
  return bridge;
}

}  // namespace

std::vector<openflow_place::address> openflow_place::addresses() const {
  std::vector<address> made{{"management", normal_path(management)}};
  for (std::size_t i = 0; i < listen.size(); i++)
    made.push_back({item_path("listen", i), socket_of(listen[i]).value_or(listen[i])});
  return made;
}

dp::switch_config switch_settings(const config& from) {
  dp::switch_config made = from.tables;
  made.bridges.clear();
  for (const bridge_settings& each : from.bridges) made.bridges.push_back(in_switch(each));
  return made;
}

running_bridges::entry_ptr running_bridges::known(const std::string& name) const {
  const auto at =
      std::ranges::find(all_, name, [](const entry_ptr& one) { return one->settings.name; });
  return at != all_.end() ? *at : nullptr;
}

held_bridge running_bridges::hold(const entry_ptr& one) const {
  one->holders++;
  const auto let_go = [this, one](served_bridge*) {
    const std::lock_guard hold(mutex_);
    one->holders--;
    let_go_.notify_all();
  };
  return {one->settings.name, std::shared_ptr<served_bridge>(one->served.get(), let_go)};
}

std::string running_bridges::list() const {
  std::string made;
  for (const entry_ptr& each : all_) made += (made.empty() ? "" : ", ") + each->settings.name;
  return made;
}

result<held_bridge> running_bridges::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (name.empty() && all_.size() == 1) return hold(all_[0]);
  if (name.empty()) return fail(errc::invalid, "bridge", "say which one: there are " + list());
  if (const entry_ptr one = known(name)) return hold(one);
  return fail(
      errc::not_found, "bridge " + name,
      "there is no such bridge; there " + std::string(all_.size() == 1 ? "is " : "are ") + list());
}

std::vector<bridge_settings> running_bridges::settings() const {
  const std::lock_guard lock(mutex_);
  std::vector<bridge_settings> made;
  for (const entry_ptr& each : all_) made.push_back(each->settings);
  return made;
}

std::optional<bridge_settings> running_bridges::settings(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const entry_ptr one = known(name);
  return one ? std::optional(one->settings) : std::nullopt;
}

std::vector<std::string> running_bridges::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> made;
  for (const entry_ptr& each : all_) made.push_back(each->settings.name);
  return made;
}

std::string running_bridges::first() const {
  const std::lock_guard lock(mutex_);
  return all_.empty() ? "" : all_[0]->settings.name;
}

void running_bridges::keep(const bridge_settings& bridge) {
  auto one = std::make_shared<entry>();
  one->settings = bare(bridge);
  one->served = make_(bridge.name);
  const std::lock_guard lock(mutex_);
  all_.push_back(std::move(one));
}

void running_bridges::take(const bridge_settings& bridge) { keep(bridge); }

result<void> running_bridges::add(const bridge_settings& bridge) {
  if (auto added = switch_.add_bridge(in_switch(bridge)); !added) return added;
  keep(bridge);
  return {};
}

result<void> running_bridges::remove(const std::string& name) {
  if (const auto there = find(name); !there) return tl::unexpected(there.error());
  std::unique_lock lock(mutex_);
  const entry_ptr one = known(name);
  const auto place = std::ranges::find(all_, one);
  const auto index = place - all_.begin();
  all_.erase(place);  // nobody new finds it
  const auto put_back = [&] { all_.insert(all_.begin() + index, one); };
  if (!let_go_.wait_for(lock, patience_, [&] { return one->holders == 0; })) {
    put_back();
    return fail(errc::busy, "bridge " + name, "somebody still reads its rules; try again");
  }
  lock.unlock();
  const openflow_place was = one->served->place();
  one->served.reset();
  auto removed = switch_.remove_bridge(name);
  if (removed) return removed;
  one->served = make_(name);
  if (was.is_open()) {
    openflow_config how = one->settings.openflow;
    how.datapath_id = was.datapath_id;
    if (const auto opened = one->served->open(how); !opened)
      removed.error().what += "; and its controllers are gone: " + opened.error().message();
  }
  lock.lock();
  put_back();
  return removed;
}

result<void> running_bridges::open(const std::string& name) {
  const auto one = find(name);
  if (!one) return tl::unexpected(one.error());
  const openflow_config how = with_datapath_id(name, *one->served);
  if (auto alone = check_alone(name, one->served->place_of(how)); !alone) return alone;
  return one->served->open(how);
}

/// How it is to open. A datapath id that is made up is no other bridge's, also not of one that has
/// yet to open: those of its name come after what the bridge itself makes.
openflow_config running_bridges::with_datapath_id(const std::string& name,
                                                  const served_bridge& served) const {
  openflow_config how = settings(name)->openflow;
  if (how.datapath_id != 0) return how;
  std::set<std::uint64_t> taken;
  for (const bridge_settings& other : settings())
    if (other.name != name) taken.insert(other.openflow.datapath_id);
  each({}, [&](const held_bridge& other) {
    if (other.name != name) taken.insert(other.served->place().datapath_id);
  });
  how.datapath_id = served.place_of(how).datapath_id;
  // No bridge is called so: names have no '/'.
  for (unsigned n = 1; taken.contains(how.datapath_id); n++)
    how.datapath_id = datapath_id_of(n == 1 ? name : name + "/" + std::to_string(n));
  return how;
}

result<void> running_bridges::check_alone(const std::string& name,
                                          const openflow_place& place) const {
  result<void> alone;
  each({}, [&](const held_bridge& other) {
    const openflow_place there = other.served->place();
    if (!alone || other.name == name || !there.is_open()) return;
    if (there.datapath_id == place.datapath_id)
      alone = fail(errc::exists, "datapath_id: " + format_datapath_id(place.datapath_id),
                   "is that of bridge " + other.name + "; give another one");
    const auto taken = there.addresses();
    for (const auto& [field, text] : place.addresses())
      if (alone && std::ranges::find(taken, text, &openflow_place::address::text) != taken.end())
        alone = fail(errc::busy, field + ": " + text, "bridge " + other.name + " listens there");
  });
  return alone;
}

void running_bridges::close(const std::string& name) {
  if (const auto one = find(name)) one->served->close();
}

void running_bridges::note(const bridge_settings& bridge) {
  const std::lock_guard lock(mutex_);
  if (const entry_ptr one = known(bridge.name)) one->settings = bare(bridge);
}

void running_bridges::arrange(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  std::ranges::stable_sort(all_, {}, [&](const entry_ptr& one) {
    return std::ranges::find(names, one->settings.name) - names.begin();
  });
}

}  // namespace coua::ctl
