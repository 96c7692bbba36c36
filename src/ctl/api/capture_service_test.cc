// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cmath>
#include <thread>

#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

const std::vector<std::uint8_t> frame(60, 7);

dp::captured_packet packet(std::uint32_t interface, const char* drop = nullptr) {
  dp::captured_packet one;
  one.time_ns = 99;
  one.interface = interface;
  one.length = 100;
  one.vlan = 10;
  one.direction = dp::capture_direction::out;
  one.drop = drop;
  one.bytes = frame;
  return one;
}

std::vector<v1::CaptureBatch> all(grpc::ClientReader<v1::CaptureBatch>& from) {
  std::vector<v1::CaptureBatch> found(1);
  while (from.Read(&found.back())) found.emplace_back();
  found.pop_back();
  return found;
}

template <typename Condition>
bool soon(const Condition& condition) {
  for (unsigned i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_F(api, a_capture_of_so_many_frames) {
  dp::capture_spec asked;
  sw_.on_capture([&](const dp::capture_spec& spec) {
    asked = spec;
    return fake_switch::packets{packet(1, "drop_hairpin"), packet(2), packet(1)};
  });
  v1::CaptureRequest request;
  request.add_ports("p1");
  request.set_direction(v1::CaptureRequest::DIRECTION_OUT);
  request.add_vlans()->set_first(7);
  request.add_drops("any");
  request.set_filter("arp");
  request.set_snap(60);
  request.set_count(3);
  request.set_buffer_bytes(1 << 20);
  grpc::ClientContext context;
  const auto stream = captures_->Capture(&context, request);
  const auto found = all(*stream);
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_EQ(asked.ports, std::vector<std::string>{"p1"});
  EXPECT_FALSE(asked.in);
  EXPECT_TRUE(asked.out);
  EXPECT_EQ(asked.vlans, (std::vector<std::pair<std::uint16_t, std::uint16_t>>{{7, 7}}));
  EXPECT_EQ(asked.drops, std::vector<std::string>{"any"});
  EXPECT_EQ(asked.filter, "arp");
  EXPECT_EQ(asked.snap, 60u);
  EXPECT_EQ(asked.buffer_bytes, std::size_t{1} << 20);
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0].interface_names_size(), 1) << "the port that was asked for, before any frame";
  EXPECT_EQ(found[0].interface_names(0), "p1");
  const v1::CaptureBatch& batch = found[1];
  ASSERT_EQ(batch.times_ns_size(), 3);
  EXPECT_EQ(batch.interface_names(0), "(controller)");
  EXPECT_EQ(batch.interfaces(0), 0u);
  EXPECT_EQ(batch.interfaces(1), 1u);
  EXPECT_EQ(batch.drop_names(0), "drop_hairpin");
  ASSERT_EQ(batch.drops_size(), 3) << "a column is whole or empty";
  EXPECT_EQ(batch.drops(0), 1u);
  EXPECT_EQ(batch.drops(1), 0u);
  EXPECT_EQ(batch.lengths(0), 100u);
  EXPECT_EQ(batch.sizes(0), 60u);
  EXPECT_TRUE(batch.outbound(0));
  EXPECT_EQ(batch.data().size(), 180u);
  EXPECT_TRUE(soon([&] { return sw_.captures() == 0; }));
}

TEST_F(api, a_capture_ends_with_its_time_and_tells_what_was_lost) {
  sw_.on_capture([](const dp::capture_spec&) { return fake_switch::packets{}; });
  v1::CaptureRequest request;
  request.set_seconds(0.1);
  grpc::ClientContext context;
  const auto stream = captures_->Capture(&context, request);
  const auto found = all(*stream);
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0].interface_names_size(), 2);
  ASSERT_EQ(found.back().counts_size(), 2);
  EXPECT_EQ(found.back().counts(0).lost(), 3u);
}

