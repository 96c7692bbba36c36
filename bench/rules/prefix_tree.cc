// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/prefix_tree.h"

#include <algorithm>
#include <array>

namespace coua::bench {
namespace {

bool chance(random_words& random, double probability) {
  return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
}

unsigned bit_at(std::uint32_t address, unsigned depth) { return address >> (31 - depth) & 1; }

}  // namespace

void prefix_tree::grow(node& at, unsigned depth, random_words& random,
                       std::optional<unsigned> wanted) {
  at.grown = true;
  at.both = chance(random, figures_.levels[depth].two_children);
  const auto either = static_cast<std::uint8_t>(random.below(2));
  at.heavy = wanted ? static_cast<std::uint8_t>(*wanted) : either;
}

ip_prefix prefix_tree::walk(unsigned bits, random_words& random,
                            const std::optional<guide>& followed, std::optional<unsigned> opened) {
  ip_prefix out = {0, bits};
  bool together = followed.has_value();
  std::uint32_t at = 0;
  for (unsigned depth = 0; depth < bits; ++depth) {
    together = together && depth < followed->prefix.bits;
    std::optional<unsigned> wanted;
    if (together) {
      const unsigned same = bit_at(followed->prefix.address, depth);
      wanted = chance(random, followed->correlation[depth]) ? same : 1 - same;
    }
    if (!nodes_[at].grown) grow(nodes_[at], depth, random, wanted);
    unsigned bit = nodes_[at].heavy;
    if (opened == depth) {
      nodes_[at].both = true;
      bit = 1 - bit;
    } else if (nodes_[at].both) {
      const double heavier = 1 / (2 - figures_.levels[depth].skew);
      bit = wanted ? *wanted : chance(random, heavier) ? bit : 1 - bit;
    }
    together = together && bit == bit_at(followed->prefix.address, depth);
    out.address |= bit << (31 - depth);
    if (nodes_[at].children[bit] == 0) {
      nodes_[at].children[bit] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    at = nodes_[at].children[bit];
  }
  return out;
}

bool prefix_tree::may_mark(const ip_prefix& prefix) const {
  std::uint32_t at = 0;
  unsigned above = 0;
  for (unsigned depth = 0; depth < prefix.bits; ++depth) {
    above += nodes_[at].marked ? 1 : 0;
    at = nodes_[at].children[bit_at(prefix.address, depth)];
  }
  return nodes_[at].marked || above + 1 + nodes_[at].below <= figures_.nesting;
}

void prefix_tree::mark(const ip_prefix& prefix) {
  std::array<std::uint32_t, address_bits + 1> path = {};
  for (unsigned depth = 0; depth < prefix.bits; ++depth) {
    path[depth + 1] = nodes_[path[depth]].children[bit_at(prefix.address, depth)];
  }
  nodes_[path[prefix.bits]].marked = true;
  for (unsigned depth = prefix.bits + 1; depth-- > 0;) {
    node& each = nodes_[path[depth]];
    const auto below = [&](unsigned bit) {
      return each.children[bit] == 0 ? 0U : nodes_[each.children[bit]].below;
    };
    each.below = static_cast<std::uint8_t>(std::max(below(0), below(1)) + (each.marked ? 1 : 0));
  }
}

}  // namespace coua::bench
