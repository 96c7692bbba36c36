// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search for room in a cuckoo table: the shortest sequence of moves that frees a slot
// in one of two full buckets. Shortest paths keep the moves, and so the conflicts with readers, few
// (two-choice hashing with breadth-first search: Li et al., "Algorithmic improvements for fast
// concurrent cuckoo hashing", EuroSys 2014, section 4.3.2).
//
//   roots        the buckets that the new key may be in        depth 0, all full
//   children     the other buckets of each entry of a node     depth + 1
//   end          the first bucket with a free slot
//
// Memory is what a search costs. The children of a node are fetched together, and looked at before
// the grandchildren of any are: 97 % of the paths have one move. The work is bounded by the number
// of buckets looked at (`budget`): with 8 slots a bucket, 2,048 buckets are reached at depth 4, and
// up to load 0.995 no search was seen to fail (tests/fib).
//
// A path never uses a slot twice: where an entry has one other bucket, a second visit of the same
// slot would lead to the same child, and the search would have ended on the shorter path before.
// Where it has several (Horton), the table refuses a move that an earlier one made impossible.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coua {

struct slot_position {
  std::uint64_t bucket;
  unsigned slot;
};

/// What the search needs of a table.
template <typename Table>
concept searchable = requires(Table& table, std::uint64_t bucket, std::uint64_t* others) {
  { table.free_slot(bucket) } -> std::same_as<int>;  // -1: full
  // Of each entry of a full bucket: n_others buckets, number i of slot i % n_slots; the bucket
  // itself where there is none.
  table.other_buckets(bucket, others);
  table.fetch_bucket(bucket);
  Table::n_slots;
  Table::n_others;
};

class path_search {
 public:
  static constexpr unsigned max_moves = 8;

  explicit path_search(std::size_t budget) : nodes_(budget < 16 ? 16 : budget) {}

  std::size_t budget() const { return nodes_.size(); }

  /// path[0] is the slot that becomes free for the new key, path[n] the free slot; each entry moves
  /// from path[i] to path[i + 1]. Returns n (1 to max_moves), or 0 when there is no path within the
  /// budget. The roots, up to eight and none twice, must be full.
  template <searchable Table>
  unsigned find(Table& table, std::span<const std::uint64_t> roots,
                slot_position (&path)[max_moves + 1]) {
    std::size_t tail = 0;
    for (const std::uint64_t root : roots) nodes_[tail++] = {root, no_parent, 0, 0};
    std::size_t looked_at = tail;
    for (std::size_t head = 0; head < looked_at; ++head) {
      tail = expand(table, head, tail);
      for (; looked_at < tail; ++looked_at) {
        const int free = table.free_slot(nodes_[looked_at].bucket);
        if (free >= 0) return trace_back(looked_at, static_cast<unsigned>(free), path);
      }
    }
    return 0;
  }

 private:
  static constexpr std::uint32_t no_parent = UINT32_MAX;
  struct node {
    std::uint64_t bucket;
    std::uint32_t parent;
    std::uint8_t slot;  // of the parent, whose entry would move here
    std::uint8_t depth;
  };

  /// Appends the children of a node; returns the new end of the list.
  template <searchable Table>
  std::size_t expand(Table& table, std::size_t parent, std::size_t tail) {
    const node at = nodes_[parent];
    if (at.depth == max_moves) return tail;
    std::uint64_t others[Table::n_others];
    table.other_buckets(at.bucket, others);
    for (unsigned i = 0; i < Table::n_others && tail < nodes_.size(); ++i) {
      if (others[i] == at.bucket) continue;
      table.fetch_bucket(others[i]);
      nodes_[tail++] = {others[i], static_cast<std::uint32_t>(parent),
                        static_cast<std::uint8_t>(i % Table::n_slots),
                        static_cast<std::uint8_t>(at.depth + 1)};
    }
    return tail;
  }

  unsigned trace_back(std::size_t end, unsigned free_slot,
                      slot_position (&path)[max_moves + 1]) const {
    const unsigned n = nodes_[end].depth;
    path[n] = {nodes_[end].bucket, free_slot};
    std::size_t at = end;
    for (unsigned i = n; i > 0; --i) {
      const node& child = nodes_[at];
      at = child.parent;
      path[i - 1] = {nodes_[at].bucket, child.slot};
    }
    return n;
  }

  std::vector<node> nodes_;
};

}  // namespace coua
