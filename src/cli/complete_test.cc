// SPDX-License-Identifier: Apache-2.0
#include "cli/complete.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/verbs.h"

namespace coua::cli {
namespace {

/// The words after `line`, each followed by a blank; a line that ends with a blank begins a word.
std::string completed(const std::string& line) {
  std::vector<std::string> words{""};
  for (const char c : line) {
    if (c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  const completion found = complete(coua_command(), words,
                                    [](thing what, const auto& given) -> std::vector<std::string> {
                                      if (what == thing::bridge) return {"br0"};
                                      if (given.contains("socket"))
                                        return {"of:" + given.at("socket")};
                                      return {"p0", "p1", "uplink"};
                                    });
  std::string all;
  for (const candidate& each : found.words) all += each.word + " ";
  return all + (found.files ? "FILES " : "");
}

TEST(complete, verbs) {
  EXPECT_EQ(completed(""),
            "bridge port fib flow group meter trace explain controller capture config top vlan "
            "stats worker "
            "log doctor completion "
            "version help ");
  EXPECT_EQ(completed("v"), "vlan version ");
  EXPECT_EQ(completed("-j po"), "port ");
  EXPECT_EQ(completed("fib "), "show add del flush load stats ageing ");
  EXPECT_EQ(completed("fib fl"), "flush ");
  EXPECT_EQ(completed("help fib f"), "flush ");
  EXPECT_EQ(completed("config "), "check show save diff apply ");
  EXPECT_EQ(completed("help port show "), "");
  EXPECT_EQ(completed("prot "), "");
  EXPECT_EQ(completed("port lst "), "");
}

TEST(complete, options_that_are_not_there_yet) {
  EXPECT_EQ(completed("port set p0 --e"), "--enabled ");
  EXPECT_EQ(completed("fib flush --"),
            "--bridge --vlan --port --mac --static --json --socket --timeout --no-pager --version "
            "--help ");
  EXPECT_EQ(completed("fib flush --static -j -s/x --vlan=3 --port p0 --"),
            "--bridge --mac --timeout --no-pager --version --help ");
  EXPECT_EQ(completed("-"), "--json --socket --timeout --no-pager --version --help ");
  EXPECT_EQ(completed("port del -- --"), "");  // after "--" there are arguments alone
}

TEST(complete, values) {
  EXPECT_EQ(completed("port set "), "p0 p1 uplink ");
  EXPECT_EQ(completed("port set p"), "p0 p1 ");
  EXPECT_EQ(completed("port del u"), "uplink ");  // by its other word
  EXPECT_EQ(completed("port add "), "");          // a new name
  EXPECT_EQ(completed("port set p0 "), "");
  EXPECT_EQ(completed("port set p0 --enabled "), "on off ");
  EXPECT_EQ(completed("port set p0 --enabled=o"), "--enabled=on --enabled=off ");
  EXPECT_EQ(completed("port set p0 --mtu "), "");
  EXPECT_EQ(completed("fib add 10 02:00:00:00:00:01 "), "p0 p1 uplink ");
  EXPECT_EQ(completed("fib load --generate 5 --ports p0,u"), "p0,uplink ");
  EXPECT_EQ(completed("fib load --generate 5 --ports=p0,"),
            "--ports=p0,p0 --ports=p0,p1 --ports=p0,uplink ");
  EXPECT_EQ(completed("fib load "), "FILES ");
  EXPECT_EQ(completed("explain b"), "br0 ");
  EXPECT_EQ(completed("trace br0 --pcap "), "FILES ");
  EXPECT_EQ(completed("completion "), "bash zsh ");
  EXPECT_EQ(completed("log level w"), "warning ");
}

TEST(complete, names_are_those_of_the_daemon_that_is_meant) {
  EXPECT_EQ(completed("-s /x port set "), "of:/x ");
  EXPECT_EQ(completed("port set --socket=/y "), "of:/y ");
  EXPECT_EQ(completed("port set -s/z "), "of:/z ");
}

// Whatever is offered as a verb or option, the parser takes.
TEST(complete, offers_what_the_parser_knows) {
  for (const verb& each : coua_command().verbs) {
    std::istringstream words(completed(each.path + " --"));
    for (std::string word; words >> word;) {
      if (word == "--help" || word == "--version") continue;
      std::vector<std::string> line;
      std::istringstream path(each.path);
      for (std::string part; path >> part;) line.push_back(part);
      line.push_back(word);
      std::optional<std::string> help;
      const auto call = parse(coua_command(), line, help);
      if (!call) {
        EXPECT_EQ(call.error().message().find("unknown option"), std::string::npos)
            << call.error().message();
      }
    }
  }
}

TEST(complete, has_a_script_for_each_shell_that_the_grammar_names) {
  for (const char* shell : {"bash", "zsh"}) {
    const std::string script = script_of(coua_command(), shell);
    EXPECT_NE(script.find("_coua"), std::string::npos);
    EXPECT_EQ(script.find("COMMAND"), std::string::npos);
  }
  EXPECT_EQ(script_of(coua_command(), "fish"), "");
}

}  // namespace
}  // namespace coua::cli
