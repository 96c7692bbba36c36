// SPDX-License-Identifier: Apache-2.0
//
// An answer of many batches to one client. Its thread fills a batch while the batch before is on
// its way; when the client does not keep up, the thread waits, but not for ever.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/cpu.h"
#include "base/start_thread.h"
#include "ctl/api/core.h"
#include "ctl/api/stream_slots.h"

namespace coua::ctl {

template <typename Batch>
class batch_stream final : public grpc::ServerWriteReactor<Batch> {
 public:
  /// Fills `stream.filling()` and calls `stream.send()` when it is full, which is false when there
  /// is no use in going on. What is left is sent in the end.
  using producer = std::function<result<void>(batch_stream& stream)>;

  /// Answers the call, on a thread of its own where a slot is free. gRPC owns the reactor.
  static batch_stream* start(api_core& core, stream_slots& slots,
                             grpc::CallbackServerContext* context, std::string what,
                             producer produce) {
    auto* stream = new batch_stream(core, context, std::move(what), std::move(produce));
    if (!slots.take()) {
      stream->Finish(to_status(*context, {errc::no_room, stream->what_,
                                          "too many of them run at the same time; try again"}));
      return stream;
    }
    auto thread = start_thread(stream->what_, [stream, &slots] {
      stream->run();  // gRPC may have deleted the stream when this returns
      slots.give_back();
    });
    if (!thread) {
      slots.give_back();
      stream->Finish(to_status(*context, thread.error()));
      return stream;
    }
    thread->detach();
    return stream;
  }

  Batch& filling() { return filling_; }

  /// Nothing to send for that time. False: there is no use in going on.
  bool rest(std::chrono::milliseconds time) {
    std::unique_lock hold(mutex_);
    changed_.wait_for(hold, time, [this] { return broken_; });
    return !broken_ && !core_.stopping;
  }

  bool send() {
    if (!wait_until_sent()) return false;
    flying_.Swap(&filling_);
    filling_.Clear();
    {
      const std::lock_guard hold(mutex_);
      writing_ = true;
    }
    this->StartWrite(&flying_);
    return !core_.stopping;
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard hold(mutex_);
    writing_ = false;
    broken_ = broken_ || !ok;
    changed_.notify_all();
  }
  void OnCancel() override {
    const std::lock_guard hold(mutex_);
    broken_ = true;
    changed_.notify_all();
  }
  void OnDone() override { delete this; }

 private:
  batch_stream(api_core& core, grpc::CallbackServerContext* context, std::string what,
               producer produce)
      : core_(core), context_(context), what_(std::move(what)), produce_(std::move(produce)) {}

  void run() {
    name_this_thread("dump");
    result<void> done = produce_(*this);
    if (done && filling_.ByteSizeLong() > 0) send();
    wait_until_sent();
    if (done && core_.stopping) done = fail(errc::unavailable, what_, "the daemon is stopping");
    if (stalled_) {
      this->Finish(
          {grpc::StatusCode::DEADLINE_EXCEEDED, what_ + ": the client read nothing for too long"});
    } else {
      this->Finish(done ? grpc::Status::OK : to_status(*context_, done.error()));
    }
  }

  // True when the next batch may be written.
  bool wait_until_sent() {
    std::unique_lock hold(mutex_);
    const bool free =
        changed_.wait_for(hold, core_.params.stall, [this] { return !writing_ || broken_; });
    stalled_ = stalled_ || !free;
    return free && !broken_ && !stalled_;
  }

  api_core& core_;
  grpc::CallbackServerContext* const context_;
  const std::string what_;
  const producer produce_;
  Batch filling_, flying_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool writing_ = false;
  bool broken_ = false;   // the client is gone
  bool stalled_ = false;  // it did not read for too long
};

}  // namespace coua::ctl
