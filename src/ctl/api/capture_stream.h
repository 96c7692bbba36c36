// SPDX-License-Identifier: Apache-2.0
//
// One capture to one client, on a thread of its own: it alone waits for the client.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coua/v1/capture.pb.h"
#include "ctl/api/batch_stream.h"
#include "ctl/api/running_captures.h"
#include "dp/capture/capture.h"

namespace coua::ctl {

class capture_stream {
 public:
  using stream = batch_stream<v1::CaptureBatch>;

  /// Answers the call; see batch_stream.h.
  static stream* start(api_core& core, stream_slots& slots, running_captures& all,
                       grpc::CallbackServerContext* context, const v1::CaptureRequest& request);

 private:
  capture_stream(api_core& core, running_captures& all, const v1::CaptureRequest& request,
                 stream& out)
      : core_(core), place_(all), request_(request), out_(out) {}

  result<void> run();
  bool fill();
  void add(const dp::captured_packet& packet);
  void add_counts();
  std::uint32_t drop_of(const char* name);
  std::uint32_t interface_of(std::uint32_t port);
  void announce();

  api_core& core_;
  const running_captures::capture place_;
  const v1::CaptureRequest& request_;
  stream& out_;
  std::unique_ptr<dp::capture> from_;
  // The client's list of ports: as numbered by the capture, in the order of announcement.
  std::vector<std::uint32_t> announced_;
  std::map<std::string, std::uint32_t> drops_;
};

}  // namespace coua::ctl
