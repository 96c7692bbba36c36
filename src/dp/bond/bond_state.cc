// SPDX-License-Identifier: Apache-2.0
#include "dp/bond/bond_state.h"

namespace coua::dp {

bond_state::bond_state(const bond_config& config, std::vector<mac_bytes> macs, std::uint16_t key)
    : key_(key), macs_(std::move(macs)), links_(config.members.size()) {
  configure(config);
}

void bond_state::configure(const bond_config& config) {
  if (config.mode != mode_) in_use_ = 0;
  mode_ = config.mode;
  if (mode_ != bond_mode::lacp)
    lacp_.reset();
  else if (!lacp_)
    lacp_ = std::make_unique<lacp>(macs_, config.rate, key_);
  else
    lacp_->set_rate(config.rate);
  min_links_ = config.min_links;
  if (lacp_) lacp_->set_min_links(min_links_);
  choose();
}

void bond_state::change_members(std::span<const std::optional<unsigned>> from,
                                std::vector<mac_bytes> macs) {
  std::vector<link_state> links(from.size());
  std::optional<unsigned> in_use;
  for (unsigned m = 0; m < from.size(); ++m) {
    if (!from[m]) continue;
    links[m] = links_[*from[m]];
    macs[m] = macs_[*from[m]];
    if (*from[m] == in_use_) in_use = m;
  }
  links_ = std::move(links);
  macs_ = std::move(macs);
  in_use_ = in_use.value_or(0);
  if (lacp_) lacp_->change_members(from, macs_);
  choose();
}

void bond_state::update(std::span<const link_state> links, std::uint64_t now_ns,
                        const lacp::send_function& send) {
  links_.assign(links.begin(), links.end());
  if (lacp_) {
    for (unsigned m = 0; m < links_.size(); ++m)
      lacp_->set_link(m, links_[m].up, links_[m].mbps, now_ns);
    lacp_->tick(now_ns, send);
  }
  choose();
}

void bond_state::receive(unsigned member, std::span<const std::uint8_t> frame, std::uint64_t now_ns,
                         const lacp::send_function& send) {
  if (!lacp_) return;
  lacp_->receive(member, frame, now_ns, send);
}

void bond_state::settle(std::uint64_t now_ns, const lacp::send_function& send) {
  if (lacp_) lacp_->tick(now_ns, send);
  choose();
}

std::optional<slow_frame> bond_state::farewell(unsigned member) const {
  return lacp_ ? lacp_->farewell(member) : std::nullopt;
}

void bond_state::choose() {
  view_ = {};
  for (unsigned m = 0; m < links_.size(); ++m) {
    if (links_[m].lost) view_.lost |= member_bit(m);
    if (links_[m].up) view_.sending |= member_bit(m);
  }
  if (lacp_) {
    view_.lacp = true;
    view_.collecting = lacp_->collecting();
    view_.sending = lacp_->distributing();
    return;
  }
  if (mode_ == bond_mode::balance) {
    if (static_cast<unsigned>(std::popcount(view_.sending)) < min_links_) {
      view_.sending = 0;
      return;
    }
    view_.collecting = static_cast<member_set>((1u << links_.size()) - 1);
    return;
  }
  if (view_.sending == 0) return;
  if ((view_.sending & member_bit(in_use_)) == 0)
    in_use_ = static_cast<unsigned>(std::countr_zero(view_.sending));
  view_.sending = view_.collecting = member_bit(in_use_);
}

link_state bond_state::link() const {
  link_state all;
  all.lost = view_.lost == static_cast<member_set>((1u << links_.size()) - 1);
  all.up = view_.sending != 0;
  for (unsigned m = 0; m < links_.size(); ++m) {
    if (!is_active(m)) continue;
    // A sum without it would be a speed that the bond does not have.
    if (links_[m].mbps == 0) {
      all.mbps = 0;
      break;
    }
    all.mbps += links_[m].mbps;
  }
  return all;
}

std::string bond_state::state(unsigned member) const {
  if (links_[member].lost) return "lost";
  if (lacp_) return lacp_->state(member);
  if (is_active(member)) return "active";
  if (!links_[member].up) return "down";
  return mode_ == bond_mode::backup ? "standby" : "too few";
}

std::vector<std::string> bond_state::states() const {
  std::vector<std::string> list;
  for (unsigned m = 0; m < links_.size(); ++m) list.push_back(state(m));
  return list;
}

}  // namespace coua::dp
