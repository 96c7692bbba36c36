// SPDX-License-Identifier: Apache-2.0
//
// Draws address prefixes that cover the address space as those of real rule sets do.
//
// A binary tree of bits is grown along the walks that need it. A node is made with one child or
// with two, by the published probability of its depth, and a walk that comes to two takes the
// heavier with the odds that the published skew of that depth says: a skew s means that the lighter
// child has 1 - s of the walks of the heavier. Which bit is the heavier (or only) child is chance.
//
// A real set has few nodes with two children, so that a tree made by its figures runs out of
// addresses when a set is to be much larger than those which they are from. A walk may therefore be
// told to open a second child at one depth. The more a set outgrows its figures, the more of its
// addresses come from such branches, below which the tree again grows by the figures.
//
// Addresses of a rule resemble each other: a walk may be given an address to follow. While it is on
// the same path, a node that is made, or has two children, goes on in the same way with the
// published probability of its depth; only an older node with one child leaves it no choice.
//
// The prefixes of a set are marked; how many may lie on one path is limited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/harness/population.h"
#include "bench/rules/five_tuple_rule.h"
#include "bench/rules/seed_figures.h"

namespace coua::bench {

class prefix_tree {
 public:
  /// What a walk follows while it can: `correlation` has the probability of each bit.
  struct guide {
    ip_prefix prefix;
    std::span<const float> correlation;
  };

  explicit prefix_tree(const address_figures& figures) : figures_(figures), nodes_(1) {}

  /// A prefix of `bits` bits; `opened`: the depth below `bits` at which it takes a second child.
  ip_prefix walk(unsigned bits, random_words&, const std::optional<guide>& = {},
                 std::optional<unsigned> opened = {});
  /// Whether no path would hold more marked prefixes than the figures allow. `prefix` is of a walk.
  bool may_mark(const ip_prefix& prefix) const;
  void mark(const ip_prefix& prefix);

 private:
  struct node {
    std::uint32_t children[2] = {0, 0};  // 0: none yet
    std::uint8_t below = 0;              // most marked prefixes on a path from here down
    bool marked = false;
    bool grown = false;  // a walk went on from here, and so chose the next two
    bool both = false;   // may have two children
    std::uint8_t heavy = 0;
  };
  void grow(node&, unsigned depth, random_words&, std::optional<unsigned> wanted);

  address_figures figures_;
  std::vector<node> nodes_;  // the root first
};

}  // namespace coua::bench
