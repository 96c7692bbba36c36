// SPDX-License-Identifier: Apache-2.0
//
// Bridges over the API.
#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

using service = v1::BridgeService::Stub;

class bridge_api : public api {
 protected:
  v1::AddBridgeResponse add(const v1::AddBridgeRequest& request) {
    return good(*bridge_, &service::AddBridge, request);
  }
  std::string refused_field(const v1::BridgeSpec& spec) {
    v1::AddBridgeRequest request;
    *request.mutable_spec() = spec;
    return refused(*bridge_, &service::AddBridge, request, grpc::StatusCode::INVALID_ARGUMENT);
  }
  v1::ListBridgesResponse list() {
    return good(*bridge_, &service::ListBridges, v1::ListBridgesRequest());
  }
};

TEST_F(bridge_api, bridges_come_and_go_once) {
  v1::AddBridgeRequest request;
  request.mutable_spec()->set_name("br1");
  request.mutable_spec()->set_datapath_id("b1");
  request.mutable_spec()->add_controllers("tcp:10.0.0.1:6653");
  const auto added = add(request);
  EXPECT_TRUE(added.changed());
  EXPECT_EQ(added.bridge().datapath_id(), "00:00:00:00:00:00:00:b1");
  EXPECT_EQ(added.bridge().spec().rules(), 1'000'000u);
  EXPECT_TRUE(fakes_.is_open("br1"));
  EXPECT_FALSE(add(request).changed());
  ASSERT_EQ(list().bridges_size(), 2);
  EXPECT_EQ(list().bridges(1).spec().controllers(0), "tcp:10.0.0.1:6653");
  request.mutable_spec()->set_rules(7);
  EXPECT_EQ(refused(*bridge_, &service::AddBridge, request, grpc::StatusCode::ALREADY_EXISTS),
            "bridge br1");
  v1::RemoveBridgeRequest gone;
  gone.set_name("br1");
  EXPECT_TRUE(good(*bridge_, &service::RemoveBridge, gone).changed());
  EXPECT_FALSE(good(*bridge_, &service::RemoveBridge, gone).changed());
  EXPECT_FALSE(fakes_.is_open("br1"));
  gone.set_name("br0");
  EXPECT_EQ(refused(*bridge_, &service::RemoveBridge, gone, grpc::StatusCode::ABORTED),
            "bridge br0");
}

