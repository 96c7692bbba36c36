// SPDX-License-Identifier: Apache-2.0
#include "cli/fib_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "base/utf8.h"

namespace coua::cli {
namespace {

constexpr std::uint64_t static_bit = std::uint64_t{1} << 60;

/// p0 to p2, which carry VLANs 5 to 20, and a mirror port.
port_vlans ports() {
  google::protobuf::RepeatedPtrField<v1::Port> made;
  for (const char* name : {"p0", "p1", "p2", "span"}) {
    v1::Port& port = *made.Add();
    port.mutable_spec()->set_name(name);
    if (port.spec().name() == "span") continue;
    v1::VlanRange& carried = *port.add_carries();
    carried.set_first(5);
    carried.set_last(20);
  }
  return port_vlans(made);
}

result<std::unique_ptr<fib_source>> from_text(const std::string& text, bool all_static = false) {
  const std::string path = "/tmp/coua-fib-source-" + std::to_string(getpid());
  std::ofstream(path) << text;
  auto source = read_fib_file(path, all_static, ports());
  std::remove(path.c_str());
  return source;
}

TEST(fib_source, reads_lines_comments_and_blanks) {
  auto source = from_text(
      "# a comment\n10 02:00:00:00:00:01 p0\n\n  20\t02-00-00-00-00-0A  p1 static # why\r\n"
      "10 02:00:00:00:00:02 p0");
  ASSERT_TRUE(source) << source.error().message();
  v1::FibBatch batch;
  ASSERT_TRUE((*source)->next(batch));
  ASSERT_EQ(batch.keys_size(), 3);
  EXPECT_EQ(batch.keys(0), std::uint64_t{10} << 48 | 0x020000000001);
  EXPECT_EQ(batch.keys(1), std::uint64_t{20} << 48 | 0x02000000000a | static_bit);
  ASSERT_EQ(batch.port_names_size(), 2);
  EXPECT_EQ(batch.port_names(static_cast<int>(batch.ports(1))), "p1");
  EXPECT_EQ(batch.port_names(static_cast<int>(batch.ports(2))), "p0");
  EXPECT_FALSE((*source)->next(batch));
}

TEST(fib_source, may_begin_with_a_byte_order_mark) {
  const std::string mark(byte_order_mark);
  auto source = from_text(mark + "10 02:00:00:00:00:01 p0\n");
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ((*source)->size(), 1u);
  EXPECT_FALSE(from_text("10 02:00:00:00:00:01 p0\n" + mark + "10 02:00:00:00:00:02 p0\n"));
}

TEST(fib_source, counts_what_is_to_come_once_and_knows_it) {
  auto source = from_text(
      "10 02:00:00:00:00:01 p0\n10 02:00:00:00:00:02 p0\n10 02:00:00:00:00:01 p1 static\n");
  ASSERT_TRUE(source) << source.error().message();
  constexpr std::uint64_t first = std::uint64_t{10} << 48 | 0x020000000001;
  EXPECT_EQ((*source)->size(), 3u);
  EXPECT_EQ((*source)->distinct(), 2u);
  EXPECT_FALSE((*source)->has(first - 1));
  EXPECT_TRUE((*source)->has(first));
  EXPECT_TRUE((*source)->has(first + 1));
  EXPECT_FALSE((*source)->has(first + 2));
  v1::FibBatch batch;
  ASSERT_TRUE((*source)->next(batch));
  EXPECT_EQ(batch.keys_size(), 3);

  source = make_fib_entries({2, 10, 0x020000000001, {"p0"}, true}, ports());
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->distinct(), 2u);
  EXPECT_FALSE((*source)->has(first - 1));
  EXPECT_TRUE((*source)->has(first));
  EXPECT_TRUE((*source)->has(first + 1));
  EXPECT_FALSE((*source)->has(first + 2));
}

TEST(fib_source, every_wrong_line_is_named_and_nothing_is_loaded) {
  const auto source = from_text(
      "10 02:00:00:00:00:01 p0\n0 02:00:00:00:00:01 p0\n10 02:00:00:00:00 p0\n"
      "10 01:00:00:00:00:01 p0\n10 02:00:00:00:00:01\n10 02:00:00:00:00:01 p0 dynamic\n"
      "10 02:00:00:00:00:01 p0 static x y z\n4095x 02:00:00:00:00:01 p0\n");
  ASSERT_FALSE(source);
  const std::string& text = source.error().what;
  for (const char* words :
       {":2: '0' is not a VLAN", ":3: '02:00:00:00:00' is not a MAC", ":4: 01:00:00:00:00:01 is no",
        ":5: is not 'VLAN MAC PORT [static]'", ":6: 'dynamic' is not", ":7: is not 'VLAN",
        ":8: '4095x' is not a VLAN", "nothing was loaded"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " in\n" << text;
  EXPECT_EQ(text.find(":1:"), std::string::npos);
}

TEST(fib_source, a_line_whose_port_does_not_carry_its_vlan_is_named) {
  const auto source = from_text(
      "5 02:00:00:00:00:01 p0\n21 02:00:00:00:00:01 p0\n10 02:00:00:00:00:01 span\n"
      "10 02:00:00:00:00:01 p\x1b\n");
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().what.find(":2: port p0 does not carry VLAN 21; it carries 5-20\n"),
            std::string::npos);
  for (const char* words : {":3: port span is a mirror port, which carries no VLAN\n",
                            ":4: 'p?' is no port of the switch\n"})
    EXPECT_NE(source.error().what.find(words), std::string::npos) << source.error().what;
  EXPECT_EQ(source.error().what.find(":1:"), std::string::npos);
  const auto pattern = make_fib_entries({1, 4, 0x020000000000, {"p0"}, false}, ports());
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().message(), "--vlan: port p0 does not carry VLAN 4; it carries 5-20");
}

// Red when it is left to the switch, which would name the first batch and no option.
TEST(fib_source, a_pattern_names_ports_that_are_there) {
  const auto unknown = make_fib_entries({1, 5, 0x020000000000, {"p0", "spam"}, false}, ports());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, errc::not_found);
  EXPECT_EQ(unknown.error().message(),
            "--ports: 'spam' is no port of the switch; did you mean 'span'?");
}

