// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/key_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "base/check.h"
#include "net/ethernet.h"
#include "net/headers.h"
#include "net/ip_protocol.h"

namespace coua::pipeline {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers of the state are taken as bytes");

namespace layer = net::layer;
using base = field_place::base;

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Bytes that belong together: of one base, and of layers that come together.
struct region {
  base from;
  layer::bits needs;
  auto operator<=>(const region&) const = default;
};
struct byte_bits {
  std::uint8_t value = 0, mask = 0;
};
using byte_map = std::map<region, std::map<int, byte_bits>>;

ip_version version_of(const match& what) {
  const std::optional<value128> type = what.exact_value(field::eth_type);
  return type == net::ethertype_ipv6 ? ip_version::v6 : ip_version::v4;
}

layer_needs needs_of(const match& what, const match_term& term) {
  const field_place place = place_of(term.which, version_of(what));
  if (term.which != field::nd_target) return {place.needs, place.needs_one};
  const bool solicitation =
      what.exact_value(field::icmpv6_type) == net::icmpv6_neighbour_solicitation;
  return {solicitation ? layer::nd_sol : layer::nd_adv, 0};
}

layer_needs needs_of(const match& what) {
  layer_needs all;
  for (const match_term& term : what.terms()) {
    const layer_needs needs = needs_of(what, term);
    all.all |= needs.all;
    all.one |= needs.one;  // of vlan_vid alone
  }
  return all;
}

/// A match on VLAN bits that leaves the present bit out.
bool is_for_any_tag(const match& what) {
  const match_term* vid = what.find(field::vlan_vid);
  return vid != nullptr && (vid->mask & vlan_present) == 0;
}

/// The same without alternatives: those that the match leaves open are several.
std::vector<layer::bits> ways_of(const match& what) {
  const layer_needs needs = needs_of(what);
  if (needs.one == 0) return {needs.all};
  if (is_for_any_tag(what)) return {needs.all | layer::vlan, needs.all | layer::eth_type};
  const bool tagged = (what.find(field::vlan_vid)->value & vlan_present) != 0;
  return {needs.all | (tagged ? layer::vlan : layer::eth_type)};
}

/// Whether a packet that has these layers has the value that a match asks of the field: who has the
/// header of IPv4 has its Ethernet type. The fields of a match decide it, not their values, so
/// matches that take the same bits have one layout.
bool is_said_by(layer::bits needs, field which) {
  constexpr layer::bits nd = layer::nd_sol | layer::nd_adv | layer::nd_sll | layer::nd_tll;
  constexpr layer::bits icmp = layer::icmpv4 | layer::icmpv6 | nd;
  constexpr layer::bits ports = layer::tcp | layer::udp | layer::sctp;
  switch (which) {
    case field::eth_type: return (needs & (layer::arp | layer::ipv4 | layer::ipv6 | icmp)) != 0;
    case field::ip_proto: return (needs & (ports | icmp)) != 0;
    default: return false;
  }
}

/// Calls `call(term)` for each term that the layers do not say already.
template <class Call>
void each_asked(const match& what, Call call) {
  const layer::bits needs = needs_of(what).all;
  for (const match_term& term : what.terms()) {
    if (!is_said_by(needs, term.which)) call(term);
  }
}

/// Of the header that has its layer's bit, at least.
int header_bytes(layer::bits needs) {
  switch (needs) {
    case layer::ethernet: return net::ethernet_header_bytes;
    case layer::mpls: return 4;
    case layer::arp: return 28;
    case layer::ipv4: return net::wire::ipv4::header_bytes;
    case layer::ipv6: return net::wire::ipv6::header_bytes;
    case layer::tcp: return 20;
    case layer::udp:
    case layer::icmpv4: return 8;
    case layer::sctp: return 12;
    case layer::icmpv6: return 4;
    case layer::nd_sol:
    case layer::nd_adv: return 24;
    case layer::nd_sll:
    case layer::nd_tll: return 8;
    default: COUA_CHECK(!"a layer with a header"); return 0;
  }
}

/// Calls `call(region, at, bits, i)` for each byte of a term, counted from the lowest of its value,
/// that has bits which count.
template <class Call>
void each_byte(const match& what, const match_term& term, Call call) {
  const field_place place = place_of(term.which, version_of(what));
  // The state is always there.
  const region where{place.from, place.from == base::state ? 0 : needs_of(what, term).all};
  value128 value = term.value << place.shift, mask = term.mask << place.shift;
  for (unsigned i = 0; i < place.n_bytes; ++i, value >>= 8, mask >>= 8) {
    if ((mask & 0xff) == 0) continue;
    const int at = place.from == base::state
                       ? place.offset + static_cast<int>(i)
                       : place.offset + place.n_bytes - 1 - static_cast<int>(i);
    call(where, at, byte_bits{static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(mask)},
         i);
  }
}

void spread(const match& what, const match_term& term, byte_map& out) {
  each_byte(what, term, [&out](const region& where, int at, byte_bits bits, unsigned) {
    byte_bits& into = out[where][at];
    into.value |= bits.value;
    into.mask |= bits.mask;
  });
}

/// What of a match, besides its fields and masks, says where they are in a packet.
unsigned places_said_by(const match& what) {
  const bool solicitation =
      what.exact_value(field::icmpv6_type) == net::icmpv6_neighbour_solicitation;
  return static_cast<unsigned>(version_of(what)) << 1 | (solicitation ? 1 : 0);
}

/// Where the window begins that has the last of the bytes.
int window_start(base from, const std::map<int, byte_bits>& bytes, int last) {
  constexpr int n = word_bytes;
  switch (from) {
    case base::frame:
      // Forward from the first byte that it can have, within the 14 of the header.
      return std::min(std::max(bytes.begin()->first, last + 1 - n),
                      static_cast<int>(net::ethernet_header_bytes) - n);
    default: return last + 1 - n;
  }
}

/// The region of this base that has the last byte of all.
byte_map::iterator last_to_end(byte_map& all, base from) {
  auto found = all.end();
  for (auto at = all.begin(); at != all.end(); ++at) {
    if (at->first.from != from || at->second.empty()) continue;
    if (found == all.end() || at->second.rbegin()->first > found->second.rbegin()->first) {
      found = at;
    }
  }
  return found;
}

/// The fewest windows: one must have the last byte of all, and the one that ends with it has every
/// byte before it that another one could have as well. So no window more is needed when matches
/// go, which those who take rules out of a table rely on.
void add_windows(byte_map& all, base from, std::vector<key_window>& out) {
  for (auto last = last_to_end(all, from); last != all.end(); last = last_to_end(all, from)) {
    const int start = window_start(from, last->second, last->second.rbegin()->first);
    const int end = start + static_cast<int>(word_bytes);
    key_window window{from, static_cast<std::int16_t>(start), 0, 0};
    for (auto& [where, bytes] : all) {
      if (where.from != from) continue;
      if (where.needs != 0 && header_bytes(where.needs) < end) continue;  // not all of it is there
      auto at = bytes.lower_bound(start);
      while (at != bytes.end() && at->first < end) {
        window.needs |= where.needs;
        window.mask |= std::uint64_t{at->second.mask} << 8 * (at->first - start);
        at = bytes.erase(at);
      }
    }
    out.push_back(window);
  }
}

}  // namespace

