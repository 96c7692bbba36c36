// SPDX-License-Identifier: Apache-2.0
//
// What the writer of a table of prefixes changes in it (lpm_table.h has the order and why); for
// lpm_table.cc, which makes the instances.
#pragma once

#include <algorithm>
#include <string>

#include "base/check.h"
#include "pipeline/datapath/lpm_table.h"

namespace coua::pipeline {

// Insertion.

template <class Address>
result<lpm_slot> lpm_table<Address>::insert(Address prefix, unsigned length, lpm_handle handle) {
  if (length > Address::n_bits) {
    return fail(errc::invalid, "/" + std::to_string(length),
                "addresses have " + std::to_string(Address::n_bits) + " bits");
  }
  if (prefix.first(length) != prefix) {
    return fail(errc::invalid, "/" + std::to_string(length), "the prefix has bits beyond it");
  }
  lpm_slot parent = 0;
  place where{};
  if (length > 0) {
    parent = longest_up_to(prefix, length);
    where = locate(prefix, length);
  }
  if (length == 0 ? default_ != 0 : slots_[parent].length() == length) {
    return fail(errc::exists, "/" + std::to_string(length), "the prefix is in the table");
  }
  const bool for_group = length > 0 && where.kind == place::apart;
  if (auto room = make_room(for_group); !room) return tl::unexpected(std::move(room.error()));
  const lpm_slot slot = take_slot(prefix, length, handle, parent);
  if (length == 0) {
    store_release(&default_, slot);
  } else {
    link(where, slot);
  }
  return slot;
}

template <class Address>
void lpm_table<Address>::link(const place& where, lpm_slot slot) {
  const unsigned length = slots_[slot].length();
  switch (where.kind) {
    case place::in_node: fill(where.at, slot); break;
    case place::in_entry:
      if (const lpm_slot there = *where.entry;
          is_inside(where.at, there, slots_[slot].prefix) && slots_[there].length() > length) {
        move_children(there, length, slot);
      } else {
        store_release(where.entry, slot);
      }
      break;
    case place::above_group: move_children(*where.entry, length, slot); break;
    case place::apart: branch(where, slot); break;
  }
}

template <class Address>
void lpm_table<Address>::fill(const node& at, lpm_slot slot) {
  const slot_data& added = slots_[slot];
  const std::uint32_t first = index(at, added.prefix);
  std::uint32_t before = 0;
  for (std::uint32_t i = first; i < first + n_entries(at, added.length()); ++i) {
    const std::uint32_t word = at.entries[i];
    if (is_group(word) || (is_own(at, i, word) && slots_[word].length() > added.length())) {
      if (word != before) move_children(word, added.length(), slot);
      before = word;
    } else {
      store_release(&at.entries[i], slot);
    }
  }
  if (at.group == 0) return;
  // From a shorter one the way to the ancestors is shorter, too.
  const slot_data& now = slots_[representative_[at.group]];
  if (added.length() < now.length() && added.covers(now.prefix)) represent(at, slot);
}

/// Puts a group between an entry and what it leads to, for a prefix that parts from it.
template <class Address>
void lpm_table<Address>::branch(const place& where, lpm_slot slot) {
  const std::uint32_t word = *where.entry;
  const lpm_slot inner = is_group(word) ? representative_[group_of(word)] : word;
  const unsigned byte = where.common / 8;
  const std::uint32_t group = take_group();
  const node made{groups_[group].entries, 8 * byte, 8 * byte + 8, group};

  const auto put = [&](lpm_slot one) {
    std::fill_n(made.entries + index(made, slots_[one].prefix),
                n_entries(made, slots_[one].length()), one);
  };
  // Of what has been there, the prefixes that cover its place in the group.
  lpm_slot covering[8] = {};
  unsigned n = 0;
  lpm_slot top = inner;
  for (lpm_slot one = inner; slots_[one].length() > made.base; one = slots_[one].parent) {
    top = one;
    if (slots_[one].length() <= made.end) covering[n++] = one;
  }
  representative_[group] = top;
  std::fill_n(made.entries, 256, top);
  while (n > 0) put(covering[--n]);
  made.entries[index(made, slots_[inner].prefix)] = word;
  put(slot);
  store_release(where.entry, group_word(byte, group));
}

// Children.

/// Gives a parent to the prefixes next below a prefix of this length that covers what a word leads
/// to.
template <class Address>
void lpm_table<Address>::move_children(std::uint32_t word, unsigned length, lpm_slot to) {
  if (!is_group(word)) return set_parent(top_below(word, length), to);
  const node in = node_of(word);
  const lpm_slot top = top_below(representative_[in.group], length);
  set_parent(top, to);
  if (slots_[top].length() <= in.base) return;  // it covers all others
  std::uint32_t before = 0;
  for (unsigned i = 0; i < 256; ++i) {
    if (in.entries[i] != before) move_children(in.entries[i], length, to);
    before = in.entries[i];
  }
}

template <class Address>
void lpm_table<Address>::set_parent(lpm_slot slot, lpm_slot parent) {
  if (slots_[slot].parent != parent) store_release(&slots_[slot].parent, parent);
}

// Removal.

template <class Address>
bool lpm_table<Address>::erase(Address prefix, unsigned length) {
  const lpm_slot slot = find(prefix, length);
  if (slot == 0) return false;
  if (length == 0) {
    store_release(&default_, lpm_slot{0});
  } else {
    const place where = locate(prefix, length);
    orphan(where, slot);
    replace_representatives(slot);
    unlink(where, slot);
  }
  free_later(slot);
  return true;
}

/// Gives the children of a prefix its parent.
template <class Address>
void lpm_table<Address>::orphan(const place& where, lpm_slot slot) {
  const slot_data& gone = slots_[slot];
  if (where.kind != place::in_node) {
    if (*where.entry != slot) move_children(*where.entry, gone.length(), gone.parent);
    return;
  }
  const std::uint32_t first = index(where.at, gone.prefix);
  std::uint32_t before = 0;
  for (std::uint32_t i = first; i < first + n_entries(where.at, gone.length()); ++i) {
    const std::uint32_t word = where.at.entries[i];
    if (word != slot && word != before) move_children(word, gone.length(), gone.parent);
    before = word;
  }
}

template <class Address>
void lpm_table<Address>::unlink(const place& where, lpm_slot slot) {
  if (where.kind == place::above_group) return;
  const node& at = where.at;
  const slot_data& gone = slots_[slot];
  lpm_slot next = gone.parent;
  if (slots_[next].length() <= at.base) next = at.group == 0 ? 0 : representative_[at.group];
  const std::uint32_t first = index(at, gone.prefix);
  for (std::uint32_t i = first; i < first + n_entries(at, gone.length()); ++i) {
    if (at.entries[i] == slot) store_release(&at.entries[i], next);
  }
  if (at.group != 0) collapse(where);
}

/// Takes a group out whose prefixes no longer part: they are a chain, or cover the path to another
/// group.
template <class Address>
void lpm_table<Address>::collapse(const place& where) {
  const node& at = where.at;
  std::uint32_t inner = 0;
  lpm_slot longest = 0;
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::uint32_t word = at.entries[i];
    if (is_group(word)) {
      if (inner != 0) return;
      inner = word;
    } else if (is_own(at, i, word) && slots_[word].length() > slots_[longest].length()) {
      longest = word;
    }
  }
  const slot_data& path = slots_[inner != 0 ? representative_[group_of(inner)] : longest];
  const unsigned path_length = inner != 0 ? 8 * byte_of(inner) : path.length();
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::uint32_t word = at.entries[i];
    if (is_group(word) || !is_own(at, i, word)) continue;
    if (slots_[word].length() > path_length || !slots_[word].covers(path.prefix)) return;
  }
  store_release(where.link, inner != 0 ? inner : longest);
  free_group_later(at.group);
}

