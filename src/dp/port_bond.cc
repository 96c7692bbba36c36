// SPDX-License-Identifier: Apache-2.0
//
// A bond is a port without a device of its own: what it is asked it asks its members.
#include <algorithm>
#include <cstring>
#include <set>

#include "base/hash_key.h"
#include "dp/port.h"

namespace coua::dp {

result<void> port::validate_bond(const port_config& config) {
  const std::string where = "port " + config.name + ": bond";
  if (!config.devargs.empty())
    return fail(errc::invalid, where, "a bond has members and no devargs");
  const auto& members = config.bond.members;
  if (members.size() > bond_members_max)
    return fail(errc::invalid, where,
                "has " + std::to_string(members.size()) + " members, at most " +
                    std::to_string(bond_members_max) + " are allowed");
  std::set<std::string> devices;
  for (const std::string& each : members) {
    const std::string device = each.substr(0, each.find(','));
    if (device.empty()) return fail(errc::invalid, where, "a member has no name");
    if (!devices.insert(device).second)
      return fail(errc::invalid, where, "the device " + device + " is a member twice");
  }
  return {};
}

port_config port::member_config(const port_config& bond, const std::string& devargs) {
  port_config config = bond;
  config.bond = {};
  config.devargs = devargs;
  return config;
}

result<std::unique_ptr<port>> port::open_bond(const port_config& config,
                                              const port_limits& limits) {
  std::unique_ptr<port> opened(new port);
  opened->config_ = config;
  opened->driver_ = "bond";
  std::array<std::uint8_t, sizeof opened->bond_seed_> random;
  if (auto drawn = fill_random(random); !drawn) return tl::unexpected(drawn.error());
  std::memcpy(&opened->bond_seed_, random.data(), sizeof opened->bond_seed_);
  auto members = opened->open_members(config, limits);
  if (!members) return tl::unexpected(members.error());
  opened->members_ = std::move(*members);
  opened->take_after_members();
  std::memcpy(opened->mac_, opened->members_[0]->mac_, sizeof opened->mac_);
  return opened;
}

result<port::member_list> port::open_members(const port_config& config,
                                             const port_limits& limits) const {
  port_limits left = limits;
  member_list coming;
  // Those before one that fails are closed again.
  for (const std::string& devargs : config.bond.members) {
    coming.emplace_back();
    if (member_named(devargs) != members_.end()) continue;
    auto member = open_device(member_config(config, devargs), left, true);
    if (!member) return tl::unexpected(member.error());
    left.devices_used |= std::uint64_t{1} << (*member)->device_;
    coming.back() = std::move(*member);
  }
  return coming;
}

port::member_list port::change_members(const std::vector<std::string>& to, member_list coming) {
  member_list leaving = std::move(members_);
  for (std::size_t m = 0; m < to.size(); ++m) {
    if (coming[m]) continue;
    const auto stays = std::ranges::find_if(
        leaving, [&](const auto& each) { return each && each->config_.devargs == to[m]; });
    coming[m] = std::move(*stays);
  }
  members_ = std::move(coming);
  std::erase(leaving, nullptr);
  for (const auto& each : leaving) add_counters(counters_of_left_, each->device_counters());
  config_.bond.members = to;
  take_after_members();
  return leaving;
}

port::member_list::const_iterator port::member_named(const std::string& devargs) const {
  return std::ranges::find_if(members_,
                              [&](const auto& each) { return each->config_.devargs == devargs; });
}

/// What a bond has of its members; its address stays, whoever leaves.
void port::take_after_members() {
  const port& first = *members_[0];
  device_ = first.device_;
  numa_node_ = first.numa_node_;
  tx_queues_ = first.tx_queues_;
  rx_queues_ = 0;
  for (const auto& each : members_) {
    rx_queues_ += each->rx_queues_;
    tx_queues_ = std::min(tx_queues_, each->tx_queues_);
  }
}

/// All members, or, after an error, none.
result<void> port::each_member(const std::function<result<void>(port&)>& change,
                               const std::function<void(port&)>& undo) {
  // One whose device went away answers nothing but errors, and takes part in nothing.
  const auto is_there = [this](std::size_t m) { return !members_[m]->link().lost; };
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (!is_there(m)) continue;
    auto done = change(*members_[m]);
    if (done) continue;
    while (m-- > 0)
      if (is_there(m)) undo(*members_[m]);
    return done;
  }
  return {};
}

result<void> port::update_bond(const port_config& config) {
  const port_config old = config_;
  const auto to = [](port& member, const port_config& like) {
    return member.update(member_config(like, member.config_.devargs));
  };
  auto done = each_member([&](port& member) { return to(member, config); },
                          [&](port& member) { (void)to(member, old); });
  if (done) config_ = config;
  return done;
}

bool port::strips_tags() const {
  return driver_ == "net_af_packet" ||
         std::any_of(members_.begin(), members_.end(),
                     [](const auto& each) { return each->strips_tags(); });
}

bool port::tx_shared() const {
  return !locks_.empty() || std::any_of(members_.begin(), members_.end(),
                                        [](const auto& each) { return each->tx_shared(); });
}

std::vector<mac_bytes> port::macs() const {
  std::vector<mac_bytes> list;
  for (const auto& each : members_) {
    mac_bytes mac;
    std::copy_n(each->mac_, mac.size(), mac.begin());
    // Some virtual devices have none, and LACP needs one: locally administered, and the bond's own.
    if (mac == mac_bytes{}) {
      std::memcpy(&mac[1], &bond_seed_, 4);
      mac[0] = 2;
      mac[5] = static_cast<std::uint8_t>(each->device_);
    }
    list.push_back(mac);
  }
  return list;
}

std::uint64_t port::devices() const {
  if (members_.empty()) return std::uint64_t{1} << device_;
  std::uint64_t set = 0;
  for (const auto& each : members_) set |= each->devices();
  return set;
}

void port::take_pools(std::vector<packet_pool>& to) {
  close();
  to.push_back(std::move(pool_));
  for (const auto& each : members_) each->take_pools(to);
}

unsigned port::packets_in_use() const {
  unsigned n = pool_.in_use();
  for (const auto& each : members_) n += each->packets_in_use();
  return n;
}

}  // namespace coua::dp
