// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a bond's members by what is seen of their links. Knows no DPDK. One thread.
//
//   mode      takes frames from       sends by
//   balance   all members             those with a link, each flow by one of them (spread.h)
//   lacp      those whose partner     those whose partner takes frames, each flow by one of them
//             is in sync (lacp.h)
//   backup    the member in use       the same
//
// The member in use is the first one with a link; it stays that until it has none, so that a
// member that comes back takes nothing from one that works. The bond has a link when something
// sends. Where fewer than `min_links` members could send (but for backup), none takes or sends.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dp/bond/lacp.h"
#include "dp/plan_builder.h"
#include "dp/switch.h"

namespace coua::dp {

struct link_state {
  bool up = false;
  unsigned mbps = 0;
  bool lost = false;  // the device went away
};

class bond_state {
 public:
  /// `macs` of the members, in their order. `key`: of LACP, another one for each bond.
  bond_state(const bond_config& config, std::vector<mac_bytes> macs, std::uint16_t key = 1);

  /// Mode, hash, rate and the least number of links; the members stay.
  void configure(const bond_config& config);
  /// Other members, with their `macs`: `from` says which place each had; none: it is new, and has
  /// no link before update(). What goes on stays as it is: who is in use, what a partner said.
  void change_members(std::span<const std::optional<unsigned>> from, std::vector<mac_bytes> macs);
  /// `links` of the members, in their order. By LACP also what the time brings: every 100 ms or
  /// more often.
  void update(std::span<const link_state> links, std::uint64_t now_ns,
              const lacp::send_function& send);
  /// A frame of the slow protocols that a member has brought; others than by LACP have no use for
  /// it. settle() comes after the last one.
  void receive(unsigned member, std::span<const std::uint8_t> frame, std::uint64_t now_ns,
               const lacp::send_function& send);
  void settle(std::uint64_t now_ns, const lacp::send_function& send);
  /// What a member says before it carries nothing more (lacp.h); none in other modes.
  std::optional<slow_frame> farewell(unsigned member) const;

  const bond_view& view() const { return view_; }
  /// Of the bond: the sum of those that send.
  link_state link() const;
  link_state link(unsigned member) const { return links_[member]; }
  bool is_active(unsigned member) const { return (view_.sending & member_bit(member)) != 0; }
  /// "active", or why it is not.
  std::string state(unsigned member) const;
  std::vector<std::string> states() const;
  const lacp* protocol() const { return lacp_.get(); }  // null in other modes

 private:
  void choose();

  const std::uint16_t key_;
  bond_mode mode_ = bond_mode::balance;
  unsigned min_links_ = 1;
  std::vector<mac_bytes> macs_;
  std::unique_ptr<lacp> lacp_;
  std::vector<link_state> links_;
  bond_view view_;
  unsigned in_use_ = 0;  // backup
};

}  // namespace coua::dp
