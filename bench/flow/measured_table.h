// SPDX-License-Identifier: Apache-2.0
//
// What our flow tables and those that they are compared with look like to the benchmark. An object
// stands for one private table of each thread, all with the same entries. The calls here are
// virtual and made once per chunk of keys; below them everything is a template.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/flow/flow_population.h"
#include "bench/harness/churn.h"
#include "bench/harness/contestant.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// The answer to one key.
struct flow_answer {
  bool hit = false;
  std::uint64_t value[flow_population::most_value_words] = {};
};

/// One way to look keys up in the tables of one kind.
class flow_lookup : public named_contestant {
 public:
  using named_contestant::named_contestant;

  /// The answers to `n` keys in their order: for the check before the clock runs. Keys
  /// [n, n + slack_keys) may be read.
  virtual void answer(unsigned thread, const std::uint64_t* keys, std::size_t n,
                      flow_answer* answers) = 0;
};

/// A kernel offers two templates:
///   each(thread, keys, n, sink)  calls sink(count, hits, value_of) as answers come out, in order:
///                                bit i of hits says whether key i was found, value_of(i) leads to
///                                its value; it may lead anywhere readable where there is none
///   rest(thread, sink)           likewise for what is in flight
/// It may read slack_keys keys past the end.
template <typename Kernel>
class flow_lookup_by final : public flow_lookup {
 public:
  flow_lookup_by(std::string name, json params, const flow_population& people, Kernel kernel)
      : flow_lookup(std::move(name), std::move(params)),
        people_(people),
        kernel_(std::move(kernel)) {}

  std::uint64_t ask(unsigned thread, const std::uint64_t* keys, std::size_t n) override {
    std::uint64_t sum = 0;
    kernel_.each(thread, keys, n, summing(sum));
    return sum;
  }

  std::uint64_t finish(unsigned thread) override {
    std::uint64_t sum = 0;
    kernel_.rest(thread, summing(sum));
    return sum;
  }

  void answer(unsigned thread, const std::uint64_t* keys, std::size_t n,
              flow_answer* answers) override {
    const std::size_t words = people_.value_words();
    const auto copy = [&](std::size_t count, const std::uint64_t* hits, const auto& value_of) {
      for (std::size_t i = 0; i < count; ++i, ++answers) {
        answers->hit = (hits[i / 64] >> i % 64 & 1) != 0;
        if (answers->hit) std::copy_n(value_of(i), words, answers->value);
      }
    };
    kernel_.each(thread, keys, n, copy);
    kernel_.rest(thread, copy);
  }

 private:
  /// Reads every value that was found, without a branch on hit or miss, and with as little work of
  /// its own as that allows.
  auto summing(std::uint64_t& sum) const {
    return [&sum, last = people_.value_words() - 1](std::size_t count, const std::uint64_t* hits,
                                                    const auto& value_of) {
      std::uint64_t part = 0;
      for (std::size_t i = 0; i < count; i += 64, ++hits) {
        std::uint64_t left = *hits;
        const std::size_t end = std::min<std::size_t>(i + 64, count);
        for (std::size_t k = i; k < end; ++k, left >>= 1) {
          const std::uint64_t* const value = value_of(k);
          part += (value[0] + value[last]) & -(left & 1);
        }
      }
      sum += part;
    };
  }

  flow_population people_;
  Kernel kernel_;
};

template <typename Kernel>
std::unique_ptr<flow_lookup> make_flow_lookup(std::string name, json params,
                                              const flow_population& people, Kernel kernel) {
  return std::make_unique<flow_lookup_by<Kernel>>(std::move(name), std::move(params), people,
                                                  std::move(kernel));
}

/// What a table is made for.
struct measured_params {
  std::uint64_t capacity = 0;  // slots
  flow_population people;      // widths; `entries` at the highest load
  unsigned tables = 1;         // one for each thread
  page_kind pages = page_kind::automatic;
  std::vector<std::string> modes;
  std::vector<std::uint64_t> batches;
  unsigned bucket_slots = 8;  // used of each bucket
};

class measured_table {
 public:
  virtual ~measured_table() = default;
  virtual std::string name() const = 0;
  /// What tells it apart from others of its name.
  virtual json params() const { return json::object(); }

  /// Makes the table of a thread anew, empty. Not while a look-up of lookups() is used. Errors:
  /// no_memory, invalid.
  virtual result<void> make(unsigned thread) = 0;
  /// Inserts up to chunk_keys new entries; returns how many were taken.
  virtual std::size_t insert(unsigned thread, const std::uint64_t* keys,
                             const std::uint64_t* values, std::size_t n) = 0;

  /// Writes to the table of a thread while that looks up. Null: it cannot do both at once.
  virtual std::unique_ptr<churned> writer(unsigned /*thread*/) { return nullptr; }

  /// Of one table, with the values.
  virtual std::uint64_t bytes() const = 0;
  /// What it says about itself beside its numbers, of the table of thread 0.
  virtual json describe() const = 0;
  /// Its ways of look-up, of the tables as they are now. They end before the tables do.
  virtual std::vector<std::unique_ptr<flow_lookup>> lookups() = 0;
};

}  // namespace coua::bench
