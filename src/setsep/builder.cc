// SPDX-License-Identifier: Apache-2.0
#include "setsep/builder.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace coua::setsep {
namespace {

// From here on a group gives a bucket away, if one of its other groups is better off: so a search
// takes some microseconds. A block that was made at once has 17 or 18 keys in its fullest group.
constexpr unsigned crowded = 18;

/// Of each group the buckets that may choose it, and by which choice.
struct chooser {
  std::uint8_t bucket, choice;
};
constexpr auto choosers = [] {
  std::array<std::array<chooser, block_buckets * n_choices / block_groups>, block_groups> made{};
  std::array<unsigned, block_groups> n{};
  for (unsigned bucket = 0; bucket < block_buckets; ++bucket) {
    for (unsigned choice = 0; choice < n_choices; ++choice) {
      const unsigned group = group_of(bucket, choice);
      made[group][n[group]++] = {static_cast<std::uint8_t>(bucket),
                                 static_cast<std::uint8_t>(choice)};
    }
  }
  return made;
}();

}  // namespace

result<std::unique_ptr<builder>> builder::create(std::span<const keyed_value> keys,
                                                 const build_params& params, const hash_key& key,
                                                 unsigned key_bytes) {
  const std::uint64_t n = blocks_for(keys.empty() ? params.keys_room : keys.size());
  const std::uint64_t room = std::max(n, blocks_for(params.keys_room));
  if (room > n_blocks_max) {
    return fail(errc::invalid, "setsep", "there is room for 4 billion keys at most");
  }
  std::unique_ptr<builder> made(new builder(params, key, key_bytes));
  const auto n32 = static_cast<std::uint32_t>(n);
  auto table = table::create({.shape = params.shape,
                              .size = {n32, n32},
                              .n_blocks_room = static_cast<std::uint32_t>(room),
                              .instruction_set = params.instruction_set,
                              .memory = params.memory,
                              .retired = &made->retired_});
  if (!table) return tl::unexpected(std::move(table.error()));
  made->table_ = std::move(*table);
  made->shown_ = made->table_.get();
  made->keys_.reserve(room);
  made->keys_.resize(n);
  auto built = build_into(*made->table_, keys, params, [&](std::uint64_t block, auto of_block) {
    keys_of_block& kept = made->keys_[block];
    kept.reserve(of_block.size() + of_block.size() / 16);
    // Bucket by bucket: those of a group are then on few lines.
    std::array<std::uint32_t, block_buckets + 1> at{};
    for (const keyed_value& each : of_block) ++at[bucket_of(each.hash) + 1];
    for (unsigned bucket = 0; bucket < block_buckets; ++bucket) at[bucket + 1] += at[bucket];
    std::vector<keyed_value> ordered(of_block.size());
    for (const keyed_value& each : of_block) ordered[at[bucket_of(each.hash)]++] = each;
    for (const keyed_value& each : ordered) {
      if (kept.find(each.hash) == nullptr) kept.add(each);
    }
  });
  if (!built) return tl::unexpected(std::move(built.error()));
  for (const keys_of_block& each : made->keys_) made->n_keys_ += each.size();
  made->image_.resize(params.shape.block_bytes());
  if (auto drawn = fill_random({reinterpret_cast<std::uint8_t*>(&made->version_.table), 8});
      !drawn) {
    return tl::unexpected(std::move(drawn.error()));
  }
  return made;
}

std::uint64_t builder::key_bytes() const {
  std::uint64_t sum = 0;
  for (const keys_of_block& each : keys_) sum += each.bytes();
  return sum;
}

int builder::value_of(const key_hash& hash) {
  const std::uint16_t* there = keys_[table_->size().block_of(hash)].find(hash);
  return there == nullptr ? -1 : *there;
}

result<void> builder::room_for_delta() const {
  // A growth takes less than 64 KiB, and the fallback of 64 failed groups as much again.
  if (pending_bytes() + (std::size_t{1} << 20) <= delta_body_max) return {};
  return fail(errc::busy, "setsep", "the delta has reached its size: take it");
}

