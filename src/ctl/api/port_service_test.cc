// SPDX-License-Identifier: Apache-2.0
//
// Ports over the API.
#include <functional>

#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

class port_api : public api {
 protected:
  std::string refused_port(const std::function<void(v1::PortSpec&)>& spoil) {
    v1::AddPortRequest request;
    request.mutable_spec()->set_name("p7");
    request.mutable_spec()->set_devargs("net_null7");
    spoil(*request.mutable_spec());
    const auto before = sw_.ports().size();
    const auto where = refused(*ports_, &v1::PortService::Stub::AddPort, request,
                               grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(sw_.ports().size(), before);
    return where;
  }
};

TEST_F(port_api, adding_a_port_twice_changes_nothing) {
  v1::AddPortRequest request;
  request.mutable_spec()->set_name("p0");
  request.mutable_spec()->set_devargs("net_null0");
  auto* range = request.mutable_spec()->mutable_vlans()->add_tagged();
  range->set_first(20);
  range->set_last(22);
  auto got = good(*ports_, &v1::PortService::Stub::AddPort, request);
  EXPECT_TRUE(got.changed());
  EXPECT_EQ(got.port().spec().vlans().mode(), v1::VLAN_MODE_TRUNK);
  EXPECT_EQ(got.port().spec().vlans().native(), 1u);
  ASSERT_EQ(got.port().spec().vlans().tagged_size(), 1);
  EXPECT_EQ(got.port().spec().vlans().tagged(0).last(), 22u);
  ASSERT_EQ(got.port().carries_size(), 2);
  EXPECT_EQ(got.port().carries(0).first(), 1u);
  EXPECT_EQ(got.port().carries(0).last(), 1u);
  EXPECT_EQ(got.port().carries(1).first(), 20u);
  EXPECT_EQ(got.port().carries(1).last(), 22u);
  EXPECT_EQ(got.port().spec().mtu(), 1500u);
  EXPECT_TRUE(got.port().spec().learning());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::AddPort, request).changed());
  request.mutable_spec()->set_mtu(9000);
  EXPECT_EQ(
      refused(*ports_, &v1::PortService::Stub::AddPort, request, grpc::StatusCode::ALREADY_EXISTS),
      "port p0");
  EXPECT_EQ(sw_.ports()[0].config.mtu, 1500u);
}

TEST_F(port_api, a_bridge_has_one_local_port) {
  v1::AddPortRequest request;
  v1::PortSpec& spec = *request.mutable_spec();
  spec.set_name("own");
  spec.set_devargs("net_null0");
  spec.set_local(true);
  EXPECT_TRUE(good(*ports_, &v1::PortService::Stub::AddPort, request).port().spec().local());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::AddPort, request).changed());
  spec.set_local(false);
  EXPECT_EQ(
      refused(*ports_, &v1::PortService::Stub::AddPort, request, grpc::StatusCode::ALREADY_EXISTS),
      "port own");
  spec.set_name("other");
  spec.set_devargs("net_null1");
  spec.set_local(true);
  EXPECT_EQ(
      refused(*ports_, &v1::PortService::Stub::AddPort, request, grpc::StatusCode::ALREADY_EXISTS),
      "port other: local");
  // It cannot become a mirror port, which receives nothing.
  v1::SetPortRequest change;
  change.set_name("own");
  change.mutable_mirror()->add_received("other");
  EXPECT_EQ(
      refused(*ports_, &v1::PortService::Stub::SetPort, change, grpc::StatusCode::INVALID_ARGUMENT),
      "local");
  v1::RemovePortRequest remove;
  remove.set_name("own");
  EXPECT_TRUE(good(*ports_, &v1::PortService::Stub::RemovePort, remove).changed());
  EXPECT_TRUE(good(*ports_, &v1::PortService::Stub::AddPort, request).changed());
}

