// SPDX-License-Identifier: Apache-2.0
//
// The key of a table: the words of 64 bits that hold every bit that its rules take. A packet's key
// and a rule's are compared as numbers; which field a bit belongs to is known when the layout is
// made, and not asked for afterwards.
//
//   window   8 bytes at a place in the packet, or in the state that goes with it, and which bits of
//            them count. Fields that stand near each other share one: both addresses of IPv4 and of
//            Ethernet's sender, both ports; and so do headers that stand in one place, as those of
//            TCP and UDP.
//   word 0   of a table whose rules need different layers: the layers that the packet has, so that
//            a rule asks for its own like for any bit. Windows of layers that are not there are 0.
//
// What the layers say no word repeats: the Ethernet type of a rule that takes an address of IPv4,
// or the protocol of one that takes a port of TCP.
//
// No byte is read but those of whole headers: windows end with the last byte that counts, but in
// the Ethernet header, where they begin with the first one, or end with the header.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/datapath/field_place.h"
#include "pipeline/model/match.h"

namespace coua::pipeline {

struct key_window {
  field_place::base from;
  std::int16_t offset;
  net::layer::bits needs;  // one of them, or it is not read; 0: of the state, always there
  std::uint64_t mask;
  bool operator==(const key_window&) const = default;
};

/// A rule's side of a comparison: word for word (key & mask) == value.
struct key_words {
  static constexpr unsigned max = 32;  // enough for all fields at once
  std::uint64_t value[max] = {};
  std::uint64_t mask[max] = {};
};

/// The layers that a match needs: all of the first, and one of the second if that is not empty.
struct layer_needs {
  net::layer::bits all = 0, one = 0;
  bool are_in(const net::layers& there) const {
    return there.has(all) && (one == 0 || there.has_any(one));
  }
  bool operator==(const layer_needs&) const = default;
};

/// How many keys a match takes at most (key_layout::words_of).
unsigned most_ways(const match& what);

class key_layout;

/// Words of a layout in fewer: what one word has goes where another one has bytes free. A port, a
/// protocol's ports and two addresses are three words, and two when packed. Of a layout without
/// layers.
class key_packing {
 public:
  key_packing() = default;
  explicit key_packing(const key_layout& of);

  /// Of packed keys.
  unsigned n_words() const { return n_words_; }
  /// The bits of a packed word that keys use.
  std::uint64_t mask(unsigned word) const { return masks_[word]; }
  /// A key of the layout.
  void pack(const std::uint64_t* words, std::uint64_t* packed) const {
    std::fill_n(packed, n_words_, 0);
    for (std::size_t w = 0; w < places_.size(); ++w) {
      packed[places_[w].word] |= std::rotl(words[w], places_[w].turn);
    }
  }

 private:
  friend class key_layout;
  /// Where a word of the layout is.
  struct place {
    std::uint8_t word;
    std::uint8_t turn;  // to the left, in bits
    bool is_first;      // of this packed word
  };
  std::vector<place> places_;
  std::vector<std::uint64_t> masks_;
  unsigned n_words_ = 0;
};

/// How keys are made of matches that take the same bits of the same headers. To find that out costs
/// some microseconds, and then each key some nanoseconds.
class key_recipe {
 public:
  /// Whether the match is like the one that the recipe was made of, but for what it asks of the
  /// bits.
  bool takes(const match& what) const;
  /// Writes the words of its values. It is one that takes() says yes to.
  void make(const match& what, std::uint64_t* words) const;

 private:
  friend class key_layout;
  struct step {
    std::uint8_t term, up, down;  // value << up >> down has the byte
    std::uint8_t word, shift;     // where it goes
  };
  struct bits {
    field which;
    value128 mask;
  };

  std::vector<bits> asked_;
  unsigned place_of_fields_ = 0;  // what values say about where fields are
  unsigned n_words_ = 0;
  std::vector<step> steps_;
};

class key_layout {
 public:
  /// Bits that count: those that a match takes, or all of each field that one takes, so that other
  /// masks of the same fields need no other layout.
  enum class width : std::uint8_t { bits, fields };
  /// For all of these matches; there is room for every field. Some of the matches never need more
  /// words than all of them.
  static key_layout of(std::span<const match> matches, width counts = width::bits);

  unsigned n_words() const { return n_first_ + static_cast<unsigned>(windows_.size()); }
  const std::vector<key_window>& windows() const { return windows_; }
  /// Whether word 0 holds layers; else all rules need the same ones.
  bool has_layers() const { return n_first_ != 0; }
  /// What all rules need: a packet that does not have it matches none of them.
  const layer_needs& needs() const { return needs_; }
  bool may_match(const net::layers& there) const { return needs_.are_in(there); }

  /// The keys of parsed packets that may match, from[at[0]] to from[at[n - 1]] (without `at`: the
  /// first n): n_words() words each, `stride` words from one to the next.
  void take(const packet_state* from, const std::uint8_t* at, std::size_t n, std::uint64_t* words,
            std::size_t stride) const noexcept;

  /// The same, packed; the packing is that of this layout. Words up to the next key are cleared.
  void take_packed(const packet_state* from, const std::uint8_t* at, std::size_t n,
                   const key_packing& as, std::uint64_t* words, std::size_t stride) const noexcept;

  /// What a match asks of keys: one or two (a match on VLAN bits that leaves the present bit out
  /// is for packets with and without a tag). None: it takes bits that the layout does not have.
  std::optional<std::vector<key_words>> words_of(const match& what) const;

  /// How keys of matches like this one are made. None: its own layout is another one, or has
  /// layers.
  std::optional<key_recipe> recipe_of(const match& example) const;

  /// The same of its terms alone, without the layers that they need.
  std::optional<key_words> terms_of(const match& what) const;
  /// The same without the bits that the layout does not have.
  key_words shared_with(const match& what) const;

  /// The same with fewer words: bit w of `words` is set where word w is kept. Word 0 is kept if it
  /// holds layers, which say whether other words are there.
  key_layout narrowed(std::uint32_t words) const;

  bool operator==(const key_layout&) const = default;

 private:
  struct byte_place;
  template <class Packets>
  void take_from(Packets packets, std::size_t n, std::uint64_t* words,
                 std::size_t stride) const noexcept;
  template <class Packets>
  void take_packed_from(Packets packets, std::size_t n, const key_packing& as, std::uint64_t* words,
                        std::size_t stride) const noexcept;
  /// The window that has these bits of a byte. None: none has.
  std::optional<unsigned> window_of(const byte_place& which) const;
  /// Of its terms the bits that the layout has. False: it does not have all of them.
  bool add_terms(const match& what, key_words& out) const;

  std::vector<key_window> windows_;
  unsigned n_first_ = 0;
  layer_needs needs_;
};

}  // namespace coua::pipeline
