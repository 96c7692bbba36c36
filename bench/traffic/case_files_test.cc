// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/case_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "bench/harness/scratch_folder.h"
#include "ctl/ofp/flow_text.h"
#include "net/pcap_file.h"

namespace coua::bench {
namespace {

using namespace pipeline;

std::unique_ptr<use_case> make(const char* name, std::uint64_t flows, bool single_table = false) {
  case_params params;
  params.name = name;
  params.rules = 50;
  params.flows = flows;
  params.single_table = single_table;
  if (params.name.starts_with("gateway")) {
    params.users = 30;
    params.direction = flow_direction::both;
  }
  auto made = make_use_case(params);
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(case_files, rules_that_are_read_back_are_those_of_the_case) {
  const auto folder = scratch_folder::create();
  ASSERT_TRUE(folder.has_value());
  const std::string path = (*folder)->path() + "/rules.txt";
  for (const std::string& name : case_names()) {
    for (const bool single_table : {false, true}) {
      if (single_table && name != "lb") continue;
      SCOPED_TRACE(name);
      const auto of = make(name.c_str(), 1, single_table);
      const auto written = write_rules(*of, path);
      ASSERT_TRUE(written.has_value()) << written.error().message();
      const auto read = ofp::parse_lines(text_of(path), {});
      ASSERT_TRUE(read.has_value()) << read.error().message();
      EXPECT_EQ(read->operations.size(), *written);
      std::size_t at = 0;
      of->each_rule([&](const rule_mod& expected) {
        ASSERT_LT(at, read->operations.size());
        const auto& got = std::get<rule_mod>(read->operations[at++]);
        EXPECT_EQ(got.command, rule_command::add);
        EXPECT_EQ(got.table, expected.table);
        EXPECT_EQ(got.priority, expected.priority);
        EXPECT_EQ(got.match, expected.match) << expected.match.to_string();
        EXPECT_EQ(got.instructions, expected.instructions) << to_string(expected.instructions);
        EXPECT_EQ(got.flags, expected.flags);
      });
      EXPECT_EQ(at, *written);
      std::remove(path.c_str());
    }
  }
}

TEST(case_files, each_port_has_the_packets_that_come_by_it) {
  constexpr std::uint64_t n_flows = 90, n_packets = 250;
  const auto folder = scratch_folder::create();
  ASSERT_TRUE(folder.has_value());
  const auto of = make("gateway", n_flows);
  const auto written = write_case_packets(*of, n_packets, (*folder)->path());
  ASSERT_TRUE(written.has_value()) << written.error().message();
  std::map<std::pair<port_no, std::vector<std::uint8_t>>, int> expected, got;
  for (const std::uint32_t i : draw_order(n_flows, n_packets, of->params().seed)) {
    const case_flow flow = of->flow(i);
    std::vector<std::uint8_t> frame(of->sent_bytes());
    write_frame(flow.sent, frame);
    ++expected[{flow.in_port, frame}];
  }
  std::uint64_t n = 0;
  for (const auto& [port, count] : *written) {
    auto file = net::pcap_reader::open(packets_path((*folder)->path(), port));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    std::uint64_t last_ns = 0, of_port = 0;
    for (auto one = file->next(); one && *one; one = file->next(), ++of_port) {
      EXPECT_GE((*one)->time_ns, last_ns);
      last_ns = (*one)->time_ns;
      ++got[{port, {(*one)->frame.begin(), (*one)->frame.end()}}];
    }
    EXPECT_EQ(of_port, count);
    n += count;
  }
  EXPECT_EQ(n, n_packets);
  EXPECT_EQ(expected.size(), n_flows);
  EXPECT_EQ(got, expected);
}

TEST(case_files, a_place_that_cannot_be_written_is_named) {
  const auto of = make("l3", 1);
  const auto rules = write_rules(*of, "/nowhere/rules.txt");
  ASSERT_FALSE(rules.has_value());
  EXPECT_EQ(rules.error().where, "/nowhere/rules.txt");
  const auto full = write_rules(*of, "/dev/full");
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().where, "/dev/full");
  const auto packets = write_case_packets(*of, 1, "/nowhere");
  ASSERT_FALSE(packets.has_value());
  EXPECT_EQ(packets.error().where, "/nowhere/traffic-1.pcap");
}

}  // namespace
}  // namespace coua::bench