TEST_F(port_api, bonds) {
  v1::AddPortRequest request;
  v1::PortSpec& spec = *request.mutable_spec();
  spec.set_name("up");
  v1::Bond& bond = *spec.mutable_bond();
  bond.set_mode(v1::BOND_MODE_LACP);
  bond.set_rate(v1::LACP_RATE_FAST);
  bond.add_members("net_null1");
  bond.add_members("net_null2,size=64");
  auto got = good(*ports_, &v1::PortService::Stub::AddPort, request);
  EXPECT_TRUE(got.changed());
  EXPECT_EQ(got.port().spec().bond().hash(), v1::BOND_HASH_L34);
  EXPECT_EQ(got.port().spec().bond().rate(), v1::LACP_RATE_FAST);
  ASSERT_EQ(got.port().members_size(), 2);
  EXPECT_EQ(got.port().members(1).driver(), "net_null");
  EXPECT_TRUE(got.port().members(1).active());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::AddPort, request).changed());

  // What is not said stays; the rate goes with the mode.
  v1::SetPortRequest change;
  change.set_name("up");
  change.mutable_bond()->set_hash(v1::BOND_HASH_L2);
  got.Clear();
  const auto set = good(*ports_, &v1::PortService::Stub::SetPort, change);
  EXPECT_TRUE(set.changed());
  EXPECT_EQ(set.port().spec().bond().mode(), v1::BOND_MODE_LACP);
  EXPECT_EQ(set.port().spec().bond().rate(), v1::LACP_RATE_FAST);
  EXPECT_EQ(set.port().spec().bond().members_size(), 2);
  change.mutable_bond()->set_min_links(2);
  EXPECT_EQ(good(*ports_, &v1::PortService::Stub::SetPort, change).port().spec().bond().min_links(),
            2u);
  change.mutable_bond()->clear_min_links();
  change.mutable_bond()->set_mode(v1::BOND_MODE_BACKUP);
  const auto backup = good(*ports_, &v1::PortService::Stub::SetPort, change);
  EXPECT_EQ(backup.port().spec().bond().rate(), v1::LACP_RATE_SLOW);
  EXPECT_EQ(backup.port().spec().bond().min_links(), 1u);
  const auto no = [&](const char* where) {
    EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, change,
                      grpc::StatusCode::INVALID_ARGUMENT),
              where);
  };
  change.mutable_bond()->set_rate(v1::LACP_RATE_FAST);
  no("bond.rate");
  change.mutable_bond()->clear_rate();
  change.mutable_bond()->set_min_links(2);
  no("bond.min_links");
  change.mutable_bond()->clear_min_links();
  change.mutable_bond()->set_mode(static_cast<v1::BondMode>(99));
  no("bond.mode");
  change.mutable_bond()->clear_mode();
  change.mutable_bond()->set_hash(static_cast<v1::BondHash>(99));
  no("bond.hash");
  change.mutable_bond()->clear_hash();
  for (int i = 0; i < 2; i++) change.mutable_bond()->add_members("net_null3");
  no("bond.members");
}

TEST_F(port_api, odd_bonds_are_refused_by_field) {
  const auto refused_bond = [&](const std::function<void(v1::Bond&)>& spoil) {
    return refused_port([&](v1::PortSpec& spec) {
      spec.clear_devargs();
      spec.mutable_bond()->add_members("net_null1");
      spoil(*spec.mutable_bond());
    });
  };
  EXPECT_EQ(refused_bond([](auto& b) { b.clear_members(); }), "bond.members");
  EXPECT_EQ(refused_bond([](auto& b) { b.add_members(""); }), "bond.members");
  for (const unsigned n : {0u, 2u})
    EXPECT_EQ(refused_bond([n](auto& b) { b.set_min_links(n); }), "bond.min_links");
  EXPECT_EQ(refused_bond([](auto& b) { b.add_members("net_null1,size=64"); }), "bond.members");
  EXPECT_EQ(refused_bond([](auto& b) {
              for (int i = 2; i < 10; i++) b.add_members("net_null" + std::to_string(i));
            }),
            "bond.members");
  EXPECT_EQ(refused_port([](auto& s) { s.mutable_bond()->add_members("net_null1"); }), "devargs");
}

TEST_F(port_api, removing_a_port_twice_changes_nothing) {
  add_ports();
  v1::RemovePortRequest request;
  request.set_name("p0");
  EXPECT_TRUE(good(*ports_, &v1::PortService::Stub::RemovePort, request).changed());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::RemovePort, request).changed());
  EXPECT_EQ(sw_.ports().size(), 1u);
}

