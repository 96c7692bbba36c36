// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/fib.h>

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "bench/harness/churn.h"

namespace coua::bench {

/// Writes the entries of a population of FIB records; how they come into the table is the derived
/// class's.
class fib_writer : public churned {
 public:
  /// How the record of an entry is made.
  using record_of = std::function<coua_fib_record(std::uint64_t index)>;

  explicit fib_writer(record_of record) : record_(std::move(record)) {}

  std::size_t erase(std::uint64_t first, std::size_t count) final {
    keys_.resize(count);
    for (std::size_t i = 0; i < count; ++i) keys_[i] = record_(first + i).key;
    return erase(keys_);
  }
  std::size_t insert(std::uint64_t first, std::size_t count) final {
    records_.resize(count);
    for (std::size_t i = 0; i < count; ++i) records_[i] = record_(first + i);
    return insert(records_);
  }

 private:
  virtual std::size_t erase(std::span<const std::uint64_t> keys) = 0;
  virtual std::size_t insert(std::span<const coua_fib_record> records) = 0;

  record_of record_;
  std::vector<std::uint64_t> keys_;
  std::vector<coua_fib_record> records_;
};

}  // namespace coua::bench
