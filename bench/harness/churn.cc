// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/churn.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/harness/crew.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t most_absent = 4096;
constexpr std::uint64_t most_debt_ns = 5'000'000;
constexpr double tick_s = 250e-6;  // between ticks the writer sleeps

void sleep_until(std::uint64_t deadline_ns) {
  const timespec when = {static_cast<time_t>(deadline_ns / 1'000'000'000),
                         static_cast<long>(deadline_ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

churn::churn(churned& target, std::uint64_t entries, double updates_per_s, std::size_t batch)
    : target_(target), entries_(entries), batch_(batch) {
  absent_ = std::clamp<std::uint64_t>(entries / 64, 1, most_absent);
  pairs_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(updates_per_s * tick_s / 2));
  pairs_ = std::min(pairs_, absent_);
  tick_ns_ = static_cast<std::uint64_t>(2e9 * static_cast<double>(pairs_) / updates_per_s);
  thread_ = std::thread([this] { work(); });
}

churn::~churn() {
  pause();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  insert(erased_ - inserted_);
}

void churn::start() {
  const std::lock_guard lock(mutex_);
  wanted_ = true;
  changed_.notify_all();
}

void churn::pause() {
  std::unique_lock lock(mutex_);
  wanted_ = false;
  changed_.wait(lock, [this] { return !running_; });
}

void churn::work() {
  // Without a CPU of its own the writer still runs, wherever the system puts it.
  (void)pin_this_thread(writer_cpu());
  name_this_thread("bench-writer");
  prctl(PR_SET_TIMERSLACK, 1000);  // ns
  erase(absent_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return wanted_ || stop_; });
    if (stop_) return;
    running_ = true;
    lock.unlock();
    for (std::uint64_t next = now_ns(); wanted_.load(std::memory_order_relaxed);) {
      insert(pairs_);
      erase(pairs_);
      // Late by a little, it catches up; a writer that cannot keep up collects no debt beyond
      // that, and done() tells.
      next = std::max(next + tick_ns_, now_ns() - most_debt_ns);
      sleep_until(next);
    }
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

std::size_t churn::one_call(std::uint64_t at, std::uint64_t count) const {
  return std::min({count, std::uint64_t{batch_}, entries_ - at % entries_});
}

void churn::write(std::uint64_t& at, std::uint64_t count, call one) {
  while (count > 0) {
    const std::size_t n = one_call(at, count);
    failed_.fetch_add(n - (target_.*one)(at % entries_, n), std::memory_order_relaxed);
    done_.fetch_add(n, std::memory_order_relaxed);
    at += n;
    count -= n;
  }
}

void churn::erase(std::uint64_t count) { write(erased_, count, &churned::erase); }
void churn::insert(std::uint64_t count) { write(inserted_, count, &churned::insert); }

}  // namespace coua::bench