TEST_F(port_api, setting_a_port_keeps_what_is_not_named) {
  add_ports();
  v1::SetPortRequest request;
  request.set_name("p1");
  request.set_enabled(false);
  request.set_mac_limit(5);
  EXPECT_TRUE(good(*ports_, &v1::PortService::Stub::SetPort, request).changed());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::SetPort, request).changed());
  const auto config = sw_.ports()[1].config;
  EXPECT_FALSE(config.enabled);
  EXPECT_EQ(config.mac_limit, 5u);
  EXPECT_EQ(config.native_vlan, 10);
  EXPECT_TRUE(config.learning);
  request.mutable_storm()->mutable_broadcast()->set_packets_per_second(1000);
  EXPECT_TRUE(good(*ports_, &v1::PortService::Stub::SetPort, request).changed());
  request.mutable_storm()->Clear();
  request.mutable_storm()->mutable_multicast()->set_percent_hundredths(7);
  const auto storm = good(*ports_, &v1::PortService::Stub::SetPort, request).port().spec().storm();
  EXPECT_EQ(sw_.ports()[1].config.storm,
            (dp::storm_limits{1000, flood_limit::percent_hundredths(7), 0}));
  EXPECT_EQ(storm.broadcast().packets_per_second(), 1000u);
  EXPECT_EQ(storm.multicast().percent_hundredths(), 7u);
  request.set_mtu(1);
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "mtu");
  request.set_name("nobody");
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request, grpc::StatusCode::NOT_FOUND),
            "port nobody");
}

TEST_F(port_api, storm_limits_have_units) {
  add_ports();
  v1::SetPortRequest request;
  request.set_name("p1");
  v1::StormLimits& storm = *request.mutable_storm();
  storm.mutable_broadcast()->set_bits_per_second(10'000'000);
  storm.mutable_multicast()->set_percent_hundredths(150);
  storm.mutable_unknown_unicast()->set_block(true);
  const auto set = good(*ports_, &v1::PortService::Stub::SetPort, request);
  EXPECT_TRUE(set.changed());
  EXPECT_EQ(sw_.ports()[1].config.storm,
            (dp::storm_limits{flood_limit::bits(10'000'000), flood_limit::percent_hundredths(150),
                              flood_limit::block()}));
  v1::StormLimits wanted = storm;
  wanted.set_action(v1::STORM_ACTION_DROP);
  EXPECT_EQ(set.port().spec().storm().SerializeAsString(), wanted.SerializeAsString());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::SetPort, request).changed());
  const auto field = [&](const auto& change) {
    storm.Clear();
    change(storm);
    return refused(*ports_, &v1::PortService::Stub::SetPort, request,
                   grpc::StatusCode::INVALID_ARGUMENT);
  };
  EXPECT_EQ(field([](auto& s) { s.mutable_broadcast(); }), "storm.broadcast");
  EXPECT_EQ(field([](auto& s) { s.mutable_multicast()->set_block(false); }), "storm.multicast");
  EXPECT_EQ(field([](auto& s) { s.mutable_multicast()->set_percent_hundredths(10'001); }),
            "storm.multicast");
  EXPECT_EQ(field([](auto& s) { s.mutable_unknown_unicast()->set_bits_per_second(0); }),
            "storm.unknown_unicast");
  EXPECT_EQ(field([](auto& s) { s.mutable_broadcast()->set_packets_per_second(200'000'001); }),
            "storm.broadcast");
}

TEST_F(port_api, a_share_of_an_unknown_speed_is_refused) {
  add_ports();
  sw_.forget_speed("p1");
  v1::SetPortRequest request;
  request.set_name("p1");
  request.mutable_storm()->mutable_broadcast()->set_percent_hundredths(100);
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request,
                    grpc::StatusCode::FAILED_PRECONDITION),
            "port p1: storm.broadcast");
}

TEST_F(port_api, a_share_of_a_speed_that_a_new_port_does_not_say_is_refused) {
  sw_.forget_speed("p1");
  v1::AddPortRequest request;
  request.mutable_spec()->set_name("p1");
  request.mutable_spec()->set_devargs("net_null1");
  request.mutable_spec()->mutable_storm()->mutable_multicast()->set_percent_hundredths(100);
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::AddPort, request,
                    grpc::StatusCode::FAILED_PRECONDITION),
            "port p1: storm.multicast");
  EXPECT_TRUE(sw_.ports().empty());
  request.mutable_spec()->mutable_storm()->mutable_multicast()->set_packets_per_second(9);
  good(*ports_, &v1::PortService::Stub::AddPort, request);
  EXPECT_EQ(sw_.ports().at(0).link_mbps, 0u);
}

