// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace coua::bench {

/// What a churn writes to: the entries of a population, by their indices. Only the writer calls it.
class churned {
 public:
  virtual ~churned() = default;
  /// The entries of indices [first, first + count). Returns how many were removed.
  virtual std::size_t erase(std::uint64_t first, std::size_t count) = 0;
  /// Likewise. Returns how many were added.
  virtual std::size_t insert(std::uint64_t first, std::size_t count) = 0;
};

/// A writer on its own CPU that erases and inserts at a constant rate while readers run. It walks
/// over the whole population, which lies scattered over the table; an erased entry comes back after
/// `absent` others were erased, when its slot has long been taken. So the load stays the same and
/// all but a handful of keys is present at any moment.
class churn {
 public:
  /// `updates_per_s` counts inserts and erases, written `batch` at a time. The target must hold
  /// the entries 0 to entries - 1.
  churn(churned& target, std::uint64_t entries, double updates_per_s, std::size_t batch = 32);
  ~churn();  // brings back every erased entry
  churn(const churn&) = delete;
  churn& operator=(const churn&) = delete;

  void start();
  void pause();  // returns when the writer rests
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  /// Inserts that found no room, erases that found no entry: 0 unless the table is at fault.
  std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  void work();
  using call = std::size_t (churned::*)(std::uint64_t first, std::size_t count);
  /// `count` entries from `at` on, which moves along.
  void write(std::uint64_t& at, std::uint64_t count, call);
  void erase(std::uint64_t count);
  void insert(std::uint64_t count);
  /// How many of `count` entries from `at` on can be written by one call.
  std::size_t one_call(std::uint64_t at, std::uint64_t count) const;

  churned& target_;
  std::uint64_t entries_;
  std::size_t batch_;
  std::uint64_t absent_;  // entries that are out at any moment
  std::uint64_t pairs_;   // erases and inserts of one tick
  std::uint64_t tick_ns_;
  std::uint64_t erased_ = 0;  // entries so far, in the order of the walk
  std::uint64_t inserted_ = 0;
  std::atomic<std::uint64_t> done_ = 0, failed_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> wanted_ = false;
  bool running_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace coua::bench
