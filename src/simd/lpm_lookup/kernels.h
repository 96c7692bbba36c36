// SPDX-License-Identifier: Apache-2.0
//
// The look-up of addresses in one table of prefixes (pipeline/datapath/lpm_table.h), many of them
// in each step, without a branch that depends on one. Only where the instruction set gathers words
// fast enough: elsewhere the table looks them up itself.
//
//   entry   32 bits; bit 31 set: a group (bits 0-26), by a byte of the address (bits 27-30); else a
//           slot
//   group   256 entries
//   slot    IPv4  prefix (32 bits), parent (32 bits), the length above a handle of 56 bits
//           IPv6  prefix (64 and 64 bits), parent (32 bits, 32 unused), the length above a handle
//
// A writer stores single words of 4 and 8 bytes meanwhile, with release. Each that a vector load
// brings is one that was there, and what it leads to was stored before it: the address of the next
// load comes from it, and x86 keeps loads in order. ThreadSanitizer does not know that: its builds
// have no such kernel, and tests race them in builds without (`race-plain`).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace coua::simd {

struct lpm_view {
  const std::uint32_t* root;
  unsigned root_bits;  // 8 or 16
  const void* groups;
  std::uint32_t n_groups;  // that are in one piece, 2^20 at most
  const void* slots;
  std::uint32_t n_slots;         // likewise, 2^22 at most
  const std::uint32_t* for_all;  // the slot of the prefix of length 0
};

inline constexpr std::size_t lpm_batch_max = 64;

/// For each of `n` addresses, at most lpm_batch_max, the slot of the longest prefix that covers it,
/// and its handle: 0 where there is none. `addresses`: numbers of 32 bits, of IPv6 pairs of 64, the
/// upper one first. False: something was met that is not in the pieces, and nothing that was
/// written counts. Any number of threads, while the table's writer runs.
using lpm_kernel = bool (*)(const lpm_view& table, const void* addresses, std::size_t n,
                            std::uint32_t* slots, std::uint64_t* handles) noexcept;

struct lpm_kernels {
  lpm_kernel ipv4, ipv6;  // null: none is worth it
};
lpm_kernels select_lpm(isa instruction_set);

// The built-in kernels.
bool avx512_lpm_ipv4(const lpm_view& table, const void* addresses, std::size_t n,
                     std::uint32_t* slots, std::uint64_t* handles) noexcept;
bool avx512_lpm_ipv6(const lpm_view& table, const void* addresses, std::size_t n,
                     std::uint32_t* slots, std::uint64_t* handles) noexcept;

}  // namespace coua::simd
