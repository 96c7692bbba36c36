// SPDX-License-Identifier: Apache-2.0
//
// The entries of all exact tables that take the same bits of a packet: one flow table (Cuckoo++,
// flow/flow_table.h), whose keys say besides which table they are of. So packets that are at
// different tables of one kind are looked up in one batch, and a table with ten entries costs what
// they take.
//
//   key     the words of the layout, packed, and the number of the table in a byte that they leave
//           free; where there is none, in a word of its own
//   value   the head of the rules of the entry (action_record.h, rule_head); of a decomposed
//           table, which has a store of its own, a set of rules (rule_set.h)
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "flow/flow_table.h"
#include "pipeline/datapath/action_record.h"
#include "pipeline/datapath/key_layout.h"

namespace coua::pipeline {

class exact_store {
 public:
  static constexpr unsigned words_max = COUA_FLOW_KEY_BYTES_MAX / sizeof(std::uint64_t);

  struct key {
    std::uint64_t words[words_max] = {};
    auto operator<=>(const key&) const = default;
  };

  /// Whether keys of the layout, with the table's number, are short enough.
  static bool takes(const key_layout& layout);
  /// They are so short that a look-up is as fast as it can be.
  static bool is_short(const key_layout& layout);
  /// Errors: no_memory, io.
  static result<std::unique_ptr<exact_store>> create(const key_layout& layout,
                                                     std::uint64_t n_entries, unsigned n_workers);
  ~exact_store();
  exact_store(const exact_store&) = delete;
  exact_store& operator=(const exact_store&) = delete;

  const key_layout& layout() const { return layout_; }
  /// From key to key, in words.
  unsigned stride() const { return n_words_; }
  /// The keys of packets, as key_layout::take() has them, at tables `table_of(i)`: of key i.
  template <class TableOf>
  void take(const packet_state* from, const std::uint8_t* at, std::size_t n, std::uint64_t* words,
            TableOf table_of) const noexcept {
    take(from, at, n, words, std::uint8_t{0});
    mark(words, n, table_of);
  }
  /// The same at one table: of number 0, keys have a mark of 0.
  void take(const packet_state* from, const std::uint8_t* at, std::size_t n, std::uint64_t* words,
            std::uint8_t table) const noexcept {
    layout_.take_packed(from, at, n, packing_, words, n_words_);
    if (table != 0) mark(words, n, [table](std::size_t) { return table; });
  }

  // Writer.
  /// Not: it takes other bits than those of the layout, or not all of them. How the key is made is
  /// kept for the next one.
  bool has_key_of(const match& what);
  /// The key of a rule. None: it has none.
  std::optional<key> key_of(const match& what, std::uint8_t table);
  /// 0: it is not there.
  std::uint64_t find(const key& of) const;
  /// Adds it, or replaces its value. False: no room.
  bool put(const key& of, std::uint64_t value);
  void erase(const key& of);
  /// What `from`, a store of the same layout, has, as far as `moves(table, value)`. `from` stays as
  /// it is. False: no room.
  bool take_from(const exact_store& from,
                 const std::function<bool(std::uint8_t table, std::uint64_t value)>& moves);
  /// Erases all entries of a table. Goes over the whole store.
  void erase_table(std::uint8_t table);
  std::uint64_t size() const { return n_entries_; }
  /// So many entries go in without a refusal.
  std::uint64_t room() const { return n_room_; }
  std::uint64_t bytes() const;
  std::uint64_t n_buckets() const;

  /// Of worker `worker`, one thread at a time: the values of `n` keys, at most 64. A bit for each
  /// that is there; of others the value is anything.
  std::uint64_t look_up(unsigned worker, const std::uint64_t* keys, std::size_t n,
                        std::uint64_t* values) const noexcept;

 private:
  explicit exact_store(const key_layout& layout);
  /// Puts the number of its table into each key.
  template <class TableOf>
  void mark(std::uint64_t* words, std::size_t n, TableOf table_of) const noexcept {
    std::uint64_t* marked = words + mark_word_;
    for (std::size_t i = 0; i < n; ++i, marked += n_words_) {
      *marked |= std::uint64_t{table_of(i)} << mark_shift_;
    }
  }
  std::uint8_t table_of(const std::uint64_t* key) const {
    return static_cast<std::uint8_t>(key[mark_word_] >> mark_shift_);
  }

  const key_layout layout_;
  const key_packing packing_;
  std::optional<key_recipe> recipe_;  // of the rule before
  unsigned n_words_, mark_word_, mark_shift_;
  std::uint64_t n_entries_ = 0, n_room_ = 0;
  std::unique_ptr<flow_table> table_;
  std::vector<std::unique_ptr<simd::flow_reader_state>> readers_;  // by worker
};

}  // namespace coua::pipeline
