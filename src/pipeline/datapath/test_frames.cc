// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/test_frames.h"

#include <algorithm>

namespace coua::pipeline::test {

packet with_state(const bytes& frame) {
  packet one;
  one.bytes = frame;
  one.in_port = 7;
  one.in_phy_port = 9;
  one.metadata = 0x1122'3344'5566'7788;
  one.tunnel_id = 0x99aa'bbcc'ddee'ff00;
  for (unsigned i = 0; i < n_registers; ++i) one.reg[i] = 0x0101'0101 * i + 3;
  return one;
}

namespace {

std::vector<bytes> make_frames() {
  const bytes port_pair = tcp(80, 4711, zeros(4));
  std::vector<bytes> all = {
      ethernet(0x0042) + zeros(60),
      ethernet(0x88b5) + zeros(10),
      ethernet(0x0806) + arp(),
      ethernet(0x0800) + ipv4(6, port_pair),
      ethernet(0x0800) + ipv4(17, udp(53, 5353), hex("01 01 01 00"), 0, 0xb9),
      ethernet(0x0800) + ipv4(132, sctp(1, 2)),
      ethernet(0x0800) + ipv4(1, icmp(8, 0, zeros(8))),
      ethernet(0x0800) + ipv4(6, port_pair, {}, 0x2000),
      ethernet(0x0800) + ipv4(17, zeros(32), {}, 0x0007),
      ethernet(0x86dd) + ipv6(6, port_pair),
      ethernet(0x86dd) + ipv6(17, udp(1, 2)),
      ethernet(0x86dd) + ipv6(58, neighbour(135, hex("01 01 02 03 04 05 06 07"))),
      ethernet(0x86dd) +
          ipv6(58, neighbour(136, hex("0e 01 00 00 00 00 00 00 02 01 02 03 04 05 06 07"))),
      ethernet(0x86dd) +
          ipv6(0, hex("3c 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00") + port_pair),
      ethernet(0x86dd) + ipv6(44, hex("11 00 00 09 00 00 00 01") + zeros(24)),
      ethernet(0x86dd) + ipv6(44, hex("11 00 00 01 00 00 00 01") + udp(7, 8, zeros(8))),
      ethernet(0x86dd) + ipv6(43, hex("3a 00 00 01 00 00 00 00") + icmp(128, 0, zeros(8))),
      ethernet(0x86dd) + ipv6(51, hex("06 01 00 00 00 00 00 01 00 00 00 02") + port_pair),
      ethernet(0x86dd) + ipv6(59, zeros(8)),
      ethernet(0x8847) + mpls_entry(1234, 5, true, 33) + ipv4(6, port_pair),
      ethernet(0x8848) + mpls_entry(77, 1, false, 2) + mpls_entry(78, 0, true, 3),
  };
  // The same behind one tag, behind two, and behind more than are followed.
  for (std::size_t i = all.size(); i-- > 0;) {
    const bytes& plain = all[i];
    const bytes addresses(plain.begin(), plain.begin() + 12);
    const bytes rest(plain.begin() + 12, plain.end());
    for (const char* tags :
         {"8100 a005", "88a8 6fff 8100 0001", "8100 0001 8100 0002 88a8 0003 8100 0004",
          "8100 0001 8100 0002 88a8 0003 8100 0004 8100 0005"}) {
      all.push_back(addresses + hex(tags) + rest);
    }
  }
  return all;
}

}  // namespace

const std::vector<bytes>& frames() {
  static const std::vector<bytes> all = make_frames();
  return all;
}

bytes damaged_frame(const std::vector<bytes>& all, std::mt19937_64& random) {
  bytes frame = all[random() % all.size()];
  for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
    // Most of what decides stands before byte 80.
    const std::size_t at = random() % std::min<std::size_t>(frame.size(), 80);
    frame[at] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() % 8 : random());
  }
  if (random() % 4 == 0) frame.resize(random() % frame.size());
  return frame;
}

}  // namespace coua::pipeline::test
