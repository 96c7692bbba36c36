// SPDX-License-Identifier: Apache-2.0
//
// The side of set separation that knows the keys: a table, the keys of each of its blocks, and what
// changed since replicas were told last. One writer; readers look up in its table meanwhile.
//
// A change of one key touches its group alone: of each bit of the value whose function does not
// serve any more another one is searched for. A key that goes touches nothing, unless its group had
// failed. When a group becomes too large for the search, a bucket of it moves to another of its
// groups, and that one is searched for as well. So the work of a change has a limit: two groups of
// group_search::keys_max keys.
//
// Growth splits one block at a time, in the order of their numbers, and makes both halves anew. Who
// adds keys all the time calls grow() so that there is a block for each 1,024 of them; blocks that
// are not yet split have up to twice as many as those that are, and where a group gets more keys
// than functions separate, it goes to the fallback until its block is split.
//
// Source: ScaleBricks (SIGCOMM 2015), sections 4.4 and 6.2 for updates by the node that has the
// keys; moves of buckets and growth are our own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/qsbr.h"
#include "setsep/block_builder.h"
#include "setsep/bulk_build.h"
#include "setsep/delta.h"
#include "setsep/keys_of_block.h"
#include "setsep/reader.h"
#include "setsep/snapshot.h"
#include "setsep/table.h"

namespace coua::setsep {

enum class put_result { added, updated, unchanged };

struct builder_counts {
  std::uint64_t added = 0, updated = 0, removed = 0;
  std::uint64_t groups = 0;    // records that changed
  std::uint64_t moves = 0;     // buckets that went to another group
  std::uint64_t failures = 0;  // groups that no function separated any more
  bool operator==(const builder_counts&) const = default;
};

class builder {
 public:
  /// Of these keys, which may be none: then for `params.keys_room` (as many blocks; no growth).
  /// `key` and `key_bytes`: what the hashes were made with; they go into snapshots. Errors: as
  /// build_table().
  static result<std::unique_ptr<builder>> create(std::span<const keyed_value> keys,
                                                 const build_params& params, const hash_key& key,
                                                 unsigned key_bytes = 0);

  /// Errors: invalid (too many bits), no_room (its block is full: 32,768 keys), busy (the delta has
  /// reached its size: take it). Nothing has changed then. Throws bad_alloc.
  result<put_result> put(const keyed_value& key);
  /// False: it was not there. Errors: busy. Throws bad_alloc.
  result<bool> remove(const key_hash& hash);
  /// -1: not there. The truth, not what a look-up gives.
  int value_of(const key_hash& hash);
  /// One block more. Errors: no_room, busy. Throws bad_alloc.
  result<void> grow();

  /// What changed since the last take_delta(), sealed with the next number; valid until the next
  /// call. Empty: nothing did.
  std::span<const std::uint8_t> take_delta();
  std::size_t pending_bytes() const { return delta_.empty() || taken_ ? 0 : delta_.bytes(); }

  std::uint64_t snapshot_bytes() const { return setsep::snapshot_bytes(*table_); }
  /// Errors: busy (there are changes that no delta was taken of), invalid (`to` is too short).
  result<void> snapshot(std::span<std::uint8_t> to) const;

  const setsep::table& table() const { return *table_; }
  const table_version& version() const { return version_; }
  const hash_key& key() const { return key_; }
  std::uint64_t n_keys() const { return n_keys_; }
  const builder_counts& counts() const { return counts_; }
  /// Of the keys; the table has its own.
  std::uint64_t key_bytes() const;
  /// What readers need (reader.h). Any thread.
  table_source source() { return {&readers_, &shown_}; }

 private:
  builder(const build_params& params, const hash_key& key, unsigned key_bytes)
      : key_(key),
        key_length_(key_bytes),
        retired_(readers_),
        blocks_(params.shape, params.instruction_set),
        search_(params.shape, params.instruction_set),
        delta_(params.shape) {}

  // One change of a block: begin, some of the others, end.
  void begin(std::uint32_t block);
  unsigned choice_of(unsigned bucket) const;
  void choose(unsigned bucket, unsigned choice);
  std::uint8_t* record(unsigned group);
  void collect(unsigned group, std::vector<keyed_value>& into) const;
  unsigned group_size(unsigned group) const;
  bool move_a_bucket_of(unsigned group);
  void update_group(unsigned group);
  void end(const key_hash* removed);
  result<void> room_for_delta() const;

  const hash_key key_;
  const unsigned key_length_;
  qsbr readers_;
  reclaimer retired_;
  std::unique_ptr<setsep::table> table_;
  const setsep::table* shown_ = nullptr;
  std::vector<keys_of_block> keys_;  // by block
  std::uint64_t n_keys_ = 0;
  builder_counts counts_;

  block_builder blocks_;
  group_search search_;
  std::uint32_t block_ = 0;  // that changes
  std::vector<std::uint8_t> image_;
  std::vector<unsigned> touched_;  // groups
  std::vector<keyed_value> group_keys_;
  delta_change change_;
  delta_writer delta_;
  bool taken_ = false;  // what delta_ has
  table_version version_;
};

}  // namespace coua::setsep
