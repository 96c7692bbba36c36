// SPDX-License-Identifier: Apache-2.0
//
// Longest-prefix match for one writer and many readers without locks: a trie that is read in large
// steps, and a chain from each prefix to the shorter ones that cover it.
//
//   address 10.1.2.3            root: 2^16 or 2^8 entries, by the first bits
//             |                 +------+------+------+----
//             |  10.1           |  0   | slot | group| ...
//             +---------------> +------+------+--|---+----
//                                                v        group: 256 entries, by one byte
//                                     .2      +----+----+----+----
//                                             |slot|slot|  group ...
//                                             +--|-+----+----+----
//                                                v
//   slot: prefix, length, handle    10.1.2.0/24 --parent--> 10.0.0.0/8 --parent--> 0
//
// Where prefixes do not branch, nothing is stored but their slots: an entry is the longest prefix
// of a chain that lies in its part of the address space, however long that is, and a group is for
// the byte at which prefixes part, however far that is below the entry that leads to it. So a table
// of n prefixes has fewer than n groups, and an IPv6 address goes through as many as its
// neighbours force. What is passed by is compared at the end: the slot that is found may not match
// the address, and then an ancestor does. That costs little, because the slot's line is loaded
// anyhow, for its handle.
//
//   entry   0                       root only: no prefix but that of length 0
//           slot                    bit 31 clear
//           group                   bit 31, four bits: its byte of the address, 27 bits: which
//
// Entries hold nothing that is inherited. Where a group has no prefix of its own, the entry is the
// group's representative: any prefix in the group, which does not match, but whose ancestors are
// those of the whole group. So a short prefix that comes or goes changes one node, and the parents
// of those directly below it, however much is there. The prefix of length 0 is not in the trie: a
// chain that ends goes on there.
//
// Invariants, for prefixes that are there:
//
//   1. the chain of a slot, itself and its parents, has every prefix that covers the slot's;
//   2. of an address that comes to an entry, every prefix that matches it is in the chain of the
//      slot there; so too of one that comes to a group and of any slot below it;
//   3. a group's slots are longer than the path to it, and in it; at least two of them do not cover
//      one another (else the group is taken out: `collapse`).
//
// By 1 and 2 the answer is the first of the chain that matches, and the next ones that do are its
// parents. 2 holds for addresses that are not on a group's path, because a prefix that matches such
// an address, but lies below the entry, would have made the paths branch there.
//
// Concurrency. Writers store single words, with release; readers load them with acquire: entries,
// parents, handles, and the prefix of length 0. A slot's prefix and length are stored before any
// word leads to it and never change. Each single store keeps 1 and 2 for all prefixes but the one
// that is being put in or taken out:
//
//   insert   the slot with its parent; then the word that leads to it, or one to a group that was
//            filled before; children get it as their parent one by one: their chains have all
//            others before and after
//   erase    the children get its parent; entries lead elsewhere; a group that is no longer needed
//            is bypassed by one word
//
// What was unlinked stays as it is until a grace period is over: a reader that still comes to it
// began before, and finds there what was true then. Prefixes that were there since are still in the
// chains that it follows: a frozen slot's parent was its parent when it was unlinked, and is, if it
// went later, frozen itself. So a reader, quiescent before and after, meets every prefix that is
// there all the time. What comes or goes meanwhile it may meet or not.
//
// Costs: a look-up loads an entry for each node, at most 1 + 2 for IPv4 (16-bit root), and a slot
// for each step of the chain until one matches, mostly one or two. By vectors (simd/lpm_lookup) all
// of a batch take as many steps as the one that takes most. An update looks at the entries of its
// own node, and at those below its prefix until it has found all its children. Memory: 16 bytes a
// prefix (IPv6 32), 1 KiB a group, the root.
//
// Limits: docs/limits.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "base/atomic_word.h"
#include "base/check.h"
#include "base/growing_array.h"
#include "base/reclaimer.h"
#include "base/result.h"
#include "pipeline/datapath/lpm_address.h"
#include "simd/lpm_lookup/kernels.h"

