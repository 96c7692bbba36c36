// SPDX-License-Identifier: Apache-2.0
//
// What the L2 switch would do with one frame: the rules of the workers (l2/classify.h,
// l2/egress.h), on the plan that they have.
#include "base/clock.h"
#include "dp/l2/classify.h"
#include "dp/l2/egress.h"
#include "dp/storm_kinds.h"
#include "dp/switch_impl.h"

namespace coua::dp {
namespace {

/// What retag() (l2/retag.h) makes of a frame, in a vector.
std::vector<std::uint8_t> retagged(std::span<const std::uint8_t> frame, tag_state from, bool tagged,
                                   std::uint16_t vlan) {
  std::vector<std::uint8_t> made(frame.begin(), frame.end());
  const auto at = made.begin() + 12;
  if (!tagged) {
    if (from != tag_state::none) made.erase(at, at + vlan_tag_bytes);
  } else if (from == tag_state::none) {
    made.insert(at, {vlan_ethertype >> 8, vlan_ethertype & 0xFF,
                     static_cast<std::uint8_t>(vlan >> 8), static_cast<std::uint8_t>(vlan)});
  } else {
    at[2] = static_cast<std::uint8_t>((at[2] & 0xF0) | vlan >> 8);
    at[3] = static_cast<std::uint8_t>(vlan);
  }
  return made;
}

std::string most_of(const flood_limit& limit, unsigned mbps) {
  const std::string text = format_flood_limit(limit);
  if (limit.unit == flood_limit::units::packets) return text + " packets/s";
  if (limit.unit != flood_limit::units::percent) return text;
  return text + " of the link" + (mbps == 0 ? "" : " of " + std::to_string(mbps) + " Mbit/s");
}

/// Of a frame that is to be flooded: under which limit of the port it falls, and what that would
/// say now. `mbps`: of the link; 0: it had none yet, and no link either, or there was no limit.
void ask_storm(const plan_storm& storm, const storm_limits& limits, unsigned mbps,
               std::uint64_t destination, std::size_t bytes, l2_verdict& made, egress& to) {
  const storm_kind kind = storm_kind_of(destination);
  if (storm.buckets == nullptr || storm[kind].between == 0) return;
  const storm_kind_row& row = storm_kinds[static_cast<unsigned>(kind)];
  const flood_limit& limit = limits.*row.limit;
  const bool passes = (*storm.buckets)[kind].would_take(storm[kind], bytes, cycles());
  made.limit = std::string("storm.") + row.field + ": ";
  if (limit == flood_limit::block())
    made.limit += "nothing of this kind by this port";
  else if (limit.unit == flood_limit::units::percent && mbps == 0)
    made.limit += "at most " + most_of(limit, mbps) +
                  " by this port, but no speed is known yet: nothing passes";
  else
    made.limit += "at most " + most_of(limit, mbps) + " by this port, " +
                  (passes ? "not reached now" : "reached now");
  if (!passes) to = {storm_drop(kind)};
}

}  // namespace

result<l2_verdict> switch_impl::trace_l2(unsigned port, std::span<const std::uint8_t> frame) const {
  return tables_->call([&]() -> result<l2_verdict> {
    if (port >= max_ports || !slots_[port].device) {
      return fail(errc::not_found, "port " + std::to_string(port), "there is no such port");
    }
    const ingress in = classify(*plan_, port, frame.data(), static_cast<unsigned>(frame.size()));
    l2_verdict made;
    made.what = port_counter::name(in.verdict);
    if (in.verdict != port_counter::forwarded) return made;
    made.vlan = in.vlan;
    if (owner_->is_closed(port) && is_stranger(owner_->find(in.source), port)) {
      made.what = port_counter::name(port_counter::drop_mac_limit);
      made.limit = "mac_limit: this port has learned all the addresses that it may";
      return made;
    }
    const port_set no_fwd = slots_[port].bridge->pipeline().no_fwd();
    egress to = decide_egress(*plan_, no_fwd, port, in.domain, owner_->find(in.destination));
    if (to.verdict == port_counter::flooded)
      ask_storm(plan_->storms[port], slots_[port].device->config().storm, slots_[port].last_mbps,
                in.destination, frame.size(), made, to);
    made.what = port_counter::name(to.verdict);
    const plan_domain& domain = plan_->domains[in.domain];
    for (port_set left = to.ports; left != 0; left &= left - 1) {
      const auto out = static_cast<unsigned>(std::countr_zero(left));
      const bool tagged = (domain.tagged & port_bit(out)) != 0;
      made.copies.push_back({out, retagged(frame, in.tag, tagged, in.vlan)});
      l2_verdict::copy& copy = made.copies.back();
      if (const plan_bond* bond = plan_->bonds[out].get()) {
        const unsigned bucket = bucket_of(
            copy.bytes.data(), static_cast<unsigned>(copy.bytes.size()), bond->hash, bond->seed);
        copy.member = slots_[out].device->members()[bond->buckets[bucket]]->config().devargs;
      }
    }
    return made;
  });
}

}  // namespace coua::dp
