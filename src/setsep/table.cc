// SPDX-License-Identifier: Apache-2.0
#include "setsep/table.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include "base/check.h"

namespace coua::setsep {
namespace {

constexpr std::uint64_t blocks_per_stripe = 16, n_stripes_max = 4096;
constexpr std::uint32_t no_block = ~std::uint32_t{0};
// Up to so many second-level caches, fetching ahead costs more than it saves: measured with three
// and a half of them, 281 million look-ups a second without and 248 with.
constexpr std::uint64_t near_caches = 4;
// Vectors of 8 and 16 keys gain nothing on so few: three take 64 ns one by one, a vector 115
// (500 K keys of 2 bits; EPYC).
constexpr std::size_t few_keys = 3;

result<void> check(const table_params& params) {
  const layout& shape = params.shape;
  const auto bad = [](const std::string& what) { return fail(errc::invalid, "setsep", what); };
  if (shape.value_bits < 1 || shape.value_bits > value_bits_max) {
    return bad("a value has 1 to 16 bits, not " + std::to_string(shape.value_bits));
  }
  for (const unsigned bytes : {shape.index_bytes, shape.array_bytes}) {
    if (bytes != 1 && bytes != 2) return bad("an index or an array has 1 or 2 bytes");
  }
  const extent& size = params.size;
  if (size.n_first < 1 || size.n_blocks < size.n_first || size.n_blocks > n_blocks_max) {
    return bad("there are 1 to " + std::to_string(n_blocks_max) + " blocks");
  }
  if (params.n_blocks_room > n_blocks_max) return bad("there is room for too many blocks");
  if (size.level() >= split_bits) return bad("a block is split into 2^24 at most");
  return {};
}

/// Four bytes at any address, of aligned words.
std::uint32_t load_four(const std::uint32_t* words, std::size_t byte) noexcept {
  const std::uint32_t* from = words + byte / 4;
  const std::uint64_t both = load_acquire(from) | std::uint64_t{load_acquire(from + 1)} << 32;
  return static_cast<std::uint32_t>(both >> byte % 4 * 8);
}

/// Of one key; -1 if its group failed.
int value_in(const std::uint32_t* block, const layout& shape, const key_hash& hash) noexcept {
  const unsigned bucket = bucket_of(hash);
  const unsigned choice = load_acquire(block + bucket / 16) >> bucket % 16 * 2 & 3;
  std::size_t at = choice_bytes + std::size_t{group_of(bucket, choice)} * shape.group_bytes();
  unsigned value = 0;
  for (unsigned bit = 0; bit < shape.value_bits; ++bit, at += shape.part_bytes()) {
    const group_part part = split_part(shape, load_four(block, at));
    if (bit == 0 && part.index == shape.failed()) return -1;
    value |= bit_of(shape, part, base_of(hash), step_of(hash)) << bit;
  }
  return static_cast<int>(value);
}

std::uint32_t word_at(std::span<const std::uint8_t> image, std::size_t i) {
  std::uint32_t word;
  std::memcpy(&word, image.data() + 4 * i, sizeof word);
  return word;
}

}  // namespace

result<std::unique_ptr<table>> table::create(const table_params& params) {
  if (auto good = check(params); !good) return tl::unexpected(std::move(good.error()));
  const std::uint32_t room = std::max(params.size.n_blocks, params.n_blocks_room);
  auto memory = arena::create(memory_bytes(params.shape, room), params.memory);
  if (!memory) return tl::unexpected(std::move(memory.error()));
  return adopt(params, std::move(*memory));
}

result<std::unique_ptr<table>> table::adopt(const table_params& params, arena blocks) {
  if (auto good = check(params); !good) return tl::unexpected(std::move(good.error()));
  std::unique_ptr<table> made(new table);
  made->n_blocks_room_ = std::max(params.size.n_blocks, params.n_blocks_room);
  made->block_bytes_ = params.shape.block_bytes();
  const std::uint64_t bytes = memory_bytes(params.shape, made->n_blocks_room_);
  COUA_CHECK(blocks.bytes() >= bytes);
  made->memory_ = std::move(blocks);
  made->view_.blocks = made->words(0);
  made->view_.shape = params.shape;
  made->near_bytes_ = near_caches * second_level_cache_bytes();
  made->view_.near = made->would_be_near(params.size);
  made->kernels_ = simd::select_setsep_kernels(params.instruction_set, bytes);
  made->size_ = std::bit_cast<std::uint64_t>(params.size);
  const std::uint64_t stripes = std::bit_ceil(made->n_blocks_room_ / blocks_per_stripe + 1);
  made->stripes_.resize(std::min(stripes, n_stripes_max));
  made->patch_.resize(made->block_bytes_ / 4 + 1);  // one may be read behind it
  made->patch_block_ = no_block;
  made->retired_ = params.retired;
  static std::atomic<std::uint64_t> serials{0};
  made->serial_ = serials.fetch_add(1, std::memory_order_relaxed) + 1;
  return made;
}

bool table::would_be_near(const extent& size) const noexcept {
  return std::uint64_t{size.n_blocks} * block_bytes_ <= near_bytes_;
}

extent table::size() const noexcept { return std::bit_cast<extent>(load_acquire(&size_)); }

std::uint16_t table::find(const key_hash& hash) const noexcept {
  std::uint16_t value;
  find_some(&hash, 1, &value);
  return value;
}

void table::find_batch(const key_hash* hashes, std::size_t n,
                       std::uint16_t* values) const noexcept {
  for (std::size_t done = 0; done < n; done += simd::setsep_batch) {
    find_some(hashes + done, std::min(simd::setsep_batch, n - done), values + done);
  }
}

void table::find_some(const key_hash* hashes, std::size_t n, std::uint16_t* values) const noexcept {
  // The loads of the look-up are between these two, see above; both with the stores in begin() and
  // end().
  const std::uint64_t before = load_acquire(&changes_);
  if (before % 2 == 0) {
    if (n > few_keys) {
      simd::setsep_keys keys;
      kernels_.locate(view_, size(), hashes, n, keys);
      kernels_.choose(view_, n, keys);
      const std::uint32_t failed = kernels_.resolve(view_, n, keys, values);
      if (failed != 0) take_failed(hashes, failed, values);
    } else {
      const extent now = size();
      for (std::size_t i = 0; i < n; ++i) {
        const int value = value_in(words(now.block_of(hashes[i])), view_.shape, hashes[i]);
        values[i] =
            static_cast<std::uint16_t>(value < 0 ? std::max(0, fallback_.find(hashes[i])) : value);
      }
    }
    if (load_acquire(&changes_) == before) return;
  }
  for (std::size_t i = 0; i < n; ++i) values[i] = find_among_changes(hashes[i]);
}

void table::take_failed(const key_hash* hashes, std::uint32_t failed,
                        std::uint16_t* values) const noexcept {
  for (; failed != 0; failed &= failed - 1) {
    const int i = std::countr_zero(failed);
    values[i] = static_cast<std::uint16_t>(std::max(0, fallback_.find(hashes[i])));
  }
}

std::uint16_t table::find_among_changes(const key_hash& hash) const noexcept {
  for (;;) {
    const extent now = size();
    const std::uint32_t block = now.block_of(hash);
    const std::uint64_t version = load_acquire(&stripe(block));  // with begin() and end()
    const std::uint32_t* from = words(block);
    if (version % 2 != 0 && load_acquire(&patch_block_) == block) from = patch_.data();
    int value = value_in(from, view_.shape, hash);
    if (value < 0) value = std::max(0, fallback_.find(hash));
    // The writer has ended one change of this stripe, and is at another one: it makes progress.
    if (load_acquire(&stripe(block)) != version || size() != now) continue;
    return static_cast<std::uint16_t>(value);
  }
}

void table::begin(const block_change& change) {
  COUA_ASSERT(change.image.size() == block_bytes_);
  store_release(&changes_, changes_ + 1);
  for (const keyed_value& each : change.put) fallback_.put(each, retired_);
  for (std::size_t i = 0; i < block_bytes_ / 4; ++i) {
    store_release(&patch_[i], word_at(change.image, i));
  }
  store_release(&patch_block_, change.block);
}

void table::change_in_place(const block_change& change) {
  std::uint64_t& version = stripe(change.block);
  store_release(&version, version + 1);
  std::uint32_t* const to = words(change.block);
  for (std::size_t i = 0; i < block_bytes_ / 4; ++i) {
    const std::uint32_t word = word_at(change.image, i);
    if (to[i] != word) store_release(&to[i], word);
  }
  store_release(&version, version + 1);
}

void table::end(const block_change& change) {
  for (const key_hash& each : change.drop) fallback_.drop(each);
  store_release(&changes_, changes_ + 1);
  if (retired_ != nullptr) retired_->reclaim();
}

void table::apply(const block_change& change) {
  begin(change);
  change_in_place(change);
  end(change);
}

void table::apply_growth(const block_change& change, std::span<const std::uint8_t> added) {
  extent grown = size();
  COUA_CHECK(grown.n_blocks < n_blocks_room_ && change.block == grown.next_split());
  begin(change);
  std::uint32_t* const to = words(grown.n_blocks);
  for (std::size_t i = 0; i < block_bytes_ / 4; ++i) store_release(&to[i], word_at(added, i));
  ++grown.n_blocks;
  store_release(&size_, std::bit_cast<std::uint64_t>(grown));
  if (view_.near && !would_be_near(grown)) store_relaxed(&view_.near, false);
  change_in_place(change);
  end(change);
}

std::uint64_t table::bytes_used() const noexcept {
  return blocks().size() + slack_bytes + stripes_.size() * sizeof stripes_[0] +
         patch_.size() * sizeof patch_[0] + fallback_.bytes() + sizeof *this;
}

}  // namespace coua::setsep
