// SPDX-License-Identifier: Apache-2.0
//
// Bonds: their members' links, and what becomes of the members.
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "dp/switch_impl.h"

namespace coua::dp {

/// Of the member's own packets, which are enough for a transmit ring that gives none back while
/// little is sent. Null: there is none.
rte_mbuf* switch_impl::packet_of(unsigned number, unsigned member, const slow_frame& frame) const {
  rte_mbuf* packet = rte_pktmbuf_alloc(slots_[number].device->members()[member]->receive_pool());
  if (packet != nullptr)
    std::memcpy(rte_pktmbuf_append(packet, frame.size()), frame.data(), frame.size());
  return packet;
}

void switch_impl::send_slow(unsigned number, unsigned member, const slow_frame& frame) {
  rte_mbuf* packet = packet_of(number, member, frame);
  if (packet == nullptr) return;  // LACP says it again
  const slow_out one{packet, slots_[number].device->members()[member]->device(),
                     static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(member)};
  if (!workers_[0]->slow_outs().push(one)) rte_pktmbuf_free(packet);
}

/// Of a bond whose members stay, and speak LACP no more: by the worker that sends all of it.
void switch_impl::say_farewells(unsigned number) {
  const port_slot& slot = slots_[number];
  for (unsigned m = 0; m < slot.device->members().size(); ++m)
    if (const auto frame = slot.bond->farewell(m)) send_slow(number, m, *frame);
}

/// Of a member that leaves: workers may miss a plan while they rest, so it is sent here, when none
/// of them uses the device any more.
void switch_impl::keep_farewell(unsigned number, unsigned member) {
  const port_slot& slot = slots_[number];
  const auto frame = slot.bond->farewell(member);
  if (!frame) return;
  if (rte_mbuf* packet = packet_of(number, member, *frame))
    farewells_.emplace_back(slot.device->members()[member]->device(), packet);
}

/// Of all members, where the port is a bond.
void switch_impl::keep_farewells(unsigned number) {
  const port_slot& slot = slots_[number];
  if (!slot.bond) return;
  for (unsigned m = 0; m < slot.device->members().size(); ++m) keep_farewell(number, m);
}

/// After the plan that has these members no more, and before they are closed.
void switch_impl::say_kept_farewells() {
  for (auto& [device, packet] : std::exchange(farewells_, {}))
    if (rte_eth_tx_burst(device, 0, &packet, 1) == 0) rte_pktmbuf_free(packet);
}

lacp::send_function switch_impl::sender_of(unsigned number) {
  return [this, number](unsigned member, const slow_frame& frame) {
    send_slow(number, member, frame);
  };
}

/// Of a bond, after its members were looked at.
link_state switch_impl::look_at_link(unsigned number) {
  port_slot& slot = slots_[number];
  if (!slot.bond) return slot.device->link();
  std::vector<link_state> links;
  const port_config& config = slot.device->config();
  const bool is_off = !config.enabled || slot.is_shut() || config.mirror.any();
  if (is_off) say_farewells(number);  // once: those that are off have no link
  for (const auto& each : slot.device->members()) {
    links.push_back(each->link());
    // Not every driver can take its link down: what is off says nothing more to the other end.
    if (is_off && config.bond.mode == bond_mode::lacp) links.back().up = false;
  }
  slot.bond->update(links, now_ns(), sender_of(number));
  return slot.bond->link();
}

/// `states` and `view`: what they were before.
void switch_impl::bond_changed(unsigned number, const std::vector<std::string>& states,
                               const bond_view& view) {
  port_slot& slot = slots_[number];
  const auto& members = slot.device->members();
  for (unsigned m = 0; m < members.size(); ++m)
    if (slot.bond->state(m) != states[m])
      log_info("port %s: member %s is %s, was %s", slot.device->config().name.c_str(),
               members[m]->config().devargs.c_str(), slot.bond->state(m).c_str(),
               states[m].c_str());
  const link_state now = slot.bond->link();
  const bool other_speed = now.mbps != slot.link.mbps;
  if (now.up != slot.link.up || now.lost != slot.link.lost)
    link_changed(number, now);
  else if (slot.link = now; slot.bond->view() != view || other_speed)
    publish();
}

void switch_impl::watch_bonds() {
  for (unsigned number = 0; number < max_ports; ++number) {
    const port_slot& slot = slots_[number];
    if (!slot.bond) continue;
    const std::vector<std::string> states = slot.bond->states();
    const bond_view view = slot.bond->view();
    (void)look_at_link(number);
    bond_changed(number, states, view);
  }
}

/// All of it or nothing. Returns the members that leave a bond; workers may use them until the next
/// plan.
result<port::member_list> switch_impl::update_device(unsigned number, const port_config& config) {
  port& device = *slots_[number].device;
  const std::vector<std::string> members = device.config().bond.members;
  if (!slots_[number].bond || !config.bond.any() || config.bond.members == members) {
    if (auto done = device.update(config); !done) return tl::unexpected(done.error());
    return port::member_list{};
  }
  if (auto valid = port::validate(config); !valid) return tl::unexpected(valid.error());
  // Those that come are there before anything is changed.
  auto coming = device.open_members(config, limits_of_ports());
  if (!coming) return coming;
  port_config others = config;
  others.bond.members = members;
  if (auto done = device.update(others); !done) return tl::unexpected(done.error());
  return change_members(number, config.bond.members, std::move(*coming));
}

/// Of a bond that goes on.
port::member_list switch_impl::change_members(unsigned number, const std::vector<std::string>& to,
                                              port::member_list coming) {
  port_slot& slot = slots_[number];
  const char* name = slot.device->config().name.c_str();
  const std::vector<std::string> before = slot.device->config().bond.members;
  std::vector<std::optional<unsigned>> from;
  for (const std::string& each : to) {
    const auto stays = std::ranges::find(before, each);
    from.emplace_back();
    if (stays != before.end())
      from.back() = static_cast<unsigned>(stays - before.begin());
    else
      log_info("port %s: member %s comes", name, each.c_str());
  }
  for (unsigned m = 0; m < before.size(); ++m)
    if (std::ranges::find(to, before[m]) == to.end()) keep_farewell(number, m);
  port::member_list leaving = slot.device->change_members(to, std::move(coming));
  for (const auto& each : leaving)
    log_info("port %s: member %s leaves", name, each->config().devargs.c_str());
  slot.bond->change_members(from, slot.device->macs());
  // Like those that are there already.
  if (slot.is_shut())
    if (const auto done = slot.device->set_link(false); !done)
      log_warning("%s", done.error().message().c_str());
  return leaving;
}

/// Which port's, and which of its members, a device is.
std::optional<std::pair<unsigned, unsigned>> switch_impl::member_of(std::uint16_t device) const {
  for (unsigned number = 0; number < max_ports; ++number) {
    const port_slot& slot = slots_[number];
    if (!slot.bond) continue;
    const auto& members = slot.device->members();
    for (unsigned m = 0; m < members.size(); ++m)
      if (members[m]->device() == device) return std::pair(number, m);
  }
  return std::nullopt;
}

/// What the workers have received of the slow protocols: a ring's worth each time, however much
/// comes. All of it is taken before any time is over, and the ports change once.
void switch_impl::drain_slow() {
  struct before {
    std::vector<std::string> states;
    bond_view view;
  };
  std::map<unsigned, before> heard;  // by number of the port
  const std::uint64_t now = now_ns();
  for (auto& each : workers_) {
    if (each->slow_ins().empty()) continue;
    std::array<slow_in, slow_in_ring_size> part;
    const std::size_t n = each->slow_ins().pop(std::span(part));
    for (const slow_in& one : std::span(part).first(n)) {
      const auto from = member_of(one.device);
      if (!from) continue;
      const auto [number, member] = *from;
      bond_state& bond = *slots_[number].bond;
      if (!heard.contains(number)) heard[number] = {bond.states(), bond.view()};
      bond.receive(member, std::span(one.bytes).first(one.n), now, sender_of(number));
    }
  }
  for (const auto& [number, was] : heard) {
    slots_[number].bond->settle(now, sender_of(number));
    bond_changed(number, was.states, was.view);
  }
}

std::vector<member_status> switch_impl::members_of(const port_slot& slot) {
  std::vector<member_status> list;
  const auto& members = slot.device->members();
  for (unsigned m = 0; m < members.size(); ++m) {
    const port& device = *members[m];
    member_status status{};
    status.devargs = device.config().devargs;
    status.driver = device.driver();
    std::copy_n(device.mac(), sizeof status.mac, status.mac);
    status.link_up = slot.bond->link(m).up;
    status.link_mbps = slot.bond->link(m).mbps;
    status.active = slot.bond->is_active(m);
    status.state = slot.bond->state(m);
    if (const lacp* protocol = slot.bond->protocol()) {
      const lacp_side &actor = protocol->actor(m), &partner = protocol->partner(m);
      lacp_status of{};
      std::copy(partner.system.begin(), partner.system.end(), of.partner_system);
      of.partner_key = partner.key;
      of.partner_port = partner.port;
      of.actor_flags = actor.flags;
      of.partner_flags = partner.flags;
      of.received = protocol->received(m);
      of.sent = protocol->sent(m);
      of.malformed = protocol->malformed(m);
      status.lacp = of;
    }
    std::tie(status.rx_packets, status.tx_packets) = device.packets();
    list.push_back(std::move(status));
  }
  return list;
}

}  // namespace coua::dp
