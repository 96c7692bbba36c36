// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/capture_service.h"

#include "ctl/api/capture_stream.h"

namespace coua::ctl {
namespace {

// More than the switch has captures, so that it is the switch that refuses: some wait for a name
// server, or for their last batch to be read.
constexpr unsigned streams_max = 2 * dp::captures_max;

}  // namespace

capture_service::capture_service(api_core& core) : core_(core), streams_(streams_max) {}

grpc::ServerWriteReactor<v1::CaptureBatch>* capture_service::Capture(
    grpc::CallbackServerContext* context, const v1::CaptureRequest* request) {
  return capture_stream::start(core_, streams_, running_, context, *request);
}

grpc::ServerUnaryReactor* capture_service::EndCapture(grpc::CallbackServerContext* context,
                                                      const v1::EndCaptureRequest* request,
                                                      v1::EndCaptureResponse* response) {
  response->set_changed(running_.end(request->id()));
  auto* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace coua::ctl
