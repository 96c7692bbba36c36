// SPDX-License-Identifier: Apache-2.0
#include "dp/owner_thread.h"

#include <chrono>

#include "base/cpu.h"
#include "base/start_thread.h"

namespace coua::dp {

// How long a report may lie in a ring when nothing else wakes the thread. A host that sends at line
// rate makes a flood of what arrives meanwhile, so it is short; a thousand wake-ups a second cost
// below one per cent of a core.
constexpr std::chrono::milliseconds rest{1};

result<std::unique_ptr<owner_thread>> owner_thread::create(std::string name,
                                                           std::function<bool()> housekeeping) {
  const std::string where = "thread " + name;
  try {
    return std::unique_ptr<owner_thread>(
        new owner_thread(std::move(name), std::move(housekeeping)));
  } catch (const std::system_error& why) {
    return tl::unexpected(no_thread(where, why));
  }
}

owner_thread::owner_thread(std::string name, std::function<bool()> housekeeping)
    : name_(std::move(name)), housekeeping_(std::move(housekeeping)), thread_([this] { run(); }) {}

owner_thread::~owner_thread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void owner_thread::post(std::function<void()> command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  wake_.notify_one();
}

bool owner_thread::try_turn() {
  const std::lock_guard lock(mutex_);
  if (stop_ || !commands_.empty() || !turn_.try_lock()) return false;
  guest_.store(std::this_thread::get_id(), std::memory_order_relaxed);  // read by itself only
  return true;
}

void owner_thread::end_turn() {
  guest_.store({}, std::memory_order_relaxed);
  turn_.unlock();
}

bool owner_thread::run_commands() {
  for (;;) {
    std::function<void()> command;
    // Before a command is taken out: who finds none has the turn after it.
    const std::lock_guard turn(turn_);
    {
      const std::lock_guard lock(mutex_);
      if (commands_.empty()) return !stop_;
      command = std::move(commands_.front());
      commands_.pop_front();
    }
    command();
    housekeeping_();
  }
}

void owner_thread::run() {
  name_this_thread(name_);
  while (run_commands()) {
    {
      const std::lock_guard turn(turn_);
      if (housekeeping_()) continue;
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, rest, [this] { return stop_ || !commands_.empty(); });
  }
}

}  // namespace coua::dp