namespace coua::pipeline {

/// A prefix's place in its table, until it is erased; 0: none.
using lpm_slot = std::uint32_t;

/// Whatever a prefix stands for: a number below 2^56.
using lpm_handle = std::uint64_t;
inline constexpr unsigned lpm_handle_bits = 56;

struct lpm_params {
  unsigned root_bits = 16;  // or 8, for small tables, which have no vectors
  std::uint32_t prefixes_max = (std::uint32_t{1} << 31) - 2;
};

struct lpm_stats {
  std::size_t prefixes = 0;
  std::size_t groups = 0;
  std::size_t unlinked = 0;  // slots and groups that wait for the end of a grace period
  std::size_t bytes = 0;     // taken from the system
  bool has_vectors = false;  // look-ups of a table alone take them
};

/// `Address`: ipv4_number or ipv6_number. The writer is one thread, that of the reclaimer; readers
/// are those of its domain, and hold slots no longer than until their next quiescent state.
template <class Address>
class lpm_table {
 public:
  /// Errors: invalid, no_memory.
  static result<std::unique_ptr<lpm_table>> create(const lpm_params& params, reclaimer& reclaim);
  /// Not before what it has unlinked is free: hand it to the reclaimer, which keeps the order.
  ~lpm_table();
  lpm_table(const lpm_table&) = delete;
  lpm_table& operator=(const lpm_table&) = delete;

  // Writer.

  /// Errors: invalid (longer than an address, or bits beyond the length), exists, no_memory,
  /// no_room (prefixes_max, those that wait included). Nothing is changed then.
  result<lpm_slot> insert(Address prefix, unsigned length, lpm_handle handle);
  /// 0: not there.
  lpm_slot find(Address prefix, unsigned length) const;
  void set_handle(lpm_slot slot, lpm_handle handle) { slots_[slot].set_handle(handle); }
  /// False: not there.
  bool erase(Address prefix, unsigned length);
  Address prefix(lpm_slot slot) const { return slots_[slot].prefix; }
  unsigned length(lpm_slot slot) const { return slots_[slot].length(); }
  lpm_stats stats() const;
  unsigned root_bits() const { return root_bits_; }

  // Readers, and the writer.

  /// For each address the slot of the longest prefix that covers it in its own table; 0: none.
  /// Their handles too, for nothing, if asked: none has 0.
  static void lookup(const lpm_table* const* tables, const Address* addresses, std::size_t n,
                     lpm_slot* slots, lpm_handle* handles = nullptr) noexcept;
  /// The same where all are of this table, with their handles: by vectors where the machine has
  /// fast ones, and the table's slots and groups are all near.
  void lookup(const Address* addresses, std::size_t n, lpm_slot* slots,
              lpm_handle* handles) const noexcept;
  lpm_handle handle(lpm_slot slot) const noexcept { return slots_[slot].handle(); }
  /// The longest shorter prefix that covers it; 0: none.
  lpm_slot parent(lpm_slot slot) const noexcept {
    const slot_data& from = slots_[slot];
    const lpm_slot up = load_acquire(&from.parent);
    return up != 0 || from.length() == 0 ? up : load_acquire(&default_);
  }
  /// The handle of the prefix of length 0; 0: there is none.
  lpm_handle for_all() const noexcept {
    const lpm_slot slot = load_acquire(&default_);
    return slot == 0 ? 0 : handle(slot);
  }
  /// A prefix covers it that the slot stands for.
  bool covers(lpm_slot slot, Address address) const noexcept {
    return slots_[slot].covers(address);
  }

 private:
  struct slot_data {
    Address prefix;
    lpm_slot parent;     // 0: none but the prefix of length 0; while free: the next free one
    std::uint64_t word;  // the length, which never changes, above the handle

    static std::uint64_t word_of(unsigned length, lpm_handle handle) {
      COUA_ASSERT(handle >> lpm_handle_bits == 0);
      return std::uint64_t{length} << lpm_handle_bits | handle;
    }
    unsigned length() const noexcept {
      return static_cast<unsigned>(load_relaxed(&word) >> lpm_handle_bits);
    }
    lpm_handle handle() const noexcept {
      return load_acquire(&word) & ((lpm_handle{1} << lpm_handle_bits) - 1);
    }
    void set_handle(lpm_handle handle) noexcept { store_release(&word, word_of(length(), handle)); }
    bool covers(Address address) const noexcept { return prefix.agrees(address, length()); }
  };
  static_assert(sizeof(slot_data) <= 32, "none straddles two lines");
  struct group_data {
    std::uint32_t entries[256];  // while free: [0] is the next free one
  };
  struct node {
    std::uint32_t* entries;
    unsigned base;        // bits before it
    unsigned end;         // bits before and in it
    std::uint32_t group;  // 0: the root
  };
  /// Where a prefix belongs.
  struct place {
    enum {
      in_node,      // it takes whole entries
      in_entry,     // part of one, alone or in a chain
      above_group,  // part of one, and covers the path to the group there
      apart,        // part of one, and parts from what is there: that needs a group
    } kind;
    node at;
    std::uint32_t* link;   // the entry that leads to the node; null: it is the root
    std::uint32_t* entry;  // but in_node
    unsigned common;       // apart: after so many bits
  };
  // The table of each address of a look-up.
  struct many {
    const lpm_table* const* tables;
    const lpm_table* operator[](unsigned i) const noexcept { return tables[i]; }
    many from(std::size_t at) const noexcept { return {tables + at}; }
  };
  struct one {
    const lpm_table* table;
    const lpm_table* operator[](unsigned) const noexcept { return table; }
    one from(std::size_t) const noexcept { return *this; }
  };
  template <class Tables>
  struct lookup_batch;
  template <class Tables>
  static void lookup_some(Tables tables, const Address* addresses, std::size_t n, lpm_slot* slots,
                          lpm_handle* handles) noexcept;
  simd::lpm_view view() const noexcept {
    return {.root = root_,
            .root_bits = root_bits_,
            .groups = groups_.near(),
            .n_groups = static_cast<std::uint32_t>(groups_.near_size()),
            .slots = slots_.near(),
            .n_slots = static_cast<std::uint32_t>(slots_.near_size()),
            .for_all = &default_};
  }

