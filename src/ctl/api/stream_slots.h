// SPDX-License-Identifier: Apache-2.0
//
// Bounds the threads that streams take, and lets the server wait for them at its end.
#pragma once

#include <condition_variable>
#include <mutex>

namespace coua::ctl {

class stream_slots {
 public:
  explicit stream_slots(unsigned most) : free_(most), most_(most) {}
  ~stream_slots() {
    std::unique_lock hold(mutex_);
    all_free_.wait(hold, [this] { return free_ == most_; });
  }
  bool take() {
    const std::lock_guard hold(mutex_);
    if (free_ == 0) return false;
    free_--;
    return true;
  }
  void give_back() {
    // Notified under the lock: the destructor may end as soon as it is released.
    const std::lock_guard hold(mutex_);
    free_++;
    all_free_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_free_;
  unsigned free_;
  const unsigned most_;
};

}  // namespace coua::ctl
