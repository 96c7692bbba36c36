// SPDX-License-Identifier: Apache-2.0
//
// A small table run beside a model of it (a plain map), operation by operation. Whoever makes the
// operations (RapidCheck, a fuzzer) hands them to apply(); the first answer that the model does not
// allow is reported as text. What the model knows that a map does not:
//
//   pipeline   a key in flight may answer with any state that it had between its submission and its
//              collection; order and the limit on keys in flight are exact
//   cursor     a key that stays from the opening to the end comes exactly once; whatever comes is
//   in
//              the table with the value that it has now
//   ageing     stamps are counted as absolute epochs, so a stamp that comes round shows up
//   full       allowed for a new key only, never at low load, and leaves everything as it was
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "fib_handles.h"

namespace coua::test {

enum class op_kind : std::uint8_t {
  insert,
  insert_batch,
  insert_invalid,
  erase,
  erase_batch,
  refresh,
  lookup,
  lookup_batch,
  lookup_ahead,
  lookup_ahead_wrong,
  lookup_refresh,
  pipeline,
  pipeline_drain,
  sweep,
  next_epoch,
  age_all,  // whole sweeps and epochs, so that entries get old in short operation lists
  cursor_open,
  cursor_next,
  cursor_close,
  bulk_load,
  count_
};
const char* to_string(op_kind kind);

/// Every value of every field is a valid operation. `key` picks the first key of the universe,
/// `count` the batch size, `arg` values, flags, strides and thread counts.
struct fib_op {
  op_kind kind = op_kind::lookup;
  std::uint16_t key = 0;
  std::uint16_t count = 0;
  std::uint32_t arg = 0;
};
std::ostream& operator<<(std::ostream& out, const fib_op& op);

/// Small counts stand for the sizes at which batch code changes its path.
std::size_t batch_size(std::uint16_t count);

class checked_fib {
 public:
  /// `n_keys` is the size of the universe of keys: more than slots makes the table full.
  checked_fib(const table_shape& shape, std::uint64_t seed, std::size_t n_keys);

  /// Runs one operation on both. False when they differ: see failure().
  bool apply(const fib_op& op);
  /// Compares everything: all look-ups of all keys, a whole cursor, what is in flight.
  bool finish();
  const std::string& failure() const { return failure_; }
  double load() const;
  std::uint64_t slots() const { return slots_; }

 private:
  struct entry {
    std::uint32_t value;
    bool is_static;
    std::uint64_t stamp;  // epoch as a count that never wraps
  };
  struct in_flight {
    std::uint64_t key;
    std::vector<std::uint32_t> allowed;
  };
  struct open_cursor {
    cursor_ptr cursor;
    std::unordered_map<std::uint64_t, bool> stayers;  // key -> returned
    bool ended = false;
  };
  struct counts {
    std::uint64_t added = 0, updated = 0, erased = 0, aged_out = 0, refused = 0;
  };

  std::vector<std::uint64_t> pick_keys(const fib_op& op) const;
  coua_fib_record pick_record(std::uint64_t key, std::uint32_t arg) const;
  std::uint32_t word(std::uint64_t key) const;
  static bool same(std::uint32_t got, std::uint32_t want);
  void expect(bool ok, const std::string& what);
  void check_answer(std::uint64_t key, std::uint32_t got, const char* how);
  void check_insert(const coua_fib_record& record, int rc);
  bool fits_in_another_order(std::uint64_t refused) const;
  void check_stats();
  void set(std::uint64_t key, const entry& e);
  void forget(std::uint64_t key);

  void do_insert(const fib_op& op);
  void do_insert_batch(const fib_op& op);
  void do_insert_invalid(const fib_op& op);
  void do_erase(const fib_op& op);
  void do_erase_batch(const fib_op& op);
  void do_refresh(const fib_op& op);
  void do_lookup(const fib_op& op);
  void do_lookup_ahead(const fib_op& op, bool right);
  void do_lookup_refresh(const fib_op& op);
  void do_pipeline(const fib_op& op);
  void do_drain();
  void note_state(std::uint64_t key);
  void collect(const std::uint32_t* entries, std::size_t n);
  void do_sweep(std::uint64_t n_buckets, bool told);
  void take_expired(const coua_fib_record& record);
  void do_next_epoch();
  void do_age_all(const fib_op& op);
  void do_cursor_open();
  void do_cursor_next(std::size_t which, std::size_t max);
  void do_bulk_load(const fib_op& op);

  const table_shape shape_;
  const std::uint64_t seed_;
  fib_ptr fib_;
  reader_ptr reader_;
  std::vector<std::uint64_t> universe_;
  std::unordered_map<std::uint64_t, entry> model_;
  std::deque<in_flight> flight_;
  std::vector<open_cursor> cursors_;
  counts counts_;
  std::uint64_t epoch_ = 0;
  std::uint64_t swept_ = 0;  // buckets in this epoch
  bool complete_ = false;    // what the last sweep said
  std::uint64_t moves_at_epoch_ = 0;
  bool loaded_in_parallel_ = false;
  std::uint64_t buckets_ = 0, slots_ = 0;
  std::uint32_t value_mask_ = 0;
  std::size_t depth_ = 0;
  std::string failure_;
};

}  // namespace coua::test