TEST_F(port_api, a_set_that_cannot_reopen_changes_nothing) {
  add_ports();
  v1::SetPortRequest request;
  request.set_name("p1");
  request.mutable_storm()->mutable_broadcast()->set_percent_hundredths(100);
  good(*ports_, &v1::PortService::Stub::SetPort, request);
  // What it was would be refused now, if it were new.
  sw_.forget_speed("p1");
  sw_.shut_port("p1");
  sw_.fail_reopen(error{errc::io, "port p1", "the driver refuses"});
  request.mutable_storm()->mutable_broadcast()->set_packets_per_second(5);
  request.set_enabled(true);
  const auto set = [&] {
    return refused(*ports_, &v1::PortService::Stub::SetPort, request, grpc::StatusCode::INTERNAL);
  };
  EXPECT_EQ(set(), "port p1");
  EXPECT_EQ(sw_.ports()[1].config.storm.broadcast, flood_limit::percent_hundredths(100));
  EXPECT_EQ(sw_.ports()[1].shut_down, "mac_limit");
  // And where that fails too, it says so.
  sw_.fail_restore(error{errc::io, "port p1", "is gone"});
  grpc::ClientContext context;
  v1::SetPortResponse response;
  const auto status = ports_->SetPort(&context, request, &response);
  EXPECT_NE(status.error_message().find("could not be taken back: port p1: is gone"),
            std::string::npos)
      << status.error_message();
}

TEST_F(port_api, what_a_storm_does_and_how_a_port_comes_back) {
  add_ports();
  v1::SetPortRequest request;
  request.set_name("p1");
  const auto set = [&] { return good(*ports_, &v1::PortService::Stub::SetPort, request); };
  EXPECT_EQ(set().port().spec().storm().action(), v1::STORM_ACTION_DROP);
  request.mutable_storm()->set_action(v1::STORM_ACTION_SHUTDOWN);
  request.set_recover_s(300);
  const auto done = set();
  EXPECT_TRUE(done.changed());
  EXPECT_EQ(done.port().spec().storm().action(), v1::STORM_ACTION_SHUTDOWN);
  EXPECT_EQ(done.port().spec().recover_s(), 300u);
  EXPECT_EQ(done.port().recovers_in_s(), 0u);
  EXPECT_EQ(sw_.ports()[1].config.storm.action, dp::storm_action::shutdown);
  request.Clear();
  request.set_name("p1");
  EXPECT_FALSE(set().changed()) << "what is not said stays";
  sw_.shut_port("p1");
  EXPECT_EQ(set().port().recovers_in_s(), 300u);
  request.set_recover_s(0);
  EXPECT_EQ(set().port().recovers_in_s(), 0u);
  request.set_recover_s(1'000'001);
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "recover_s");
  request.clear_recover_s();
  request.mutable_storm()->set_action(static_cast<v1::StormAction>(9));
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "storm.action");
}

TEST_F(port_api, what_happens_at_the_limit_is_set_and_undone) {
  add_ports();
  v1::SetPortRequest request;
  request.set_name("p1");
  request.set_mac_limit_action(v1::MAC_LIMIT_ACTION_SHUTDOWN);
  const auto set = [&] { return good(*ports_, &v1::PortService::Stub::SetPort, request); };
  EXPECT_EQ(set().port().spec().mac_limit_action(), v1::MAC_LIMIT_ACTION_SHUTDOWN);
  EXPECT_FALSE(set().changed());
  sw_.shut_port("p1");
  EXPECT_EQ(set().port().shut_down(), "mac_limit") << "only who asks for it brings it back";
  request.set_mtu(1400);
  EXPECT_EQ(set().port().shut_down(), "mac_limit");
  request.set_enabled(true);
  const auto back = set();
  EXPECT_TRUE(back.changed());
  EXPECT_EQ(back.port().shut_down(), "");
  EXPECT_FALSE(set().changed());
  request.set_mac_limit_action(v1::MAC_LIMIT_ACTION_DROP);
  EXPECT_EQ(set().port().spec().mac_limit_action(), v1::MAC_LIMIT_ACTION_DROP);
  request.set_mac_limit_action(v1::MAC_LIMIT_ACTION_UNSPECIFIED);
  EXPECT_EQ(set().port().spec().mac_limit_action(), v1::MAC_LIMIT_ACTION_FORWARD);
  request.set_mac_limit_action(static_cast<v1::MacLimitAction>(9));
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "mac_limit_action");
}

