// SPDX-License-Identifier: Apache-2.0
#include "dp/l2/classify.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "dp/l2/domain_map.h"

namespace coua::dp {
namespace {

constexpr unsigned access_port = 3, trunk_port = 4, bare_trunk = 5, other_trunk = 6;

// Port 3: access in VLAN 10. Port 4: trunk, native 10, tagged 20. Port 5: trunk, no native, tagged
// 20 and 30. Port 6: trunk of another bridge, native 10, tagged 20.
std::unique_ptr<plan> make_plan() {
  auto view = std::make_unique<plan>();
  view->bridges.resize(2);
  for (const std::uint16_t vlan : {10, 20, 30}) {
    view->bridges[0].domains[vlan] = vlan;
    view->bridges[1].domains[vlan] = static_cast<std::uint16_t>(domains_max - vlan);
  }
  const auto add = [&](unsigned number, bool trunk, std::uint16_t native, unsigned bridge) {
    plan_port& port = view->ports[number];
    port = {.present = true, .trunk = trunk, .native_vlan = native};
    port.native_domain = view->bridges[bridge].domains[native];
    port.bridge = static_cast<std::uint8_t>(bridge);
  };
  add(access_port, false, 10, 0);
  add(trunk_port, true, 10, 0);
  add(bare_trunk, true, 0, 0);
  add(other_trunk, true, 10, 1);
  view->domains[10].untagged = port_bit(access_port) | port_bit(trunk_port);
  view->domains[20].tagged = port_bit(trunk_port) | port_bit(bare_trunk);
  view->domains[30].tagged = port_bit(bare_trunk);
  view->domains[domains_max - 10].untagged = port_bit(other_trunk);
  view->domains[domains_max - 20].tagged = port_bit(other_trunk);
  return view;
}

using bytes = std::vector<std::uint8_t>;

bytes frame(const bytes& after_addresses) {
  bytes f{0x02, 1, 2, 3, 4, 5, 0x02, 9, 8, 7, 6, 5};
  for (const std::uint8_t byte : after_addresses) f.push_back(byte);
  return f;
}
bytes untagged() { return frame({0x08, 0x00, 1, 2, 3, 4, 5, 6}); }
bytes tagged(std::uint16_t control) {
  return frame({0x81, 0x00, static_cast<std::uint8_t>(control >> 8),
                static_cast<std::uint8_t>(control), 0x08, 0x00, 1, 2});
}

ingress run(unsigned port, bytes f, unsigned length = 0) {
  static const auto view = make_plan();
  if (length == 0) length = static_cast<unsigned>(f.size());
  f.resize(64);
  return classify(*view, port, f.data(), length);
}

TEST(classify, untagged_frames_join_the_native_vlan) {
  for (const unsigned port : {access_port, trunk_port}) {
    const ingress in = run(port, untagged());
    EXPECT_EQ(in.verdict, port_counter::forwarded);
    EXPECT_EQ(in.vlan, 10);
    EXPECT_EQ(in.tag, tag_state::none);
    EXPECT_EQ(in.destination, std::uint64_t{10} << 48 | 0x020102030405u);
    EXPECT_EQ(in.source, std::uint64_t{10} << 48 | 0x020908070605u);
  }
  EXPECT_EQ(run(bare_trunk, untagged()).verdict, port_counter::drop_ingress_vlan);
}

// Red when the domain is the VLAN's number, or that of another bridge.
TEST(classify, keys_have_the_domain_of_the_vlan_in_the_bridge_of_the_port) {
  const ingress native = run(other_trunk, untagged()), in = run(other_trunk, tagged(20));
  EXPECT_EQ(native.verdict, port_counter::forwarded);
  EXPECT_EQ(native.vlan, 10);
  EXPECT_EQ(native.source, std::uint64_t{domains_max - 10} << 48 | 0x020908070605u);
  EXPECT_EQ(in.verdict, port_counter::forwarded);
  EXPECT_EQ(in.vlan, 20);
  EXPECT_EQ(in.domain, domains_max - 20);
  EXPECT_EQ(in.destination, std::uint64_t{domains_max - 20} << 48 | 0x020102030405u);
  EXPECT_EQ(run(other_trunk, tagged(30)).verdict, port_counter::drop_ingress_vlan);
}

TEST(classify, priority_tags_count_as_untagged) {
  const ingress in = run(access_port, tagged(0xA000));
  EXPECT_EQ(in.verdict, port_counter::forwarded);
  EXPECT_EQ(in.vlan, 10);
  EXPECT_EQ(in.tag, tag_state::priority);
  EXPECT_EQ(run(bare_trunk, tagged(0xA000)).verdict, port_counter::drop_ingress_vlan);
}

TEST(classify, tags_need_a_trunk_that_carries_them) {
  const ingress in = run(trunk_port, tagged(0x6000 | 20));
  EXPECT_EQ(in.verdict, port_counter::forwarded);
  EXPECT_EQ(in.vlan, 20);
  EXPECT_EQ(in.tag, tag_state::tagged);
  EXPECT_EQ(in.destination >> 48, 20u);
  EXPECT_EQ(run(trunk_port, tagged(30)).verdict, port_counter::drop_ingress_vlan);
  EXPECT_EQ(run(bare_trunk, tagged(30)).verdict, port_counter::forwarded);
  // The native VLAN goes untagged only.
  EXPECT_EQ(run(trunk_port, tagged(10)).verdict, port_counter::drop_ingress_vlan);
  EXPECT_EQ(run(access_port, tagged(10)).verdict, port_counter::drop_ingress_vlan);
  EXPECT_EQ(run(access_port, tagged(20)).verdict, port_counter::drop_ingress_vlan);
}

TEST(classify, the_reserved_vlan_is_dropped) {
  for (const unsigned port : {access_port, trunk_port, bare_trunk})
    EXPECT_EQ(run(port, tagged(4095)).verdict, port_counter::drop_ingress_vlan);
}

TEST(classify, provider_tags_pass_untouched) {
  const ingress in = run(access_port, frame({0x88, 0xA8, 0, 20, 0x81, 0x00, 0, 30, 0x08, 0x00}));
  EXPECT_EQ(in.verdict, port_counter::forwarded);
  EXPECT_EQ(in.vlan, 10);
  EXPECT_EQ(in.tag, tag_state::none);
}

TEST(classify, of_two_customer_tags_the_outer_one_counts) {
  const ingress in = run(trunk_port, frame({0x81, 0x00, 0, 20, 0x81, 0x00, 0, 30, 0x08, 0x00}));
  EXPECT_EQ(in.verdict, port_counter::forwarded);
  EXPECT_EQ(in.vlan, 20);
}

TEST(classify, truncated_headers_are_dropped) {
  EXPECT_EQ(run(access_port, untagged(), 13).verdict, port_counter::drop_truncated);
  EXPECT_EQ(run(access_port, untagged(), 14).verdict, port_counter::forwarded);
  EXPECT_EQ(run(trunk_port, tagged(20), 17).verdict, port_counter::drop_truncated);
  EXPECT_EQ(run(trunk_port, tagged(20), 18).verdict, port_counter::forwarded);
}

TEST(classify, no_byte_after_the_length_is_read) {
  // The frame ends where the page ends, and the next page may not be read.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::uint8_t* const end = static_cast<std::uint8_t*>(memory) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  const auto view = make_plan();
  for (const auto& [whole, header] : {std::pair(untagged(), 14U), {tagged(20), 18U}}) {
    for (unsigned length = 0; length <= header; ++length) {
      std::copy_n(whole.begin(), length, end - length);
      EXPECT_EQ(classify(*view, trunk_port, end - length, length).verdict,
                length < header ? port_counter::drop_truncated : port_counter::forwarded)
          << length;
    }
  }
  munmap(memory, 2 * page);
}

TEST(classify, group_sources_and_link_local_destinations_are_dropped) {
  bytes f = untagged();
  f[6] |= 1;
  EXPECT_EQ(run(access_port, f).verdict, port_counter::drop_source_multicast);
  f = untagged();
  const std::uint8_t stp[6] = {0x01, 0x80, 0xC2, 0, 0, 0};
  std::copy_n(stp, 6, f.begin());
  for (unsigned last = 0; last < 16; ++last) {
    f[5] = static_cast<std::uint8_t>(last);
    EXPECT_EQ(run(access_port, f).verdict, port_counter::drop_link_local);
  }
  f[5] = 0x10;
  EXPECT_EQ(run(access_port, f).verdict, port_counter::forwarded);
  f[5] = 0;
  f[4] = 1;
  EXPECT_EQ(run(access_port, f).verdict, port_counter::forwarded);
}

}  // namespace
}  // namespace coua::dp
