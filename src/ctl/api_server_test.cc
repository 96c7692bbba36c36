// SPDX-License-Identifier: Apache-2.0
//
// The API over its socket, before a switch in memory. What a hostile or broken client sends must
// end in an error that names the field, and never hold up the others or the end of the server.
#include "ctl/api_server.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "coua/v1/common.pb.h"
#include "coua/v1/fib.grpc.pb.h"
#include "coua/v1/port.grpc.pb.h"
#include "coua/v1/system.grpc.pb.h"
#include "ctl/fake_switch.h"

namespace coua::ctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::uint64_t vlan10 = std::uint64_t{10} << 48;
constexpr std::uint64_t mac1 = 0x020000000001;

std::string fresh_socket() {
  static int number = 0;
  return "/tmp/coua-api-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".sock";
}

class api : public testing::Test {
 protected:
  void SetUp() override { start({}); }

  void start(api_params params) {
    params.version = "1.2.3";
    params.config = "f.yaml";
    auto claim = socket_claim::take(path_);
    ASSERT_TRUE(claim) << claim.error().message();
    auto created = api_server::create(sw_, std::move(*claim), params);
    ASSERT_TRUE(created) << created.error().message();
    server_ = std::move(*created);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // not the connection of a test before
    const auto channel =
        grpc::CreateCustomChannel("unix:" + path_, grpc::InsecureChannelCredentials(), arguments);
    ports_ = v1::PortService::NewStub(channel);
    fib_ = v1::FibService::NewStub(channel);
    system_ = v1::SystemService::NewStub(channel);
  }

  void restart(api_params params) {
    server_.reset();
    start(params);
  }

  void add_ports() {
    for (const char* name : {"p0", "p1"}) {
      dp::port_config port;
      port.name = name;
      port.devargs = std::string("net_null") + name[1];
      port.native_vlan = 10;
      ASSERT_TRUE(sw_.add_port(port));
    }
  }

  void fill(std::uint64_t n) {
    std::vector<dp::fib_entry> entries;
    for (std::uint64_t i = 0; i < n; i++)
      entries.push_back({10, mac1 + i, static_cast<unsigned>(i % 2), false, 7});
    ASSERT_TRUE(sw_.fib_insert(entries));
  }

  // The error of a call: its status and the detail in the trailer must say the same.
  static v1::Error detail(const grpc::Status& status, const grpc::ClientContext& context) {
    v1::Error error;
    const auto& trailer = context.GetServerTrailingMetadata();
    const auto found = trailer.find("coua-error-bin");
    if (found == trailer.end()) {
      ADD_FAILURE() << "no detail with: " << status.error_message();
      return error;
    }
    EXPECT_TRUE(error.ParseFromArray(found->second.data(), static_cast<int>(found->second.size())));
    EXPECT_EQ(status.error_message(), error.where() + ": " + error.what());
    return error;
  }

  // Calls, expects a refusal of this status, and returns where it was.
  template <typename Stub, typename Request, typename Response>
  std::string refused(Stub& stub,
                      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                      const Request& request, grpc::StatusCode code) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    return status.ok() ? "" : detail(status, context).where();
  }

  template <typename Stub, typename Request, typename Response>
  Response good(Stub& stub,
                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

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

  grpc::Status load(const std::vector<v1::FibBatch>& batches, std::uint64_t* stored = nullptr) {
    grpc::ClientContext context;
    v1::LoadFibResponse response;
    auto stream = fib_->LoadFib(&context, &response);
    for (const auto& batch : batches)
      if (!stream->Write(batch)) break;
    stream->WritesDone();
    const auto status = stream->Finish();
    if (stored != nullptr) *stored = response.stored();
    if (!status.ok()) detail(status, context);
    return status;
  }

  struct shown {
    std::uint64_t key;
    std::string port;
    std::uint32_t age_s;
  };
  std::vector<shown> show(const v1::ShowFibRequest& request) {
    grpc::ClientContext context;
    auto stream = fib_->ShowFib(&context, request);
    std::vector<shown> out;
    std::vector<std::string> names;
    for (v1::FibBatch batch; stream->Read(&batch);) {
      for (const auto& name : batch.port_names()) names.push_back(name);
      for (int i = 0; i < batch.keys_size(); i++)
        out.push_back({batch.keys(i), names.at(batch.ports(i)), batch.ages_s(i)});
    }
    const auto status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return out;
  }

  const std::string path_ = fresh_socket();
  fake_switch sw_;
  std::unique_ptr<api_server> server_;
  std::unique_ptr<v1::PortService::Stub> ports_;
  std::unique_ptr<v1::FibService::Stub> fib_;
  std::unique_ptr<v1::SystemService::Stub> system_;
};

