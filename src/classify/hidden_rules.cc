// SPDX-License-Identifier: Apache-2.0
#include "classify/hidden_rules.h"

#include <algorithm>
#include <utility>

#include "base/atomic_word.h"
#include "classify/rule.h"

namespace coua {

struct hidden_rules::node {
  node* next;
  std::uint64_t hash;
  std::uint64_t answer;
  std::unique_ptr<std::uint64_t[]> key;
};

struct hidden_rules::map {
  explicit map(std::size_t n) : n_heads(n), heads(std::make_unique<node*[]>(n)) {}
  map(const map&) = delete;
  map& operator=(const map&) = delete;
  ~map() {
    for (std::size_t i = 0; i < n_heads; ++i) {
      while (heads[i] != nullptr) delete std::exchange(heads[i], heads[i]->next);
    }
  }
  node** head(std::uint64_t hash) const noexcept { return &heads[hash & (n_heads - 1)]; }

  const std::size_t n_heads;  // a power of two
  const std::unique_ptr<node*[]> heads;
};

hidden_rules::~hidden_rules() { delete map_; }

bool hidden_rules::same_key(const node& one, const std::uint64_t* key,
                            std::uint64_t hash) const noexcept {
  return one.hash == hash && std::equal(key, key + n_words_, one.key.get());
}

std::optional<std::uint64_t> hidden_rules::best_below(const std::uint64_t* key, std::uint64_t hash,
                                                      std::uint32_t priority) const noexcept {
  std::optional<std::uint64_t> best;
  const map* const now = load_acquire(&map_);
  if (now == nullptr) return best;
  for (const node* at = load_acquire(now->head(hash)); at != nullptr;
       at = load_acquire(&at->next)) {
    const std::uint64_t answer = load_acquire(&at->answer);
    if (priority_of(answer) >= priority || !same_key(*at, key, hash)) continue;
    if (!best || priority_of(answer) > priority_of(*best)) best = answer;
  }
  return best;
}

/// The pointer to it; null: it is not here.
hidden_rules::node** hidden_rules::find(const std::uint64_t* key, std::uint64_t hash,
                                        std::uint32_t priority) const {
  if (map_ == nullptr) return nullptr;
  for (node** at = map_->head(hash); *at != nullptr; at = &(*at)->next) {
    if (priority_of((*at)->answer) == priority && same_key(**at, key, hash)) return at;
  }
  return nullptr;
}

std::unique_ptr<hidden_rules::node> hidden_rules::make_node(const std::uint64_t* key,
                                                            std::uint64_t hash,
                                                            std::uint64_t answer) const {
  auto words = std::make_unique<std::uint64_t[]>(n_words_);
  std::copy_n(key, n_words_, words.get());
  return std::unique_ptr<node>(new node{nullptr, hash, answer, std::move(words)});
}

void hidden_rules::add(const std::uint64_t* key, std::uint64_t hash, std::uint64_t answer) {
  if (find(key, hash, priority_of(answer)) != nullptr) return set(key, hash, answer);
  std::unique_ptr<node> made = make_node(key, hash, answer);
  if (map_ == nullptr || n_ == map_->n_heads) grow();
  node** const head = map_->head(hash);
  made->next = *head;
  store_release(head, made.release());
  ++n_;
}

void hidden_rules::set(const std::uint64_t* key, std::uint64_t hash, std::uint64_t answer) {
  if (node** const at = find(key, hash, priority_of(answer)); at != nullptr) {
    store_release(&(*at)->answer, answer);
  }
}

void hidden_rules::remove(const std::uint64_t* key, std::uint64_t hash, std::uint32_t priority) {
  node** const at = find(key, hash, priority);
  if (at == nullptr) return;
  std::unique_ptr<node> gone(*at);
  store_release(at, gone->next);
  reclaim_.retire(std::move(gone));
  if (--n_ > 0) return;
  std::unique_ptr<map> empty(map_);
  store_release(&map_, static_cast<map*>(nullptr));
  reclaim_.retire(std::move(empty));
}

void hidden_rules::grow() {
  auto made = std::make_unique<map>(map_ == nullptr ? 4 : 2 * map_->n_heads);
  for (std::size_t i = 0; map_ != nullptr && i < map_->n_heads; ++i) {
    for (const node* from = map_->heads[i]; from != nullptr; from = from->next) {
      std::unique_ptr<node> copy = make_node(from->key.get(), from->hash, from->answer);
      node** const head = made->head(from->hash);
      copy->next = *head;
      *head = copy.release();
    }
  }
  std::unique_ptr<map> old(map_);
  store_release(&map_, made.release());
  if (old != nullptr) reclaim_.retire(std::move(old));
}

std::size_t hidden_rules::bytes() const {
  if (map_ == nullptr) return 0;
  return sizeof(map) + map_->n_heads * sizeof(node*) +
         n_ * (sizeof(node) + n_words_ * sizeof(std::uint64_t));
}

}  // namespace coua
