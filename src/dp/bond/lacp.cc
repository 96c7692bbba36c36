// SPDX-License-Identifier: Apache-2.0
#include "dp/bond/lacp.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace coua::dp {
namespace {

using namespace lacp_flag;

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t fast_period = 1 * second_ns, slow_period = 30 * second_ns;
constexpr std::uint64_t short_timeout_ns = 3 * fast_period, long_timeout_ns = 3 * slow_period;
constexpr std::uint64_t aggregate_wait = 2 * second_ns;
constexpr std::uint16_t priority = 0x8000;  // of systems and ports, where nobody says anything
constexpr std::uint8_t carries = in_sync | lacp_flag::collecting | lacp_flag::distributing;

// Places in a frame.
constexpr std::size_t at_subtype = 14, at_actor = 16, at_partner = 36, at_collector = 56;
constexpr std::size_t side_bytes = 20, collector_bytes = 16;
constexpr std::size_t least_bytes = at_partner + side_bytes;  // what is read of a frame

std::uint16_t get16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>(at[0] << 8 | at[1]);
}
void put16(std::uint8_t* at, std::uint16_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8);
  at[1] = static_cast<std::uint8_t>(value);
}

lacp_side get_side(const std::uint8_t* at) {
  lacp_side side;
  side.system_priority = get16(at + 2);
  std::copy_n(at + 4, side.system.size(), side.system.begin());
  side.key = get16(at + 10);
  side.port_priority = get16(at + 12);
  side.port = get16(at + 14);
  side.flags = at[16];
  return side;
}

void put_side(std::uint8_t* at, std::uint8_t type, const lacp_side& side) {
  at[0] = type;
  at[1] = side_bytes;
  put16(at + 2, side.system_priority);
  std::copy(side.system.begin(), side.system.end(), at + 4);
  put16(at + 10, side.key);
  put16(at + 12, side.port_priority);
  put16(at + 14, side.port);
  at[16] = side.flags;
}

slow_frame begin_frame(const mac_bytes& source) {
  slow_frame frame{};
  for (unsigned i = 0; i < 6; ++i)
    frame[i] = static_cast<std::uint8_t>(slow_address >> (40 - 8 * i));
  std::copy(source.begin(), source.end(), frame.begin() + 6);
  put16(&frame[12], slow_ethertype);
  return frame;
}

/// All but what the flags say, except whether it aggregates.
bool same_port(const lacp_side& a, const lacp_side& b) {
  return a.system_priority == b.system_priority && a.system == b.system && a.key == b.key &&
         a.port_priority == b.port_priority && a.port == b.port &&
         ((a.flags ^ b.flags) & aggregates) == 0;
}

}  // namespace

bool parse_lacpdu(std::span<const std::uint8_t> frame, lacp_pdu& out) {
  if (frame.size() < least_bytes || get16(&frame[12]) != slow_ethertype) return false;
  // A later version has more, behind what this one has.
  if (frame[at_subtype] != 1 || frame[at_subtype + 1] == 0) return false;
  if (frame[at_actor] != 1 || frame[at_actor + 1] != side_bytes) return false;
  if (frame[at_partner] != 2 || frame[at_partner + 1] != side_bytes) return false;
  out = {get_side(&frame[at_actor]), get_side(&frame[at_partner])};
  return true;
}

slow_frame write_lacpdu(const lacp_pdu& pdu, const mac_bytes& source) {
  slow_frame frame = begin_frame(source);
  frame[at_subtype] = 1;
  frame[at_subtype + 1] = 1;
  put_side(&frame[at_actor], 1, pdu.actor);
  put_side(&frame[at_partner], 2, pdu.partner);
  frame[at_collector] = 3;
  frame[at_collector + 1] = collector_bytes;
  return frame;
}

lacp::lacp(const std::vector<mac_bytes>& sources, lacp_rate rate, std::uint16_t key)
    : system_(sources[0]), key_(key) {
  for (const mac_bytes& each : sources) members_.push_back(new_member(each));
  set_rate(rate);
}

/// By the lowest number that no other one has.
lacp::member lacp::new_member(const mac_bytes& source) const {
  std::uint16_t number = 1;
  const auto is_taken = [&number](const member& one) { return one.actor.port == number; };
  while (std::ranges::any_of(members_, is_taken)) ++number;
  member made;
  made.source = source;
  made.actor = {priority, system_, key_, priority, number, active | aggregates};
  return made;
}

void lacp::change_members(std::span<const std::optional<unsigned>> from,
                          const std::vector<mac_bytes>& sources) {
  const std::vector<member> before = std::exchange(members_, {});
  for (const std::optional<unsigned>& each : from)
    if (each) members_.push_back(before[*each]);
  for (std::size_t m = 0; m < from.size(); ++m) {
    if (from[m]) continue;
    const member made = new_member(sources[m]);
    members_.insert(members_.begin() + static_cast<std::ptrdiff_t>(m), made);
  }
  set_rate(rate_);
}