unsigned most_ways(const match& what) { return is_for_any_tag(what) ? 2 : 1; }

key_layout key_layout::of(std::span<const match> matches, width counts) {
  key_layout made;
  byte_map all;
  std::optional<layer_needs> common;
  for (const match& what : matches) {
    each_asked(what, [&](match_term term) {
      if (counts == width::fields) term.mask = full_mask(term.which);
      spread(what, term, all);
    });
    const layer_needs needs = needs_of(what);
    if (common && *common != needs) made.n_first_ = 1;
    common = needs;
  }
  if (common && made.n_first_ == 0) made.needs_ = *common;
  for (const base from :
       {base::state, base::frame, base::network, base::transport, base::nd_option}) {
    add_windows(all, from, made.windows_);
  }
  COUA_CHECK(made.n_words() <= key_words::max);
  return made;
}

namespace {

/// Packets with which a loop begins and goes on.
struct in_a_row {
  const packet_state* from;
  const packet_state& operator[](std::size_t i) const { return from[i]; }
};
struct listed {
  const packet_state* from;
  const std::uint8_t* at;
  const packet_state& operator[](std::size_t i) const { return from[at[i]]; }
};

/// How a window gets into its word.
struct as_it_is {
  void operator()(std::uint64_t& word, std::uint64_t bits) const { word = bits; }
};
struct beside_others {
  int turn;
  void operator()(std::uint64_t& word, std::uint64_t bits) const { word |= std::rotl(bits, turn); }
};

/// The last word of a packed key, and with it one of padding.
struct before_padding {
  void operator()(std::uint64_t& word, std::uint64_t bits) const {
    word = bits;
    (&word)[1] = 0;
  }
};

/// One word of all keys: what kind of window it is was asked before. `Checked`: packets that do not
/// have its layers get a word of 0.
template <base From, bool Checked, class Packets, class Put>
void take_window(const key_window& window, Packets packets, std::size_t n, std::uint64_t* words,
                 std::size_t stride, Put put) noexcept {
  const std::ptrdiff_t offset = window.offset;
  const std::uint64_t mask = window.mask;
  for (std::size_t i = 0; i < n; ++i) {
    const packet_state& one = packets[i];
    std::uint64_t word = 0;
    if (!Checked || one.layers.has_any(window.needs)) {
      std::memcpy(&word, base_of(one, From) + offset, sizeof word);
    }
    put(*words, word & mask);
    words += stride;
  }
}

template <bool Checked, class Packets, class Put = as_it_is>
void take_window(const key_window& window, Packets packets, std::size_t n, std::uint64_t* words,
                 std::size_t stride, Put put = {}) noexcept {
  switch (window.from) {
    case base::state:
      return take_window<base::state, false>(window, packets, n, words, stride, put);
    case base::frame:
      return take_window<base::frame, Checked>(window, packets, n, words, stride, put);
    case base::network:
      return take_window<base::network, Checked>(window, packets, n, words, stride, put);
    case base::transport:
      return take_window<base::transport, Checked>(window, packets, n, words, stride, put);
    case base::nd_option:
      return take_window<base::nd_option, Checked>(window, packets, n, words, stride, put);
  }
}

}  // namespace

