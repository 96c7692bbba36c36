// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/descriptor.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ctl/api/test_api.h"
#include "ctl/config_schema.h"

namespace coua::ctl {
namespace {

using config_request = v1::ApplyConfigRequest;

class config_api : public api {
 protected:
  /// In pieces of so many bytes.
  grpc::Status send(const std::string& text, config_request::Mode mode = config_request::MODE_APPLY,
                    std::size_t piece = 7) {
    grpc::ClientContext context;
    response_.Clear();
    auto out = config_->ApplyConfig(&context, &response_);
    for (std::size_t at = 0; at == 0 || at < text.size(); at += piece) {
      config_request next;
      next.set_text(text.substr(at, piece));
      if (at == 0) {
        next.set_file("f");
        next.set_mode(mode);
      }
      next.set_last(at + piece >= text.size());
      if (!out->Write(next)) break;
    }
    out->WritesDone();
    const grpc::Status status = out->Finish();
    error_ = status.ok() ? v1::Error() : detail(status, context);
    return status;
  }
  std::string shown(v1::GetConfigRequest::Format format = v1::GetConfigRequest::FORMAT_YAML) {
    v1::GetConfigRequest request;
    request.set_format(format);
    return good(*config_, &v1::ConfigService::Stub::GetConfig, request).text();
  }

