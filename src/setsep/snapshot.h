// SPDX-License-Identifier: Apache-2.0
//
// A whole table as bytes that may lie in a file and be mapped (snapshot_file.h): the blocks begin
// at a page, the fallback at a multiple of 64. Little-endian, like the blocks in memory.
//
//   header, 4,096 bytes  "COUASSEP", version 32, bytes of the header 32, table 64, sequence 64,
//                        hash key 256, value bits, index bytes, array bytes, zero (8 each),
//                        first blocks 32, blocks 32, bytes of a key 32 (0: the caller hashes), keys
//                        64, entries of the fallback 64, CRC-32C of the blocks and the fallback 32,
//                        CRC-32C of the header 32 with 0 there; zeros
//   blocks               as in memory (simd/setsep_lookup/geometry.h)
//   fallback             hash high 64, low 64, value 64, in rising order of the hashes
//
// The hash key is a secret (base/keyed_hash.h): who reads a snapshot can choose keys that meet.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/hash_key.h"
#include "setsep/delta.h"
#include "setsep/table.h"

namespace coua::setsep {

inline constexpr unsigned snapshot_header_bytes = 4096;

/// What a snapshot says beside the table.
struct snapshot_facts {
  table_version version;
  hash_key key{};
  unsigned key_bytes = 0;  // 0: the caller hashes
  std::uint64_t n_keys = 0;
  layout shape;
  extent size;
  // Of one that is read.
  std::uint64_t n_fallback = 0;
  std::uint32_t content_crc = 0;
};

/// Of all that follows the header.
std::uint64_t snapshot_content_bytes(const snapshot_facts& facts);
std::uint64_t snapshot_bytes(const table& of);
/// `to` has snapshot_bytes(). By the writer of the table.
void write_snapshot(const table& of, const snapshot_facts& facts, std::span<std::uint8_t> to);

/// Checks all of it. Errors: invalid (no snapshot, or a damaged one).
result<snapshot_facts> check_snapshot(std::span<const std::uint8_t> snapshot);
/// The table of a snapshot that was checked; `params` gives room, instruction set and memory.
result<std::unique_ptr<table>> read_snapshot(std::span<const std::uint8_t> snapshot,
                                             const snapshot_facts& facts, table_params params);

// The parts of both, for one whose content is elsewhere than its header (snapshot_file.h). The
// content: all behind the header.

/// `header` has snapshot_header_bytes; `bytes` are those of the whole snapshot.
result<snapshot_facts> check_snapshot_header(std::span<const std::uint8_t> header,
                                             std::uint64_t bytes);
result<void> check_snapshot_content(std::span<const std::uint8_t> content,
                                    const snapshot_facts& facts);
void read_snapshot_fallback(std::span<const std::uint8_t> content, const snapshot_facts& facts,
                            table& into);

}  // namespace coua::setsep
