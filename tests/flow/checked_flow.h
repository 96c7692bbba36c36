// SPDX-License-Identifier: Apache-2.0
//
// A flow table beside a map that says what it must hold. Every operation runs on both and compares;
// the first difference is kept as failure().
#pragma once

#include <coua/flow_table.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace coua::test {

struct flow_shape {
  const char* name;
  enum coua_flow_variant variant;
  enum coua_flow_sync sync;
  bool timed;
  std::uint64_t buckets;
  std::uint32_t key_bytes, value_bytes;
  std::uint32_t bucket_slots = 8;
  std::uint64_t start_ms = 1'000'000'007;
  std::uint64_t ring = 0;  // entries; 0: a callback is told what expired
};

enum class flow_op_kind {
  insert,
  insert_batch,
  add,
  add_batch,
  find_or_add,
  find_or_add_batch,
  erase,
  erase_batch,
  refresh,
  invalid,
  lookup,
  lookup_batch,
  lookup_hashed,
  lookup_ahead,
  lookup_refresh,
  pipeline,
  pipeline_drain,
  tick,
  jump,
  sweep,
  drain,
  cursor_open,
  cursor_next,
  cursor_close,
};

struct flow_op {
  flow_op_kind kind;
  std::uint16_t key;    // of the universe; batches start here
  std::uint16_t count;  // of a batch
  std::uint32_t arg;
};
std::ostream& operator<<(std::ostream& out, const flow_op& op);

class checked_flow {
 public:
  static constexpr std::uint32_t unit_ms = 10;

  checked_flow(const flow_shape& shape, std::uint64_t seed, std::size_t n_keys);
  ~checked_flow();
  checked_flow(const checked_flow&) = delete;
  checked_flow& operator=(const checked_flow&) = delete;

  /// False when table and map differ.
  bool apply(const flow_op& op);
  /// Looks up every key, sweeps until everything expired was told, and compares the counts.
  bool finish();

  const std::string& failure() const { return failure_; }
  std::size_t slots() const { return shape_.buckets * shape_.bucket_slots; }
  double load() const { return static_cast<double>(model_.size()) / static_cast<double>(slots()); }
  std::uint64_t refused() const { return refused_; }
  coua_flow_table* table() const { return table_; }
  coua_flow_stats stats() const;

 private:
  using value_bytes = std::string;
  struct entry {
    value_bytes value;
    std::uint64_t expires;  // in units
  };
  struct in_flight {
    std::size_t key;
    std::vector<std::optional<value_bytes>> states;  // since it was submitted
  };

  static void expired(void* context, const void* key, const void* value);
  /// By the callback, or by what came out of the ring.
  void told(const void* key, const void* value);
  /// Up to `max` entries out of the ring; returns how many, or what the table answers.
  long drain(std::size_t max);
  bool fail(const std::string& what);
  std::uint64_t now_units() const { return now_ms_ / unit_ms; }
  std::string key_of(std::size_t i) const;
  std::string value_of(std::size_t i, std::uint32_t arg) const;
  std::uint32_t units_of(std::uint32_t arg) const;
  std::size_t wrapped(std::size_t key) const { return key % n_keys_; }
  std::vector<std::uint8_t> keys_from(std::size_t first, std::size_t n) const;
  /// What the map holds and is visible now.
  entry* visible(std::size_t key);
  bool done(std::size_t key, int result, flow_op_kind kind, std::uint32_t arg,
            const std::string& value_out);
  bool check_found(std::size_t first, std::size_t n, std::size_t n_hits,
                   const std::vector<std::uint8_t>& values, const std::vector<std::uint64_t>& hits);
  bool collect(std::size_t n, const std::vector<std::uint8_t>& values,
               const std::vector<std::uint64_t>& hits);
  void note_states();
  bool writer_op(const flow_op& op);
  bool batch_op(const flow_op& op);
  bool reader_op(const flow_op& op);
  bool time_op(const flow_op& op);
  bool cursor_op(const flow_op& op);
  bool check_cursor_end();
  bool check_counts();

  flow_shape shape_;
  std::uint64_t seed_;
  std::size_t n_keys_;
  std::size_t key_stride_, value_stride_;
  std::uint64_t now_ms_;
  coua_flow_table* table_ = nullptr;
  coua_flow_reader* reader_ = nullptr;
  coua_flow_cursor* cursor_ = nullptr;
  std::map<std::size_t, entry> model_;  // by number of the key
  // In the ring, and the key has come again: by its number, the oldest first.
  std::multimap<std::size_t, value_bytes> waiting_;
  std::map<std::string, std::size_t> numbers_;  // of keys
  std::map<std::size_t, bool> due_;             // keys that a cursor must still return
  std::map<std::size_t, unsigned> returned_;    // by the open cursor
  std::deque<in_flight> flight_;
  std::uint64_t n_expired_ = 0;
  std::uint64_t refused_ = 0;
  std::string failure_;
};

}  // namespace coua::test
