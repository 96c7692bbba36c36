// SPDX-License-Identifier: Apache-2.0
//
// What is known of real access lists: figures worked out from the twelve parameter files that were
// published with ClassBench (Taylor and Turner, "ClassBench: a packet classification benchmark",
// IEEE/ACM Transactions on Networking 15(3), 2007), each of which describes one real set. A kind
// here is the mean of its files, every file with the same weight: `acl` of acl1 to acl5 (access
// control lists), `fw` of fw1 to fw5 (firewalls), `ipc` of ipc1 and ipc2 (IP chains).
//
// Shares are in ten-thousandths, rounded, and rows that would be below 4 (applications: below 5)
// are left out; within a table they are relative to the sum of its rows. Protocol numbers are those
// of the files; fw2 and fw4 number theirs from 0 and so are not IANA's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace coua::bench {

/// Of a port field: any (wc), 1024 to 65535 (hi), 0 to 1023 (lo), another range (ar), one port
/// (em).
enum class port_kind : std::uint8_t { wc, hi, lo, ar, em };

/// The kinds of both, source first.
enum class port_class : std::uint8_t {
  wc_wc,
  wc_hi,
  hi_wc,
  hi_hi,
  wc_lo,
  lo_wc,
  hi_lo,
  lo_hi,
  lo_lo,
  wc_ar,
  ar_wc,
  hi_ar,
  ar_hi,
  wc_em,
  em_wc,
  hi_em,
  em_hi,
  lo_ar,
  ar_lo,
  lo_em,
  em_lo,
  ar_ar,
  ar_em,
  em_ar,
  em_em,
};
inline constexpr std::size_t n_port_classes = 25;

port_kind source_kind(port_class);
port_kind destination_kind(port_class);
/// "wc-em".
const char* to_string(port_class);

/// Protocol 0 is any.
struct application_share {
  std::uint8_t protocol;
  port_class ports;
  std::uint16_t share;
};

/// Prefix lengths of the rules of a class; `share` is of all rules.
struct length_share {
  port_class ports;
  std::uint8_t source, destination;
  std::uint16_t share;
};

struct exact_share {
  std::uint16_t port, share;
};

struct range_share {
  std::uint16_t low, high, share;
};

/// Single ports: the most frequent, and how many more share the rest, which are not named here.
struct exact_ports {
  std::span<const exact_share> frequent;
  unsigned others = 0;
  unsigned others_share = 0;  // in ten-thousandths of all
};

/// Of the nodes of one depth of the binary tree of all prefixes: the share with two children, and
/// how uneven these are: 1 - (prefixes below the lighter) / (prefixes below the heavier).
struct trie_level {
  float two_children, skew;
};
inline constexpr std::size_t address_bits = 32;

struct address_figures {
  std::span<const trie_level> levels;  // address_bits of them
  unsigned nesting;                    // most prefixes on a path from the root
};

struct seed_figures {
  const char* name;
  std::span<const application_share> applications;
  std::span<const length_share> lengths;
  exact_ports source_exact, destination_exact;
  std::span<const range_share> source_ranges, destination_ranges;
  address_figures source, destination;
  // By bit: the probability that both addresses go on to be the same, where they were so far.
  std::span<const float> correlation;
  bool ends_in_default;  // whether most of the sets, by rules, have a rule for any packet
};

const seed_figures& acl_figures();
const seed_figures& fw_figures();
const seed_figures& ipc_figures();

}  // namespace coua::bench
