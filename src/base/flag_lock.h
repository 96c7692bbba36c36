// SPDX-License-Identifier: Apache-2.0
//
// A lock of one byte, for arrays of locks that are held for some hundred nanoseconds and rarely
// wanted by two threads at once. Who finds it held for longer lets others run, so that more threads
// than cores do no harm.
#pragma once

#include <atomic>
#include <thread>

namespace coua {

class flag_lock {
 public:
  explicit flag_lock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      for (unsigned n = 0; n < looks && flag_.test(std::memory_order_relaxed); ++n) continue;
      if (flag_.test(std::memory_order_relaxed)) std::this_thread::yield();
    }
  }
  ~flag_lock() { flag_.clear(std::memory_order_release); }
  flag_lock(const flag_lock&) = delete;
  flag_lock& operator=(const flag_lock&) = delete;

 private:
  static constexpr unsigned looks = 256;  // some hundred nanoseconds

  std::atomic_flag& flag_;
};

}  // namespace coua
