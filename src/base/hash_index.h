// SPDX-License-Identifier: Apache-2.0
//
// Small values that are found by a hash, in one array: for tables of the control plane that have an
// entry for each rule. The C++ library's tables allocate for each, and a search goes from node to
// node, each of them a miss of the cache where there are some 100,000.
//
//   hash --> home --> | h v | h v | h v |  -  |     a value is at its home or in one of the slots
//                                                   behind it, before the first empty one
//
// A slot keeps the hash, so that a search looks at values of this hash only, and growing at no
// value at all. Hashes may be numbers in a row (below 2^63): all bits but the last two are mixed,
// and say which four slots have the home, so that four in a row share a line of the cache. Mixed
// with the number of slots, too: else what is put into one table in the order of another, larger
// one would all have its home in one place.
//
// At most 5/8 of the slots are in use; then there come to be twice as many: a value takes 1.6 to
// 3.2 slots. What goes has those behind it move up, and leaves no mark. There are never fewer slots
// again, but for clear().
//
// Thread rules: one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coua {

template <class Value>
class hash_index {
 public:
  /// Where no two values have the same hash.
  struct any {
    bool operator()(const Value&) const { return true; }
  };

  std::size_t size() const { return size_; }

  /// The value with this hash for which `is(value)`. Null: there is none. It stays where it is
  /// until the next change.
  template <class Is = any>
  Value* find(std::uint64_t hash, Is is = {}) {
    if (slots_.empty()) return nullptr;
    const std::uint64_t word = hash | in_use;
    for (std::size_t i = home_of(word); slots_[i].word != 0; i = after(i)) {
      if (slots_[i].word == word && is(std::as_const(slots_[i].value))) return &slots_[i].value;
    }
    return nullptr;
  }
  template <class Is = any>
  const Value* find(std::uint64_t hash, Is is = {}) const {
    return const_cast<hash_index*>(this)->find(hash, is);
  }

  /// One that is not there yet.
  void insert(std::uint64_t hash, Value value) {
    if ((size_ + 1) * 8 > slots_.size() * 5) grow();
    put({hash | in_use, std::move(value)});
    ++size_;
  }

  /// The value with this hash for which `is(value)`. False: there is none.
  template <class Is = any>
  bool erase(std::uint64_t hash, Is is = {}) {
    const Value* const gone = find(hash, is);
    if (gone == nullptr) return false;
    std::size_t hole = home_of(hash | in_use);
    while (&slots_[hole].value != gone) hole = after(hole);
    for (std::size_t i = after(hole); slots_[i].word != 0; i = after(i)) {
      // Its home is behind the hole: it stays.
      if (steps(home_of(slots_[i].word), i) < steps(hole, i)) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = {};
    --size_;
    return true;
  }

  void clear() { *this = {}; }

  /// The most slots beyond its home that a search for a value goes over: for tests.
  std::size_t longest_search() const {
    std::size_t most = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].word != 0) most = std::max(most, steps(home_of(slots_[i].word), i));
    }
    return most;
  }

  /// In no order.
  template <class Call>
  void each(Call call) const {
    for (const slot& one : slots_) {
      if (one.word != 0) call(one.value);
    }
  }

 private:
  static constexpr std::uint64_t in_use = std::uint64_t{1} << 63;
  static constexpr std::size_t slots_min = 16;

  struct slot {
    std::uint64_t word = 0;  // the hash and `in_use`; 0: empty
    Value value{};
  };

  std::size_t home_of(std::uint64_t word) const {
    std::uint64_t mixed = (word >> 2 ^ slots_.size()) * 0xff51'afd7'ed55'8ccd;
    mixed = (mixed ^ mixed >> 32) * 0xc4ce'b9fe'1a85'ec53;
    return static_cast<std::size_t>(mixed >> shift_) * 4 + word % 4;
  }
  std::size_t after(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  std::size_t steps(std::size_t from, std::size_t to) const {
    return (to - from) & (slots_.size() - 1);
  }

  void put(slot one) {
    std::size_t i = home_of(one.word);
    while (slots_[i].word != 0) i = after(i);
    slots_[i] = std::move(one);
  }

  void grow() {
    std::vector<slot> old(slots_.empty() ? slots_min : 2 * slots_.size());
    slots_.swap(old);
    shift_ = 64 - std::countr_zero(slots_.size() / 4);
    for (slot& one : old) {
      if (one.word != 0) put(std::move(one));
    }
  }

  std::vector<slot> slots_;  // none, or a power of two
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace coua