TEST_F(port_api, the_reason_of_the_switch_reaches_the_client) {
  sw_.fail_port("p9", {errc::denied, "port p9", "needs CAP_NET_ADMIN"});
  v1::AddPortRequest request;
  request.mutable_spec()->set_name("p9");
  request.mutable_spec()->set_devargs("net_tap0");
  grpc::ClientContext context;
  v1::AddPortResponse response;
  const auto status = ports_->AddPort(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  const auto error = detail(status, context);
  EXPECT_EQ(error.code(), v1::Error::CODE_DENIED);
  EXPECT_EQ(error.what(), "needs CAP_NET_ADMIN");
}

TEST_F(port_api, odd_ports_are_refused_by_field) {
  EXPECT_EQ(refused_port([](auto& s) { s.clear_name(); }), "name");
  EXPECT_EQ(refused_port([](auto& s) { s.set_name(std::string(33, 'a')); }), "name");
  EXPECT_EQ(refused_port([](auto& s) { s.set_name("../etc"); }), "name");
  EXPECT_EQ(refused_port([](auto& s) { s.set_name("a\nb"); }), "name");
  EXPECT_EQ(refused_port([](auto& s) { s.clear_devargs(); }), "devargs");
  EXPECT_EQ(refused_port([](auto& s) { s.set_devargs("net_tap0,iface=a b"); }), "devargs");
  EXPECT_EQ(refused_port([](auto& s) { s.set_devargs(std::string(5000, 'x')); }), "devargs");
  EXPECT_EQ(refused_port([](auto& s) { s.set_devargs("--vdev=x"); }), "devargs");
  EXPECT_EQ(refused_port([](auto& s) { s.set_rx_queues(UINT32_MAX); }), "rx_queues");
  EXPECT_EQ(refused_port([](auto& s) { s.set_tx_descriptors(1u << 20); }), "tx_descriptors");
  EXPECT_EQ(refused_port([](auto& s) { s.set_mtu(67); }), "mtu");
  EXPECT_EQ(refused_port([](auto& s) { s.set_mac_limit(UINT64_MAX); }), "mac_limit");
  const auto with_storm = [this](const auto& spoil) {
    return refused_port([&](auto& s) { spoil(*s.mutable_storm()); });
  };
  EXPECT_EQ(with_storm([](auto& s) { s.mutable_broadcast()->set_packets_per_second(200'000'001); }),
            "storm.broadcast");
  EXPECT_EQ(with_storm([](auto& s) { s.mutable_multicast()->set_bits_per_second(UINT64_MAX); }),
            "storm.multicast");
  EXPECT_EQ(
      with_storm([](auto& s) { s.mutable_unknown_unicast()->set_percent_hundredths(UINT32_MAX); }),
      "storm.unknown_unicast");
}

TEST_F(port_api, odd_vlans_are_refused_by_field) {
  const auto with_vlans = [this](const std::function<void(v1::PortVlans&)>& spoil) {
    return refused_port([&](auto& s) { spoil(*s.mutable_vlans()); });
  };
  EXPECT_EQ(with_vlans([](auto& v) { v.set_native(4095); }), "vlans.native");
  EXPECT_EQ(with_vlans([](auto& v) { v.set_native(65536 + 10); }), "vlans.native")
      << "a number beyond 16 bits must not wrap into a valid one";
  EXPECT_EQ(with_vlans([](auto& v) { v.set_native(0); }), "vlans.native");
  EXPECT_EQ(with_vlans([](auto& v) { v.set_mode(static_cast<v1::VlanMode>(77)); }), "vlans.mode");
  EXPECT_EQ(with_vlans([](auto& v) { v.add_tagged(); }), "vlans.tagged[0]");
  EXPECT_EQ(with_vlans([](auto& v) {
              v.add_tagged()->set_first(2);
              auto* wide = v.add_tagged();
              wide->set_first(3);
              wide->set_last(UINT32_MAX);
            }),
            "vlans.tagged[1]");
  EXPECT_EQ(with_vlans([](auto& v) {
              for (int i = 0; i < 100'000; i++) {
                auto* all = v.add_tagged();
                all->set_first(2);
                all->set_last(4094);
              }
            }),
            "vlans.tagged[2]")
      << "ranges must not multiply";
}

}  // namespace
}  // namespace coua::ctl
