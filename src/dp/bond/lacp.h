// SPDX-License-Identifier: Apache-2.0
//
// LACP for the members of one bond (IEEE 802.1AX-2008, clause 5). Knows no DPDK; frames come in
// and go out as bytes, the time comes with each call. One thread.
//
//   what comes from a member --> receive()           send: LACPDUs, answers to markers
//   its link                 --> set_link()  machines -->
//   the time                 --> tick()              collecting(), distributing()
//
// A member's way, and what it is called:
//
//   down          no link
//   no partner    nothing was heard, or no more: in no aggregation, carries nothing
//   other partner its partner is not that of the other members: in no aggregation either
//   loop          its partner is this bond itself, by a cable that leads back
//   waiting       its partner has been chosen, and has not agreed yet (or is new: others may follow
//                 within 2 s, so that all of them start together)
//   too few       it could go on, and fewer than `min_links` members can: it does not, and the
//                 partner is told, whose end goes down, too
//   collecting    the partner is in sync: frames are taken from it
//   active        the partner collects: frames are sent by it, too
//
// The four machines of the standard, per member: Receive (what the partner last said, and for how
// long it is true: 3 s or 90 s), Periodic (every 1 s or 30 s, as the partner asks), Selection (of
// the partner that most members have; one in use stays), Mux (collecting and distributing apart,
// so that nothing is sent before the partner takes it). Transmission is limited to 3 frames a
// second. Always active; a bond is one aggregator, with one key.
//
// Not there: churn detection, standby members beyond what the partner can take (a member that it
// does not put in sync stays `waiting`), LACP version 2.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dp/bond/spread.h"

namespace coua::dp {

inline constexpr std::size_t slow_frame_bytes = 124;  // of an LACPDU or a marker, as they are sent
inline constexpr std::uint16_t slow_ethertype = 0x8809;
inline constexpr std::uint64_t slow_address = 0x0180'C200'0002u;

using slow_frame = std::array<std::uint8_t, slow_frame_bytes>;
using mac_bytes = std::array<std::uint8_t, 6>;

namespace lacp_flag {
enum bit : std::uint8_t {
  active = 0x01,
  short_timeout = 0x02,
  aggregates = 0x04,
  in_sync = 0x08,
  collecting = 0x10,
  distributing = 0x20,
  defaulted = 0x40,
  expired = 0x80,
};
}  // namespace lacp_flag

/// What an LACPDU says of one side.
struct lacp_side {
  std::uint16_t system_priority = 0;
  mac_bytes system{};
  std::uint16_t key = 0;
  std::uint16_t port_priority = 0;
  std::uint16_t port = 0;
  std::uint8_t flags = 0;
  bool operator==(const lacp_side&) const = default;
};

struct lacp_pdu {
  lacp_side actor, partner;
};
/// False: it is none, or a malformed one. `frame` starts with its Ethernet header.
bool parse_lacpdu(std::span<const std::uint8_t> frame, lacp_pdu& out);
slow_frame write_lacpdu(const lacp_pdu& pdu, const mac_bytes& source);

class lacp {
 public:
  using send_function = std::function<void(unsigned member, const slow_frame&)>;

  /// `sources`: the MAC address of each member; the first one is the system's, too. `key`: no other
  /// bond that may have the same system has it.
  lacp(const std::vector<mac_bytes>& sources, lacp_rate rate, std::uint16_t key = 1);

  /// Other members: `from` says which place each had; none: it is new. The name of the system
  /// stays, and so does what is agreed about those that go on.
  void change_members(std::span<const std::optional<unsigned>> from,
                      const std::vector<mac_bytes>& sources);

  void set_rate(lacp_rate rate);
  /// Of members that have chosen the same partner, or none of them goes on.
  void set_min_links(unsigned least) { min_links_ = least; }
  void set_link(unsigned member, bool up, unsigned mbps, std::uint64_t now_ns);
  /// A frame of the slow protocols that a member has brought. What follows from it is tick()'s.
  void receive(unsigned member, std::span<const std::uint8_t> frame, std::uint64_t now_ns,
               const send_function& send);
  /// Every 100 ms or more often.
  void tick(std::uint64_t now_ns, const send_function& send);
  /// The last word of a member that carries nothing from now on: else the other end goes on sending
  /// to it until the time of what it said before is over. None: it has no link.
  std::optional<slow_frame> farewell(unsigned member) const;
  member_set collecting() const;
  member_set distributing() const;
  std::string state(unsigned member) const;
  /// What the partner last said; all zero: there is none.
  const lacp_side& partner(unsigned member) const { return members_[member].partner; }
  const lacp_side& actor(unsigned member) const { return members_[member].actor; }
  std::uint64_t received(unsigned member) const { return members_[member].n_received; }
  std::uint64_t sent(unsigned member) const { return members_[member].n_sent; }
  std::uint64_t malformed(unsigned member) const { return members_[member].n_malformed; }

 private:
  enum class receiving { disabled, expired, defaulted, current };
  enum class muxing { detached, waiting, attached, collecting, distributing };
  struct member {
    mac_bytes source{};
    bool link = false;
    unsigned mbps = 0;
    lacp_side actor, partner;
    receiving rx = receiving::disabled;
    muxing mux = muxing::detached;
    bool selected = false;
    bool need_to_transmit = false;
    std::uint64_t heard_ns = 0;
    std::uint64_t partner_until_ns = 0;  // current_while
    std::uint64_t wait_until_ns = 0;     // of waiting
    std::uint64_t next_periodic_ns = 0;
    std::array<std::uint64_t, 3> sent_ns{};  // the last three transmissions
    std::uint64_t n_received = 0, n_sent = 0, n_malformed = 0;
  };

  void record(member& m, const lacp_pdu& pdu, std::uint64_t now_ns);
  void run_receive(member& m, std::uint64_t now_ns);
  void select();
  void run_mux(member& m, std::uint64_t now_ns);
  bool are_enough(bool (*counts)(const member&)) const;
  void set_mux(member& m, muxing to);
  void transmit(unsigned number, std::uint64_t now_ns, const send_function& send);
  bool has_partner(const member& m) const;
  bool can_join(const member& m) const;
  static bool is_selected(const member& m) { return m.selected; }
  static bool is_agreed(const member& m);
  member_set those_at(muxing least) const;
  static bool alike(const member& a, const member& b);
  void expire(member& m, std::uint64_t now_ns);
  member new_member(const mac_bytes& source) const;

  mac_bytes system_;
  std::uint16_t key_;
  lacp_rate rate_ = lacp_rate::slow;
  unsigned min_links_ = 1;
  std::vector<member> members_;
};

}  // namespace coua::dp
