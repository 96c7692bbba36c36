// SPDX-License-Identifier: Apache-2.0
//
// When a version is in force everywhere: once every worker has begun a burst since it was
// published, no packet meets an older one any more. That is a grace period of the workers
// (base/qsbr.h).
//
// Those who wait do so in their own threads; the owner of the pipeline and the workers never do.
// They share the grace period of the newest version, and a version that has been everywhere is not
// waited for again: an idle bridge answers at once.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "pipeline/datapath/plan.h"

namespace coua::dp {

class grace_gate {
 public:
  explicit grace_gate(pipeline::published_plan& plan) : plan_(plan) {}

  /// Any thread but a worker's; after what it waits for was published.
  void wait() { (void)wait_until(std::chrono::steady_clock::time_point::max()); }
  /// False: not for so long.
  bool wait_for(std::chrono::microseconds most) {
    return wait_until(std::chrono::steady_clock::now() + most);
  }

 private:
  bool wait_until(std::chrono::steady_clock::time_point end) {
    // With pipeline_compiler::publish.
    const pipeline::version_no version = plan_.version.load(std::memory_order_acquire);
    if (version == everywhere_.load(std::memory_order_acquire)) return true;
    const qsbr::token token = token_of(version);
    for (unsigned round = 0; !plan_.grace.poll(token); ++round) {
      // A burst takes some microseconds, about as long as the first rounds; a worker that shares
      // its CPU needs longer.
      if (round < 64) {
        __builtin_ia32_pause();
      } else if (std::chrono::steady_clock::now() >= end) {
        return false;
      } else if (round < 80) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    everywhere_.store(version, std::memory_order_release);  // with the load above
    return true;
  }

  qsbr::token token_of(pipeline::version_no version) {
    const std::lock_guard hold(mutex_);
    if (token_version_ != version) {
      token_ = plan_.grace.start();
      token_version_ = version;
    }
    return token_;
  }

  pipeline::published_plan& plan_;
  std::atomic<pipeline::version_no> everywhere_{0};
  std::mutex mutex_;
  pipeline::version_no token_version_ = 0;
  qsbr::token token_ = 0;
};

}  // namespace coua::dp
