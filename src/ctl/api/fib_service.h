// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coua/v1/fib.grpc.pb.h"
#include "ctl/api/core.h"
#include "ctl/api/stream_slots.h"

namespace coua::ctl {

class fib_service final : public v1::FibService::CallbackService {
 public:
  explicit fib_service(api_core& core) : core_(core), dumps_(core.params.dumps) {}

  grpc::ServerWriteReactor<v1::FibBatch>* ShowFib(grpc::CallbackServerContext*,
                                                  const v1::ShowFibRequest*) override;
  grpc::ServerUnaryReactor* AddFibEntry(grpc::CallbackServerContext*, const v1::AddFibEntryRequest*,
                                        v1::AddFibEntryResponse*) override;
  grpc::ServerUnaryReactor* DeleteFibEntry(grpc::CallbackServerContext*,
                                           const v1::DeleteFibEntryRequest*,
                                           v1::DeleteFibEntryResponse*) override;
  grpc::ServerUnaryReactor* FlushFib(grpc::CallbackServerContext*, const v1::FlushFibRequest*,
                                     v1::FlushFibResponse*) override;
  grpc::ServerReadReactor<v1::FibBatch>* LoadFib(grpc::CallbackServerContext*,
                                                 v1::LoadFibResponse*) override;
  grpc::ServerUnaryReactor* GetFibStats(grpc::CallbackServerContext*, const v1::GetFibStatsRequest*,
                                        v1::GetFibStatsResponse*) override;
  grpc::ServerUnaryReactor* SetAgeing(grpc::CallbackServerContext*, const v1::SetAgeingRequest*,
                                      v1::SetAgeingResponse*) override;

 private:
  result<void> add(const v1::AddFibEntryRequest& request, v1::AddFibEntryResponse& response);
  result<void> remove(const v1::DeleteFibEntryRequest& request,
                      v1::DeleteFibEntryResponse& response);
  result<void> flush(const v1::FlushFibRequest& request, v1::FlushFibResponse& response);
  result<void> stats(v1::GetFibStatsResponse& response);
  result<void> set_ageing(const v1::SetAgeingRequest& request, v1::SetAgeingResponse& response);

  api_core& core_;
  stream_slots dumps_;
};

}  // namespace coua::ctl
