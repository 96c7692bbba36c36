// SPDX-License-Identifier: Apache-2.0
#include "cli/grammar.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/verbs.h"

namespace coua::cli {
namespace {

result<invocation> parsed(const std::string& line, std::optional<std::string>* help = nullptr) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  std::optional<std::string> text;
  auto call = parse(coua_command(), words, text);
  if (help != nullptr) *help = text;
  return call;
}

std::string refusal(const std::string& line) {
  const auto call = parsed(line);
  EXPECT_FALSE(call) << line << " was accepted";
  return call ? "" : call.error().message();
}

TEST(grammar, arguments_and_options_in_any_order) {
  for (const char* line :
       {"port add p0 net_null0 --vlan 10 -s /x -j", "-j port add --vlan=10 p0 net_null0 -s/x",
        "--socket=/x -j port add p0 --vlan 10 -- net_null0"}) {
    const auto call = parsed(line);
    ASSERT_TRUE(call) << call.error().message();
    EXPECT_EQ(call->what->path, "port add");
    EXPECT_EQ(call->text("NAME"), "p0");
    EXPECT_EQ(call->text("DEVARGS"), "net_null0");
    EXPECT_EQ(call->number("vlan"), 10u);
    EXPECT_EQ(call->text("socket"), "/x");
    EXPECT_TRUE(call->has("json"));
    EXPECT_FALSE(call->has("mtu"));
  }
}

TEST(grammar, values) {
  EXPECT_EQ(parsed("fib load --generate 10M --ports a,b")->number("generate"), 10'000'000u);
  EXPECT_EQ(parsed("fib load --generate 1 --ports a,b")->words("ports").size(), 2u);
  EXPECT_DOUBLE_EQ(parsed("stats --rate 0.5")->real("rate"), 0.5);
  EXPECT_TRUE(parsed("port set p --enabled true")->on("enabled"));
  EXPECT_FALSE(parsed("port set p --enabled off")->on("enabled"));
  const auto vlans = parse_vlans("10,20-30");
  ASSERT_TRUE(vlans);
  EXPECT_EQ((*vlans)[1], std::make_pair(20u, 30u));
}

TEST(grammar, other_words_for_a_verb) {
  EXPECT_EQ(parsed("port del p0")->what->path, "port remove");
  EXPECT_EQ(parsed("fib remove 1 02:00:00:00:00:01")->what->path, "fib del");
}

TEST(grammar, mistakes_are_named) {
  EXPECT_EQ(refusal("prot list"), "coua: unknown verb 'prot'; did you mean 'port'?");
  EXPECT_EQ(refusal("port lst"), "coua: unknown port verb 'lst'; did you mean 'list'?");
  EXPECT_EQ(refusal("port"), "coua: port: say what: list, show, add, remove, set");
  EXPECT_EQ(
      refusal("xyzzy"),
      "coua: unknown verb 'xyzzy'; known: bridge, port, fib, flow, group, meter, trace, explain, "
      "controller, "
      "capture, config, top, vlan, stats, worker, log, doctor, completion, version");
  EXPECT_EQ(refusal("fib show --vlna 1"),
            "coua fib show: unknown option --vlna; did you mean --vlan?");
  EXPECT_EQ(refusal("fib show --vlan"), "coua fib show: --vlan: its value is missing");
  EXPECT_EQ(refusal("fib show --vlan 4095"), "coua fib show: --vlan: 4095 is not from 1 to 4094");
  EXPECT_EQ(refusal("fib show --vlan ten"), "coua fib show: --vlan: 'ten' is not a number");
  EXPECT_EQ(refusal("fib show --vlan 1 --vlan 2"), "coua fib show: --vlan: is given twice");
  EXPECT_EQ(refusal("fib show --mac 1:2:3"),
            "coua fib show: --mac: '1:2:3' is not an address such as 02:00:00:00:00:01");
  EXPECT_EQ(refusal("fib show --static=1"), "coua fib show: --static=1: takes no value");
  EXPECT_EQ(refusal("port show"),
            "coua port show: NAME is missing; usage: coua port show NAME [options]");
  EXPECT_EQ(refusal("port show a b"), "coua port show: 'b' is one argument too many");
  EXPECT_EQ(refusal("port set p --enabled maybe"),
            "coua port set: --enabled: 'maybe' is neither on nor off");
  EXPECT_EQ(refusal("port add p x --tagged 1,,2"),
            "coua port add: --tagged: '' is neither a VLAN from 1 to 4094 nor a range such as "
            "20-30");
  EXPECT_EQ(refusal("port add p x --tagged 4095"),
            "coua port add: --tagged: '4095' is neither a VLAN from 1 to 4094 nor a range such as "
            "20-30");
  EXPECT_EQ(refusal("stats --rate 0"),
            "coua stats: --rate: 0 is not more than 0 and at most 86400");
  EXPECT_EQ(refusal("stats --rate nan"), "coua stats: --rate: 'nan' is not a number");
  EXPECT_EQ(refusal("completion fish"), "coua completion: SHELL: 'fish' is none of bash, zsh");
  EXPECT_EQ(refusal("fib load --generate 10X --ports a"),
            "coua fib load: --generate: '10X' is not a count such as 1000, 64K or 10M");
  EXPECT_EQ(refusal("fib load --generate 1 --ports a,"),
            "coua fib load: --ports: 'a,' has an empty part");
}

TEST(grammar, every_verb_is_in_the_help) {
  std::set<std::string> listed;
  for (const auto& [name, summary] : coua_command().groups) listed.insert(name);
  for (const verb& each : coua_command().verbs) {
    EXPECT_TRUE(listed.contains(each.path.substr(0, each.path.find(' ')))) << each.path;
  }
}

TEST(grammar, help_is_everywhere) {
  std::optional<std::string> help;
  for (const char* line : {"--help", "help", "-h", "port --help", "help port", "port help",
                           "port add --help", "help port add", "port add p0 -h"}) {
    parsed(line, &help);
    EXPECT_TRUE(help) << line;
  }
  for (const auto& verb : coua_command().verbs) {
    parsed("help " + verb.path, &help);
    ASSERT_TRUE(help) << verb.path;
    EXPECT_NE(help->find(verb.example), std::string::npos) << verb.path;
    std::istringstream lines(*help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

// The table itself: what every verb must have, and that its example follows the grammar.
TEST(grammar, every_verb_is_complete) {
  std::set<int> ids;
  for (const auto& verb : coua_command().verbs) {
    EXPECT_TRUE(ids.insert(verb.id).second) << verb.path;
    EXPECT_FALSE(verb.summary.empty());
    ASSERT_TRUE(verb.example.starts_with("coua " + verb.path)) << verb.path;
    const auto call = parsed(verb.example.substr(5));
    ASSERT_TRUE(call) << call.error().message();
    EXPECT_EQ(call->what->path, verb.path);
    EXPECT_TRUE(nlohmann::json::accept(verb.json)) << verb.path;
    for (const auto& p : verb.options) EXPECT_EQ(p.value.empty(), p.type == kind::flag) << p.name;
  }
}

// The text between the markers of docs/coua.md is made from the table. After a change of the table,
// run this test with COUA_UPDATE_DOCS=1.
TEST(grammar, the_document_says_what_the_table_says) {
  const std::string begin = "<!-- reference: begin -->\n", end = "<!-- reference: end -->\n";
  const std::filesystem::path file = std::filesystem::path(COUA_DOCS_DIR) / "coua.md";
  std::ifstream in(file);
  std::stringstream buffer;
  buffer << in.rdbuf();
  const std::string text = buffer.str();
  const auto first = text.find(begin), last = text.find(end);
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(last, std::string::npos);
  const auto start = first + begin.size();
  const std::string wanted = "\n" + reference(coua_command());
  if (std::getenv("COUA_UPDATE_DOCS") != nullptr)
    std::ofstream(file) << text.substr(0, start) + wanted + text.substr(last);
  else
    EXPECT_EQ(text.substr(start, last - start), wanted);
}

}  // namespace
}  // namespace coua::cli
