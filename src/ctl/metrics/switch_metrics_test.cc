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
  }

  std::string text() {
    return prometheus::TextSerializer().Serialize(
        switch_metrics(switch_, &pipeline_, &controllers_, "1.2.3").Collect());
  }
  fake_switch switch_;
  fake_pipeline pipeline_;
  fake_controllers controllers_;
};

TEST_F(metrics, have_the_names_and_values_of_what_coua_shows) {
  const std::string all = text();
  for (const char* line :
       {"coua_build_info{version=\"1.2.3\"} 1\n", "coua_port_rx_packets_total{port=\"p0\"} 7\n",
        "coua_port_drop_runt_total{port=\"p0\"} 0\n", "coua_port_up{port=\"p0\"} 1\n",
        "coua_port_mac_limit{port=\"p0\"} 5\n", "coua_vlan_ports{vlan=\"10\"} 1\n",
        "coua_vlan_flooded_packets_total{vlan=\"1\"} 0\n", "coua_fib_entries 0\n",
        "coua_pipeline_rules 0\n", "coua_openflow_others 1\n", "coua_openflow_standalone 0\n",
        "coua_controller_connected{target=\"tcp:10.0.0.1:6653\"} 1\n",
        "coua_controller_received_total{target=\"tcp:10.0.0.1:6653\"} 1000\n",
        "# TYPE coua_port_rx_packets_total counter\n",
        "# TYPE coua_worker_burst_packets histogram\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "is not in\n" << all;
}

TEST_F(metrics, are_of_the_text_format) {
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
  const std::string all =
      prometheus::TextSerializer().Serialize(switch_metrics(sw, nullptr, nullptr, "1").Collect());
  for (const char* line :
       {"le=\"0\"} 100\n", "le=\"1\"} 105\n", "le=\"2\"} 109\n", "le=\"4\"} 114\n",
        "le=\"+Inf\"} 114\n", "_sum{worker=\"0\",core=\"0\"} 30\n",
        "_count{worker=\"0\",core=\"0\"} 114\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "is not in\n" << all;
  EXPECT_EQ(all.find("coua_pipeline"), std::string::npos);
}

TEST_F(metrics, are_documented) {
  const std::string page = read(COUA_DOCS_DIR "/metrics.md");
  for (const auto& family : switch_metrics(switch_, &pipeline_, &controllers_, "1").Collect()) {
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
      "127.0.0.1:0", std::make_shared<switch_metrics>(switch_, &pipeline_, &controllers_, "1.2.3"));
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
  const auto second = metrics_server::create(
      taken, std::make_shared<switch_metrics>(switch_, &pipeline_, &controllers_, "1.2.3"));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find(taken), std::string::npos) << second.error().message();
}

TEST(listen_address, is_an_address_and_a_port) {
  for (const char* good : {"127.0.0.1:9107", "0.0.0.0:0", "[::1]:65535", "[::]:80"})
    EXPECT_EQ(check_listen_address(good), "") << good;
  for (const char* bad : {"", ":", "9107", ":9107", "localhost:9107", "127.0.0.1",
                          "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1: 1", "::1:80",
                          "[::1]", "[127.0.0.1]:80", "1.2.3:80", "127.0.0.1:1x", "127.0.0.1:80,90"})
    EXPECT_NE(check_listen_address(bad), "") << bad;
}

}  // namespace
}  // namespace coua::ctl
