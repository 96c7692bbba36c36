// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/exact_store.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "flow/flow_cursor.h"

namespace coua::pipeline {
namespace {

constexpr unsigned key_word_bytes = sizeof(std::uint64_t);

// A step over all entries.
constexpr std::size_t cursor_entries = 64;
constexpr std::uint64_t cursor_buckets = 1024;

/// A byte of the words that no key uses: word * 8 + byte. None: n_words * 8.
unsigned free_byte(const key_packing& keys) {
  for (unsigned at = 0; at < keys.n_words() * key_word_bytes; ++at) {
    if ((keys.mask(at / key_word_bytes) >> at % key_word_bytes * 8 & 0xff) == 0) return at;
  }
  return keys.n_words() * key_word_bytes;
}

/// The flow table has kernels of their own for 2 and for 5 words; a key of one word is as fast
/// with another one.
unsigned padded(unsigned n_words) {
  if (n_words <= 2) return 2;
  return n_words <= 5 ? 5 : n_words;
}

/// With the table's number.
unsigned words_needed(const key_packing& keys) {
  return std::max(keys.n_words(), free_byte(keys) / key_word_bytes + 1);
}

}  // namespace

bool exact_store::takes(const key_layout& layout) {
  return !layout.has_layers() && words_needed(key_packing(layout)) <= words_max;
}

bool exact_store::is_short(const key_layout& layout) {
  return !layout.has_layers() && words_needed(key_packing(layout)) <= 2;
}

exact_store::exact_store(const key_layout& layout)
    : layout_(layout),
      packing_(layout),
      n_words_(padded(words_needed(packing_))),
      mark_word_(free_byte(packing_) / key_word_bytes),
      mark_shift_(free_byte(packing_) % key_word_bytes * 8) {}

exact_store::~exact_store() {
  for (const auto& each : readers_) table_->detach(each.get());
}

result<std::unique_ptr<exact_store>> exact_store::create(const key_layout& layout,
                                                         std::uint64_t n_entries,
                                                         unsigned n_workers) {
  COUA_CHECK(takes(layout));
  std::unique_ptr<exact_store> made(new exact_store(layout));
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.entries = n_entries;
  params.max_load = 0.9;
  params.key_bytes = made->n_words_ * key_word_bytes;
  params.value_bytes = sizeof(std::uint64_t);
  params.sync = COUA_FLOW_ONE_WRITER;
  params.timers = COUA_FLOW_TIMERS_OFF;
  auto table = flow_table::create(params);
  if (!table) return tl::unexpected(std::move(table.error()));
  made->table_ = std::move(*table);
  made->n_room_ = n_entries;
  for (unsigned i = 0; i <= n_workers; ++i) {  // the last one is the writer's
    made->readers_.push_back(std::make_unique<simd::flow_reader_state>(made->table_->view()));
    made->table_->attach(made->readers_.back().get());
  }
  return made;
}

bool exact_store::has_key_of(const match& what) {
  // Rules of a table are of one kind, and those of its neighbours in the store mostly, too.
  if (recipe_ && recipe_->takes(what)) return true;
  auto found = layout_.recipe_of(what);
  if (!found) return false;
  recipe_ = std::move(found);
  return true;
}

std::optional<exact_store::key> exact_store::key_of(const match& what, std::uint8_t table) {
  if (!has_key_of(what)) return std::nullopt;
  std::uint64_t words[key_words::max];
  recipe_->make(what, words);
  key made;
  packing_.pack(words, made.words);
  mark(made.words, 1, [table](std::size_t) { return table; });
  return made;
}

std::uint64_t exact_store::find(const key& of) const {
  std::uint64_t value = 0;
  const auto hits = look_up(static_cast<unsigned>(readers_.size()) - 1, of.words, 1, &value);
  return hits == 0 ? 0 : value;
}

bool exact_store::put(const key& of, std::uint64_t value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(of.words);
  if (table_->store_value_word(bytes, 0, value)) return true;
  const int done =
      table_->put(put_mode::replace, bytes, reinterpret_cast<std::uint8_t*>(&value), 0);
  if (done == COUA_FLOW_FULL) return false;
  ++n_entries_;
  return true;
}

void exact_store::erase(const key& of) {
  if (table_->erase(reinterpret_cast<const std::uint8_t*>(of.words), nullptr)) --n_entries_;
}

bool exact_store::take_from(
    const exact_store& from,
    const std::function<bool(std::uint8_t table, std::uint64_t value)>& moves) {
  COUA_CHECK(from.layout_ == layout_);
  // Nothing moves there meanwhile.
  auto moved = moved_keys::create(1, from.table_->geometry().key_words());
  if (!moved) throw std::bad_alloc();
  flow_cursor cursor(*from.table_, std::move(*moved));
  std::vector<std::uint64_t> keys(cursor_entries * n_words_), values(cursor_entries);
  while (!cursor.at_end()) {
    auto* const key_bytes = reinterpret_cast<std::uint8_t*>(keys.data());
    auto* const value_bytes = reinterpret_cast<std::uint8_t*>(values.data());
    const std::size_t n =
        cursor.next(key_bytes, value_bytes, nullptr, cursor_entries, cursor_buckets);
    for (std::size_t i = 0; i < n; ++i) {
      if (!moves(table_of(&keys[i * n_words_]), values[i])) continue;
      const std::uint8_t* const one = key_bytes + i * n_words_ * key_word_bytes;
      std::uint8_t* const value = value_bytes + i * key_word_bytes;
      if (table_->put(put_mode::replace, one, value, 0) == COUA_FLOW_FULL) return false;
      ++n_entries_;
    }
  }
  return true;
}

void exact_store::erase_table(std::uint8_t table) {
  std::vector<std::uint64_t> keys(cursor_entries * n_words_);
  for (bool is_whole = false; !is_whole;) {
    const flow_geometry& geometry = table_->geometry();
    auto moved = moved_keys::create(geometry.n_buckets * geometry.n_slots, geometry.key_words());
    if (!moved) throw std::bad_alloc();
    flow_cursor cursor(*table_, std::move(*moved));
    while (!cursor.at_end() && !cursor.lost()) {
      auto* const bytes = reinterpret_cast<std::uint8_t*>(keys.data());
      const std::size_t n = cursor.next(bytes, nullptr, nullptr, cursor_entries, cursor_buckets);
      for (std::size_t i = 0; i < n; ++i) {
        if (table_of(&keys[i * n_words_]) != table) continue;
        if (table_->erase(bytes + i * n_words_ * key_word_bytes, nullptr)) --n_entries_;
      }
    }
    is_whole = !cursor.lost();  // what was erased is gone: it begins again with fewer
  }
}

std::uint64_t exact_store::bytes() const {
  const flow_geometry& of = table_->geometry();
  return of.line_bytes() + of.entry_bytes() + of.filter_bytes();
}

std::uint64_t exact_store::n_buckets() const { return table_->geometry().n_buckets; }

std::uint64_t exact_store::look_up(unsigned worker, const std::uint64_t* keys, std::size_t n,
                                   std::uint64_t* values) const noexcept {
  std::uint64_t hits = 0;
  table_->kernels().batch(table_->view(), *readers_[worker],
                          reinterpret_cast<const std::uint8_t*>(keys), nullptr, n,
                          reinterpret_cast<std::uint8_t*>(values), &hits);
  return hits;
}

}  // namespace coua::pipeline
