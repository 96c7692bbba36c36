// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait so that gRPC's do not have to: a call into the switch blocks until the FIB's
// owner has answered, and a blocked gRPC thread serves nobody.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace coua::ctl {

class executor {
 public:
  /// Throws std::system_error when the system gives no thread.
  executor(unsigned threads, std::size_t queue_max);
  /// Does what is queued, then ends.
  ~executor() { end(); }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// False when the queue is full: the task is not done. Any thread.
  bool post(std::function<void()> task);

 private:
  void work();
  void end();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  const std::size_t queue_max_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace coua::ctl
