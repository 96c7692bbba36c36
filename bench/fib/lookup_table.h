// SPDX-License-Identifier: Apache-2.0
//
// What the FIB and the tables that it is compared with look like to the benchmark. The calls here
// are virtual and made once per chunk of keys; below them everything is a template, so that no
// table pays for the comparison.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/contestant.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// What a peer answers to a key that it does not have.
inline constexpr std::uint32_t no_value = UINT32_MAX;

/// One way to look keys up in one table.
class lookup : public named_contestant {
 public:
  using named_contestant::named_contestant;

  /// The answers to `n` keys, one word each, in their order: for the check before the clock runs.
  /// Keys [n, n + slack_keys) may be read.
  virtual void answer(unsigned thread, const std::uint64_t* keys, std::size_t n,
                      std::uint32_t* words) = 0;
};

/// A kernel offers two templates:
///   each(thread, keys, n, sink)  calls sink(words, count) as answers come out, in order
///   rest(thread, sink)           likewise for what is in flight
/// It may read slack_keys keys past the end.
template <typename Kernel>
class lookup_by final : public lookup {
 public:
  lookup_by(std::string name, json params, Kernel kernel)
      : lookup(std::move(name), std::move(params)), kernel_(std::move(kernel)) {}

  std::uint64_t ask(unsigned thread, const std::uint64_t* keys, std::size_t n) override {
    std::uint64_t sum = 0;
    kernel_.each(thread, keys, n, [&sum](const std::uint32_t* words, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) sum += words[i];
    });
    return sum;
  }

  std::uint64_t finish(unsigned thread) override {
    std::uint64_t sum = 0;
    kernel_.rest(thread, [&sum](const std::uint32_t* words, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) sum += words[i];
    });
    return sum;
  }

  void answer(unsigned thread, const std::uint64_t* keys, std::size_t n,
              std::uint32_t* words) override {
    const auto copy = [&words](const std::uint32_t* from, std::size_t count) {
      std::memcpy(words, from, count * sizeof *from);
      words += count;
    };
    kernel_.each(thread, keys, n, copy);
    kernel_.rest(thread, copy);
  }

 private:
  Kernel kernel_;
};

template <typename Kernel>
std::unique_ptr<lookup> make_lookup(std::string name, json params, Kernel kernel) {
  return std::make_unique<lookup_by<Kernel>>(std::move(name), std::move(params), std::move(kernel));
}

/// The kernel of calls that take up to `batch` keys: call(thread, keys, n, words) returns how many
/// answers it wrote. One that keeps keys in flight has drain(thread, sink) too.
template <typename Call>
struct batched_kernel {
  Call call;
  std::size_t batch;

  template <typename Sink>
  void each(unsigned thread, const std::uint64_t* keys, std::size_t n, Sink&& sink) {
    std::array<std::uint32_t, chunk_keys> words;
    for (std::size_t i = 0; i < n; i += batch) {
      const std::size_t count = std::min(batch, n - i);
      const std::size_t answers = call(thread, keys + i, count, words.data());
      sink(words.data(), answers);
    }
  }
  template <typename Sink>
  void rest(unsigned thread, Sink&& sink) {
    if constexpr (requires { call.drain(thread, sink); }) call.drain(thread, sink);
  }
};

template <typename Call>
std::unique_ptr<lookup> make_batched_lookup(std::string name, std::uint64_t batch, Call call) {
  return make_lookup(std::move(name), {{"batch", batch}},
                     batched_kernel<Call>{std::move(call), batch});
}

class lookup_table {
 public:
  virtual ~lookup_table() = default;
  virtual std::string name() const = 0;
  /// Loads the whole population; once. Errors: no_room, no_memory.
  virtual result<void> load(const population&) = 0;
  virtual unsigned load_threads() const { return 1; }
  virtual std::uint64_t bytes() const = 0;
  /// What it says about itself beside its numbers: memory, load.
  virtual json describe() const = 0;
  virtual answer_code code() const { return {}; }
  /// Its ways of look-up. They end before the table does.
  virtual std::vector<std::unique_ptr<lookup>> lookups() = 0;
};

}  // namespace coua::bench
