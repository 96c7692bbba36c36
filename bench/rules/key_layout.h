// SPDX-License-Identifier: Apache-2.0
//
// Where the fields of a packet lie in the keys that a wildcard classifier is given. Every field is
// in network byte order, so that a prefix of a field is a prefix of its bytes; what no field uses
// is zero in keys and masks. The fields of one layer lie together, and a layer begins where a word
// of 8 bytes does (of the 16 bytes of a 5-tuple: of 4), so that a classifier may look at a key
// layer after layer.
//
//   5-tuple   0        4        8    9       12       14     16
//             | ip_src | ip_dst |proto| zero | tp_src | tp_dst |
//             |------------- L3 -------------|------- L4 ------|
//
//   wide      0         4      8         14        20         22     24
//             | in_port | zero | eth_dst | eth_src | eth_type | vlan |
//             |-- metadata ----|----------------- L2 ----------------|
//             24       28       32      33     34    40       42       44    48
//             | ip_src | ip_dst | proto | dscp | zero | tp_src | tp_dst | zero |
//             |----------------- L3 ------------------|---------- L4 ----------|
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace coua::bench {

/// Past the last byte of each layer; a layer that is not there ends where it begins.
struct key_layers {
  std::size_t metadata, l2, l3, l4;
};

namespace five_tuple_layout {
inline constexpr std::size_t ip_src = 0, ip_dst = 4, ip_proto = 8, tp_src = 12, tp_dst = 14;
inline constexpr std::size_t bytes = 16;
inline constexpr key_layers layers = {0, 0, 12, 16};
}  // namespace five_tuple_layout

enum class wide_field : std::uint8_t {
  in_port,
  eth_dst,
  eth_src,
  eth_type,
  vlan,
  ip_src,
  ip_dst,
  ip_proto,
  dscp,
  tp_src,
  tp_dst,
};
inline constexpr std::size_t n_wide_fields = 11;

/// A field is the low `bits` of a big-endian number of `bytes` at `offset`.
struct field_place {
  const char* name;
  std::size_t offset, bytes;
  unsigned bits;
};

namespace wide_layout {
inline constexpr std::array<field_place, n_wide_fields> fields = {{{"in_port", 0, 4, 32},
                                                                   {"eth_dst", 8, 6, 48},
                                                                   {"eth_src", 14, 6, 48},
                                                                   {"eth_type", 20, 2, 16},
                                                                   {"vlan", 22, 2, 12},
                                                                   {"ip_src", 24, 4, 32},
                                                                   {"ip_dst", 28, 4, 32},
                                                                   {"ip_proto", 32, 1, 8},
                                                                   {"dscp", 33, 1, 6},
                                                                   {"tp_src", 40, 2, 16},
                                                                   {"tp_dst", 42, 2, 16}}};
inline constexpr std::size_t bytes = 48;
inline constexpr key_layers layers = {8, 24, 40, 48};
}  // namespace wide_layout

inline constexpr std::size_t most_key_bytes = wide_layout::bytes;

constexpr std::size_t index_of(wide_field field) { return static_cast<std::size_t>(field); }
constexpr const field_place& place_of(wide_field field) {
  return wide_layout::fields[index_of(field)];
}

}  // namespace coua::bench
