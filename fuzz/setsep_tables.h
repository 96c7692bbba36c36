// SPDX-License-Identifier: Apache-2.0
//
// A small builder and replicas of it, for the fuzz targets of set separation.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz.h"
#include "setsep/builder.h"
#include "setsep/crc32c.h"
#include "setsep/replica.h"

namespace coua::fuzz {

using bytes = std::vector<std::uint8_t>;

/// The snapshot of a table of two blocks, 8+16, values of 3 bits, some keys in the fallback.
inline const bytes& good_snapshot() {
  static const bytes made = [] {
    std::vector<setsep::keyed_value> keys;
    std::uint64_t word = 1;
    const auto next = [&] { return word = word * 6364136223846793005 + 1442695040888963407; };
    for (int i = 0; i < 1900; ++i) {
      const std::uint64_t high = next() ^ word >> 31;
      keys.push_back({{high, next() ^ word >> 29}, static_cast<std::uint16_t>(word >> 61)});
    }
    setsep::build_params params;
    params.shape = {3, 1, 2};
    auto from = setsep::builder::create(keys, params, {});
    COUA_CHECK(from.has_value());
    bytes snapshot((*from)->snapshot_bytes());
    COUA_CHECK((*from)->snapshot(snapshot).has_value());
    // The number of the builder is drawn: every run shall see the same one.
    const std::uint64_t table = 1;
    std::memcpy(&snapshot[16], &table, sizeof table);
    return snapshot;
  }();
  return made;
}

/// Makes the checksums of a snapshot right.
inline void seal_snapshot(bytes& snapshot) {
  if (snapshot.size() < setsep::snapshot_header_bytes) return;
  const std::span<const std::uint8_t> all(snapshot);
  const std::uint32_t content = setsep::crc32c(all.subspan(setsep::snapshot_header_bytes)),
                      zero = 0;
  std::memcpy(&snapshot[96], &content, sizeof content);
  std::memcpy(&snapshot[100], &zero, sizeof zero);
  const std::uint32_t header = setsep::crc32c(all.first(setsep::snapshot_header_bytes));
  std::memcpy(&snapshot[100], &header, sizeof header);
}

/// All that a refusal must leave as it was.
struct state {
  bytes blocks;
  std::vector<setsep::keyed_value> fallback;
  setsep::table_version version;
  setsep::extent size;

  explicit state(const setsep::replica& of)
      : blocks(of.table()->blocks().begin(), of.table()->blocks().end()),
        fallback(of.table()->fallback().entries()),
        version(of.version()),
        size(of.table()->size()) {}
  bool operator==(const state&) const = default;
};

/// Whatever the table is, every look-up ends with a value in range.
inline void look_up_some(const setsep::table& in) {
  setsep::key_hash hashes[64];
  for (std::uint64_t i = 0; i < 64; ++i) {
    hashes[i] = {i * 0x9e3779b97f4a7c15, i * 0xbf58476d1ce4e5b9};
  }
  std::uint16_t values[64];
  in.find_batch(hashes, 64, values);
  for (int i = 0; i < 64; ++i) {
    COUA_CHECK(values[i] >> in.shape().value_bits == 0);
    COUA_CHECK(in.find(hashes[i]) == values[i]);
  }
}

}  // namespace coua::fuzz