  v1::ApplyConfigResponse response_;
  v1::Error error_;
};

/// Members of a message, or methods of a service.
std::set<std::string> names_in(const google::protobuf::Descriptor& message) {
  std::set<std::string> all;
  for (int i = 0; i < message.field_count(); i++) all.insert(message.field(i)->name());
  return all;
}

// Who adds a method that sets something, or a setting of ports, finds here what the file lacks.
TEST(config_file, can_say_whatever_the_api_can_set) {
  std::set<std::string> fields;
  for (const auto& each : port_fields()) fields.insert(each.info.name);
  for (const auto* message : {v1::PortSpec::descriptor(), v1::SetPortRequest::descriptor()})
    for (const std::string& name : names_in(*message)) EXPECT_TRUE(fields.contains(name)) << name;

  const std::set<std::string> looking = {
      "ListPorts",   "GetPort",      "ShowFib",         "GetFibStats",   "DumpFlows",  "DumpGroups",
      "DumpMeters",  "GetFlowStats", "TracePacket",     "ExplainBridge", "GetVersion", "ListVlans",
      "ListWorkers", "GetStats",     "ListControllers", "Capture",       "EndCapture"};
  // Each with the fields that say the same.
  const std::map<std::string, std::string> setting = {
      {"AddPort", "ports"},
      {"SetPort", "ports"},
      {"RemovePort", "ports"},
      {"AddFibEntry", "fib.static"},
      {"DeleteFibEntry", "fib.static"},
      {"FlushFib", "fib.static"},
      {"LoadFib", "fib.static"},  // what is not static is learned, as by packets
      {"SetAgeing", "fib.ageing_s"},
      {"SetLogLevel", "log.level"},
      {"ApplyFlows", "pipeline.flows, groups, meters"}};
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  std::size_t found = 0;
  for (const char* service : {"Port", "Fib", "Flow", "System", "Capture"}) {
    const auto* all = pool->FindServiceByName("coua.v1." + std::string(service) + "Service");
    ASSERT_NE(all, nullptr) << service;
    for (int i = 0; i < all->method_count(); i++, found++) {
      const std::string name(all->method(i)->name());
      EXPECT_NE(looking.contains(name), setting.contains(name)) << name;
    }
  }
  EXPECT_EQ(found, looking.size() + setting.size());
}

TEST_F(config_api, a_long_change_keeps_nobody_from_looking) {
  add_ports();
  auto hold = running_.changing();  // as a change does
  std::vector<std::thread> waiting;
  for (int i = 0; i < 8; i++) {  // more than the API has threads
    waiting.emplace_back([this, i] {
      if (i % 2 == 0) {
        shown();
        return;
      }
      v1::SetPortRequest request;
      request.set_name("p0");
      request.set_mtu(1400);
      good(*ports_, &v1::PortService::Stub::SetPort, request);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::ListPortsResponse listed;
  const grpc::Status status = ports_->ListPorts(&context, v1::ListPortsRequest(), &listed);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(listed.ports_size(), 2);
  hold.unlock();
  for (std::thread& each : waiting) each.join();
}

TEST_F(config_api, what_calls_have_set_is_shown_and_applied_again_changes_nothing) {
  add_ports();
  v1::SetAgeingRequest ageing;
  ageing.set_seconds(60);
  good(*fib_, &v1::FibService::Stub::SetAgeing, ageing);
  v1::AddFibEntryRequest entry;
  entry.set_vlan(10);
  entry.set_mac("02:00:00:00:00:01");
  entry.set_port("p1");
  good(*fib_, &v1::FibService::Stub::AddFibEntry, entry);
  const std::string text = shown();
  EXPECT_EQ(text,
            "fib:\n  ageing_s: 60\n  static:\n"
            "    - {vlan: 10, mac: \"02:00:00:00:00:01\", port: p1}\n"
            "ports:\n  - {name: p0, devargs: net_null0, vlan: 10}\n"
            "  - {name: p1, devargs: net_null1, vlan: 10}\n");
  ASSERT_TRUE(send(text).ok());
  EXPECT_FALSE(response_.changed());
  EXPECT_EQ(response_.changes_size(), 0);
  ASSERT_TRUE(send(shown(v1::GetConfigRequest::FORMAT_JSON)).ok());
  EXPECT_FALSE(response_.changed());
}

TEST_F(config_api, a_difference_is_named_checked_and_applied) {
  add_ports();
  const std::string text = "ports:\n  - {name: p0, devargs: net_null0, vlan: 20}\n";
  for (const auto mode : {config_request::MODE_COMPARE, config_request::MODE_CHECK}) {
    ASSERT_TRUE(send(text, mode).ok());
    EXPECT_FALSE(response_.changed());
    ASSERT_EQ(response_.changes_size(), 2);
    EXPECT_EQ(response_.changes(0).item(), "port p1");
    EXPECT_EQ(response_.changes(0).kind(), v1::ConfigChange::KIND_REMOVED);
    EXPECT_EQ(response_.changes(1).kind(), v1::ConfigChange::KIND_CHANGED);
    EXPECT_EQ(response_.changes(1).line(), 2u);
    EXPECT_EQ(response_.changes(1).fields(0).name(), "vlan");
    EXPECT_EQ(response_.changes(1).fields(0).before(), "10");
    EXPECT_EQ(response_.changes(1).fields(0).after(), "20");
    EXPECT_EQ(sw_.ports().size(), 2u);
  }
  ASSERT_TRUE(send(text).ok());
  EXPECT_TRUE(response_.changed());
  EXPECT_EQ(sw_.ports().size(), 1u);
  EXPECT_EQ(shown(), text);
}

TEST_F(config_api, refusals) {
  EXPECT_EQ(send("ports: [{name: p0}]\nfib: {x: 1}\n").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(error_.where(), "f:1: ports[0].devargs");
  EXPECT_EQ(error_.what(), "is missing (and 1 more)");
  EXPECT_EQ(send("fib:\n  entries: 5\n").error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(error_.where(), "f:2: fib.entries");
  EXPECT_EQ(send("fib: {entries: 5}", config_request::MODE_CHECK).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(send("fib: {entries: 5}", config_request::MODE_COMPARE).ok());
  EXPECT_EQ(response_.changes(0).kind(), v1::ConfigChange::KIND_RESTART);
  sw_.fail_port("p0", {errc::denied, "port p0", "the device is not ours"});
  EXPECT_EQ(send("ports: [{name: p0, devargs: x0}]").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(error_.where(), "f:1: ports[0]: port p0");
  EXPECT_EQ(send("{}", static_cast<config_request::Mode>(9)).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(config_api, rules_are_told_when_they_are_said_or_asked_for) {
  const std::string text = "pipeline:\n  flows: [\"tcp actions=output:p1\"]\n";
  EXPECT_EQ(send(text).error_code(), grpc::StatusCode::INVALID_ARGUMENT);  // no such port
  EXPECT_EQ(error_.where(), "f:2: pipeline.flows[0]");
  add_ports();
  const std::string ports = shown();
  const std::string rules = "pipeline:\n  flows: [\"tcp actions=output:2\"]\n" + ports;
  EXPECT_EQ(shown(), ports);
  v1::GetConfigRequest all;
  all.set_flows(true);
  EXPECT_EQ(good(*config_, &v1::ConfigService::Stub::GetConfig, all).text(),
            "pipeline:\n  flows: []\n" + ports);
  ASSERT_TRUE(send(rules).ok());
  ASSERT_EQ(response_.changes_size(), 2);
  EXPECT_EQ(response_.changes(0).item(), "pipeline.flows");
  EXPECT_EQ(response_.changes(1).item(), "flow tcp");
  EXPECT_EQ(response_.changes(1).line(), 2u);
  EXPECT_EQ(shown(), text + ports);
}

TEST_F(config_api, rules_that_name_a_port_that_is_gone_are_told) {
  add_ports();
  ASSERT_TRUE(send("pipeline:\n  flows: [\"in_port=p1 actions=output:p0,output:p1\", \"tcp "
                   "actions=LOCAL\"]\n"
                   "  groups: [\"group_id=7,type=all,bucket=output:p1,bucket=output:9\"]\n" +
                   shown())
                  .ok());
  const auto warnings = [&](bool wanted) {
    v1::GetConfigRequest asked;
    asked.set_warnings(wanted);
    const auto got = good(*config_, &v1::ConfigService::Stub::GetConfig, asked);
    return std::vector<std::string>(got.warnings().begin(), got.warnings().end());
  };
  using list = std::vector<std::string>;
  EXPECT_EQ(warnings(false), list());
  EXPECT_EQ(warnings(true), list({"group 7: port 9 is gone"}));
  pipeline_.lose_name_of(2);
  EXPECT_EQ(warnings(true),
            list({"flow in_port=2: port 2 is gone", "group 7: ports 2, 9 are gone"}));
  EXPECT_EQ(warnings(false), list());
}

TEST_F(config_api, half_a_file_is_not_applied) {
  add_ports();
  grpc::ClientContext context;
  auto out = config_->ApplyConfig(&context, &response_);
  config_request first;
  first.set_text("ports: []\n");
  ASSERT_TRUE(out->Write(first));
  out->WritesDone();
  EXPECT_EQ(out->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(sw_.ports().size(), 2u);
}

TEST_F(config_api, a_long_file_comes_in_pieces) {
  const std::string text = "# " + std::string(5'000'000, 'x') + "\n";
  ASSERT_TRUE(send(text, config_request::MODE_APPLY, 1 << 20).ok());
  EXPECT_EQ(
      send(std::string((64 << 20) + 1, '#'), config_request::MODE_APPLY, 1 << 20).error_code(),
      grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(error_.where(), "text");
}

}  // namespace
}  // namespace coua::ctl
