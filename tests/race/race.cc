// SPDX-License-Identifier: Apache-2.0
#include "race.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace coua::test {

std::chrono::milliseconds race_time() {
  const char* given = std::getenv("COUA_RACE_MS");
  return std::chrono::milliseconds(given ? std::atoi(given) : 300);
}

namespace {

void look_up_ahead(coua_fib_reader* reader, std::span<const std::uint64_t> keys,
                   std::span<std::uint32_t> entries) {
  constexpr std::size_t step = 24;
  for (std::size_t at = 0; at < keys.size(); at += step) {
    std::size_t n = std::min(step, keys.size() - at);
    std::span<const std::uint64_t> next = keys.subspan(at + n);
    coua_fib_lookup_ahead(reader, &keys[at], n, &entries[at], next.data(),
                          std::min(step, next.size()));
  }
}

void look_up_pipelined(coua_fib_reader* reader, std::span<const std::uint64_t> keys,
                       std::span<std::uint32_t> entries) {
  constexpr std::size_t step = 7;
  std::size_t out = 0;
  for (std::size_t at = 0; at < keys.size(); at += step)
    out += coua_fib_pipeline(reader, &keys[at], std::min(step, keys.size() - at), &entries[out]);
  std::vector<std::uint32_t> rest(coua_fib_pipeline_depth(reader));
  std::size_t n = coua_fib_pipeline_drain(reader, rest.data());
  std::copy_n(rest.begin(), std::min(n, entries.size() - out), &entries[out]);
}

}  // namespace

look_up_mode any_mode(std::mt19937_64& random) {
  unsigned pick = random() % (2 * static_cast<unsigned>(look_up_mode::count_));
  return pick < static_cast<unsigned>(look_up_mode::count_) ? static_cast<look_up_mode>(pick)
                                                            : look_up_mode::single;
}

void look_up(look_up_mode mode, coua_fib_reader* reader, std::span<const std::uint64_t> keys,
             std::span<std::uint32_t> entries) {
  switch (mode) {
    case look_up_mode::single:
      for (std::size_t i = 0; i < keys.size(); i++) entries[i] = coua_fib_lookup(reader, keys[i]);
      break;
    case look_up_mode::batch:
      coua_fib_lookup_batch(reader, keys.data(), keys.size(), entries.data());
      break;
    case look_up_mode::ahead: look_up_ahead(reader, keys, entries); break;
    case look_up_mode::pipeline: look_up_pipelined(reader, keys, entries); break;
    case look_up_mode::refresh:
      coua_fib_lookup_refresh(reader, keys.data(), keys.size(), entries.data());
      break;
    case look_up_mode::count_: break;
  }
}

void fault_log::report(const char* what, std::uint64_t key, std::uint64_t got, std::uint64_t want) {
  if (count_.fetch_add(1) >= 5) return;
  std::ostringstream line;
  line << what << ": key " << std::hex << key << ", got " << got << ", want " << want << "\n";
  std::lock_guard guard(mutex_);
  text_ += line.str();
}

std::string fault_log::text() {
  std::lock_guard guard(mutex_);
  return std::to_string(count()) + " faults; the first:\n" + text_;
}

reader_threads::reader_threads(coua_fib* fib, unsigned n, const body& run) {
  for (unsigned t = 0; t < n; t++)
    passes_.push_back(std::make_unique<std::atomic<std::uint64_t>>(0));
  for (unsigned t = 0; t < n; t++)
    threads_.emplace_back([this, fib, run, t] {
      reader_ptr reader = make_reader(fib);
      std::mt19937_64 random(mix(t));
      // Relaxed: the test must not give the table the ordering that it has to have by itself.
      while (!stop_.load(std::memory_order_relaxed)) {
        run(reader.get(), random);
        passes_[t]->fetch_add(1, std::memory_order_relaxed);
      }
    });
}

void reader_threads::stop() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void reader_threads::wait_for_two_passes() const {
  std::vector<std::uint64_t> seen;
  for (const auto& passes : passes_) seen.push_back(passes->load(std::memory_order_relaxed));
  for (;;) {
    for (std::size_t t = 0; t < passes_.size(); t++)
      if (passes_[t]->load(std::memory_order_relaxed) >= seen[t] + 2) return;
    std::this_thread::yield();
  }
}

void race(const std::function<void(std::mt19937_64&)>& step) {
  std::mt19937_64 random(std::random_device{}());
  auto end = std::chrono::steady_clock::now() + race_time();
  do {
    step(random);
  } while (std::chrono::steady_clock::now() < end);
}

void race_until(const std::function<bool()>& enough,
                const std::function<void(std::mt19937_64&)>& step) {
  constexpr int patience = 100;
  race(step);
  for (int i = 0; i < patience && !enough(); i++) race(step);
}

std::uint64_t race_until_moved(std::uint64_t n, const std::function<std::uint64_t()>& race_table) {
  std::uint64_t moves = 0;
  for (int i = 0; i < 20 && moves < n; i++) moves += race_table();
  return moves;
}

}  // namespace coua::test
