// SPDX-License-Identifier: Apache-2.0
//
// What this machine takes for the parts that pipelines are made of: the atoms of the performance
// model (estimate.h). Cycles are ticks of cycles() (base/clock.h), and of each packet of a full
// burst.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coua::pipeline {

/// From `lower` to `upper`.
struct cycle_range {
  double lower = 0, upper = 0;

  cycle_range& operator+=(const cycle_range& more) {
    lower += more.lower;
    upper += more.upper;
    return *this;
  }
  bool operator==(const cycle_range&) const = default;
};

enum class atom : std::uint8_t {
  // Once for each packet.
  packet,           // taken up, parsed as far as its Ethernet type, put down
  parse_network,    // the rest of the way to the network header
  parse_transport,  // the rest of the way to the transport header

  // A look-up, with what leads to it and away from it.
  all_packets,      // of a table of one rule that takes every packet
  direct,           // in one word, with up to 8 rules
  direct_word,      // of a direct table each further word
  direct_rows,      // of each word of a direct table each further 8 rules
  exact,            // with a key of 2 words
  exact_word,       // each further word
  lpm,              // where the root says which prefix it is
  lpm_group,        // each group of the trie
  classifier,       // in one subtable
  classifier_mask,  // each further subtable
  apart,            // packets of one burst at several tables that are looked up together
  call,             // a further table that has packets of the burst
  shape,            // a further list of ops that packets of the burst have

  // Ops (datapath/op.h).
  output,
  copy,  // of a frame, for an output that is not the last one
  set_mac,
  set_ip,     // an address of IPv4, with the checksums over it
  set_field,  // any other
  decrement,
  push,
  pop,
  note,  // in the packet's state: metadata, queue
  write_set,
  group,
  meter,
};
inline constexpr std::size_t n_atoms = static_cast<std::size_t>(atom::meter) + 1;

/// A level of the memory.
struct memory_level {
  std::uint64_t bytes = 0;  // that it holds; the last level holds everything
  /// Of a random line: those of a batch are fetched together, so this is what each of them adds,
  /// and not how long one takes to come.
  double line_cycles = 0;
};

struct calibration {
  /// `lower`: packets that are alike. `upper`: of many flows in an order that nothing can predict.
  /// All memory is in the first-level cache.
  std::array<cycle_range, n_atoms> atoms{};
  /// Rising, from the first-level cache to memory. A cache of unknown size is left out, as if there
  /// were none.
  std::vector<memory_level> levels;

  const cycle_range& of(atom which) const { return atoms[static_cast<std::size_t>(which)]; }
  cycle_range& of(atom which) { return atoms[static_cast<std::size_t>(which)]; }
};

}  // namespace coua::pipeline