result<put_result> builder::put(const keyed_value& key) {
  if (key.value >> table_->shape().value_bits != 0) {
    return fail(errc::invalid, "setsep",
                "the value " + std::to_string(key.value) + " has more than " +
                    std::to_string(table_->shape().value_bits) + " bits");
  }
  if (auto room = room_for_delta(); !room) return tl::unexpected(std::move(room.error()));
  const std::uint32_t block = table_->size().block_of(key.hash);
  keys_of_block& keys = keys_[block];
  std::uint16_t* const there = keys.find(key.hash);
  if (there != nullptr && *there == key.value) return put_result::unchanged;
  const builder_counts counts_before = counts_;
  const std::uint16_t value_before = there == nullptr ? std::uint16_t{0} : *there;
  if (there != nullptr) {
    *there = key.value;
    ++counts_.updated;
  } else {
    if (keys.size() == keys_of_block::keys_max) {
      return fail(errc::no_room, "setsep", "a block has 32,768 keys at most");
    }
    keys.add(key);
    ++n_keys_;
    ++counts_.added;
  }
  try {
    begin(block);
    const unsigned bucket = bucket_of(key.hash);
    const unsigned group = group_of(bucket, choice_of(bucket));
    if (there == nullptr && group_size(group) >= crowded) (void)move_a_bucket_of(group);
    const unsigned now = group_of(bucket, choice_of(bucket));
    if (std::find(touched_.begin(), touched_.end(), now) == touched_.end()) update_group(now);
    end(nullptr);
  } catch (...) {  // the table is as it was, so are the keys
    if (there != nullptr) {
      *there = value_before;
    } else {
      (void)keys.remove(key.hash);
      --n_keys_;
    }
    counts_ = counts_before;
    throw;
  }
  return there == nullptr ? put_result::added : put_result::updated;
}

result<bool> builder::remove(const key_hash& hash) {
  if (auto room = room_for_delta(); !room) return tl::unexpected(std::move(room.error()));
  const std::uint32_t block = table_->size().block_of(hash);
  keys_of_block& keys = keys_[block];
  const std::uint16_t* const there = keys.find(hash);
  if (there == nullptr) return false;
  const builder_counts counts_before = counts_;
  const std::uint16_t value = *there;
  (void)keys.remove(hash);
  --n_keys_;
  ++counts_.removed;
  try {
    begin(block);
    const unsigned bucket = bucket_of(hash);
    const unsigned group = group_of(bucket, choice_of(bucket));
    // The others are still where they were.
    if (search_.failed(record(group))) update_group(group);
    end(&hash);
  } catch (...) {             // the table is as it was, so are the keys
    keys.add({hash, value});  // in the place that became free
    ++n_keys_;
    counts_ = counts_before;
    throw;
  }
  return true;
}

void builder::begin(std::uint32_t block) {
  if (taken_) {
    delta_.clear();
    taken_ = false;
  }
  block_ = block;
  const auto now = table_->block(block);
  std::copy(now.begin(), now.end(), image_.begin());
  touched_.clear();
  change_ = {};
  change_.block = block;
}

unsigned builder::choice_of(unsigned bucket) const {
  return image_[bucket / 4] >> bucket % 4 * 2 & 3;
}

void builder::choose(unsigned bucket, unsigned choice) {
  std::uint8_t& byte = image_[bucket / 4];
  byte = static_cast<std::uint8_t>((byte & ~(3U << bucket % 4 * 2)) | choice << bucket % 4 * 2);
  change_.choices.push_back({static_cast<std::uint8_t>(bucket), static_cast<std::uint8_t>(choice)});
}

std::uint8_t* builder::record(unsigned group) {
  return image_.data() + choice_bytes + std::size_t{group} * table_->shape().group_bytes();
}

void builder::collect(unsigned group, std::vector<keyed_value>& into) const {
  into.clear();
  std::array<std::uint8_t, std::tuple_size_v<decltype(choosers)::value_type>> buckets;
  unsigned n = 0;
  for (const chooser& each : choosers[group]) {
    if (choice_of(each.bucket) != each.choice) continue;
    keys_[block_].prefetch(each.bucket);  // their lists lie apart
    buckets[n++] = each.bucket;
  }
  for (unsigned i = 0; i < n; ++i) {
    keys_[block_].for_bucket(buckets[i], [&](const keyed_value& key) { into.push_back(key); });
  }
}

unsigned builder::group_size(unsigned group) const {
  unsigned n = 0;
  for (const chooser& each : choosers[group]) {
    if (choice_of(each.bucket) == each.choice) n += keys_[block_].bucket_size(each.bucket);
  }
  return n;
}

/// To the group that is the smallest with it, if that is smaller than this one is now. This one
/// keeps its record: it serves those who stay.
bool builder::move_a_bucket_of(unsigned group) {
  unsigned best = group_size(group), best_bucket = 0, best_choice = n_choices;
  for (const chooser& each : choosers[group]) {
    if (choice_of(each.bucket) != each.choice) continue;
    const unsigned moved = keys_[block_].bucket_size(each.bucket);
    if (moved == 0) continue;
    for (unsigned choice = 0; choice < n_choices; ++choice) {
      if (choice == each.choice) continue;
      const unsigned size = group_size(group_of(each.bucket, choice)) + moved;
      if (size >= best) continue;
      best = size;
      best_bucket = each.bucket;
      best_choice = choice;
    }
  }
  if (best_choice == n_choices) return false;
  choose(best_bucket, best_choice);
  ++counts_.moves;
  update_group(group_of(best_bucket, best_choice));
  // One that had failed may be small enough now, and its entries are others.
  if (search_.failed(record(group))) update_group(group);
  return true;
}

