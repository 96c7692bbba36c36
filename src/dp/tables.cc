// SPDX-License-Identifier: Apache-2.0
#include "dp/tables.h"

#include <chrono>

#include "base/cpu.h"

namespace coua::dp {

// How long a report may lie in a ring when nothing else wakes the thread. A host that sends at line
// rate makes a flood of what arrives meanwhile, so it is short; a thousand wake-ups a second cost
// below one per cent of a core.
constexpr std::chrono::milliseconds rest{1};

tables::tables(std::function<bool()> housekeeping)
    : housekeeping_(std::move(housekeeping)), thread_([this] { run(); }) {}

tables::~tables() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void tables::post(std::function<void()> command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  wake_.notify_one();
}

bool tables::run_commands() {
  for (;;) {
    std::function<void()> command;
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

void tables::run() {
  name_this_thread("coua-tables");
  while (run_commands()) {
    if (housekeeping_()) continue;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, rest, [this] { return stop_ || !commands_.empty(); });
  }
}

}  // namespace coua::dp
