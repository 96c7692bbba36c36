// SPDX-License-Identifier: Apache-2.0
//
// The switch's ingress rules: reads nothing beyond a frame's length, and says of every kind of port
// what the table atop dp/l2/classify.h says. Here the rules are written down once more, from the
// bytes on, and a VLAN's number alone decides which ports carry it.
#include <memory>
#include <vector>

#include "dp/l2/classify.h"
#include "fuzz.h"
#include "net/ethernet.h"

namespace {

using namespace coua;
using dp::port_counter::id;

constexpr unsigned the_bridge = 3;
constexpr unsigned domain_of(unsigned vlan) { return 4095 - vlan; }

enum kind : unsigned { access, trunk, trunk_without_native, any_vlan, n_kinds };
constexpr unsigned port_of_kind[n_kinds] = {0, 17, dp::max_ports - 1,
                                            dp::controller_port(the_bridge)};
constexpr unsigned native_of_kind[n_kinds] = {10, 1, 0, 4094};

bool carries_tagged(unsigned port, unsigned vlan) {
  if (port == any_vlan) return vlan >= 1 && vlan <= 4094;
  if (port == access || vlan == 0 || vlan == 4095) return false;
  return port == trunk ? vlan % 2 == 0 : vlan % 3 != 0;
}

std::unique_ptr<const dp::plan> make_plan() {
  auto view = std::make_unique<dp::plan>();
  view->bridges.resize(the_bridge + 1);
  for (unsigned vlan = 1; vlan < dp::n_vlans - 1; ++vlan) {
    view->bridges[the_bridge].domains[vlan] = static_cast<std::uint16_t>(domain_of(vlan));
  }
  for (unsigned port = 0; port < n_kinds; ++port) {
    dp::plan_port& made = view->ports[port_of_kind[port]];
    made.present = true;
    made.trunk = port != access;
    made.native_vlan = static_cast<std::uint16_t>(native_of_kind[port]);
    made.bridge = the_bridge;
    made.native_domain = view->bridges[the_bridge].domains[made.native_vlan];
    made.any_vlan = port == any_vlan;
    if (port == any_vlan) continue;  // in no set of ports
    const dp::port_set self = dp::port_bit(port_of_kind[port]);
    if (made.native_vlan != 0) view->domains[made.native_domain].untagged |= self;
    for (unsigned vlan = 0; vlan < dp::n_vlans; ++vlan) {
      if (carries_tagged(port, vlan)) view->domains[domain_of(vlan)].tagged |= self;
    }
  }
  return view;
}

struct expected {
  id verdict;
  dp::tag_state tag = dp::tag_state::none;
  unsigned vlan = 0;
};

expected by_the_table(unsigned port, const std::uint8_t* frame, std::size_t size) {
  if (size < 14) return {id::drop_truncated};
  const bool has_tag = frame[12] == 0x81 && frame[13] == 0x00;
  if (has_tag && size < 18) return {id::drop_truncated};
  const unsigned vid = has_tag ? (frame[14] & 0xfU) << 8 | frame[15] : 0;
  expected out{id::forwarded};
  if (has_tag) out.tag = vid == 0 ? dp::tag_state::priority : dp::tag_state::tagged;
  out.vlan = vid != 0 ? vid : native_of_kind[port];
  if (out.vlan == 0 || (vid != 0 && !carries_tagged(port, vid))) {
    out.verdict = id::drop_ingress_vlan;
  } else if ((frame[6] & 1) != 0) {
    out.verdict = id::drop_source_multicast;
  } else if (std::memcmp(frame, "\x01\x80\xc2\0\0", 5) == 0 && frame[5] < 16) {
    out.verdict = id::drop_link_local;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<const dp::plan> view = make_plan();
  // A block of exactly this size, so that the sanitizer sees a read beyond the frame.
  std::vector<std::uint8_t> frame(data, data + size);
  for (unsigned port = 0; port < n_kinds; ++port) {
    const dp::ingress in =
        dp::classify(*view, port_of_kind[port], frame.data(), static_cast<unsigned>(size));
    const expected want = by_the_table(port, data, size);
    COUA_CHECK(in.verdict == want.verdict);
    if (want.verdict == id::drop_truncated) continue;
    COUA_CHECK(in.tag == want.tag);
    COUA_CHECK(in.vlan == want.vlan);
    if (want.verdict == id::drop_ingress_vlan) continue;  // no table is asked for it
    COUA_CHECK(in.destination == (std::uint64_t{domain_of(want.vlan)} << 48 | net::load_mac(data)));
    COUA_CHECK(in.source == (std::uint64_t{domain_of(want.vlan)} << 48 | net::load_mac(data + 6)));
  }
  if (size >= net::mac_bytes) {
    const std::uint64_t destination = net::load_mac(frame.data());
    net::store_mac(frame.data(), destination);
    COUA_CHECK(destination <= net::mac_mask);
    COUA_CHECK(!(net::is_station(destination) && net::is_multicast(destination)));
  }
  COUA_CHECK(frame == std::vector<std::uint8_t>(data, data + size));
  return 0;
}
