// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/core.h"

#include "coua/v1/common.pb.h"

namespace coua::ctl {
namespace {

struct mapping {
  grpc::StatusCode status;
  v1::Error::Code code;
};

mapping map_code(errc code) {
  switch (code) {
    case errc::invalid: return {grpc::StatusCode::INVALID_ARGUMENT, v1::Error::CODE_INVALID};
    case errc::not_found: return {grpc::StatusCode::NOT_FOUND, v1::Error::CODE_NOT_FOUND};
    case errc::exists: return {grpc::StatusCode::ALREADY_EXISTS, v1::Error::CODE_EXISTS};
    case errc::no_memory: return {grpc::StatusCode::RESOURCE_EXHAUSTED, v1::Error::CODE_NO_MEMORY};
    case errc::no_room: return {grpc::StatusCode::RESOURCE_EXHAUSTED, v1::Error::CODE_NO_ROOM};
    case errc::busy: return {grpc::StatusCode::ABORTED, v1::Error::CODE_BUSY};
    case errc::denied: return {grpc::StatusCode::PERMISSION_DENIED, v1::Error::CODE_DENIED};
    case errc::unavailable: return {grpc::StatusCode::UNAVAILABLE, v1::Error::CODE_UNAVAILABLE};
    case errc::io: return {grpc::StatusCode::INTERNAL, v1::Error::CODE_IO};
    case errc::unsupported:
      return {grpc::StatusCode::FAILED_PRECONDITION, v1::Error::CODE_UNSUPPORTED};
    case errc::interrupted: return {grpc::StatusCode::CANCELLED, v1::Error::CODE_UNSPECIFIED};
  }
  return {grpc::StatusCode::UNKNOWN, v1::Error::CODE_UNSPECIFIED};
}

}  // namespace

grpc::Status to_status(grpc::CallbackServerContext& context, const error& error) {
  const mapping to = map_code(error.code);
  v1::Error detail;
  detail.set_code(to.code);
  detail.set_where(error.where);
  detail.set_what(error.what);
  context.AddTrailingMetadata("coua-error-bin", detail.SerializeAsString());
  return {to.status, error.message()};
}

}  // namespace coua::ctl
