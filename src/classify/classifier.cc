// SPDX-License-Identifier: Apache-2.0
#include "classify/classifier.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "classify/classifier_reader.h"

namespace coua {
namespace {

std::string as_text(const wide_words& mask, unsigned n_words) {
  return {reinterpret_cast<const char*>(mask.words), n_words * sizeof(std::uint64_t)};
}

// With fewer, looking into them costs less than asking which.
constexpr std::size_t least_pruned = 8;

// Of the subtables, named as perhaps rivals: with more, finding out the others is not worth it.
constexpr double useless_density = 0.75;

// By one update at most: a list, a map of candidates, a table and its face, a subtable and its id,
// a hidden rule and the map of those.
constexpr std::size_t most_retired = 8;

/// By highest priority; of one priority in the order of their coming, so that the order is stable.
bool goes_before(const subtable* a, const subtable* b) {
  return a->highest() != b->highest() ? a->highest() > b->highest() : a->id() < b->id();
}

}  // namespace

result<std::unique_ptr<classifier>> classifier::create(const coua_classifier_params& params) {
  auto settings = classifier_settings::check(params);
  if (!settings) return tl::unexpected(settings.error());
  return std::unique_ptr<classifier>(new classifier(std::move(*settings)));
}

classifier::classifier(classifier_settings settings)
    : settings_(std::move(settings)),
      n_words_(wide_words::count(settings_.key_bytes)),
      owned_list_(std::make_unique<subtable_list>()),
      hits_of_gone_(n_ids_max()),
      hits_before_(n_ids_max()) {
  list_.store(owned_list_.get(), std::memory_order_release);
}

classifier::~classifier() = default;

// Rules.

bool classifier::take_rule(bytes_in key, bytes_in mask, std::uint32_t priority,
                           whole_rule& rule) const {
  if (key == nullptr || mask == nullptr) return false;
  load_words(key, settings_.key_bytes, rule.key.words);
  load_words(mask, settings_.key_bytes, rule.mask.words);
  rule.priority = priority;
  for (unsigned w = 0; w < n_words_; ++w) {
    if ((rule.key.words[w] & ~rule.mask.words[w]) != 0) return false;
  }
  return true;
}

whole_rule classifier::whole(const subtable& table, subtable::position at) const {
  whole_rule rule{{}, table.whole_mask(), table.priority(at)};
  for (unsigned i = 0; i < table.mask().n(); ++i) {
    rule.key.words[table.mask().at(i)] = table.key(at)[i];
  }
  return rule;
}

subtable* classifier::find(const wide_words& mask) const {
  const auto found = by_mask_.find(as_text(mask, n_words_));
  return found == by_mask_.end() ? nullptr : found->second;
}

subtable* classifier::find_or_create(const wide_words& mask, int& error) {
  if (subtable* found = find(mask); found != nullptr) return found;
  error = ERANGE;
  if (!compact_mask::takes(mask, n_words_)) return nullptr;
  error = E2BIG;
  if (by_mask_.size() == settings_.masks_max) return nullptr;
  // Ids of masks that are gone come back when readers have left those.
  error = EAGAIN;
  for (int i = 0; i < 3 && free_ids_.empty(); ++i) reclaimer_.reclaim();
  if (free_ids_.empty() && by_id_.size() == n_ids_max()) return nullptr;
  const bool reused = !free_ids_.empty();
  const auto id = reused ? free_ids_.back() : static_cast<subtable_id>(by_id_.size());
  error = ENOMEM;
  auto made = subtable::create(mask, n_words_, id, settings_.key, reclaimer_);
  if (!made) return nullptr;
  subtable* table = made->get();
  ordered_.reserve(ordered_.size() + 1);
  // That it comes back takes no memory later.
  if (free_ids_.capacity() <= by_id_.size()) free_ids_.reserve(2 * by_id_.size() + 8);
  const auto known = by_mask_.emplace(as_text(mask, n_words_), table).first;
  try {
    if (!reused) by_id_.emplace_back();
  } catch (...) {
    by_mask_.erase(known);
    throw;
  }
  by_id_[id] = std::move(*made);
  if (reused) free_ids_.pop_back();
  hits_before_[id] = hits(id);
  candidates_short_ |= candidates_ != nullptr && candidates_->should_look_at(mask, n_words_);
  return table;
}

subtable::position classifier::locate(const subtable& table, const whole_rule& rule) {
  std::uint64_t words[compact_mask::max];
  table.mask().take(rule.key.words, words);
  return table.find(words, rule.priority);
}

int classifier::add(bytes_in key, bytes_in mask, std::uint32_t priority, std::uint32_t value) {
  whole_rule rule;
  if (!take_rule(key, mask, priority, rule)) return -EINVAL;
  int error = 0;
  subtable* table = find(rule.mask);
  if (table != nullptr) {
    const subtable::position at = locate(*table, rule);
    if (at != subtable::none) {
      const update now(version_);
      table->set_value(at, value);
      ++updated_;
      return COUA_CLASSIFIER_UPDATED;
    }
  }
  if (n_rules_ == settings_.rules_max) {
    ++refused_;
    return -ENOSPC;
  }
  if (table == nullptr) table = find_or_create(rule.mask, error);
  if (table == nullptr) {
    ++refused_;
    return -error;
  }
  const int done = add_new(*table, rule, value);
  if (done < 0) ++refused_;
  reclaimer_.reclaim();
  return done;
}

int classifier::add_new(subtable& table, const whole_rule& rule, std::uint32_t value) try {
  std::uint64_t words[compact_mask::max];
  table.mask().take(rule.key.words, words);
  compare_budget budget(settings_.proof_budget);
  prepare();
  const update now(version_);
  const bool is_first = table.n_rules() == 0;
  announce(rule, table, budget);
  const rival_set rivals = prove(rule, table, budget);
  const std::uint32_t highest = is_first ? 0 : table.highest();
  if (candidates_ != nullptr && table.id() < candidates_->capacity()) {
    candidates_->add(table.id(), rule.key, rule.mask);
  }
  subtable_table old;
  auto added = table.add(words, rule.priority, value, rivals, old);
  if (!added) {
    if (is_first) forget_new(table);
    return -ENOMEM;
  }
  if (is_first || table.highest() != highest || old.table != nullptr) publish();
  if (old.table != nullptr) retire(std::move(old));
  ++n_rules_;
  ++added_;
  return COUA_CLASSIFIER_ADDED;
} catch (const std::bad_alloc&) {
  if (table.n_rules() == 0) forget_new(table);
  return -ENOMEM;
}

int classifier::remove(bytes_in key, bytes_in mask, std::uint32_t priority) {
  whole_rule rule;
  if (!take_rule(key, mask, priority, rule)) return -EINVAL;
  const auto known = by_mask_.find(as_text(rule.mask, n_words_));
  if (known == by_mask_.end()) return -ENOENT;
  subtable* table = known->second;
  const subtable::position at = locate(*table, rule);
  if (at == subtable::none) return -ENOENT;

  compare_budget budget(settings_.proof_budget);
  prepare();
  const update now(version_);
  rival_set below;
  if (const subtable::position next = table->next_below(at); next != subtable::none) {
    below = prove(whole(*table, next), *table, budget);
  }
  const std::uint32_t highest = table->highest();
  subtable_table old;
  if (!table->remove(at, below, old)) return -ENOMEM;
  --n_rules_;
  ++removed_;
  const subtable_id id = table->id();
  if (table->n_rules() == 0) {
    drop(known);
  } else {
    if (table->highest() != highest || old.table != nullptr) publish();
    forget_candidates(*table);
  }
  prove_again(rule, id, budget);
  if (old.table != nullptr) retire(std::move(old));
  reclaimer_.reclaim();
  return 0;
}

int classifier::get(bytes_in key, bytes_in mask, std::uint32_t priority,
                    std::uint32_t* value) const {
  whole_rule rule;
  if (!take_rule(key, mask, priority, rule)) return -EINVAL;
  const subtable* table = find(rule.mask);
  if (table == nullptr) return -ENOENT;
  const subtable::position at = locate(*table, rule);
  if (at == subtable::none) return -ENOENT;
  if (value != nullptr) *value = table->value(at);
  return 0;
}

// Proofs.

rival_set classifier::prove(const whole_rule& rule, const subtable& own, compare_budget& budget) {
  rival_set rivals;
  for (const subtable* table : ordered_) {
    if (table == &own) continue;
    if (table->highest() <= rule.priority) break;
    if (!rivals.is_listed() && rivals.density() > useless_density) return rival_set::unknown();
    const bool compared = each_overlap(*table, rule, budget, [&](subtable::position at) {
      if (table->priority(at) <= rule.priority) return true;
      rivals.add(table->id());
      return false;
    });
    if (!compared) {
      ++given_up_;
      return rival_set::unknown();
    }
  }
  return rivals;
}

void classifier::announce(const whole_rule& rule, const subtable& own, compare_budget& budget) {
  for (subtable* table : ordered_) {
    if (table == &own || table->lowest() >= rule.priority) continue;
    const bool compared = each_overlap(*table, rule, budget, [&](subtable::position at) {
      if (table->priority(at) >= rule.priority) return true;
      rival_set rivals = table->rivals(at);
      rivals.add(own.id());
      table->set_rivals(at, rivals);
      return true;
    });
    if (!compared) {
      table->give_up_below(rule.priority);
      ++given_up_;
    }
  }
}

void classifier::prove_again(const whole_rule& rule, subtable_id gone, compare_budget& budget) {
  for (subtable* table : ordered_) {
    if (table->id() == gone || table->lowest() >= rule.priority) continue;
    each_overlap(*table, rule, budget, [&](subtable::position at) {
      if (table->priority(at) >= rule.priority || !table->rivals(at).may_have(gone)) return true;
      // Of those it had, none has come: where the budget does not last, they still hold.
      const rival_set rivals = prove(whole(*table, at), *table, budget);
      if (!rivals.is_unknown()) table->set_rivals(at, rivals);
      return true;
    });
  }
}

// The list.

void classifier::renew_candidates() {
  if (!settings_.pruned) return;
  const std::size_t n = ordered_.size();
  const bool have = candidates_ != nullptr;
  const bool fits = have && !candidates_short_ && by_id_.size() <= candidates_->capacity() &&
                    n < 2 * candidates_made_for_ && 8 * n > candidates_made_for_;
  const bool wanted = n >= (have ? least_pruned / 2 : least_pruned);
  if (wanted ? fits : !have) return;
  std::unique_ptr<candidate_map> made;
  if (wanted) {
    try {
      made = std::make_unique<candidate_map>(candidate_map::choose_bytes(ordered_, n_words_),
                                             by_id_.size());
    } catch (const std::bad_alloc&) {
      if (have && by_id_.size() <= candidates_->capacity()) return;  // it still has all
    }
    if (made != nullptr) {
      for (const subtable* table : ordered_) made->renew(*table);
    }
  }
  candidates_made_for_ = n;
  candidates_short_ = false;
  std::swap(candidates_, made);
  retired_candidates_ = std::move(made);
}

/// After a rule has gone: its bits go with those of others, when they are many.
void classifier::forget_candidates(subtable& table) {
  if (candidates_ == nullptr || !table.forget_later()) return;
  candidates_->renew(table);
}

void classifier::prepare() {
  reclaimer_.reserve(most_retired);
  if (next_list_ == nullptr) next_list_ = std::make_unique<subtable_list>();
  next_list_->places.reserve(ordered_.size() + 1);
  next_list_->place_of.reserve(by_id_.size());
}

void classifier::publish() noexcept {
  std::unique_ptr<subtable_list> list = std::move(next_list_);
  ordered_.clear();
  for (const auto& table : by_id_) {
    if (table != nullptr && table->n_rules() > 0) ordered_.push_back(table.get());
  }
  std::sort(ordered_.begin(), ordered_.end(), goes_before);
  renew_candidates();
  list->candidates = candidates_.get();
  list->place_of.assign(by_id_.size(), subtable_list::no_place);
  wide_words all{};
  bool same_order = owned_list_->places.size() == ordered_.size();
  for (std::size_t i = 0; i < ordered_.size(); ++i) {
    const subtable& table = *ordered_[i];
    same_order = same_order && owned_list_->places[i].face->id == table.id() &&
                 owned_list_->places[i].highest == table.highest();
    list->place_of[table.id()] = static_cast<std::uint16_t>(i);
    list->places.push_back({&table.face(), table.highest()});
    for (unsigned w = 0; w < n_words_; ++w) all.words[w] |= table.whole_mask().words[w];
  }
  list->all = joint_mask(all, n_words_);
  list->order = same_order ? order_ : ++order_;
  list_.store(list.get(), std::memory_order_release);
  std::swap(list, owned_list_);
  reclaimer_.retire(std::move(list));
  if (retired_candidates_ != nullptr) reclaimer_.retire(std::move(retired_candidates_));
}

void classifier::retire(subtable_table old) {
  reclaimer_.retire(std::move(old.face));
  reclaimer_.retire(std::move(old.table));
}

void classifier::drop(mask_index::iterator mask) {
  const subtable_id id = mask->second->id();
  rebuilds_of_gone_ += mask->second->rebuilds();
  by_mask_.erase(mask);
  std::unique_ptr<subtable> gone = std::move(by_id_[id]);
  publish();
  if (candidates_ != nullptr && id < candidates_->capacity()) candidates_->clear(id);
  // Readers' hints to the id lead nowhere now, and to another subtable later: both are harmless,
  // but its counts of hits must not begin with those of this one.
  reclaimer_.retire(std::move(gone));
  reclaimer_.defer([this, id] { free_ids_.push_back(id); });
}

void classifier::forget_new(subtable& table) {
  const subtable_id id = table.id();
  if (candidates_ != nullptr && id < candidates_->capacity()) candidates_->clear(id);
  std::erase_if(by_mask_, [&](const auto& each) { return each.second == &table; });
  by_id_[id].reset();
  free_ids_.push_back(id);
}

std::size_t classifier::reclaim() {
  reclaimer_.reclaim();
  return reclaimer_.pending();
}

// Counts.

void classifier::get_stats(coua_classifier_stats& stats) const {
  stats.rules = n_rules_;
  stats.masks = by_mask_.size();
  stats.bytes = sizeof *this + owned_list_->places.capacity() * sizeof(subtable_list::place);
  if (candidates_ != nullptr) stats.bytes += candidates_->bytes();
  stats.rebuilds = rebuilds_of_gone_;
  for (const subtable* table : ordered_) {
    stats.bytes += table->bytes();
    stats.rebuilds += table->rebuilds();
  }
  stats.added = added_;
  stats.updated = updated_;
  stats.removed = removed_;
  stats.refused = refused_;
  stats.proofs_given_up = given_up_;
}

bool classifier::get_mask(std::size_t index, coua_classifier_mask& mask) const {
  if (index >= ordered_.size()) return false;
  const subtable& table = *ordered_[index];
  mask.rules = table.n_rules();
  mask.highest = table.highest();
  mask.lowest = table.lowest();
  mask.bytes = table.bytes();
  mask.hits = hits(table.id()) - hits_before_[table.id()];
  std::memcpy(mask.mask, table.whole_mask().words, settings_.key_bytes);
  return true;
}

std::uint64_t classifier::hits(subtable_id id) const {
  const std::lock_guard guard(readers_mutex_);
  std::uint64_t sum = hits_of_gone_[id];
  for (const classifier_reader* reader : readers_) sum += reader->hits_of(id);
  return sum;
}

void classifier::attach(const classifier_reader* reader) {
  const std::lock_guard guard(readers_mutex_);
  readers_.push_back(reader);
}

void classifier::detach(const classifier_reader* reader) {
  const std::lock_guard guard(readers_mutex_);
  for (std::size_t id = 0; id < hits_of_gone_.size(); ++id) {
    hits_of_gone_[id] += reader->hits_of(static_cast<subtable_id>(id));
  }
  std::erase(readers_, reader);
}

}  // namespace coua
