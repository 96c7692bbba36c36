// SPDX-License-Identifier: Apache-2.0
//
// A FIB of any layout. The abstract class is what C API, switch and benchmarks hold; the tables
// behind it are instances of one template (fib_table.h). Only writer calls are virtual; look-ups go
// through `kernels()`, chosen once.
//
// Records, parameters, results and statistics are those of the public header coua/fib.h, where
// their ranges, units and thread rules stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "base/reader_counts.h"
#include "base/result.h"
#include "coua/fib.h"
#include "simd/fib_lookup/kernels.h"
#include "table/fib_geometry.h"

namespace coua {

class fib_cursor;

class fib {
 public:
  /// Errors: invalid (names the parameter), no_memory.
  static result<std::unique_ptr<fib>> create(const coua_fib_params& params);
  virtual ~fib() = default;
  fib(const fib&) = delete;
  fib& operator=(const fib&) = delete;

  // Writer.
  virtual int insert(const coua_fib_record& record) = 0;
  virtual std::size_t insert_batch(std::span<const coua_fib_record> records,
                                   std::int8_t* results) = 0;
  virtual bool erase(std::uint64_t key) = 0;
  virtual std::size_t erase_batch(std::span<const std::uint64_t> keys) = 0;
  virtual bool refresh(std::uint64_t key) = 0;
  virtual int bulk_load(coua_fib_bulk_source next, void* context, unsigned threads,
                        bool distinct) = 0;
  virtual bool sweep(std::uint64_t n_buckets, coua_fib_expired expired, void* context) = 0;
  virtual bool tidy(std::uint64_t n_buckets) = 0;
  virtual bool next_epoch() = 0;
  /// The record of a key as the writer sees it; false when it is not there.
  virtual bool find(std::uint64_t key, coua_fib_record& record) const = 0;

  // Any thread.
  virtual void get_stats(coua_fib_stats& stats) const = 0;
  const simd::fib_view& view() const { return view_; }
  const simd::fib_kernels& kernels() const { return *kernels_; }
  const fib_geometry& geometry() const { return geometry_; }
  const arena& memory() const { return memory_; }
  std::uint32_t epoch() const { return load_relaxed(&shared_->epoch); }

  void attach(const simd::fib_reader_state* reader) { readers_.attach(reader); }
  void detach(const simd::fib_reader_state* reader) { readers_.detach(reader); }

  static bool valid_key(std::uint64_t key) { return key < (std::uint64_t{1} << COUA_FIB_KEY_BITS); }

 protected:
  friend class fib_cursor;
  fib() = default;

  /// Written by the writer, read by readers; each on a line of its own.
  struct shared_words {
    alignas(64) std::uint64_t clock = 0;  // moves so far
    alignas(64) std::uint32_t epoch = 0;
  };

  /// Writes up to one bucket of records; returns how many. For cursors.
  virtual std::size_t read_bucket(std::uint64_t bucket, coua_fib_record* records) const = 0;
  std::uint64_t sum_retries() const { return readers_.sum()[0]; }

  fib_geometry geometry_{};
  arena memory_;
  arena stamps_;
  std::unique_ptr<shared_words> shared_;
  simd::fib_view view_;
  const simd::fib_kernels* kernels_ = nullptr;
  std::vector<fib_cursor*> cursors_;

 private:
  reader_counts<simd::fib_reader_state, &simd::fib_reader_state::retries> readers_;
};

}  // namespace coua
