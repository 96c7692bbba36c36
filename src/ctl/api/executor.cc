// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/executor.h"

#include <utility>

#include "base/cpu.h"

namespace coua::ctl {

executor::executor(unsigned threads, std::size_t queue_max) : queue_max_(queue_max) {
  try {
    for (unsigned i = 0; i < threads; i++) threads_.emplace_back([this] { work(); });
  } catch (...) {
    end();
    throw;
  }
}

void executor::end() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool executor::post(std::function<void()> task) {
  {
    const std::lock_guard hold(mutex_);
    if (queue_.size() >= queue_max_) return false;
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
  return true;
}

void executor::work() {
  name_this_thread("api");
  std::unique_lock hold(mutex_);
  while (true) {
    wake_.wait(hold, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto task = std::move(queue_.front());
    queue_.pop_front();
    hold.unlock();
    task();
    hold.lock();
  }
}

}  // namespace coua::ctl