TEST(fib_source, what_a_terminal_would_obey_is_not_shown) {
  const auto source = from_text("\x1b[2J 02:00:00:00:00:01 p0\n");
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().what.find(":1: '?[2J' is not a VLAN"), std::string::npos);
}

TEST(fib_source, many_wrong_lines_are_counted) {
  std::string text;
  for (int i = 0; i < 25; i++) text += "x\n";
  const auto source = from_text(text);
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().what.find("and 15 more wrong lines"), std::string::npos);
}

TEST(fib_source, a_file_that_is_not_there) {
  EXPECT_EQ(read_fib_file("/nonexistent", false, ports()).error().code, errc::io);
}

TEST(fib_source, large_files_come_in_batches) {
  std::string text;
  for (int i = 0; i < 40'000; i++) {
    char line[64];
    std::snprintf(line, sizeof line, "7 02:00:00:00:%02x:%02x p%d\n", i >> 8, i & 255, i % 3);
    text += line;
  }
  auto source = from_text(text, true);
  ASSERT_TRUE(source);
  std::set<std::uint64_t> keys;
  v1::FibBatch batch;
  for (int batches = 0; (*source)->next(batch); batches++) {
    EXPECT_EQ(batch.port_names_size(), batches == 0 ? 3 : 0);
    EXPECT_LE(batch.keys_size(), 65536);
    for (std::uint64_t key : batch.keys()) {
      EXPECT_NE(key & static_bit, 0u);
      keys.insert(key);
    }
  }
  EXPECT_EQ(keys.size(), 40'000u);
}

TEST(fib_source, patterns_count_up_over_the_ports_in_turn) {
  auto source = make_fib_entries({40'000, 5, 0x020000000010, {"p0", "p1", "p2"}, false}, ports());
  ASSERT_TRUE(source);
  v1::FibBatch batch;
  std::uint64_t n = 0;
  while ((*source)->next(batch)) {
    for (int i = 0; i < batch.keys_size(); i++, n++) {
      ASSERT_EQ(batch.keys(i), (std::uint64_t{5} << 48) + 0x020000000010 + n);
      ASSERT_EQ(batch.ports(i), n % 3);
    }
  }
  EXPECT_EQ(n, 40'000u);
}

TEST(fib_source, patterns_stay_unicast) {
  EXPECT_TRUE(make_fib_entries({1, 5, 0x02ffffffffff, {"p0"}, false}, ports()));
  EXPECT_FALSE(make_fib_entries({2, 5, 0x02ffffffffff, {"p0"}, false}, ports()));
  EXPECT_FALSE(make_fib_entries({1, 5, 0x010000000000, {"p0"}, false}, ports()));
  EXPECT_FALSE(make_fib_entries({1, 5, 0x020000000000, {}, false}, ports()));
}

}  // namespace
}  // namespace coua::cli
