// SPDX-License-Identifier: Apache-2.0
//
// The side of set separation that does not know the keys: a table that a snapshot of a builder
// brings up, and its deltas keep up. One writer; readers look up meanwhile. What is damaged, or
// does not belong to this table, is refused whole, and the table stays as it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/qsbr.h"
#include "setsep/delta.h"
#include "setsep/reader.h"
#include "setsep/snapshot.h"
#include "setsep/table.h"

namespace coua::setsep {

struct replica_params {
  std::uint64_t keys_room =
      0;  // that growth may lead to; 0: as many as the snapshot has blocks for
  isa instruction_set = best_isa();
  arena_params memory{};
};

enum class delta_outcome {
  applied,
  old,  // was applied before, or is in the snapshot
  gap,  // one before it is missing, or it is of another builder: load a snapshot
};

class replica {
 public:
  explicit replica(const replica_params& params) : params_(params), retired_(readers_) {}
  replica(const replica&) = delete;
  replica& operator=(const replica&) = delete;
  ~replica();

  /// The first one, or a newer one; readers go on with the old table until their next call. It is
  /// freed here if none is at it, else by the first load or delta after all have gone over. All
  /// snapshots have the same hash key, so that hashes that a caller has stay good. Errors: invalid
  /// (damaged; older than the table; of another hash key), no_memory.
  result<table_version> load(std::span<const std::uint8_t> snapshot);
  /// As load(), with a snapshot in a file, whose pages the table is made of (snapshot_file.h): the
  /// memory that was asked for is that of the page cache. Errors: as load(); not_found, denied, io
  /// (it cannot be read); all with `path` as the place, or the snapshot.
  result<table_version> map(const std::string& path);
  /// Errors: invalid (damaged), no_room (growth beyond the room).
  result<delta_outcome> apply(std::span<const std::uint8_t> delta);

  /// null: no snapshot was loaded yet.
  const setsep::table* table() const { return table_.get(); }
  const table_version& version() const { return version_; }
  /// Once a snapshot was loaded.
  const std::optional<hash_key>& key() const { return key_; }
  /// 0: the caller hashes.
  unsigned key_bytes() const { return key_bytes_; }
  /// At the snapshot.
  std::uint64_t n_keys() const { return n_keys_; }
  std::uint64_t n_deltas() const { return n_deltas_; }
  table_source source() { return {&readers_, &shown_}; }

 private:
  /// Whether such a snapshot may take the place of the table.
  result<void> check(const snapshot_facts& facts) const;
  table_params params_of_table();
  void show(std::unique_ptr<setsep::table> made, const snapshot_facts& facts);
  void apply(const delta_change& change);

  const replica_params params_;
  qsbr readers_;
  reclaimer retired_;
  std::unique_ptr<setsep::table> table_;
  const setsep::table* shown_ = nullptr;
  std::optional<hash_key> key_;
  unsigned key_bytes_ = 0;
  std::uint64_t n_keys_ = 0;
  table_version version_;
  std::uint64_t n_deltas_ = 0;
  delta_change change_;
  std::vector<std::uint8_t> image_;
};

}  // namespace coua::setsep