void builder::update_group(unsigned group) {
  collect(group, group_keys_);
  const bool had_failed = search_.failed(record(group));
  if (!search_.adapt(group_keys_, record(group))) {
    counts_.failures += !had_failed;
    change_.put.insert(change_.put.end(), group_keys_.begin(), group_keys_.end());
  } else if (table_->fallback().size() != 0) {
    // Of this group when it failed, or of another that a bucket came from.
    for (const keyed_value& each : group_keys_) change_.drop.push_back(each.hash);
  }
  touched_.push_back(group);
}

void builder::end(const key_hash* removed) {
  // What is in the fallback and belongs to no group that failed.
  if (removed != nullptr) change_.drop.push_back(*removed);
  std::erase_if(change_.drop, [&](const key_hash& hash) {
    return table_->fallback().find(hash) < 0 ||
           std::any_of(change_.put.begin(), change_.put.end(),
                       [&](const keyed_value& each) { return each.hash == hash; });
  });
  const std::uint8_t* const before = table_->block(block_).data();
  const std::size_t group_bytes = table_->shape().group_bytes();
  for (const unsigned group : touched_) {
    const std::uint8_t* const now = record(group);
    if (std::equal(now, now + group_bytes, before + (now - image_.data()))) continue;
    change_.records.push_back({static_cast<std::uint8_t>(group), now});
    ++counts_.groups;
  }
  if (change_.choices.empty() && change_.records.empty() && change_.put.empty() &&
      change_.drop.empty()) {
    return;
  }
  // What can fail comes before the change.
  table_->reserve_fallback(change_.put.size());
  delta_.add(change_);
  table_->apply({block_, image_, change_.put, change_.drop});
}

result<void> builder::grow() {
  if (auto room = room_for_delta(); !room) return room;
  extent grown = table_->size();
  if (grown.n_blocks == table_->n_blocks_room()) {
    return fail(errc::no_room, "setsep",
                "the table was made for " + std::to_string(grown.n_blocks) + " blocks");
  }
  begin(grown.next_split());
  ++grown.n_blocks;
  if (grown.level() >= split_bits) {
    return fail(errc::no_room, "setsep", "a block is split into 2^24 at most");
  }
  std::vector<keyed_value> stay, go;
  for (unsigned bucket = 0; bucket < block_buckets; ++bucket) {
    keys_[block_].for_bucket(bucket, [&](const keyed_value& key) {
      (grown.block_of(key.hash) == block_ ? stay : go).push_back(key);
    });
  }
  keys_of_block kept_here, kept_there;
  kept_here.reserve(stay.size() + stay.size() / 4);
  kept_there.reserve(go.size() + go.size() / 4);
  for (const keyed_value& each : stay) kept_here.add(each);
  for (const keyed_value& each : go) kept_there.add(each);
  std::vector<std::uint8_t> added(image_.size());
  blocks_.build(stay, image_.data(), change_.put);
  blocks_.build(go, added.data(), change_.put);
  for (const std::vector<keyed_value>* all : {&stay, &go}) {
    for (const keyed_value& each : *all) {
      const bool fails =
          std::find(change_.put.begin(), change_.put.end(), each) != change_.put.end();
      if (!fails && table_->fallback().find(each.hash) >= 0) change_.drop.push_back(each.hash);
    }
  }
  change_.growth = true;
  change_.block = grown.n_blocks;
  change_.split = image_;
  change_.added = added;
  // What can fail comes before the change.
  if (keys_.size() == keys_.capacity()) keys_.reserve(keys_.size() + keys_.size() / 2 + 1);
  table_->reserve_fallback(change_.put.size());
  delta_.add(change_);
  keys_[block_] = std::move(kept_here);
  keys_.push_back(std::move(kept_there));
  table_->apply_growth({block_, image_, change_.put, change_.drop}, added);
  return {};
}

std::span<const std::uint8_t> builder::take_delta() {
  if (delta_.empty() || taken_) return {};
  taken_ = true;
  ++version_.sequence;
  return delta_.seal(version_);
}

result<void> builder::snapshot(std::span<std::uint8_t> to) const {
  if (pending_bytes() != 0) {
    return fail(errc::busy, "setsep", "take the delta first: the snapshot has the number of one");
  }
  if (to.size() != snapshot_bytes()) {
    return fail(errc::invalid, "setsep",
                "a snapshot takes " + std::to_string(snapshot_bytes()) + " bytes now");
  }
  write_snapshot(*table_, {version_, key_, key_length_, n_keys_, table_->shape(), table_->size()},
                 to);
  return {};
}

}  // namespace coua::setsep