void lacp::set_rate(lacp_rate rate) {
  rate_ = rate;
  for (member& m : members_) {
    const std::uint8_t before = m.actor.flags;
    m.actor.flags &= static_cast<std::uint8_t>(~short_timeout);
    if (rate == lacp_rate::fast) m.actor.flags |= short_timeout;
    m.need_to_transmit |= before != m.actor.flags;
    // The partner may speak rarely from now on, and says nothing before it has to.
    if (rate == lacp_rate::slow && m.rx == receiving::current)
      m.partner_until_ns = m.heard_ns + long_timeout_ns;
  }
}

void lacp::set_link(unsigned number, bool up, unsigned mbps, std::uint64_t now_ns) {
  member& m = members_[number];
  m.mbps = mbps;
  if (m.link == up) return;
  m.link = up;
  m.partner = {};
  m.actor.flags &= static_cast<std::uint8_t>(~(defaulted | expired));
  m.rx = receiving::disabled;
  if (up) expire(m, now_ns);
}

/// What the partner last said is in doubt: it is asked to say it again soon.
void lacp::expire(member& m, std::uint64_t now_ns) {
  m.rx = receiving::expired;
  m.partner.flags &= static_cast<std::uint8_t>(~in_sync);
  m.partner.flags |= short_timeout;
  m.actor.flags |= expired;
  m.partner_until_ns = now_ns + short_timeout_ns;
  m.next_periodic_ns = now_ns;
}

void lacp::record(member& m, const lacp_pdu& pdu, std::uint64_t now_ns) {
  constexpr std::uint8_t told = active | short_timeout | in_sync | aggregates;
  // Another port: it starts anew.
  if (!same_port(pdu.actor, m.partner) && m.mux != muxing::detached) set_mux(m, muxing::detached);
  const bool knows_us = same_port(pdu.partner, m.actor);
  if (!knows_us || ((pdu.partner.flags ^ m.actor.flags) & told) != 0) m.need_to_transmit = true;
  m.partner = pdu.actor;
  const bool is_individual = (pdu.actor.flags & aggregates) == 0;
  if (!knows_us && !is_individual) m.partner.flags &= static_cast<std::uint8_t>(~in_sync);
  m.actor.flags &= static_cast<std::uint8_t>(~(defaulted | expired));
  m.rx = receiving::current;
  m.heard_ns = now_ns;
  m.partner_until_ns =
      now_ns + ((m.actor.flags & short_timeout) != 0 ? short_timeout_ns : long_timeout_ns);
  const bool is_fast = (m.partner.flags & short_timeout) != 0;
  m.next_periodic_ns = std::min(m.next_periodic_ns, now_ns + (is_fast ? fast_period : slow_period));
}

void lacp::receive(unsigned number, std::span<const std::uint8_t> frame, std::uint64_t now_ns,
                   const send_function& send) {
  member& m = members_[number];
  if (!m.link) return;
  constexpr std::size_t at_type = at_subtype + 2;
  if (frame.size() > at_type + 1 && frame[at_subtype] == 2 && frame[at_type] == 1) {
    // A marker, by which the other end learns that all frames before it have arrived. They have:
    // what comes in later came later, and none waits here.
    slow_frame answer = begin_frame(m.source);
    std::copy(frame.begin() + at_subtype,
              frame.begin() + static_cast<std::ptrdiff_t>(std::min(frame.size(), answer.size())),
              answer.begin() + at_subtype);
    answer[at_type] = 2;
    return send(number, answer);
  }
  const bool is_other = frame.size() > at_subtype && frame[at_subtype] != 1;
  if (is_other) return;  // OAM, say
  lacp_pdu pdu;
  if (!parse_lacpdu(frame, pdu)) {
    ++m.n_malformed;
    return;
  }
  ++m.n_received;
  record(m, pdu, now_ns);
}

void lacp::tick(std::uint64_t now_ns, const send_function& send) {
  for (member& m : members_) run_receive(m, now_ns);
  select();
  for (member& m : members_) run_mux(m, now_ns);
  for (unsigned m = 0; m < members_.size(); ++m) transmit(m, now_ns, send);
}

void lacp::run_receive(member& m, std::uint64_t now_ns) {
  // The rate may have changed since the partner spoke.
  if ((m.actor.flags & short_timeout) != 0)
    m.partner_until_ns = std::min(m.partner_until_ns, now_ns + short_timeout_ns);
  const bool is_over = now_ns >= m.partner_until_ns;
  if (m.rx == receiving::current && is_over) {
    expire(m, now_ns);
  } else if (m.rx == receiving::expired && is_over) {
    m.rx = receiving::defaulted;
    m.partner = {};
    m.actor.flags &= static_cast<std::uint8_t>(~expired);
    m.actor.flags |= defaulted;
    m.need_to_transmit = true;
  }
}

bool lacp::has_partner(const member& m) const {
  const bool is_heard = m.rx == receiving::current || m.rx == receiving::expired;
  return m.link && is_heard && m.partner.system != mac_bytes{};
}

/// A partner that is this bond itself (a cable from one member to another) is none.
bool lacp::can_join(const member& m) const {
  return has_partner(m) && m.partner.system != m.actor.system;
}