template <class Packets>
void key_layout::take_from(Packets packets, std::size_t n, std::uint64_t* words,
                           std::size_t stride) const noexcept {
  if (has_layers()) {
    for (std::size_t i = 0; i < n; ++i) words[i * stride] = packets[i].layers.present;
    ++words;
    for (const key_window& each : windows_) take_window<true>(each, packets, n, words++, stride);
    return;
  }
  // All rules need the same layers, and who may match has them.
  for (const key_window& each : windows_) take_window<false>(each, packets, n, words++, stride);
}

void key_layout::take(const packet_state* from, const std::uint8_t* at, std::size_t n,
                      std::uint64_t* words, std::size_t stride) const noexcept {
  if (at == nullptr) return take_from(in_a_row{from}, n, words, stride);
  take_from(listed{from, at}, n, words, stride);
}

template <class Packets>
void key_layout::take_packed_from(Packets packets, std::size_t n, const key_packing& as,
                                  std::uint64_t* words, std::size_t stride) const noexcept {
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    const key_packing::place& to = as.places_[w];
    if (to.is_first && to.word + 1U == as.n_words_ && as.n_words_ < stride) {
      take_window<false>(windows_[w], packets, n, words + to.word, stride, before_padding());
    } else if (to.is_first) {
      take_window<false>(windows_[w], packets, n, words + to.word, stride);
    } else {
      take_window<false>(windows_[w], packets, n, words + to.word, stride, beside_others{to.turn});
    }
  }
  for (std::size_t w = as.n_words_ + !windows_.empty(); w < stride; ++w) {
    for (std::size_t i = 0; i < n; ++i) words[i * stride + w] = 0;
  }
}

void key_layout::take_packed(const packet_state* from, const std::uint8_t* at, std::size_t n,
                             const key_packing& as, std::uint64_t* words,
                             std::size_t stride) const noexcept {
  COUA_ASSERT(!has_layers());
  if (at == nullptr) return take_packed_from(in_a_row{from}, n, as, words, stride);
  take_packed_from(listed{from, at}, n, as, words, stride);
}

key_packing::key_packing(const key_layout& of) {
  COUA_CHECK(!of.has_layers());
  for (const key_window& window : of.windows()) {
    // The first place that is free, whole bytes on.
    place to{static_cast<std::uint8_t>(n_words_), 0, true};
    for (unsigned at = 0; at < 8 * n_words_ && to.is_first; ++at) {
      const unsigned word = at / 8, turn = at % 8 * 8;
      if ((masks_[word] & std::rotl(window.mask, static_cast<int>(turn))) != 0) continue;
      to = {static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(turn), false};
    }
    if (to.is_first) {
      masks_.push_back(0);
      ++n_words_;
    }
    masks_[to.word] |= std::rotl(window.mask, to.turn);
    places_.push_back(to);
  }
}