// The client reads nothing meanwhile: most of it waits in the switch and in the server.
TEST_F(api, a_capture_that_is_ended_brings_what_was_captured_up_to_then) {
  std::atomic<std::uint64_t> n_captured{0};
  sw_.on_capture([&](const dp::capture_spec&) {
    n_captured += 10'000;
    return fake_switch::packets(10'000, packet(0));
  });
  grpc::ClientContext context;
  const auto stream = captures_->Capture(&context, {});
  v1::CaptureBatch first;
  ASSERT_TRUE(stream->Read(&first));
  v1::EndCaptureRequest end;
  end.set_id(first.id());
  EXPECT_TRUE(soon([&] { return n_captured > 0; }));
  const auto end_it = [&] {
    return good(*captures_, &v1::CaptureService::Stub::EndCapture, end).changed();
  };
  EXPECT_TRUE(end_it());
  const auto found = all(*stream);
  ASSERT_TRUE(stream->Finish().ok());
  std::uint64_t n_read = 0;
  for (const v1::CaptureBatch& batch : found)
    n_read += static_cast<std::uint64_t>(batch.times_ns_size());
  EXPECT_EQ(n_read, n_captured);
  EXPECT_EQ(found.back().counts(0).captured(), n_captured);
  EXPECT_TRUE(soon([&] { return sw_.captures() == 0; }));
  EXPECT_TRUE(soon([&] { return !end_it(); })) << "it is over";
  end.set_id(0);
  EXPECT_FALSE(end_it());
}

TEST_F(api, who_ends_a_capture_ends_no_other) {
  sw_.on_capture([](const dp::capture_spec&) { return fake_switch::packets(1, packet(0)); });
  grpc::ClientContext one, two;
  const auto ended = captures_->Capture(&one, {});
  const auto going_on = captures_->Capture(&two, {});
  v1::CaptureBatch batch;
  ASSERT_TRUE(going_on->Read(&batch));
  const std::uint64_t other = batch.id();
  ASSERT_TRUE(ended->Read(&batch));
  EXPECT_NE(batch.id(), other);
  v1::EndCaptureRequest end;
  end.set_id(batch.id());
  EXPECT_TRUE(good(*captures_, &v1::CaptureService::Stub::EndCapture, end).changed());
  all(*ended);
  EXPECT_TRUE(ended->Finish().ok());
  EXPECT_EQ(sw_.captures(), 1u);
  EXPECT_TRUE(going_on->Read(&batch));
  two.TryCancel();
}

// Red when one that hangs or goes away keeps the capture, or holds up the others.
TEST_F(api, clients_of_captures_that_hang_or_vanish) {
  sw_.on_capture([](const dp::capture_spec&) { return fake_switch::packets(1000, packet(0)); });
  {
    grpc::ClientContext hanging, vanishing;
    const auto first = captures_->Capture(&hanging, {});
    const auto second = captures_->Capture(&vanishing, {});
    v1::CaptureBatch batch;
    ASSERT_TRUE(first->Read(&batch));
    ASSERT_TRUE(second->Read(&batch));
    EXPECT_TRUE(soon([&] { return sw_.captures() == 2; }));
    vanishing.TryCancel();
    EXPECT_TRUE(soon([&] { return sw_.captures() == 1; }));
    EXPECT_EQ(good(*system_, &v1::SystemService::Stub::GetVersion, {}).version(), "1.2.3");
    hanging.TryCancel();
  }
  EXPECT_TRUE(soon([&] { return sw_.captures() == 0; }));
}

TEST_F(api, the_server_ends_while_captures_run) {
  sw_.on_capture([](const dp::capture_spec&) { return fake_switch::packets(1000, packet(0)); });
  grpc::ClientContext hanging;
  const auto stream = captures_->Capture(&hanging, {});
  v1::CaptureBatch batch;
  ASSERT_TRUE(stream->Read(&batch));
  server_.reset();
  EXPECT_EQ(sw_.captures(), 0u);
}

TEST_F(api, what_a_capture_cannot_be) {
  const auto where = [&](const v1::CaptureRequest& request, grpc::StatusCode code) {
    grpc::ClientContext context;
    const auto stream = captures_->Capture(&context, request);
    EXPECT_TRUE(all(*stream).empty());
    const grpc::Status status = stream->Finish();
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    return detail(status, context).where();
  };
  const auto invalid = grpc::StatusCode::INVALID_ARGUMENT;
  v1::CaptureRequest request;
  EXPECT_EQ(where(request, grpc::StatusCode::RESOURCE_EXHAUSTED), "capture");
  sw_.on_capture([](const dp::capture_spec&) { return fake_switch::packets{}; });
  request.set_direction(static_cast<v1::CaptureRequest::Direction>(9));
  EXPECT_EQ(where(request, invalid), "direction");
  for (const double seconds : {-1.0, 1e10, std::nan("")}) {
    request = {};
    request.set_seconds(seconds);
    EXPECT_EQ(where(request, invalid), "seconds");
  }
  for (const auto& [first, last] :
       {std::pair{0u, 5u}, {5u, 4u}, {4095u, 0u}, {1u, 65'546u}, {65'546u, 65'546u}}) {
    request = {};
    request.add_vlans()->set_first(first);
    request.mutable_vlans(0)->set_last(last);
    EXPECT_EQ(where(request, invalid), "vlans") << first << "-" << last;
  }
}

}  // namespace
}  // namespace coua::ctl
