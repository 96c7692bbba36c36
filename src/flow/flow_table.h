// SPDX-License-Identifier: Apache-2.0
//
// A flow table of any kind. The abstract class is what C API and benchmarks hold; the tables behind
// it are instances of one template (cuckoo.h). Only writer calls are virtual; look-ups go through
// `kernels()`, chosen once.
//
// Parameters, results and statistics are those of the public header coua/flow_table.h, where their
// ranges, units and thread rules stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "base/keyed_hash.h"
#include "base/reader_counts.h"
#include "base/result.h"
#include "coua/flow_table.h"
#include "flow/expired_ring.h"
#include "flow/flow_geometry.h"
#include "simd/flow_lookup/kernels.h"

namespace coua {

class flow_cursor;

/// What a table is made of.
struct flow_memory {
  arena entries;
  arena filters;  // being rebuilt; empty in a table without filters
  arena lines;
};

/// What is done with a key that is there already.
enum class put_mode {
  replace,  // its value and its time are replaced
  keep,     // nothing
  find      // its value is copied out, its time renewed
};

class flow_table {
 public:
  using bytes_in = const std::uint8_t*;

  /// Errors: invalid (names the parameter), no_memory and others of arena::create.
  static result<std::unique_ptr<flow_table>> create(const coua_flow_params& params);
  virtual ~flow_table() = default;
  flow_table(const flow_table&) = delete;
  flow_table& operator=(const flow_table&) = delete;

  // Writer.
  virtual int put(put_mode mode, bytes_in key, std::uint8_t* value, std::uint32_t units) = 0;
  /// How many are in the table now, or -EINVAL.
  virtual long put_batch(put_mode mode, bytes_in keys, const std::uint64_t* hashes,
                         std::uint8_t* values, std::size_t n, std::uint32_t units,
                         std::int8_t* results) = 0;
  virtual bool erase(bytes_in key, std::uint8_t* value) = 0;
  virtual std::size_t erase_batch(bytes_in keys, const std::uint64_t* hashes, std::size_t n) = 0;
  /// Replaces one word of an entry's value in place, by one store: readers may see it beside the
  /// other words as they were. False when the key is not there.
  virtual bool store_value_word(bytes_in key, unsigned word, std::uint64_t value) = 0;
  /// 0, -ENOENT, -EINVAL.
  virtual int refresh(bytes_in key, std::uint32_t units) = 0;
  /// 0, -EINVAL when the time goes back, -EAGAIN when the ring is full for too long.
  virtual int set_time(std::uint64_t now_ms) = 0;
  virtual bool sweep(std::uint64_t n_buckets) = 0;

  // Owner.
  /// Entries that expired, from the ring to arrays of the table's strides; `values` may be null.
  std::size_t drain(std::uint8_t* keys, std::uint8_t* values, std::size_t max);

  // Any thread.
  void get_stats(coua_flow_stats& stats) const;
  std::uint64_t hash(bytes_in key) const;
  const simd::flow_view& view() const { return view_; }
  const simd::flow_kernels& kernels() const { return *kernels_; }
  const flow_geometry& geometry() const { return geometry_; }
  bool has_ring() const { return ring_ != nullptr; }
  const arena& memory() const { return entries_; }

  void attach(const simd::flow_reader_state* reader) { readers_.attach(reader); }
  void detach(const simd::flow_reader_state* reader) { readers_.detach(reader); }

 protected:
  friend class flow_cursor;
  explicit flow_table(const flow_geometry& geometry) : geometry_(geometry) {}

  /// Readers load the time with each group of keys: its line is written when it goes on, not when
  /// an entry moves.
  struct shared_words {
    alignas(64) std::uint64_t now = 0;  // in units
    std::uint64_t now_ms = 0;
    alignas(64) std::uint64_t moves = 0;  // so far; read in tables of one thread only
  };

  /// For cursors: an entry as the writer sees it.
  struct seen_entry {
    const std::uint64_t* words;
    std::uint32_t units_left;
  };
  /// Up to one bucket of them; returns how many.
  virtual unsigned read_bucket(std::uint64_t bucket, seen_entry* entries) const = 0;
  virtual bool find(bytes_in key, seen_entry& entry) const = 0;
  virtual void fill_counts(coua_flow_stats& stats) const = 0;

  const flow_geometry geometry_;
  keyed_hash hash_;
  arena lines_;
  arena entries_;
  std::unique_ptr<shared_words> shared_ = std::make_unique<shared_words>();
  simd::flow_view view_;
  const simd::flow_kernels* kernels_ = nullptr;
  std::vector<flow_cursor*> cursors_;
  std::unique_ptr<expired_ring> ring_;  // to the owner; null without

 private:
  reader_counts<simd::flow_reader_state, &simd::flow_reader_state::retries,
                &simd::flow_reader_state::second_looks>
      readers_;
};

}  // namespace coua
