// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/ternary.h"

#include <cstring>
#include <set>

#include "bench/rules/port_cover.h"

namespace coua::bench {
namespace {

void put(std::uint8_t* bytes, std::size_t offset, std::size_t size, std::uint64_t value) {
  for (std::size_t i = size; i-- > 0; value >>= 8) {
    bytes[offset + i] = static_cast<std::uint8_t>(value);
  }
}

template <typename T>
T get(const std::uint8_t* bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[offset + i];
  return static_cast<T>(value);
}

/// A mask is a packet whose fields are masks.
five_tuple mask_of(const five_tuple_rule& rule, const port_prefix& source,
                   const port_prefix& destination) {
  return {rule.source.mask(), rule.destination.mask(), source.mask(), destination.mask(),
          static_cast<std::uint8_t>(rule.protocol ? 0xff : 0)};
}

}  // namespace

void put_key(const five_tuple& key, std::uint8_t* bytes) {
  namespace at = five_tuple_layout;
  std::memset(bytes, 0, at::bytes);
  put(bytes, at::ip_src, 4, key.ip_src);
  put(bytes, at::ip_dst, 4, key.ip_dst);
  put(bytes, at::ip_proto, 1, key.ip_proto);
  put(bytes, at::tp_src, 2, key.tp_src);
  put(bytes, at::tp_dst, 2, key.tp_dst);
}

void put_key(const wide_tuple& key, std::uint8_t* bytes) {
  std::memset(bytes, 0, wide_layout::bytes);
  for (std::size_t i = 0; i < n_wide_fields; ++i) {
    const field_place& place = wide_layout::fields[i];
    put(bytes, place.offset, place.bytes, key[i]);
  }
}

void get_key(const std::uint8_t* bytes, five_tuple& key) {
  namespace at = five_tuple_layout;
  key.ip_src = get<std::uint32_t>(bytes, at::ip_src, 4);
  key.ip_dst = get<std::uint32_t>(bytes, at::ip_dst, 4);
  key.ip_proto = get<std::uint8_t>(bytes, at::ip_proto, 1);
  key.tp_src = get<std::uint16_t>(bytes, at::tp_src, 2);
  key.tp_dst = get<std::uint16_t>(bytes, at::tp_dst, 2);
}

void get_key(const std::uint8_t* bytes, wide_tuple& key) {
  for (std::size_t i = 0; i < n_wide_fields; ++i) {
    const field_place& place = wide_layout::fields[i];
    key[i] = get<std::uint64_t>(bytes, place.offset, place.bytes);
  }
}

ternary_set expand(const five_tuple_set& set) {
  ternary_set out = {five_tuple_layout::bytes, five_tuple_layout::layers, {}};
  for (const five_tuple_rule& rule : set.rules) {
    const std::vector<port_prefix> destinations = cover(rule.destination_port);
    for (const port_prefix& source : cover(rule.source_port)) {
      for (const port_prefix& destination : destinations) {
        ternary_entry& entry = out.entries.emplace_back();
        entry.priority = rule.priority;
        entry.rule = rule.number;
        put_key(five_tuple{rule.source.address, rule.destination.address, source.value,
                           destination.value, rule.protocol.value_or(0)},
                entry.key.data());
        put_key(mask_of(rule, source, destination), entry.mask.data());
      }
    }
  }
  return out;
}

ternary_set expand(const wide_set& set) {
  ternary_set out = {wide_layout::bytes, wide_layout::layers, {}};
  for (const wide_rule& rule : set.rules) {
    ternary_entry& entry = out.entries.emplace_back();
    entry.priority = rule.priority;
    entry.rule = rule.number;
    put_key(rule.hashed_value(), entry.key.data());
    put_key(rule.hashed_mask(), entry.mask.data());
  }
  return out;
}

std::size_t distinct_masks(const ternary_set& set) {
  std::set<std::array<std::uint8_t, most_key_bytes>> masks;
  for (const ternary_entry& each : set.entries) masks.insert(each.mask);
  return masks.size();
}

}  // namespace coua::bench
