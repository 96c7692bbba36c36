// SPDX-License-Identifier: Apache-2.0
//
// Dumps of the FIB, whether or not the client reads them.
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class fib_dump_api : public api {
 protected:
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
};

TEST_F(fib_dump_api, a_dump_has_every_entry_once_with_the_name_of_its_port) {
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

TEST_F(fib_dump_api, a_dump_filters_and_stops_at_its_limit) {
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

TEST_F(fib_dump_api, a_dump_names_each_entry_by_the_port_that_it_is_at) {
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

TEST_F(fib_dump_api, a_client_that_does_not_read_is_cut_off_and_others_go_on) {
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

TEST_F(fib_dump_api, a_client_that_vanishes_frees_its_dump) {
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

}  // namespace
}  // namespace coua::ctl