  // Entries that are groups. Byte 0 is always the root's.
  static bool is_group(std::uint32_t word) noexcept { return word >> 31 != 0; }
  static unsigned byte_of(std::uint32_t word) noexcept { return word >> 27 & 15; }
  static std::uint32_t group_of(std::uint32_t word) noexcept { return word & (groups_max - 1); }
  static std::uint32_t group_word(unsigned byte, std::uint32_t group) {
    return 1U << 31 | byte << 27 | group;
  }
  static constexpr std::uint32_t groups_max = 1U << 27;

  lpm_table(const lpm_params& params, reclaimer& reclaim, arena root);

  node root() const { return {root_, 0, root_bits_, 0}; }
  node node_of(std::uint32_t word) const;
  std::uint32_t index(const node& at, Address prefix) const;
  std::uint32_t n_entries(const node& at, unsigned length) const;
  place locate(Address prefix, unsigned length) const;
  lpm_slot longest_up_to(Address prefix, unsigned length) const;
  lpm_slot top_below(lpm_slot from, unsigned length) const;
  bool is_there(const node& at, std::uint32_t i, lpm_slot slot) const;
  bool is_own(const node& at, std::uint32_t i, lpm_slot slot) const;
  bool is_inside(const node& at, lpm_slot slot, Address prefix) const;

  result<void> make_room(bool for_group);
  /// Else most batches would have an address that leads to what is far, and be looked up twice.
  void keep_vectors_if(bool all_is_near) noexcept {
    if (!all_is_near) vectors_.store(nullptr, std::memory_order_relaxed);
  }
  lpm_slot take_slot(Address prefix, unsigned length, lpm_handle handle, lpm_slot parent);
  std::uint32_t take_group();
  void free_later(lpm_slot slot);
  void free_group_later(std::uint32_t group);

  void link(const place& where, lpm_slot slot);
  void fill(const node& at, lpm_slot slot);
  void branch(const place& where, lpm_slot slot);
  void unlink(const place& where, lpm_slot slot);
  void collapse(const place& where);

  void orphan(const place& where, lpm_slot slot);
  void move_children(std::uint32_t word, unsigned length, lpm_slot to);
  void set_parent(lpm_slot slot, lpm_slot parent);

  void replace_representatives(lpm_slot gone);
  lpm_slot other_than(lpm_slot gone, const node& in) const;
  void represent(const node& at, lpm_slot slot);

  const unsigned root_bits_;
  lpm_slot default_ = 0;  // the prefix of length 0
  std::uint32_t* root_;
  // Of tables with a root of 16 bits those are near that four million prefixes of the Internet's
  // lengths take: 1.1 GiB of address space.
  growing_array<slot_data, 1024, (1 << 22) - 1024> slots_;
  growing_array<group_data, 16, (1 << 20) - 16> groups_;
  // Null: addresses are looked up one by one. The writer takes it away when something is not near.
  std::atomic<simd::lpm_kernel> vectors_;

  // The writer's.
  reclaimer& reclaim_;
  const std::uint32_t prefixes_max_;
  arena root_memory_;
  std::vector<lpm_slot> representative_;  // by group
  lpm_slot free_slot_ = 0;
  std::uint32_t free_group_ = 0;
  std::size_t slots_used_ = 1, groups_used_ = 1;  // the first of both stand for none
  std::size_t n_prefixes_ = 0, n_groups_ = 0, n_unlinked_slots_ = 0, n_unlinked_groups_ = 0;
};

using ipv4_lpm = lpm_table<ipv4_number>;
using ipv6_lpm = lpm_table<ipv6_number>;

extern template class lpm_table<ipv4_number>;
extern template class lpm_table<ipv6_number>;

}  // namespace coua::pipeline
