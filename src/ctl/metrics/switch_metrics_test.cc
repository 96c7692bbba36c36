// SPDX-License-Identifier: Apache-2.0
#include "ctl/metrics/switch_metrics.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "ctl/fake_bridges.h"
#include "ctl/fake_controllers.h"
#include "ctl/fake_pipeline.h"
#include "ctl/fake_switch.h"
#include "ctl/listen_address.h"
#include "ctl/metrics/metrics_server.h"

namespace coua::ctl {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class metrics : public ::testing::Test {
 protected:
  void SetUp() override {
    dp::port_config p0;
    p0.name = "p0";
    p0.devargs = "net_null0";
    p0.mac_limit = 5;
    ASSERT_TRUE(switch_.add_port(p0));
    dp::port_config trunk;
    trunk.name = "t\"1\\";  // no name that a port may have, but none that may break the text
    trunk.devargs = "net_null1";
    trunk.mode = dp::vlan_mode::trunk;
    trunk.tagged = {10, 20};
    ASSERT_TRUE(switch_.add_port(trunk));
    switch_.set_traffic(7);
    fakes_.give("br0", pipeline_);
    fakes_.give("br0", controllers_);
    bridges_.take({});
  }

  std::string text() {
    return prometheus::TextSerializer().Serialize(
        switch_metrics(switch_, bridges_, "1.2.3").Collect());
  }
  void add_group(pipeline::group_id id, std::size_t n_buckets) {
    pipeline::group_mod one;
    one.what.id = id;
    one.what.type = pipeline::group_type::all;
    one.what.buckets.resize(n_buckets);
    const pipeline::operation add = one;
    ASSERT_TRUE(pipeline_.apply({&add, 1}));
  }
  void add_meter(pipeline::meter_id id) {
    pipeline::meter_mod one;
    one.what.id = id;
    one.what.bands.resize(1);
    one.what.bands[0].rate = 1000;
    const pipeline::operation add = one;
    ASSERT_TRUE(pipeline_.apply({&add, 1}));
  }
  fake_switch switch_;
  fake_pipeline pipeline_;
  fake_controllers controllers_;
  running_bridges bridges_{switch_};
  fake_bridges fakes_{bridges_};
};

TEST_F(metrics, have_the_names_and_values_of_what_coua_shows) {
  const std::string all = text();
  for (const char* line :
       {"coua_build_info{version=\"1.2.3\"} 1\n", "coua_port_rx_packets_total{port=\"p0\"} 7\n",
        "coua_port_drop_runt_total{port=\"p0\"} 0\n", "coua_port_up{port=\"p0\"} 1\n",
        "coua_port_mac_limit{port=\"p0\"} 5\n", "coua_vlan_ports{bridge=\"br0\",vlan=\"10\"} 1\n",
        "coua_vlan_flooded_packets_total{bridge=\"br0\",vlan=\"1\"} 0\n", "coua_fib_entries 0\n",
        "coua_pipeline_rules{bridge=\"br0\"} 0\n", "coua_openflow_others{bridge=\"br0\"} 1\n",
        "coua_openflow_standalone{bridge=\"br0\"} 0\n",
        "coua_controller_connected{bridge=\"br0\",target=\"tcp:10.0.0.1:6653\"} 1\n",
        "coua_controller_received_total{bridge=\"br0\",target=\"tcp:10.0.0.1:6653\"} 1000\n",
        "# TYPE coua_port_rx_packets_total counter\n",
        "# TYPE coua_worker_burst_packets histogram\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "is not in\n" << all;
}

TEST_F(metrics, groups_and_meters_have_what_their_dumps_show) {
  add_group(7, 2);
  add_meter(3);
  pipeline_.change([](pipeline::bridge& model) {
    model.count_group(7, {3, 180});
    model.count_bucket(7, 1, {2, 120});
    model.count_meter(3, {4, 240});
    model.count_band(3, 0, {1, 60});
  });
  const std::string all = text();
  for (const char* line :
       {"coua_group_packets_total{bridge=\"br0\",group=\"7\"} 3\n",
        "coua_group_bytes_total{bridge=\"br0\",group=\"7\"} 180\n",
        "coua_group_bucket_packets_total{bridge=\"br0\",group=\"7\",bucket=\"0\"} 0\n",
        "coua_group_bucket_bytes_total{bridge=\"br0\",group=\"7\",bucket=\"1\"} 120\n",
        "coua_group_references{bridge=\"br0\",group=\"7\"} 0\n",
        "coua_meter_flows{bridge=\"br0\",meter=\"3\"} 0\n",
        "coua_meter_packets_total{bridge=\"br0\",meter=\"3\"} 4\n",
        "coua_meter_band_packets_total{bridge=\"br0\",meter=\"3\",band=\"0\"} 1\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "is not in\n" << all;
}

std::size_t times(const std::string& all, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = all.find(what, at)) != std::string::npos; at++) n++;
  return n;
}

// Red when the pipeline of one bridge is told for another.
TEST_F(metrics, of_a_bridge_are_its_own) {
  bridge_settings other;
  other.name = "br1";
  ASSERT_TRUE(bridges_.add(other));
  add_group(7, 1);
  const std::string all = text();
  EXPECT_EQ(times(all, "\ncoua_pipeline_groups{bridge=\"br0\"} 1\n"), 1u);
  EXPECT_EQ(times(all, "\ncoua_pipeline_groups{bridge=\"br1\"} 0\n"), 1u);
  EXPECT_EQ(times(all, "\ncoua_group_packets_total{"), 1u);
}

TEST_F(metrics, are_a_bounded_number_of_groups_and_meters) {
  for (pipeline::group_id id = 1; id <= 1100; ++id) {
    add_group(id, 1);
    add_meter(id);
  }
  std::string all = text();
  EXPECT_EQ(times(all, "\ncoua_group_packets_total{"), 1000u);
  EXPECT_EQ(times(all, "\ncoua_meter_packets_total{"), 1000u);
  EXPECT_NE(all.find("{bridge=\"br0\",group=\"1000\"}"), std::string::npos);
  EXPECT_NE(all.find("\ncoua_pipeline_groups{bridge=\"br0\"} 1100\n"), std::string::npos);
  // Those of many buckets are fewer, each with all of its own.
  for (pipeline::group_id id = 2000; id <= 2010; ++id) add_group(id, 1000);
  pipeline::group_mod all_others;
  all_others.command = pipeline::mod_command::remove;
  for (all_others.what.id = 1; all_others.what.id <= 1100; ++all_others.what.id) {
    const pipeline::operation gone = all_others;
    ASSERT_TRUE(pipeline_.apply({&gone, 1}));
  }
  all = text();
  EXPECT_EQ(times(all, "\ncoua_group_packets_total{"), 8u);
  EXPECT_EQ(times(all, "\ncoua_group_bucket_packets_total{"), 8000u);
}

TEST_F(metrics, are_of_the_text_format) {
  add_group(7, 2);
  add_meter(3);

  const std::regex sample(
      R"re([a-z_:][a-z0-9_:]*(\{[a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*\})? \S+)re");
  std::istringstream lines(text());
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE")) {
      EXPECT_TRUE(seen.insert(line).second) << "twice: " << line;
    } else if (!line.starts_with("#")) {
      EXPECT_TRUE(std::regex_match(line, sample)) << line;
    }
  }
  EXPECT_GT(seen.size(), 40u);
}

TEST_F(metrics, bursts_are_a_histogram) {
  class busy : public fake_switch {
   public:
    std::vector<dp::worker_status> workers() const override {
      dp::worker_status one{};
      one.burst_histogram = {100, 5, 4, 3, 2};  // index: packets in the burst
      return {one};
    }
  } sw;
  const std::string all = prometheus::TextSerializer().Serialize(
      switch_metrics(sw, running_bridges(sw), "1").Collect());
  for (const char* line :
       {"le=\"0\"} 100\n", "le=\"1\"} 105\n", "le=\"2\"} 109\n", "le=\"4\"} 114\n",
        "le=\"+Inf\"} 114\n", "_sum{worker=\"0\",core=\"0\"} 30\n",
        "_count{worker=\"0\",core=\"0\"} 114\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "is not in\n" << all;
  EXPECT_EQ(all.find("coua_pipeline"), std::string::npos);
}

TEST_F(metrics, are_documented) {
  add_group(1, 1);
  add_meter(1);
  const std::string page = read(COUA_DOCS_DIR "/metrics.md");
  for (const auto& family : switch_metrics(switch_, bridges_, "1").Collect()) {
    if (family.help.starts_with("Counter ")) continue;  // under the name that `coua` has for it
    EXPECT_NE(page.find("`" + family.name), std::string::npos) << family.name;
  }
  const std::regex alert("alert: (\\w+)");
  const std::string alerts = read(COUA_PACKAGING_DIR "/monitoring/alerts.yaml");
  for (std::sregex_iterator at(alerts.begin(), alerts.end(), alert), end; at != end; ++at)
    EXPECT_NE(page.find("`" + (*at)[1].str() + "`"), std::string::npos) << (*at)[1];
}

std::string get(int port, const std::string& request) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
      send(fd, request.data(), request.size(), 0) == static_cast<ssize_t>(request.size())) {
    char part[4096];
    for (ssize_t n; (n = recv(fd, part, sizeof part, 0)) > 0;)
      answer.append(part, static_cast<std::size_t>(n));
  }
  close(fd);
  return answer;
}

TEST_F(metrics, are_served_by_http) {
  auto server = metrics_server::create(
      "127.0.0.1:0", std::make_shared<switch_metrics>(switch_, bridges_, "1.2.3"));
  ASSERT_TRUE(server) << server.error().message();
  ASSERT_GT((*server)->port(), 0);
  const std::string answer =
      get((*server)->port(), "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer.substr(0, 100);
  EXPECT_NE(answer.find("text/plain"), std::string::npos);
  EXPECT_NE(answer.find("\ncoua_fib_entries 0\n"), std::string::npos);
  EXPECT_NE(get((*server)->port(), "GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .find(" 404 "),
            std::string::npos);

  const std::string taken = "127.0.0.1:" + std::to_string((*server)->port());
  const auto second =
      metrics_server::create(taken, std::make_shared<switch_metrics>(switch_, bridges_, "1.2.3"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(),
            "metrics on " + taken + ": cannot listen: Address already in use");
}

TEST(listen_address, is_an_address_and_a_port) {
  for (const char* good : {"127.0.0.1:9107", "0.0.0.0:0", "192.0.2.1:65535"})
    EXPECT_EQ(check_listen_address(good), "") << good;
  for (const char* bad :
       {"", ":", "9107", ":9107", "localhost:9107", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
        "127.0.0.1:-1", "127.0.0.1: 1", "::1:80", "[::1]", "[127.0.0.1]:80", "1.2.3:80",
        "127.0.0.1:1x", "127.0.0.1:80,90", "[::1]:80"})
    EXPECT_NE(check_listen_address(bad), "") << bad;
}

}  // namespace
}  // namespace coua::ctl
