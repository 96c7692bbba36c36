// SPDX-License-Identifier: Apache-2.0
//
// The server as a whole: many clients, and clients that hang when it ends.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

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
