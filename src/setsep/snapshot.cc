// SPDX-License-Identifier: Apache-2.0
#include "setsep/snapshot.h"

#include <algorithm>
#include <cstring>

#include "setsep/crc32c.h"
#include "setsep/key_hasher.h"

namespace coua::setsep {
namespace {

constexpr char snapshot_magic[8] = {'C', 'O', 'U', 'A', 'S', 'S', 'E', 'P'};
constexpr std::uint32_t format = 1;

struct snapshot_header {
  char magic[8];
  std::uint32_t format, header_bytes;
  table_version version;
  hash_key key;
  std::uint8_t value_bits, index_bytes, array_bytes, zero8;
  std::uint32_t n_first, n_blocks, key_bytes;
  std::uint64_t n_keys, n_fallback;
  std::uint32_t content_crc, header_crc;
};
static_assert(sizeof(snapshot_header) == 104 && sizeof(snapshot_header) < snapshot_header_bytes);

struct entry {
  std::uint64_t high, low, value;
};

tl::unexpected<error> damaged_snapshot(const char* what) {
  return fail(errc::invalid, "snapshot", what);
}

std::uint32_t crc_of_header(snapshot_header front, std::span<const std::uint8_t> zeros) {
  front.header_crc = 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&front);
  return crc32c(zeros, crc32c({bytes, sizeof front}));
}

std::uint64_t blocks_bytes(const snapshot_facts& facts) {
  return std::uint64_t{facts.size.n_blocks} * facts.shape.block_bytes();
}

entry entry_at(std::span<const std::uint8_t> content, const snapshot_facts& facts,
               std::uint64_t i) {
  entry one;
  std::memcpy(&one, content.data() + blocks_bytes(facts) + i * sizeof one, sizeof one);
  return one;
}

/// Null: nothing, as far as the header goes.
const char* what_is_wrong(const snapshot_header& front) {
  if (std::memcmp(front.magic, snapshot_magic, sizeof snapshot_magic) != 0) return "is none";
  if (front.format != format || front.header_bytes != snapshot_header_bytes) {
    return "has an unknown version";
  }
  if (front.value_bits < 1 || front.value_bits > value_bits_max || front.index_bytes < 1 ||
      front.index_bytes > 2 || front.array_bytes < 1 || front.array_bytes > 2 || front.zero8 != 0) {
    return "has a layout that there is not";
  }
  if (front.key_bytes > key_hasher::key_bytes_max) return "has keys that are too long";
  const extent size{front.n_first, front.n_blocks};
  if (size.n_first < 1 || size.n_blocks < size.n_first || size.n_blocks > n_blocks_max ||
      size.level() >= split_bits) {
    return "has a number of blocks that there is not";
  }
  return nullptr;
}

snapshot_facts facts_of(const snapshot_header& front) {
  return {.version = front.version,
          .key = front.key,
          .key_bytes = front.key_bytes,
          .n_keys = front.n_keys,
          .shape = {front.value_bits, front.index_bytes, front.array_bytes},
          .size = {front.n_first, front.n_blocks},
          .n_fallback = front.n_fallback,
          .content_crc = front.content_crc};
}

}  // namespace

std::uint64_t snapshot_content_bytes(const snapshot_facts& facts) {
  return blocks_bytes(facts) + facts.n_fallback * sizeof(entry);
}

std::uint64_t snapshot_bytes(const table& of) {
  return snapshot_header_bytes + of.blocks().size() + of.fallback().size() * sizeof(entry);
}

