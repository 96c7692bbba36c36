// SPDX-License-Identifier: Apache-2.0
//
// The rules of a subtable that a look-up does not see, because one of the same key has a higher
// priority. For readers that want the next best match (classifier_reader::lookup_below). Few
// tables have any: until there is one, this takes no memory.
//
//   map   heads, by hash  -->  node {key, priority:32 value:32}  -->  node  -->  ...
//
// A rule comes here before the one that hides it is shown, and stays until it is removed itself,
// even when it is not hidden any more: so a reader that saw the higher one, and then looks here,
// finds the lower one whatever the writer does in between. Nodes are put in front and taken out by
// one store; what was taken out still leads on. A map that is full is copied, with its nodes. All
// that readers may hold goes to the reclaimer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/reclaimer.h"

namespace coua {

class hidden_rules {
 public:
  /// Keys of so many words. The reclaimer's readers are those of the rules.
  hidden_rules(unsigned n_words, reclaimer& reclaim) : n_words_(n_words), reclaim_(reclaim) {}
  ~hidden_rules();
  hidden_rules(const hidden_rules&) = delete;
  hidden_rules& operator=(const hidden_rules&) = delete;

  // Writer. `answer` as in rule.h; a rule is known by its key and priority.

  /// It may be here already.
  void add(const std::uint64_t* key, std::uint64_t hash, std::uint64_t answer);
  /// Another value, if it is here.
  void set(const std::uint64_t* key, std::uint64_t hash, std::uint64_t answer);
  void remove(const std::uint64_t* key, std::uint64_t hash, std::uint32_t priority);
  std::size_t size() const { return n_; }
  std::size_t bytes() const;

  // Readers.

  /// The answer with the highest priority below this one.
  std::optional<std::uint64_t> best_below(const std::uint64_t* key, std::uint64_t hash,
                                          std::uint32_t priority) const noexcept;

 private:
  struct node;
  struct map;

  bool same_key(const node& one, const std::uint64_t* key, std::uint64_t hash) const noexcept;
  node** find(const std::uint64_t* key, std::uint64_t hash, std::uint32_t priority) const;
  std::unique_ptr<node> make_node(const std::uint64_t* key, std::uint64_t hash,
                                  std::uint64_t answer) const;
  void grow();

  const unsigned n_words_;
  reclaimer& reclaim_;
  map* map_ = nullptr;  // null: there are none
  std::size_t n_ = 0;
};

}  // namespace coua