TEST_F(bridge_api, one_with_ports_stays_and_names_them) {
  add_bridge("br1");
  add_ports();
  v1::RemoveBridgeRequest gone;
  gone.set_name("br0");
  grpc::ClientContext context;
  v1::RemoveBridgeResponse response;
  const auto status = bridge_->RemoveBridge(&context, gone, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(detail(status, context).what(), "has ports: p0, p1; remove them first");
  EXPECT_EQ(list().bridges(0).ports_size(), 2);
}

TEST_F(bridge_api, what_is_wrong_is_named_and_leaves_nothing_behind) {
  v1::BridgeSpec spec;
  EXPECT_EQ(refused_field(spec), "name");
  spec.set_name("br1");
  spec.set_datapath_id("0");
  EXPECT_EQ(refused_field(spec), "datapath_id");
  spec.set_datapath_id("a1");
  spec.add_controllers("tcp:10.0.0.1:1");
  spec.add_controllers("tcp:10.0.0.1:1");
  EXPECT_EQ(refused_field(spec), "controllers[1]");
  spec.clear_controllers();
  spec.set_rules(std::uint64_t{1} << 40);
  EXPECT_EQ(refused_field(spec), "rules");
  spec.clear_rules();
  (*spec.mutable_table_names())[255] = "x";
  EXPECT_EQ(refused_field(spec), "table_names[255]");
  spec.clear_table_names();
  (*spec.mutable_table_names())[3] = "x";
  (*spec.mutable_table_names())[7] = "x";
  EXPECT_EQ(refused_field(spec), "table_names[7]");
  spec.clear_table_names();
  spec.add_controllers("ssl:10.0.0.1:6653");  // no file says openflow.tls
  EXPECT_EQ(refused_field(spec), "ssl:10.0.0.1:6653");
  spec.clear_controllers();
  // What br0 has; and a socket that others have.
  v1::AddBridgeRequest request;
  *request.mutable_spec() = spec;
  const std::string id = list().bridges(0).datapath_id();
  request.mutable_spec()->set_datapath_id(id);
  EXPECT_EQ(refused(*bridge_, &service::AddBridge, request, grpc::StatusCode::ALREADY_EXISTS),
            "datapath_id: " + id);
  request.mutable_spec()->set_datapath_id("2");
  request.mutable_spec()->add_listen("punix:/run/./coua/br0.mgmt");
  EXPECT_EQ(refused(*bridge_, &service::AddBridge, request, grpc::StatusCode::ABORTED),
            "listen[0]: /run/coua/br0.mgmt");
  request.mutable_spec()->clear_listen();
  fakes_.refuse_to_open(
      error{errc::busy, "management: /run/br1.mgmt", "another daemon listens there"});
  EXPECT_EQ(refused(*bridge_, &service::AddBridge, request, grpc::StatusCode::ABORTED),
            "management: /run/br1.mgmt");
  EXPECT_EQ(list().bridges_size(), 1);
  EXPECT_EQ(sw_.bridges().size(), 1u);
}

TEST_F(bridge_api, ports_vlans_entries_and_controllers_are_of_one) {
  add_bridge("br1");
  add_ports();
  v1::AddPortRequest port;
  port.mutable_spec()->set_name("p2");
  port.mutable_spec()->set_devargs("net_null2");
  port.mutable_spec()->set_bridge("br7");
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::AddPort, port, grpc::StatusCode::NOT_FOUND),
            "bridge br7");
  port.mutable_spec()->set_bridge("br1");
  port.mutable_spec()->mutable_vlans()->set_native(10);
  EXPECT_EQ(good(*ports_, &v1::PortService::Stub::AddPort, port).port().spec().bridge(), "br1");
  port.mutable_spec()->clear_bridge();
  EXPECT_EQ(
      refused(*ports_, &v1::PortService::Stub::AddPort, port, grpc::StatusCode::ALREADY_EXISTS),
      "port p2");
  // One address in both.
  for (const char* name : {"p0", "p2"}) {
    v1::AddFibEntryRequest entry;
    entry.set_vlan(10);
    entry.set_mac("02:00:00:00:00:01");
    entry.set_port(name);
    EXPECT_TRUE(good(*fib_, &v1::FibService::Stub::AddFibEntry, entry).changed());
  }
  EXPECT_EQ(sw_.fib().entries, 2u);
  v1::DeleteFibEntryRequest gone;
  gone.set_vlan(10);
  gone.set_mac("02:00:00:00:00:01");
  EXPECT_EQ(refused(*fib_, &v1::FibService::Stub::DeleteFibEntry, gone,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "bridge");
  gone.set_bridge("br1");
  EXPECT_TRUE(good(*fib_, &v1::FibService::Stub::DeleteFibEntry, gone).changed());
  EXPECT_TRUE(sw_.fib_find("br0", 10, mac1));
  v1::FlushFibRequest flush;
  flush.mutable_filter()->set_kind(v1::FibFilter::KIND_STATIC);
  flush.mutable_filter()->set_bridge("br1");
  EXPECT_EQ(good(*fib_, &v1::FibService::Stub::FlushFib, flush).removed(), 0u);
  v1::ListVlansRequest vlans;
  EXPECT_EQ(good(*system_, &v1::SystemService::Stub::ListVlans, vlans).vlans_size(), 2);
  vlans.set_vlan(10);
  EXPECT_EQ(refused(*system_, &v1::SystemService::Stub::ListVlans, vlans,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "bridge");
  vlans.set_bridge("br1");
  EXPECT_EQ(good(*system_, &v1::SystemService::Stub::ListVlans, vlans).vlans(0).untagged(0), "p2");
  v1::ListControllersRequest controllers;
  controllers.set_bridge("br1");
  EXPECT_EQ(
      good(*system_, &v1::SystemService::Stub::ListControllers, controllers).controllers_size(), 0);
}

}  // namespace
}  // namespace coua::ctl
