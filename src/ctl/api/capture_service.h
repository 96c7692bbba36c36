// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coua/v1/capture.grpc.pb.h"
#include "ctl/api/core.h"
#include "ctl/api/running_captures.h"
#include "ctl/api/stream_slots.h"

namespace coua::ctl {

class capture_service final : public v1::CaptureService::CallbackService {
 public:
  explicit capture_service(api_core& core);

  grpc::ServerWriteReactor<v1::CaptureBatch>* Capture(grpc::CallbackServerContext*,
                                                      const v1::CaptureRequest*) override;
  grpc::ServerUnaryReactor* EndCapture(grpc::CallbackServerContext*, const v1::EndCaptureRequest*,
                                       v1::EndCaptureResponse*) override;

 private:
  api_core& core_;
  running_captures running_;
  stream_slots streams_;  // waits for the captures at its end
};

}  // namespace coua::ctl
