// SPDX-License-Identifier: Apache-2.0
//
// A rule over all fields of OpenFlow 1.0, each matched exactly, by a prefix, or not at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/rules/key_layout.h"

namespace coua::bench {

/// The value of each field, in the order of wide_field.
using wide_tuple = std::array<std::uint64_t, n_wide_fields>;

/// The first `bits` of a field, all others 0; 0 bits: the field is not looked at.
struct field_match {
  std::uint64_t value = 0;
  unsigned bits = 0;
  bool operator==(const field_match&) const = default;
};

/// The first `bits` of a field of `width` bits.
constexpr std::uint64_t prefix_mask(unsigned width, unsigned bits) {
  const auto low = [](unsigned n) { return (std::uint64_t{1} << n) - 1; };  // width is at most 48
  return low(width) & ~low(width - bits);
}

struct wide_rule {
  using key_type = wide_tuple;
  static constexpr std::size_t hashed_words = n_wide_fields;
  using words = wide_tuple;

  std::array<field_match, n_wide_fields> fields = {};
  std::uint32_t priority = 0;  // the higher wins
  std::uint32_t number = 0;    // its place in the set, from 0

  field_match& operator[](wide_field field) { return fields[index_of(field)]; }
  const field_match& operator[](wide_field field) const { return fields[index_of(field)]; }
  void set_exactly(wide_field field, std::uint64_t value) {
    (*this)[field] = {value, place_of(field).bits};
  }

  words hashed_mask() const {
    words out = {};
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      out[i] = prefix_mask(wide_layout::fields[i].bits, fields[i].bits);
    }
    return out;
  }
  words hashed_value() const {
    words out = {};
    for (std::size_t i = 0; i < n_wide_fields; ++i) out[i] = fields[i].value;
    return out;
  }
  static const words& words_of(const wide_tuple& key) { return key; }

  bool matches(const wide_tuple& key) const {
    const words mask = hashed_mask();
    bool all = true;
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      all = all && (key[i] & mask[i]) == fields[i].value;
    }
    return all;
  }
  /// Whether it matches whatever `other` matches.
  bool contains(const wide_rule& other) const {
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      if (fields[i].bits > other.fields[i].bits) return false;
    }
    return matches(other.hashed_value());
  }
  bool same_match(const wide_rule& other) const { return fields == other.fields; }
  /// The logarithm of the number of keys that it matches.
  double breadth() const {
    unsigned bits = 0;
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      bits += wide_layout::fields[i].bits - fields[i].bits;
    }
    return bits;
  }
};

}  // namespace coua::bench