TEST_F(api, version) {
  const auto got = good(*system_, &v1::SystemService::Stub::GetVersion, v1::GetVersionRequest());
  EXPECT_EQ(got.version(), "1.2.3");
  EXPECT_EQ(got.config(), "f.yaml");
  EXPECT_EQ(got.pid(), getpid());
  EXPECT_FALSE(got.description().empty());
}

TEST_F(api, adding_a_port_twice_changes_nothing) {
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
  EXPECT_EQ(got.port().spec().mtu(), 1500u);
  EXPECT_TRUE(got.port().spec().learning());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::AddPort, request).changed());
  request.mutable_spec()->set_mtu(9000);
  EXPECT_EQ(
      refused(*ports_, &v1::PortService::Stub::AddPort, request, grpc::StatusCode::ALREADY_EXISTS),
      "port p0");
  EXPECT_EQ(sw_.ports()[0].config.mtu, 1500u);
}

TEST_F(api, removing_a_port_twice_changes_nothing) {
  add_ports();
  v1::RemovePortRequest request;
  request.set_name("p0");
  EXPECT_TRUE(good(*ports_, &v1::PortService::Stub::RemovePort, request).changed());
  EXPECT_FALSE(good(*ports_, &v1::PortService::Stub::RemovePort, request).changed());
  EXPECT_EQ(sw_.ports().size(), 1u);
}

TEST_F(api, setting_a_port_keeps_what_is_not_named) {
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
  request.set_mtu(1);
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "mtu");
  request.set_name("nobody");
  EXPECT_EQ(refused(*ports_, &v1::PortService::Stub::SetPort, request, grpc::StatusCode::NOT_FOUND),
            "port nobody");
}

