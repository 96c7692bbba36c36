// SPDX-License-Identifier: Apache-2.0
//
// Actions and instructions as the datapath executes them: a rule is a short list of ops, a bucket
// of a group and an action set are one each. The compiler (compiler/compile_actions.h) makes them.
//
//   16 bytes: code:8 which:8 small:16 number:32 argument:64
#pragma once

#include <cstdint>

#include "net/mac_pair.h"
#include "pipeline/model/field.h"
#include "pipeline/model/port.h"

namespace coua::pipeline {

struct group_version;
struct meter_version;
struct action_set_ops;
struct learning;

enum class op_code : std::uint8_t {
  // Where to.
  output,       // number: the port
  in_port,      // back
  normal,       // as an L2 switch
  all,          // every port
  flood,        // every port that does not forbid it
  controller,   // which: packet_in_reason, value: cookie
  pipeline,     // through the tables, from the first one
  output_bits,  // as controller, number: from_bits
  group,        // group
  set_queue,    // number
  learn,        // learning

  // Instructions that are no actions.
  meter,          // meter
  clear_set,      //
  write_set,      // set
  metadata,       // value
  metadata_bits,  // wide

  // Headers, and what goes with the packet.
  push_vlan,  // small: the Ethernet type
  pop_vlan,
  push_mpls,     // small
  pop_mpls,      // small: of what is below
  set_macs,      // number, value: both addresses, as they lie in a frame (macs_of)
  set,           // which: the field, value: all of it (fields of up to 64 bits)
  set_bits,      // which, wide: value and mask
  move,          // which: the field that is written, number: from_bits, first bit to write << 24
  set_ip_ttl,    // small
  dec_ip_ttl,    // value: cookie, of the packet-in for one that is not valid
  set_mpls_ttl,  // small
  dec_mpls_ttl,  // value: cookie
  copy_ttl_out,
  copy_ttl_in,

  conjunction,  // number: the id, which: the clause, small: of how many. Never executed
  resubmit,  // which: the table, or no_table: the same; number: in_port, or port_in_port: as it is
};

struct wide_value {
  value128 value = 0, mask = 0;
};

/// Bits of a field in the lower 24 bits of a number.
constexpr std::uint32_t from_bits(const field_bits& part) noexcept {
  return static_cast<std::uint32_t>(part.which) | std::uint32_t{part.first} << 8 |
         std::uint32_t{part.n_bits} << 16;
}
constexpr field_bits to_bits(std::uint32_t number) noexcept {
  return {static_cast<field>(number & 0xff), static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number >> 16)};
}

/// A group or a meter, through its versions (versions.h). Stays while anything refers to it.
template <class Version>
struct versioned;

struct op {
  op_code code = op_code::output;
  std::uint8_t which = 0;
  std::uint16_t small = 0;
  std::uint32_t number = 0;
  union {
    std::uint64_t value = 0;
    const wide_value* wide;
    const versioned<group_version>* group;
    const versioned<meter_version>* meter;
    const action_set_ops* set;
    const struct learning* learning;
  };
};
static_assert(sizeof(op) == 16);

/// `which` says the field that is written.
constexpr bool sets_field(op_code code) noexcept {
  return code == op_code::set || code == op_code::set_bits || code == op_code::move;
}

/// Of set_macs.
constexpr net::mac_pair macs_of(const op& one) noexcept { return {one.number, one.value}; }

/// The frame is other bytes afterwards, or may be: a copy that was sent before must be one of its
/// own.
constexpr bool changes_frame(const op& one) noexcept {
  if (one.code < op_code::push_vlan) return false;
  if (!sets_field(one.code)) return true;
  const auto which = static_cast<field>(one.which);
  return !is_reg(which) && which != field::tunnel_id && which != field::metadata;
}

/// The frame may get longer or shorter.
constexpr bool resizes(op_code code) noexcept {
  return code >= op_code::push_vlan && code <= op_code::pop_mpls;
}

/// Which op sends to a port: of a reserved one it is its own.
constexpr op_code output_code(port_no to) noexcept {
  switch (to) {
    case port_in_port: return op_code::in_port;
    case port_table: return op_code::pipeline;
    case port_normal: return op_code::normal;
    case port_flood: return op_code::flood;
    case port_all: return op_code::all;
    case port_controller: return op_code::controller;
    default: return op_code::output;
  }
}

struct op_list {
  const op* ops = nullptr;
  std::uint32_t n = 0;
  bool changes_frames = false;  // some op does
};

/// What one write-actions instruction writes: in its order, and as it is executed when nothing else
/// is in the set.
struct action_set_ops {
  op_list written, ordered;
};

}  // namespace coua::pipeline