key_layout key_layout::narrowed(std::uint32_t words) const {
  COUA_ASSERT(!has_layers() || (words & 1) != 0);
  key_layout made = *this;
  made.windows_.clear();
  for (unsigned i = 0; i < windows_.size(); ++i) {
    if ((words >> (n_first_ + i) & 1) != 0) made.windows_.push_back(windows_[i]);
  }
  return made;
}

struct key_layout::byte_place {
  base from;
  layer::bits needs;
  int at;
  std::uint8_t mask;
  int shift_in(const key_window& of) const { return 8 * (at - of.offset); }
};

std::optional<unsigned> key_layout::window_of(const byte_place& which) const {
  for (unsigned i = 0; i < windows_.size(); ++i) {
    const key_window& each = windows_[i];
    const int shift = which.shift_in(each);
    if (each.from == which.from && (each.needs & which.needs) == which.needs && shift >= 0 &&
        shift < 64 && (each.mask >> shift & which.mask) == which.mask) {
      return i;
    }
  }
  return std::nullopt;
}

bool key_layout::add_terms(const match& what, key_words& out) const {
  byte_map asked;
  each_asked(what, [&](const match_term& term) { spread(what, term, asked); });
  bool has_all = true;
  for (const auto& [where, bytes] : asked) {
    for (const auto& [at, bits] : bytes) {
      const byte_place place{where.from, where.needs, at, bits.mask};
      const auto i = window_of(place);
      has_all = has_all && i.has_value();
      if (!i) continue;
      const int shift = place.shift_in(windows_[*i]);
      out.value[n_first_ + *i] |= std::uint64_t{bits.value} << shift;
      out.mask[n_first_ + *i] |= std::uint64_t{bits.mask} << shift;
    }
  }
  return has_all;
}

std::optional<key_words> key_layout::terms_of(const match& what) const {
  key_words words;
  if (!add_terms(what, words)) return std::nullopt;
  return words;
}

key_words key_layout::shared_with(const match& what) const {
  key_words words;
  (void)add_terms(what, words);
  return words;
}

std::optional<key_recipe> key_layout::recipe_of(const match& example) const {
  if (has_layers() || of({&example, 1}) != *this) return std::nullopt;
  key_recipe made;
  made.place_of_fields_ = places_said_by(example);
  made.n_words_ = n_words();
  const std::vector<match_term>& terms = example.terms();
  for (const match_term& term : terms) made.asked_.push_back({term.which, term.mask});
  each_asked(example, [&](const match_term& term) {
    const auto t = static_cast<std::uint8_t>(&term - terms.data());
    const field_place place = place_of(term.which, version_of(example));
    each_byte(example, term, [&](const region& where, int at, byte_bits bits, unsigned i) {
      const byte_place byte{where.from, where.needs, at, bits.mask};
      const unsigned window = *window_of(byte);  // it is the layout of these bits
      made.steps_.push_back({t, place.shift, static_cast<std::uint8_t>(8 * i),
                             static_cast<std::uint8_t>(window),
                             static_cast<std::uint8_t>(byte.shift_in(windows_[window]))});
    });
  });
  return made;
}

bool key_recipe::takes(const match& what) const {
  const std::vector<match_term>& terms = what.terms();
  return std::equal(terms.begin(), terms.end(), asked_.begin(), asked_.end(),
                    [](const match_term& term, const bits& asked) {
                      return term.which == asked.which && term.mask == asked.mask;
                    }) &&
         places_said_by(what) == place_of_fields_;
}

void key_recipe::make(const match& what, std::uint64_t* words) const {
  std::fill_n(words, n_words_, 0);
  for (const step& each : steps_) {
    const value128 value = what.terms()[each.term].value << each.up >> each.down;
    words[each.word] |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(value)) << each.shift;
  }
}

std::optional<std::vector<key_words>> key_layout::words_of(const match& what) const {
  std::optional<key_words> words = terms_of(what);
  if (!words) return std::nullopt;
  if (!has_layers()) {
    if (needs_of(what) != needs_) return std::nullopt;
    return std::vector<key_words>{*words};
  }
  std::vector<key_words> ways;
  for (const layer::bits way : ways_of(what)) {
    words->value[0] = words->mask[0] = way;
    ways.push_back(*words);
  }
  return ways;
}

}  // namespace coua::pipeline
