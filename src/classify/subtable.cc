// SPDX-License-Identifier: Apache-2.0
#include "classify/subtable.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace coua {
namespace {

// A small table has few buckets to search, and a search that fails early only makes it grow early.
constexpr std::uint32_t search_budget = 64;

// Small tables share pages: a thousand masks with a rule each would otherwise take two pages and
// some system calls for each. Larger ones look for huge pages (base/arena.h).
constexpr std::uint64_t heap_buckets = 256;

void* heap_allocate(void*, std::size_t bytes, std::size_t alignment) {
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory != nullptr) std::memset(memory, 0, rounded);
  return memory;
}
void heap_release(void*, void* memory, std::size_t) { std::free(memory); }

}  // namespace

result<std::unique_ptr<subtable>> subtable::create(const wide_words& mask, unsigned n_words,
                                                   subtable_id id, const hash_key& key,
                                                   reclaimer& reclaim) {
  std::unique_ptr<subtable> made(new subtable(mask, n_words, id, key, reclaim));
  auto table = made->make_table(made->n_buckets_);
  if (!table) return tl::unexpected(table.error());
  made->current_ = std::move(*table);
  return made;
}

result<subtable_table> subtable::make_table(std::uint64_t n_buckets) const {
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.buckets = n_buckets;
  params.key_bytes = 8 * mask_.n();
  params.value_bytes = 16;
  params.sync = COUA_FLOW_ONE_WRITER;
  params.timers = COUA_FLOW_TIMERS_OFF;
  params.search_budget = search_budget;
  params.populate_threads = 1;
  params.hash_key = hash_key_.data();
  if (n_buckets <= heap_buckets) {
    params.allocate = heap_allocate;
    params.release = heap_release;
  }
  auto table = flow_table::create(params);
  if (!table) return tl::unexpected(table.error());
  auto face = std::make_unique<subtable_face>(
      subtable_face{(*table)->view(), mask_, id_, &unproven_below_, &hidden_});
  return subtable_table{std::move(*table), std::move(face)};
}

std::uint64_t subtable::bytes() const {
  coua_flow_stats stats{};
  current_.table->get_stats(stats);
  constexpr std::size_t per_rule = 2 * sizeof(std::uint32_t) + sizeof(rival_set) +
                                   sizeof(decltype(by_key_)::value_type) + 2 * sizeof(void*);
  return stats.bytes + keys_.capacity() * sizeof(std::uint64_t) + n_rules() * per_rule +
         hidden_.bytes() + sizeof *this;
}

std::uint64_t subtable::hash(const std::uint64_t* key) const { return hash_(key, mask_.n()); }

bool subtable::same_key(position at, const std::uint64_t* wanted) const {
  return std::equal(wanted, wanted + mask_.n(), key(at));
}

subtable::position subtable::find(const std::uint64_t* key, std::uint32_t priority) const {
  const auto [begin, end] = by_key_.equal_range(hash(key));
  for (auto it = begin; it != end; ++it) {
    if (priorities_[it->second] == priority && same_key(it->second, key)) return it->second;
  }
  return none;
}

subtable::position subtable::top(const std::uint64_t* key) const {
  position best = none;
  const auto [begin, end] = by_key_.equal_range(hash(key));
  for (auto it = begin; it != end; ++it) {
    const position at = it->second;
    if (same_key(at, key) && (best == none || priorities_[at] > priorities_[best])) best = at;
  }
  return best;
}

subtable::position subtable::next_below(position above) const {
  position best = none;
  const auto [begin, end] = by_key_.equal_range(hash(key(above)));
  for (auto it = begin; it != end; ++it) {
    const position at = it->second;
    if (priorities_[at] < priorities_[above] && same_key(at, key(above)) &&
        (best == none || priorities_[at] > priorities_[best])) {
      best = at;
    }
  }
  return best;
}

result<subtable::position> subtable::add(const std::uint64_t* key, std::uint32_t priority,
                                         std::uint32_t value, rival_set rivals,
                                         subtable_table& old) {
  const position above = top(key);
  const position at = enlist(key, priority, value, rivals);
  const bool is_shown = above == none || priorities_[above] < priority;
  if (above != none) {
    try {
      hide(is_shown ? above : at);
    } catch (...) {
      forget(at);
      throw;
    }
  }
  if (is_shown) {
    if (auto shown = show(key, answer_word(priority, value), rivals, old); !shown) {
      forget(at);
      return tl::unexpected(shown.error());
    }
  }
  return at;
}

void subtable::hide(position at) {
  hidden_.add(key(at), hash(key(at)), answer_word(priorities_[at], values_[at]));
}

/// What can throw comes before what changes the list.
subtable::position subtable::enlist(const std::uint64_t* key, std::uint32_t priority,
                                    std::uint32_t value, rival_set rivals) {
  const auto at = static_cast<position>(n_rules());
  if (at == priorities_.capacity()) {
    const std::size_t room = std::max<std::size_t>(8, 2 * n_rules());
    keys_.reserve(room * mask_.n());
    values_.reserve(room);
    rivals_.reserve(room);
    priorities_.reserve(room);
  }
  const auto in_index = by_key_.emplace(hash(key), at);
  try {
    ++by_priority_[priority];
  } catch (...) {
    by_key_.erase(in_index);
    throw;
  }
  keys_.insert(keys_.end(), key, key + mask_.n());
  priorities_.push_back(priority);
  values_.push_back(value);
  rivals_.push_back(rivals);
  return at;
}

