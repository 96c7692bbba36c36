// SPDX-License-Identifier: Apache-2.0
#include "net/ethernet.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace coua::net {
namespace {

using bytes = std::vector<std::uint8_t>;

bytes frame_with(const bytes& after_addresses) {
  bytes frame(12 + after_addresses.size(), 0xee);
  std::copy(after_addresses.begin(), after_addresses.end(), frame.begin() + 12);
  return frame;
}

TEST(ethernet, first_byte_on_the_wire_is_the_highest) {
  const std::array<std::uint8_t, 6> wire{0x02, 0x11, 0x22, 0x33, 0x44, 0xff};
  EXPECT_EQ(load_mac(wire.data()), 0x0211'2233'44ffU);
  std::array<std::uint8_t, 8> out{};
  store_mac(out.data() + 1, 0x0211'2233'44ff);
  EXPECT_EQ(out, (std::array<std::uint8_t, 8>{0, 0x02, 0x11, 0x22, 0x33, 0x44, 0xff, 0}));
}

TEST(ethernet, knows_the_kinds_of_addresses) {
  EXPECT_TRUE(is_broadcast(0xffff'ffff'ffff));
  EXPECT_TRUE(is_multicast(0xffff'ffff'ffff));
  EXPECT_TRUE(is_multicast(0x0100'5e00'0001));
  EXPECT_FALSE(is_multicast(0x0200'0000'0001));
  EXPECT_FALSE(is_broadcast(0xffff'ffff'fffe));
  EXPECT_TRUE(is_link_local(0x0180'c200'0000));
  EXPECT_TRUE(is_link_local(0x0180'c200'000f));
  EXPECT_FALSE(is_link_local(0x0180'c200'0010));
  EXPECT_FALSE(is_link_local(0x0180'c100'0000));
  EXPECT_TRUE(is_station(0x0200'0000'0001));
  EXPECT_FALSE(is_station(0));
  EXPECT_FALSE(is_station(0x0300'0000'0001));
}

TEST(ethernet, classifies_untagged_frames) {
  const bytes frame = frame_with({0x08, 0x00, 1, 2, 3, 4});
  const frame_tag tag = classify(frame.data(), frame.size());
  EXPECT_EQ(tag.kind, tag_kind::untagged);
  EXPECT_EQ(tag.vid, 0);
  EXPECT_EQ(tag.ethertype, ethertype_ipv4);
  EXPECT_EQ(tag.ethertype_offset, 12);
}

TEST(ethernet, classifies_tagged_frames) {
  const bytes frame = frame_with({0x81, 0x00, 0xba, 0xbc, 0x86, 0xdd});
  const frame_tag tag = classify(frame.data(), frame.size());
  EXPECT_EQ(tag.kind, tag_kind::tagged);
  EXPECT_EQ(tag.vid, 0xabc);
  EXPECT_EQ(tag.pcp, 5);
  EXPECT_TRUE(tag.dei);
  EXPECT_EQ(tag.ethertype, ethertype_ipv6);
  EXPECT_EQ(tag.ethertype_offset, 16);
  EXPECT_EQ(make_tci(0xabc, 5, true), 0xbabc);
}

TEST(ethernet, only_the_outermost_customer_tag_counts) {
  const bytes twice = frame_with({0x81, 0x00, 0x00, 0x07, 0x81, 0x00, 0x00, 0x08, 0x08, 0x00});
  EXPECT_EQ(classify(twice.data(), twice.size()).vid, 7);
  EXPECT_EQ(classify(twice.data(), twice.size()).ethertype, ethertype_vlan);
  const bytes service = frame_with({0x88, 0xa8, 0x00, 0x07, 0x81, 0x00, 0x00, 0x08, 0x08, 0x00});
  EXPECT_EQ(classify(service.data(), service.size()).kind, tag_kind::untagged);
  EXPECT_EQ(classify(service.data(), service.size()).ethertype, ethertype_qinq);
}

TEST(ethernet, never_reads_past_the_length) {
  // The frame ends where the page ends, and the next page may not be read.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(memory) + page, page, PROT_NONE), 0);
  const bytes frame = frame_with({0x81, 0x00, 0x00, 0x07, 0x08, 0x00});
  std::uint8_t* const end = static_cast<std::uint8_t*>(memory) + page;
  for (std::size_t length = 0; length <= frame.size(); ++length) {
    std::copy_n(frame.begin(), length, end - length);
    const frame_tag tag = classify(end - length, length);
    EXPECT_EQ(tag.kind, length < 18 ? tag_kind::truncated : tag_kind::tagged) << length;
  }
  const bytes short_frame = frame_with({0x08, 0x00});
  std::copy_n(short_frame.begin(), 14, end - 14);
  EXPECT_EQ(classify(end - 14, 14).kind, tag_kind::untagged);
  munmap(memory, 2 * page);
}

}  // namespace
}  // namespace coua::net