void write_snapshot(const table& of, const snapshot_facts& facts, std::span<std::uint8_t> to) {
  const auto front_bytes = to.first(snapshot_header_bytes);
  std::fill(front_bytes.begin(), front_bytes.end(), std::uint8_t{0});
  const std::span<const std::uint8_t> blocks = of.blocks();
  std::uint8_t* at = std::copy(blocks.begin(), blocks.end(), to.data() + snapshot_header_bytes);
  for (const keyed_value& each : of.fallback().entries()) {
    const entry one{each.hash.high, each.hash.low, each.value};
    std::memcpy(at, &one, sizeof one);
    at += sizeof one;
  }
  snapshot_header front{};
  std::memcpy(front.magic, snapshot_magic, sizeof snapshot_magic);
  front.format = format;
  front.header_bytes = snapshot_header_bytes;
  front.version = facts.version;
  front.key = facts.key;
  front.value_bits = static_cast<std::uint8_t>(of.shape().value_bits);
  front.index_bytes = static_cast<std::uint8_t>(of.shape().index_bytes);
  front.array_bytes = static_cast<std::uint8_t>(of.shape().array_bytes);
  front.n_first = of.size().n_first;
  front.n_blocks = of.size().n_blocks;
  front.key_bytes = facts.key_bytes;
  front.n_keys = facts.n_keys;
  front.n_fallback = of.fallback().size();
  front.content_crc = crc32c(to.subspan(snapshot_header_bytes));
  front.header_crc = crc_of_header(front, front_bytes.subspan(sizeof front));
  std::memcpy(to.data(), &front, sizeof front);
}

result<snapshot_facts> check_snapshot_header(std::span<const std::uint8_t> header,
                                             std::uint64_t bytes) {
  if (bytes < snapshot_header_bytes) return damaged_snapshot("is too short");
  snapshot_header front;
  std::memcpy(&front, header.data(), sizeof front);
  if (const char* wrong = what_is_wrong(front); wrong != nullptr) return damaged_snapshot(wrong);
  const snapshot_facts facts = facts_of(front);
  const std::uint64_t content = snapshot_header_bytes + blocks_bytes(facts);
  if (bytes < content || (bytes - content) % sizeof(entry) != 0 ||
      (bytes - content) / sizeof(entry) != front.n_fallback) {
    return damaged_snapshot("is not as long as it says");
  }
  if (front.header_crc !=
      crc_of_header(front, header.first(snapshot_header_bytes).subspan(sizeof front))) {
    return damaged_snapshot("is damaged: the checksum of its header is wrong");
  }
  return facts;
}

result<void> check_snapshot_content(std::span<const std::uint8_t> content,
                                    const snapshot_facts& facts) {
  if (facts.content_crc != crc32c(content)) {
    return damaged_snapshot("is damaged: its checksum is wrong");
  }
  for (std::uint64_t i = 0; i < facts.n_fallback; ++i) {
    const entry one = entry_at(content, facts, i);
    if (one.value >> facts.shape.value_bits != 0) {
      return damaged_snapshot("has a value of too many bits");
    }
    if (i == 0) continue;
    const entry last = entry_at(content, facts, i - 1);
    if (!before(key_hash{last.high, last.low}, key_hash{one.high, one.low})) {
      return damaged_snapshot("has a fallback that is not in order");
    }
  }
  return {};
}

void read_snapshot_fallback(std::span<const std::uint8_t> content, const snapshot_facts& facts,
                            table& into) {
  for (std::uint64_t i = 0; i < facts.n_fallback; ++i) {
    const entry one = entry_at(content, facts, i);
    into.put_fallback({{one.high, one.low}, static_cast<std::uint16_t>(one.value)});
  }
}

result<snapshot_facts> check_snapshot(std::span<const std::uint8_t> snapshot) {
  auto facts = check_snapshot_header(snapshot, snapshot.size());
  if (!facts) return facts;
  auto good = check_snapshot_content(snapshot.subspan(snapshot_header_bytes), *facts);
  if (!good) return tl::unexpected(std::move(good.error()));
  return facts;
}

result<std::unique_ptr<table>> read_snapshot(std::span<const std::uint8_t> snapshot,
                                             const snapshot_facts& facts, table_params params) {
  params.shape = facts.shape;
  params.size = facts.size;
  auto made = table::create(params);
  if (!made) return made;
  const auto content = snapshot.subspan(snapshot_header_bytes);
  std::memcpy((*made)->block_to_fill(0), content.data(), blocks_bytes(facts));
  read_snapshot_fallback(content, facts, **made);
  return made;
}

}  // namespace coua::setsep
