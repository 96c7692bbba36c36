// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/churn.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/harness/crew.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t write_batch = 32;  // keys to a batched call of the table
constexpr std::uint64_t most_absent = 4096;
constexpr double tick_s = 250e-6;  // between ticks the writer sleeps

void sleep_until(std::uint64_t deadline_ns) {
  const timespec when = {static_cast<time_t>(deadline_ns / 1'000'000'000),
                         static_cast<long>(deadline_ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

churn::churn(coua_fib* fib, const population& people, double updates_per_s)
    : fib_(fib), people_(people) {
  absent_ = std::clamp<std::uint64_t>(people.entries / 64, 1, most_absent);
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
      // A writer that cannot keep up does not collect a debt: done() tells.
      next = std::max(next + tick_ns_, now_ns());
      sleep_until(next);
    }
    lock.lock();
    running_ = false;
    changed_.notify_all();
  }
}

void churn::erase(std::size_t count) {
  keys_.resize(write_batch);
  while (count > 0) {
    const std::size_t n = std::min<std::size_t>(count, write_batch);
    for (std::size_t i = 0; i < n; ++i) keys_[i] = population::key(erased_++ % people_.entries);
    const std::size_t removed = coua_fib_erase_batch(fib_, keys_.data(), n);
    failed_.fetch_add(n - removed, std::memory_order_relaxed);
    done_.fetch_add(n, std::memory_order_relaxed);
    count -= n;
  }
}

void churn::insert(std::size_t count) {
  records_.resize(write_batch);
  results_.resize(write_batch);
  while (count > 0) {
    const std::size_t n = std::min<std::size_t>(count, write_batch);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t key = population::key(inserted_++ % people_.entries);
      records_[i] = {key, people_.value(key), 0, 0, 0};
    }
    coua_fib_insert_batch(fib_, records_.data(), n, results_.data());
    const auto added = std::count(results_.begin(), results_.begin() + static_cast<long>(n),
                                  static_cast<std::int8_t>(COUA_FIB_ADDED));
    failed_.fetch_add(n - static_cast<std::size_t>(added), std::memory_order_relaxed);
    done_.fetch_add(n, std::memory_order_relaxed);
    count -= n;
  }
}

}  // namespace coua::bench