TEST_F(api, the_reason_of_the_switch_reaches_the_client) {
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

TEST_F(api, odd_ports_are_refused_by_field) {
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
}

TEST_F(api, odd_vlans_are_refused_by_field) {
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
  EXPECT_EQ(sw_.fib_find(10, mac1)->port, 1u);
  v1::DeleteFibEntryRequest remove;
  remove.set_vlan(10);
  remove.set_mac("02:00:00:00:00:01");
  EXPECT_TRUE(good(*fib_, &v1::FibService::Stub::DeleteFibEntry, remove).changed());
  EXPECT_FALSE(good(*fib_, &v1::FibService::Stub::DeleteFibEntry, remove).changed());
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

TEST_F(api, a_dump_has_every_entry_once_with_the_name_of_its_port) {
  add_ports();
  fill(20'000);
  const auto entries = show({});
  ASSERT_EQ(entries.size(), 20'000u);
  std::set<std::uint64_t> keys;
  for (const auto& entry : entries) {
    keys.insert(entry.key);
    ASSERT_EQ(entry.port, (entry.key - mac1) % 2 == 0 ? "p0" : "p1");
    ASSERT_EQ(entry.age_s, 7u);
  }
  EXPECT_EQ(keys.size(), 20'000u);
  EXPECT_EQ(*keys.begin(), vlan10 | mac1);
}

TEST_F(api, a_dump_filters_and_stops_at_its_limit) {
  add_ports();
  fill(20'000);
  v1::ShowFibRequest request;
  request.set_limit(8193);
  EXPECT_EQ(show(request).size(), 8193u);
  request.set_limit(0);
  request.mutable_filter()->set_port("p1");
  EXPECT_EQ(show(request).size(), 10'000u);
  request.mutable_filter()->set_vlan(10);
  request.mutable_filter()->set_mac("02:00:00:00:00:02");
  EXPECT_EQ(show(request).size(), 1u);
  request.mutable_filter()->set_port("p0");
  EXPECT_EQ(show(request).size(), 0u);
  request.mutable_filter()->set_vlan(11);
  EXPECT_EQ(show(request).size(), 0u);
}

TEST_F(api, a_load_stores_columns) {
  add_ports();
  v1::FibBatch first, second;
  first.add_port_names("p1");
  first.add_keys(vlan10 | mac1);
  first.add_keys(vlan10 | (mac1 + 1) | std::uint64_t{1} << 60);
  first.add_ports(0);
  second.add_port_names("p0");
  second.add_keys(vlan10 | (mac1 + 2));
  second.add_keys(vlan10 | (mac1 + 3));
  second.add_ports(1);
  second.add_ports(0);
  std::uint64_t stored = 0;
  ASSERT_TRUE(load({first, second}, &stored).ok());
  EXPECT_EQ(stored, 4u);
  EXPECT_EQ(sw_.fib_find(10, mac1)->port, 1u);
  EXPECT_FALSE(sw_.fib_find(10, mac1)->is_static);
  EXPECT_TRUE(sw_.fib_find(10, mac1 + 1)->is_static);
  EXPECT_EQ(sw_.fib_find(10, mac1 + 2)->port, 0u);
  EXPECT_EQ(sw_.fib_find(10, mac1 + 3)->port, 1u);
}

TEST_F(api, a_bad_batch_is_refused_as_a_whole_and_named) {
  add_ports();
  v1::FibBatch good_one;
  good_one.add_port_names("p0");
  good_one.add_keys(vlan10 | mac1);
  good_one.add_ports(0);
  const auto refuse = [&](const std::function<void(v1::FibBatch&)>& spoil, const char* words,
                          grpc::StatusCode code = grpc::StatusCode::INVALID_ARGUMENT) {
    v1::FibBatch bad;
    bad.add_keys(vlan10 | (mac1 + 100));  // good, but must not be stored
    bad.add_ports(0);
    spoil(bad);
    const auto status = load({good_one, bad});
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_NE(status.error_message().find(words), std::string::npos) << status.error_message();
    EXPECT_NE(status.error_message().find("batch 1"), std::string::npos);
    EXPECT_NE(status.error_message().find("(1 entries of the batches before it are stored)"),
              std::string::npos);
    EXPECT_EQ(sw_.fib().entries, 1u);
  };
  refuse([](auto& b) { b.add_keys(std::uint64_t{1} << 63 | vlan10 | mac1); }, "keys[1]");
  refuse([](auto& b) { b.add_keys(mac1); }, "keys[1]: VLAN 0");
  refuse([](auto& b) { b.add_keys(std::uint64_t{4095} << 48 | mac1); }, "VLAN 4095");
  refuse([](auto& b) { b.add_keys(vlan10 | 0x010000000000); }, "group address");
  refuse([](auto& b) { b.set_ports(0, 1); }, "ports[0]: 1 is beyond the 1 port names");
  refuse([](auto& b) { b.add_ports(0); }, "ports: has 2 elements for 1 keys");
  refuse([](auto& b) { b.clear_ports(); }, "ports: has 0 elements");
  refuse([](auto& b) { b.add_port_names("p7"); }, "no such port", grpc::StatusCode::NOT_FOUND);
  refuse([](auto& b) { b.add_port_names(""); }, "port: is empty");
  refuse(
      [](auto& b) {
        for (int i = 0; i < 65536; i++) b.add_keys(vlan10 | mac1);
      },
      "more than");
}

// Red when a stream keeps the number that a name had at its start.
TEST_F(api, a_load_ends_at_a_port_that_was_removed_meanwhile) {
  add_ports();
  grpc::ClientContext context;
  v1::LoadFibResponse response;
  const auto stream = fib_->LoadFib(&context, &response);
  v1::FibBatch batch;
  batch.add_port_names("p0");
  batch.add_port_names("p1");
  for (std::uint64_t i = 0; i < 2; i++) batch.add_keys(vlan10 | (mac1 + i));
  batch.add_ports(0);
  batch.add_ports(1);
  ASSERT_TRUE(stream->Write(batch));
  while (sw_.fib().entries < 2) std::this_thread::yield();
  ASSERT_TRUE(sw_.remove_port("p1"));
  dp::port_config other;
  other.name = "other";
  other.devargs = "net_null9";
  ASSERT_EQ(sw_.add_port(other).value(), 1u) << "the number is given again";
  batch.clear_port_names();
  for (int i = 0; i < 2; i++) batch.set_keys(i, vlan10 | (mac1 + 10 + static_cast<unsigned>(i)));
  stream->Write(batch);
  stream->WritesDone();
  const auto status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(detail(status, context).where().find("port p1"), std::string::npos)
      << status.error_message();
  EXPECT_FALSE(sw_.fib_find(10, mac1 + 11));
}

TEST_F(api, a_dump_names_each_entry_by_the_port_that_it_is_at) {
  add_ports();
  fill(2000);
  int part = 0;
  sw_.on_dump_part([&] {
    if (++part != 2) return;
    ASSERT_TRUE(sw_.remove_port("p1"));
    dp::port_config other;
    other.name = "other";
    other.devargs = "net_null9";
    ASSERT_EQ(sw_.add_port(other).value(), 1u) << "the number is given again";
    const dp::fib_entry late{10, mac1 + 9999, 1, false, 7};
    ASSERT_TRUE(sw_.fib_insert(std::span(&late, 1)));
  });
  std::map<std::string, unsigned> at;
  for (const auto& entry : show({})) at[entry.port]++;
  EXPECT_EQ(at, (std::map<std::string, unsigned>{{"p0", 1000}, {"p1", 500}, {"other", 1}}));
}

TEST_F(api, a_full_table_says_how_much_was_stored) {
  add_ports();
  sw_.set_capacity(3);
  v1::FibBatch batch;
  batch.add_port_names("p0");
  batch.add_ports(0);
  for (int i = 0; i < 2; i++) batch.add_keys(vlan10 | (mac1 + static_cast<std::uint64_t>(i)));
  v1::FibBatch more = batch;
  more.clear_port_names();
  for (int i = 0; i < 2; i++)
    more.set_keys(i, vlan10 | (mac1 + 10 + static_cast<std::uint64_t>(i)));
  const auto status = load({batch, more});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("(2 entries of the batches before"), std::string::npos);
}

TEST_F(api, vlans_have_port_names) {
  add_ports();
  const auto all = good(*system_, &v1::SystemService::Stub::ListVlans, v1::ListVlansRequest());
  ASSERT_EQ(all.vlans_size(), 1);
  EXPECT_EQ(all.vlans(0).vlan(), 10u);
  ASSERT_EQ(all.vlans(0).untagged_size(), 2);
  EXPECT_EQ(all.vlans(0).untagged(1), "p1");
  v1::ListVlansRequest one;
  one.set_vlan(11);
  EXPECT_EQ(
      refused(*system_, &v1::SystemService::Stub::ListVlans, one, grpc::StatusCode::NOT_FOUND),
      "VLAN 11");
  one.set_vlan(5000);
  EXPECT_EQ(refused(*system_, &v1::SystemService::Stub::ListVlans, one,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "vlan");
}

TEST_F(api, a_client_that_does_not_read_is_cut_off_and_others_go_on) {
  api_params params;
  params.stall = seconds(1);
  params.dumps = 1;
  restart(params);
  add_ports();
  fill(1'000'000);
  grpc::ClientContext context;
  auto stalled = fib_->ShowFib(&context, {});
  v1::FibBatch batch;
  ASSERT_TRUE(stalled->Read(&batch));
  // The only slot is taken, and everything else still works.
  grpc::ClientContext second;
  auto refused = fib_->ShowFib(&second, {});
  EXPECT_FALSE(refused->Read(&batch));
  EXPECT_EQ(refused->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  good(*system_, &v1::SystemService::Stub::GetVersion, v1::GetVersionRequest());
  // The slot comes back without a word of the client.
  const auto start = steady_clock::now();
  grpc::Status status;
  do {
    std::this_thread::sleep_for(milliseconds(100));
    grpc::ClientContext again;
    v1::ShowFibRequest one;
    one.set_limit(1);
    auto stream = fib_->ShowFib(&again, one);
    while (stream->Read(&batch)) {
    }
    status = stream->Finish();
  } while (!status.ok() && steady_clock::now() - start < seconds(60));
  EXPECT_TRUE(status.ok()) << status.error_message();
  while (stalled->Read(&batch)) {
  }
  EXPECT_EQ(stalled->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(api, a_client_that_vanishes_frees_its_dump) {
  api_params params;
  params.dumps = 1;
  restart(params);
  add_ports();
  fill(1'000'000);
  v1::FibBatch batch;
  for (int i = 0; i < 5; i++) {
    grpc::ClientContext context;
    const auto stream = fib_->ShowFib(&context, {});
    stream->Read(&batch);  // may be refused while the one before is still being ended
    context.TryCancel();
    stream->Finish();
  }
  const auto start = steady_clock::now();
  grpc::StatusCode code;
  do {
    grpc::ClientContext context;
    v1::ShowFibRequest one;
    one.set_limit(1);
    auto stream = fib_->ShowFib(&context, one);
    while (stream->Read(&batch)) {
    }
    code = stream->Finish().error_code();
  } while (code != grpc::StatusCode::OK && steady_clock::now() - start < seconds(60));
  EXPECT_EQ(code, grpc::StatusCode::OK);
}

TEST_F(api, the_server_ends_in_bounded_time_whatever_clients_do) {
  add_ports();
  fill(1'000'000);
  grpc::ClientContext dump_context, load_context;
  auto dump = fib_->ShowFib(&dump_context, {});
  v1::FibBatch batch;
  ASSERT_TRUE(dump->Read(&batch));
  v1::LoadFibResponse response;
  auto load = fib_->LoadFib(&load_context, &response);  // never sends, never ends
  std::this_thread::sleep_for(milliseconds(100));
  const auto start = steady_clock::now();
  server_.reset();
  EXPECT_LT(steady_clock::now() - start, seconds(60));
  EXPECT_FALSE(std::filesystem::exists(path_));
  while (dump->Read(&batch)) {
  }
  EXPECT_FALSE(dump->Finish().ok());
  EXPECT_FALSE(load->Finish().ok());
}

TEST_F(api, many_clients_at_once) {
  add_ports();
  fill(1000);
  std::vector<std::thread> clients;
  std::atomic<int> failures{0};
  for (int c = 0; c < 8; c++)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 50; i++) {
        grpc::ClientContext context;
        v1::AddPortRequest add;
        add.mutable_spec()->set_name("x" + std::to_string(c));
        add.mutable_spec()->set_devargs("net_null1" + std::to_string(c));
        v1::AddPortResponse added;
        failures += !ports_->AddPort(&context, add, &added).ok();
        grpc::ClientContext context2;
        v1::RemovePortRequest remove;
        remove.set_name(add.spec().name());
        v1::RemovePortResponse removed;
        failures += !ports_->RemovePort(&context2, remove, &removed).ok() || !removed.changed();
      }
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(sw_.ports().size(), 2u);
}

}  // namespace
}  // namespace coua::ctl