// Representatives.

/// The groups on the way to a prefix whose representative it is get another one.
template <class Address>
void lpm_table<Address>::replace_representatives(lpm_slot gone) {
  const slot_data& from = slots_[gone];
  node path[Address::n_bits / 8];
  unsigned n = 0;
  for (node at = root(); at.end < from.length();) {
    const std::uint32_t word = at.entries[index(at, from.prefix)];
    if (!is_group(word)) break;
    at = node_of(word);
    if (at.base >= from.length()) break;
    path[n++] = at;
  }
  // From the last, since those before may choose what represents it.
  while (n > 0) {
    const node& at = path[--n];
    if (representative_[at.group] == gone) represent(at, other_than(gone, at));
  }
}

template <class Address>
lpm_slot lpm_table<Address>::other_than(lpm_slot gone, const node& in) const {
  lpm_slot other = gone;
  for (unsigned i = 0; other == gone; ++i) {
    COUA_ASSERT(i < 256);
    const std::uint32_t word = in.entries[i];
    other = is_group(word) ? representative_[group_of(word)] : word;
  }
  return top_below(other, in.base);
}

template <class Address>
void lpm_table<Address>::represent(const node& at, lpm_slot slot) {
  const lpm_slot before = representative_[at.group];
  representative_[at.group] = slot;
  for (std::uint32_t i = 0; i < 256; ++i) {
    if (at.entries[i] == before && !is_there(at, i, before)) store_release(&at.entries[i], slot);
  }
}

}  // namespace coua::pipeline
