// SPDX-License-Identifier: Apache-2.0
//
// Single entries of the FIB over the API.
#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

TEST_F(api, odd_fib_entries_are_refused_by_field) {
  add_ports();
  v1::AddFibEntryRequest request;
  const auto add = [&](std::uint32_t vlan, const char* mac, const char* port,
                       grpc::StatusCode code = grpc::StatusCode::INVALID_ARGUMENT) {
    request.set_vlan(vlan);
    request.set_mac(mac);
    request.set_port(port);
    return refused(*fib_, &v1::FibService::Stub::AddFibEntry, request, code);
  };
  EXPECT_EQ(add(0, "02:00:00:00:00:01", "p0"), "vlan");
  EXPECT_EQ(add(65546, "02:00:00:00:00:01", "p0"), "vlan");
  EXPECT_EQ(add(10, "", "p0"), "mac");
  EXPECT_EQ(add(10, "02:00:00:00:00:01 ", "p0"), "mac");
  EXPECT_EQ(add(10, "01:00:00:00:00:01", "p0"), "mac");
  EXPECT_EQ(add(10, "00:00:00:00:00:00", "p0"), "mac");
  EXPECT_EQ(add(10, "02:00:00:00:00:01", ""), "port");
  EXPECT_EQ(add(10, "02:00:00:00:00:01", "p7", grpc::StatusCode::NOT_FOUND), "port p7");
  EXPECT_EQ(sw_.fib().entries, 0u);
  v1::SetAgeingRequest ageing;
  for (std::uint32_t s : {1u, 5u, 1'000'001u, UINT32_MAX}) {
    ageing.set_seconds(s);
    EXPECT_EQ(refused(*fib_, &v1::FibService::Stub::SetAgeing, ageing,
                      grpc::StatusCode::INVALID_ARGUMENT),
              "seconds");
  }
  v1::FlushFibRequest flush;
  flush.mutable_filter()->set_kind(static_cast<v1::FibFilter::Kind>(9));
  EXPECT_EQ(
      refused(*fib_, &v1::FibService::Stub::FlushFib, flush, grpc::StatusCode::INVALID_ARGUMENT),
      "filter.kind");
}

TEST_F(api, static_entries_come_and_go_once) {
  add_ports();
  v1::AddFibEntryRequest add;
  add.set_vlan(10);
  add.set_mac("02:00:00:00:00:01");
  add.set_port("p0");
  EXPECT_TRUE(good(*fib_, &v1::FibService::Stub::AddFibEntry, add).changed());
  EXPECT_FALSE(good(*fib_, &v1::FibService::Stub::AddFibEntry, add).changed());
  add.set_port("p1");
  EXPECT_TRUE(good(*fib_, &v1::FibService::Stub::AddFibEntry, add).changed());
  EXPECT_EQ(sw_.fib_find({}, 10, mac1)->port, 1u);
  v1::DeleteFibEntryRequest remove;
  remove.set_vlan(10);
  remove.set_mac("02:00:00:00:00:01");
  EXPECT_TRUE(good(*fib_, &v1::FibService::Stub::DeleteFibEntry, remove).changed());
  EXPECT_FALSE(good(*fib_, &v1::FibService::Stub::DeleteFibEntry, remove).changed());
}

TEST_F(api, an_entry_is_in_a_vlan_that_its_port_carries) {
  add_ports();
  v1::AddFibEntryRequest add;
  add.set_vlan(20);
  add.set_mac("02:00:00:00:00:01");
  add.set_port("p0");
  EXPECT_EQ(
      refused(*fib_, &v1::FibService::Stub::AddFibEntry, add, grpc::StatusCode::INVALID_ARGUMENT),
      "vlan");
  EXPECT_EQ(sw_.fib().entries, 0u);
}

TEST_F(api, flush_takes_learned_or_static_entries) {
  add_ports();
  fill(10);
  const dp::fib_entry fixed{10, 0x0200000000ff, 0, true, 0};
  ASSERT_TRUE(sw_.fib_insert(std::span(&fixed, 1)));
  v1::FlushFibRequest request;
  request.mutable_filter()->set_port("p0");
  EXPECT_EQ(good(*fib_, &v1::FibService::Stub::FlushFib, request).removed(), 5u);
  request.mutable_filter()->set_kind(v1::FibFilter::KIND_STATIC);
  EXPECT_EQ(good(*fib_, &v1::FibService::Stub::FlushFib, request).removed(), 1u);
  EXPECT_EQ(sw_.fib().entries, 5u);
}

}  // namespace
}  // namespace coua::ctl