bool lacp::alike(const member& a, const member& b) {
  if (&a == &b) return true;
  const bool both = (a.partner.flags & b.partner.flags & aggregates) != 0;
  return both && a.partner.system_priority == b.partner.system_priority &&
         a.partner.system == b.partner.system && a.partner.key == b.partner.key && a.mbps == b.mbps;
}

void lacp::select() {
  const member* best = nullptr;
  std::size_t best_size = 0;
  for (const member& each : members_) {
    if (!can_join(each)) continue;
    std::size_t size = 0;
    for (const member& other : members_) {
      if (!can_join(other) || !alike(each, other)) continue;
      // One that is in use stays, however small it is.
      size += other.mux >= muxing::collecting ? bond_members_max + 1 : 1;
    }
    if (size > best_size) {
      best = &each;
      best_size = size;
    }
  }
  for (member& each : members_)
    each.selected = best != nullptr && can_join(each) && alike(*best, each);
}

void lacp::set_mux(member& m, muxing to) {
  m.mux = to;
  m.actor.flags &= static_cast<std::uint8_t>(~carries);
  if (to >= muxing::attached) m.actor.flags |= in_sync;
  if (to >= muxing::collecting) m.actor.flags |= lacp_flag::collecting;
  if (to >= muxing::distributing) m.actor.flags |= lacp_flag::distributing;
  m.need_to_transmit = true;
}

bool lacp::is_agreed(const member& m) { return m.selected && (m.partner.flags & in_sync) != 0; }

bool lacp::are_enough(bool (*counts)(const member&)) const {
  return std::ranges::count_if(members_, counts) >= min_links_;
}

void lacp::run_mux(member& m, std::uint64_t now_ns) {
  if (!m.selected) {
    if (m.mux != muxing::detached) set_mux(m, muxing::detached);
    return;
  }
  // Out of sync, so that the partner carries nothing, either. It is not asked whether it is in
  // sync: two ends with a least number would wait for each other.
  if (!are_enough(is_selected)) {
    if (m.mux != muxing::waiting) set_mux(m, muxing::waiting);
    return;
  }
  const bool partner_is_in_sync = (m.partner.flags & in_sync) != 0 && are_enough(is_agreed);
  const bool partner_collects = (m.partner.flags & lacp_flag::collecting) != 0;
  if (m.mux == muxing::detached) {
    set_mux(m, muxing::waiting);
    m.wait_until_ns = now_ns + aggregate_wait;
  }
  // Who could follow is here already, or there has been time enough.
  const bool all_are_here =
      std::ranges::all_of(members_, [](const member& each) { return !each.link || each.selected; });
  if (m.mux == muxing::waiting && (all_are_here || now_ns >= m.wait_until_ns))
    set_mux(m, muxing::attached);
  if (m.mux > muxing::attached && !partner_is_in_sync) set_mux(m, muxing::attached);
  if (m.mux == muxing::distributing && !partner_collects) set_mux(m, muxing::collecting);
  if (m.mux == muxing::attached && partner_is_in_sync) set_mux(m, muxing::collecting);
  if (m.mux == muxing::collecting && partner_collects) set_mux(m, muxing::distributing);
}

void lacp::transmit(unsigned number, std::uint64_t now_ns, const send_function& send) {
  member& m = members_[number];
  if (!m.link) return;
  if (now_ns >= m.next_periodic_ns) {
    const bool is_slow = m.rx == receiving::current && (m.partner.flags & short_timeout) == 0;
    m.next_periodic_ns = now_ns + (is_slow ? slow_period : fast_period);
    m.need_to_transmit = true;
  }
  const bool may = m.n_sent < m.sent_ns.size() || now_ns - m.sent_ns[0] >= fast_period;
  if (!m.need_to_transmit || !may) return;
  m.need_to_transmit = false;
  std::ranges::rotate(m.sent_ns, m.sent_ns.begin() + 1);
  m.sent_ns.back() = now_ns;
  ++m.n_sent;
  send(number, write_lacpdu({m.actor, m.partner}, m.source));
}

std::optional<slow_frame> lacp::farewell(unsigned number) const {
  const member& m = members_[number];
  if (!m.link) return std::nullopt;
  lacp_side actor = m.actor;
  actor.flags &= static_cast<std::uint8_t>(~carries);
  return write_lacpdu({actor, m.partner}, m.source);
}

member_set lacp::those_at(muxing least) const {
  member_set set = 0;
  for (unsigned m = 0; m < members_.size(); ++m)
    if (members_[m].mux >= least) set |= member_bit(m);
  return set;
}

member_set lacp::collecting() const { return those_at(muxing::collecting); }
member_set lacp::distributing() const { return those_at(muxing::distributing); }

std::string lacp::state(unsigned member) const {
  const auto& m = members_[member];
  if (!m.link) return "down";
  if (m.mux == muxing::distributing) return "active";
  if (m.mux == muxing::collecting) return "collecting";
  if (m.rx != receiving::current) return "no partner";
  if (!can_join(m)) return "loop";
  if (!m.selected) return "other partner";
  const bool goes_on = are_enough(is_selected) && (!is_agreed(m) || are_enough(is_agreed));
  return goes_on ? "waiting" : "too few";
}

}  // namespace coua::dp
