// SPDX-License-Identifier: Apache-2.0
//
// Common ground of the race tests: the tables that are raced, every way to look up behind one call,
// and reader threads that count what must never happen. Tables are small on purpose: the fewer
// slots, the more often a reader stands where the writer moves.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fib_handles.h"

namespace coua::test {

inline const table_shape raced_shapes[] = {
    {"packed8_min", COUA_FIB_LAYOUT_PACKED8, 8, 1},  {"packed8", COUA_FIB_LAYOUT_PACKED8, 1024, 8},
    {"packed4_min", COUA_FIB_LAYOUT_PACKED4, 16, 2}, {"wide8_min", COUA_FIB_LAYOUT_WIDE8, 5, 24},
    {"wide8", COUA_FIB_LAYOUT_WIDE8, 512, 16},
};

/// How long one test races; COUA_RACE_MS lengthens it.
std::chrono::milliseconds race_time();

enum class look_up_mode { single, batch, ahead, pipeline, refresh, count_ };

/// Half of the time a single look-up: it is the one that reads a bucket and the words that vouch
/// for it within a few nanoseconds, so it is the likeliest to fall into the middle of a move.
look_up_mode any_mode(std::mt19937_64& random);

/// Looks all keys up, by any mode, and returns when every entry is there.
void look_up(look_up_mode mode, coua_fib_reader* reader, std::span<const std::uint64_t> keys,
             std::span<std::uint32_t> entries);

/// Faults seen by all threads, and the first of each kind in words.
class fault_log {
 public:
  void report(const char* what, std::uint64_t key, std::uint64_t got, std::uint64_t want);
  std::uint64_t count() const { return count_.load(); }
  std::string text();

 private:
  std::atomic<std::uint64_t> count_{0};
  std::mutex mutex_;
  std::string text_;
};

/// Reader threads that run `body(reader, random)` again and again until stopped.
class reader_threads {
 public:
  using body = std::function<void(coua_fib_reader*, std::mt19937_64&)>;
  reader_threads(coua_fib* fib, unsigned n, const body& run);
  ~reader_threads() { stop(); }
  void stop();
  /// Returns when some thread has ended its body at least twice more, so began it once. Others may
  /// sleep in the middle of theirs for any time.
  void wait_for_two_passes() const;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<std::atomic<std::uint64_t>>> passes_;
  std::vector<std::thread> threads_;
};

/// Calls `step` until the race time is over.
void race(const std::function<void(std::mt19937_64&)>& step);

/// The same, and on until there was `enough` to prove something; a machine may be busy otherwise.
void race_until(const std::function<bool()>& enough,
                const std::function<void(std::mt19937_64&)>& step);

/// Races one table after another until all of them have moved `n` entries, which `race_table`
/// counts: with fewer the races prove nothing. Each table has a hash key of its own, since under
/// some keys the smallest tables settle where nothing moves. Returns the moves, fewer than `n` when
/// twenty tables did not get there.
std::uint64_t race_until_moved(std::uint64_t n, const std::function<std::uint64_t()>& race_table);

class fib_race : public testing::TestWithParam<table_shape> {
 protected:
  std::uint32_t value_mask() const { return (1u << GetParam().value_bits) - 1; }
};

}  // namespace coua::test
