// SPDX-License-Identifier: Apache-2.0
//
// Random packets, some of them damaged, and random rewrites of them, checked against the pipeline's
// oracle; a failing one is shrunk. RC_PARAMS="seed=... max_success=10000" repeats or lengthens a
// run.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "checked_packet.h"
#include "net/test_packets.h"

namespace coua::test {
namespace {

using namespace net::test;

/// Takes decisions from random bytes; 0 when they are used up, which is the plainest choice.
class decisions {
 public:
  explicit decisions(const bytes& from) : from_(from) {}
  unsigned below(unsigned n) { return at_ < from_.size() ? from_[at_++] % n : 0; }
  unsigned byte() { return below(256); }

 private:
  const bytes& from_;
  std::size_t at_ = 0;
};

bytes payload_of(decisions& d, unsigned proto) {
  const bytes data(d.below(40), static_cast<std::uint8_t>(d.byte()));
  switch (proto) {
    case 6: return tcp(d.byte() << 8 | d.byte(), d.byte(), data);
    case 17: return udp(d.byte() << 8 | d.byte(), d.byte(), data);
    case 132: return sctp(d.byte() << 8 | d.byte(), d.byte(), data);
    case 1: return icmp(d.byte(), d.byte(), data);
    case 58: {
      bytes options;
      for (unsigned n = d.below(4); n > 0; --n) {
        options = options + nd_option(1 + d.below(3), 1 + d.below(2));
      }
      return nd(134 + d.below(3), options);
    }
    default: return data;
  }
}

unsigned pick_proto(decisions& d) {
  constexpr unsigned protos[] = {6, 17, 132, 1, 58, 59, 50, 47};
  return protos[d.below(8)];
}

bytes make_ipv4(decisions& d) {
  ipv4_header h;
  h.proto = pick_proto(d);
  h.options = 4 * d.below(4);
  constexpr unsigned fragments[] = {0, 0, 0x4000, 0x2000, 0x2010, 0x0010, 0x8000};
  h.fragment = fragments[d.below(7)];
  h.tos = d.byte();
  h.ttl = d.below(3) == 0 ? d.below(3) : d.byte();
  return ipv4_packet(h, payload_of(d, h.proto));
}

bytes make_ipv6(decisions& d) {
  ipv6_header h;
  h.proto = pick_proto(d);
  unsigned next = h.proto;
  const unsigned n = d.below(4) == 0 ? d.below(11) : d.below(3);
  for (unsigned i = 0; i < n; ++i) {  // from the last one
    switch (d.below(5)) {
      case 0: h.extensions = extension(next, d.below(2)) + h.extensions, next = 0; break;
      case 1: h.extensions = extension(next, d.below(2)) + h.extensions, next = 60; break;
      case 2: h.extensions = routing(next, d.below(2)) + h.extensions, next = 43; break;
      case 3: h.extensions = auth(next, d.below(4)) + h.extensions, next = 51; break;
      default: {
        constexpr unsigned words[] = {0, 1, 6, 8, 9};
        h.extensions = fragment(next, words[d.below(5)]) + h.extensions, next = 44;
      }
    }
  }
  h.first = next;
  h.hop_limit = d.below(3) == 0 ? d.below(3) : d.byte();
  return ipv6_packet(h, payload_of(d, h.proto));
}

bytes make_frame(const bytes& random) {
  decisions d(random);
  const unsigned kind = d.below(8);
  bytes rest;
  for (unsigned n = d.below(3) == 0 ? d.below(7) : d.below(2); n > 0; --n) {
    rest = rest + tag(d.below(2) == 0 ? 0x8100 : 0x88a8, d.byte() << 8 | d.byte());
  }
  switch (kind) {
    case 0:
    case 1: rest = rest + be16(0x0800) + make_ipv4(d); break;
    case 2:
    case 3: rest = rest + be16(0x86dd) + make_ipv6(d); break;
    case 4: rest = rest + arp(d.byte()); break;
    case 5:
      rest = rest + mpls({d.byte() << 24 | 0x100U | d.byte()},
                         d.below(2) == 0 ? make_ipv4(d) : make_ipv6(d));
      break;
    case 6:
      rest = rest + mpls({d.byte(), d.byte() << 8 | d.byte()}, make_ipv4(d),
                         d.below(2) == 0 ? 0x8847 : 0x8848);
      break;
    default: rest = rest + be16(d.byte() << 8 | d.byte()) + bytes(d.below(60)); break;
  }
  bytes frame = eth(rest) + bytes(d.below(3) == 0 ? d.below(20) : 0, 0x5a);
  for (unsigned n = d.below(3) == 0 ? 1 + d.below(3) : 0; n > 0; --n) {
    frame[d.byte() % frame.size()] = static_cast<std::uint8_t>(d.byte());
  }
  if (d.below(4) == 0) frame.resize(d.byte() % (frame.size() + 1));
  return frame;
}

struct step {
  std::uint8_t number;
  net::uint128 value, mask;
};
std::ostream& operator<<(std::ostream& out, const step& one) {
  return out << pipeline::to_string({make_action(one.number, one.value, one.mask)});
}

rc::Gen<step> arbitrary_step() {
  const auto word = rc::gen::oneOf(rc::gen::element<std::uint64_t>(0, ~std::uint64_t{0}, 1),
                                   rc::gen::arbitrary<std::uint64_t>());
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange<std::uint8_t>(0, 48), word, word, word, word),
                      [](const auto& parts) {
                        const auto& [number, high, low, mask_high, mask_low] = parts;
                        return step{number, net::uint128{high} << 64 | low,
                                    net::uint128{mask_high} << 64 | mask_low};
                      });
}

TEST(packet_model, parser_and_rewrites_equal_the_oracle) {
  const bool held = rc::check([] {
    const auto n = *rc::gen::inRange<std::size_t>(0, 60);
    const auto random =
        *rc::gen::container<bytes>(n, rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>()));
    const bytes frame = make_frame(random);
    RC_LOG() << "frame " << ::testing::PrintToString(frame) << std::endl;
    checked_packet packet(frame, *rc::gen::element<std::size_t>(128, 128, 3, 4, 9));
    for (const step& one : *rc::gen::container<std::vector<step>>(arbitrary_step())) {
      packet.apply(make_action(one.number, one.value, one.mask));
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace coua::test
