// SPDX-License-Identifier: Apache-2.0
#include "net/pcapng.h"

#include <gtest/gtest.h>

#include <vector>

namespace coua::net {
namespace {

std::uint64_t number(const std::string& text, std::size_t at, unsigned n) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < n; ++i)
    value |= std::uint64_t{static_cast<std::uint8_t>(text.at(at + i))} << (8 * i);
  return value;
}

struct block {
  std::uint32_t type;
  std::string body;
};

/// As a reader walks them: by lengths that must agree.
std::vector<block> blocks(const std::string& text) {
  std::vector<block> found;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = static_cast<std::size_t>(number(text, at + 4, 4));
    EXPECT_EQ(length % 4, 0u);
    EXPECT_GE(length, 12u);
    if (length < 12 || at + length > text.size()) {
      ADD_FAILURE() << "a block of " << length << " bytes at " << at << " of " << text.size();
      break;
    }
    EXPECT_EQ(number(text, at + length - 4, 4), length);
    found.push_back(
        {static_cast<std::uint32_t>(number(text, at, 4)), text.substr(at + 8, length - 12)});
    at += length;
  }
  return found;
}

/// The value of an option; "" when it is not there.
std::string option(const std::string& body, std::size_t at, unsigned code) {
  while (at + 4 <= body.size()) {
    const auto length = static_cast<std::size_t>(number(body, at + 2, 2));
    if (number(body, at, 2) == code) return body.substr(at + 4, length);
    if (number(body, at, 2) == 0) break;
    at += 4 + (length + 3) / 4 * 4;
  }
  return "";
}

TEST(pcapng, every_block_is_where_a_reader_looks) {
  std::string text;
  pcapng_writer writer(text, 128);
  writer.begin("coua 1");
  writer.add_interface("p0", "tcp");
  const std::uint8_t bytes[] = {1, 2, 3, 4, 5};
  pcapng_packet packet;
  packet.time_ns = 0x0102030405060708;
  packet.length = 60;
  packet.bytes = bytes;
  packet.direction = pcapng_direction::out;
  packet.comment = "drop_hairpin";
  writer.add(packet);
  writer.add_statistics(0, {1, 2, 30, 20, 5, 15});
  const auto found = blocks(text);
  ASSERT_EQ(found.size(), 4u);

  EXPECT_EQ(found[0].type, 0x0A0D0D0Au);
  EXPECT_EQ(number(found[0].body, 0, 4), 0x1A2B3C4Du);
  EXPECT_EQ(number(found[0].body, 4, 4), 1u);
  EXPECT_EQ(option(found[0].body, 16, 4), "coua 1");

  EXPECT_EQ(found[1].type, 1u);
  EXPECT_EQ(number(found[1].body, 0, 2), 1u);
  EXPECT_EQ(number(found[1].body, 4, 4), 128u);
  EXPECT_EQ(option(found[1].body, 8, 2), "p0");
  EXPECT_EQ(option(found[1].body, 8, 9), "\x09");
  EXPECT_EQ(option(found[1].body, 8, 11), std::string(1, '\0') + "tcp");

  EXPECT_EQ(found[2].type, 6u);
  EXPECT_EQ(number(found[2].body, 0, 4), 0u);
  EXPECT_EQ(number(found[2].body, 4, 4), 0x01020304u);
  EXPECT_EQ(number(found[2].body, 8, 4), 0x05060708u);
  EXPECT_EQ(number(found[2].body, 12, 4), 5u);
  EXPECT_EQ(number(found[2].body, 16, 4), 60u);
  EXPECT_EQ(found[2].body.substr(20, 8), std::string("\1\2\3\4\5\0\0\0", 8));
  EXPECT_EQ(number(option(found[2].body, 28, 2), 0, 4), 2u);
  EXPECT_EQ(option(found[2].body, 28, 1), "drop_hairpin");

  EXPECT_EQ(found[3].type, 5u);
  EXPECT_EQ(number(option(found[3].body, 12, 4), 0, 8), 30u);
  EXPECT_EQ(number(option(found[3].body, 12, 5), 0, 8), 5u);
  EXPECT_EQ(number(option(found[3].body, 12, 6), 0, 8), 20u);
  EXPECT_EQ(number(option(found[3].body, 12, 8), 0, 8), 15u);
}

// Red when the length of an option wraps at 16 bits.
TEST(pcapng, a_text_that_is_too_long_for_an_option_is_cut) {
  std::string text;
  pcapng_writer(text, 128).add_interface("p0", std::string(70'000, 'x'));
  EXPECT_EQ(blocks(text).size(), 1u);
  EXPECT_EQ(option(blocks(text)[0].body, 8, 11).size(), 65'532u);
}

TEST(pcapng, packets_of_every_length) {
  std::string text;
  pcapng_writer writer(text, 65535);
  const std::vector<std::uint8_t> bytes(70, 7);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    pcapng_packet packet;
    packet.length = 70;
    packet.bytes = std::span(bytes).first(n);
    writer.add(packet);
  }
  const auto found = blocks(text);
  ASSERT_EQ(found.size(), bytes.size());
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_EQ(number(found[n].body, 12, 4), n);
}

}  // namespace
}  // namespace coua::net
