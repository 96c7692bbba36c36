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

snapshot_header header_of(std::span<const std::uint8_t> snapshot) {
  snapshot_header front;
  std::memcpy(&front, snapshot.data(), sizeof front);
  return front;
}

std::uint64_t blocks_bytes(const snapshot_header& front) {
  const layout shape{front.value_bits, front.index_bytes, front.array_bytes};
  return std::uint64_t{front.n_blocks} * shape.block_bytes();
}

entry entry_at(std::span<const std::uint8_t> snapshot, const snapshot_header& front,
               std::uint64_t i) {
  entry one;
  const std::uint64_t at = snapshot_header_bytes + blocks_bytes(front) + i * sizeof one;
  std::memcpy(&one, snapshot.data() + at, sizeof one);
  return one;
}

const char* what_is_wrong(const snapshot_header& front, std::uint64_t bytes) {
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
  const std::uint64_t content = snapshot_header_bytes + blocks_bytes(front);
  if (bytes < content || (bytes - content) % sizeof(entry) != 0 ||
      (bytes - content) / sizeof(entry) != front.n_fallback) {
    return "is not as long as it says";
  }
  return nullptr;
}

}  // namespace

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

result<snapshot_facts> check_snapshot(std::span<const std::uint8_t> snapshot) {
  if (snapshot.size() < snapshot_header_bytes) return damaged_snapshot("is too short");
  const snapshot_header front = header_of(snapshot);
  if (const char* wrong = what_is_wrong(front, snapshot.size()); wrong != nullptr) {
    return damaged_snapshot(wrong);
  }
  const auto rest = snapshot.first(snapshot_header_bytes).subspan(sizeof front);
  if (front.header_crc != crc_of_header(front, rest) ||
      front.content_crc != crc32c(snapshot.subspan(snapshot_header_bytes))) {
    return damaged_snapshot("is damaged: a checksum is wrong");
  }
  for (std::uint64_t i = 0; i < front.n_fallback; ++i) {
    const entry one = entry_at(snapshot, front, i);
    if (one.value >> front.value_bits != 0) return damaged_snapshot("has a value of too many bits");
    if (i == 0) continue;
    const entry last = entry_at(snapshot, front, i - 1);
    if (!before(key_hash{last.high, last.low}, key_hash{one.high, one.low})) {
      return damaged_snapshot("has a fallback that is not in order");
    }
  }
  return snapshot_facts{.version = front.version,
                        .key = front.key,
                        .key_bytes = front.key_bytes,
                        .n_keys = front.n_keys,
                        .shape = {front.value_bits, front.index_bytes, front.array_bytes},
                        .size = {front.n_first, front.n_blocks}};
}

result<std::unique_ptr<table>> read_snapshot(std::span<const std::uint8_t> snapshot,
                                             const snapshot_facts& facts, table_params params) {
  params.shape = facts.shape;
  params.size = facts.size;
  auto made = table::create(params);
  if (!made) return made;
  const snapshot_header front = header_of(snapshot);
  std::memcpy((*made)->block_to_fill(0), snapshot.data() + snapshot_header_bytes,
              blocks_bytes(front));
  for (std::uint64_t i = 0; i < front.n_fallback; ++i) {
    const entry one = entry_at(snapshot, front, i);
    (*made)->put_fallback({{one.high, one.low}, static_cast<std::uint16_t>(one.value)});
  }
  return made;
}

}  // namespace coua::setsep
