// SPDX-License-Identifier: Apache-2.0
//
// Loads of the FIB: a batch is stored as a whole or named.
#include <functional>
#include <thread>

#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

class fib_load_api : public api {
 protected:
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
};

TEST_F(fib_load_api, a_load_stores_columns) {
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
  EXPECT_EQ(sw_.fib_find({}, 10, mac1)->port, 1u);
  EXPECT_FALSE(sw_.fib_find({}, 10, mac1)->is_static);
  EXPECT_TRUE(sw_.fib_find({}, 10, mac1 + 1)->is_static);
  EXPECT_EQ(sw_.fib_find({}, 10, mac1 + 2)->port, 0u);
  EXPECT_EQ(sw_.fib_find({}, 10, mac1 + 3)->port, 1u);
}

TEST_F(fib_load_api, a_bad_batch_is_refused_as_a_whole_and_named) {
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
  refuse([](auto& b) { b.add_keys(std::uint64_t{11} << 48 | mac1); },
         "entry 11 02:00:00:00:00:01: port p0 does not carry VLAN 11; it carries 10");
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
TEST_F(fib_load_api, a_load_ends_at_a_port_that_was_removed_meanwhile) {
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
  EXPECT_FALSE(sw_.fib_find({}, 10, mac1 + 11));
}

TEST_F(fib_load_api, a_full_table_says_how_much_was_stored) {
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

}  // namespace
}  // namespace coua::ctl