void subtable::set_value(position at, std::uint32_t value) {
  values_[at] = value;
  hidden_.set(key(at), hash(key(at)), answer_word(priorities_[at], value));
  if (!is_top(at)) return;
  current_.table->store_value_word(reinterpret_cast<const std::uint8_t*>(key(at)), 0,
                                   answer_word(priorities_[at], value));
}

void subtable::set_rivals(position at, rival_set rivals) {
  if (rivals_[at].word() == rivals.word()) return;
  rivals_[at] = rivals;
  if (!is_top(at)) return;
  current_.table->store_value_word(reinterpret_cast<const std::uint8_t*>(key(at)), 1,
                                   rivals.word());
}

result<void> subtable::remove(position at, rival_set below, subtable_table& old) {
  if (is_top(at)) {
    const position next = next_below(at);
    if (next == none) {
      current_.table->erase(reinterpret_cast<const std::uint8_t*>(key(at)), nullptr);
    } else {
      const std::uint64_t answer = answer_word(priorities_[next], values_[next]);
      if (auto shown = show(key(at), answer, below, old); !shown) return shown;
      rivals_[next] = below;
    }
  }
  hidden_.remove(key(at), hash(key(at)), priorities_[at]);
  forget(at);
  shrink(old);
  return {};
}

void subtable::give_up_below(std::uint32_t priority) {
  if (unproven_below_.load(std::memory_order_relaxed) >= priority) return;
  // Before the rule that the others are not compared with: its entry is stored later.
  unproven_below_.store(priority, std::memory_order_release);
}

result<void> subtable::show(const std::uint64_t* key, std::uint64_t answer, rival_set rivals,
                            subtable_table& old) {
  std::uint64_t words[2] = {answer, rivals.word()};
  const std::uint64_t n_buckets = n_buckets_;
  // Both words change together, and readers see both or none: the table takes another slot.
  while (current_.table->put(put_mode::replace, reinterpret_cast<const std::uint8_t*>(key),
                             reinterpret_cast<std::uint8_t*>(words), 0) == COUA_FLOW_FULL) {
    auto grown = grow(old);
    if (grown) continue;
    if (old.table != nullptr) {  // it had grown before: readers have the one that it was
      current_ = std::move(old);
      n_buckets_ = n_buckets;
    }
    return grown;
  }
  return {};
}

result<void> subtable::grow(subtable_table& old) try {
  for (std::uint64_t n_buckets = 2 * n_buckets_;; n_buckets *= 2) {
    const auto fits = rebuild(n_buckets, old);
    if (!fits) return tl::unexpected(fits.error());
    if (*fits) return {};
  }
} catch (const std::bad_alloc&) {
  return fail(errc::no_memory, "mask", "");
}

/// False: not all rules have room in so many buckets, and nothing has changed.
result<bool> subtable::rebuild(std::uint64_t n_buckets, subtable_table& old) {
  auto made = make_table(n_buckets);
  if (!made) return tl::unexpected(made.error());
  for (position at = 0; at < n_rules(); ++at) {
    if (!is_top(at)) continue;
    std::uint64_t words[2] = {answer_word(priorities_[at], values_[at]), rivals_[at].word()};
    if (made->table->put(put_mode::replace, reinterpret_cast<const std::uint8_t*>(key(at)),
                         reinterpret_cast<std::uint8_t*>(words), 0) == COUA_FLOW_FULL) {
      return false;
    }
  }
  // Readers may hold the one that `old` has already: it was never published.
  if (old.table == nullptr) old = std::move(current_);
  current_ = std::move(*made);
  n_buckets_ = n_buckets;
  ++rebuilds_;
  return true;
}

/// Far below the size at which the smaller table would grow again. Where memory is short, all stays
/// as it is.
void subtable::shrink(subtable_table& old) {
  if (n_rules() == 0 || n_rules() >= n_buckets_ || n_buckets_ < 16) return;
  try {
    if (!rebuild(n_buckets_ / 4, old).value_or(false)) return;
    keys_.shrink_to_fit();
    values_.shrink_to_fit();
    rivals_.shrink_to_fit();
    priorities_.shrink_to_fit();
    by_key_.rehash(0);
  } catch (const std::bad_alloc&) {
  }
}

/// The last rule of the list takes its place. Takes no memory.
void subtable::forget(position at) {
  const auto in_index = [&](position which) {
    const auto [begin, end] = by_key_.equal_range(hash(key(which)));
    return std::find_if(begin, end, [&](const auto& it) { return it.second == which; });
  };
  by_key_.erase(in_index(at));
  if (--by_priority_[priorities_[at]] == 0) by_priority_.erase(priorities_[at]);
  const auto last = static_cast<position>(n_rules() - 1);
  if (at != last) {
    in_index(last)->second = at;
    std::copy_n(key(last), mask_.n(), keys_.begin() + at * mask_.n());
    priorities_[at] = priorities_[last];
    values_[at] = values_[last];
    rivals_[at] = rivals_[last];
  }
  keys_.resize(last * mask_.n());
  priorities_.pop_back();
  values_.pop_back();
  rivals_.pop_back();
}

}  // namespace coua
