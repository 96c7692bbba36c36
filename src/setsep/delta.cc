// SPDX-License-Identifier: Apache-2.0
#include "setsep/delta.h"

#include <cstring>
#include <string>

#include "base/check.h"
#include "setsep/crc32c.h"

namespace coua::setsep {
namespace {

constexpr char magic[4] = {'C', 'S', 'S', 'D'};
constexpr std::uint16_t version = 1;
constexpr unsigned put_bytes = 18, drop_bytes = 16;
enum : std::uint8_t { is_growth = 1, has_choices = 2, has_fallback = 4, records_shift = 3 };

struct header {
  char magic[4];
  std::uint16_t version, zero;
  table_version of;
  std::uint32_t body_bytes, crc;
};
static_assert(sizeof(header) == delta_header_bytes);

std::uint32_t crc_of(std::span<const std::uint8_t> delta) {
  const std::uint32_t front = crc32c(delta.first(offsetof(header, crc)));
  return crc32c(delta.subspan(delta_header_bytes), front);
}

template <class Number>
void put(std::vector<std::uint8_t>& to, Number number) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&number);
  to.insert(to.end(), from, from + sizeof number);
}
void put_varint(std::vector<std::uint8_t>& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to.push_back(static_cast<std::uint8_t>(number | 0x80));
  to.push_back(static_cast<std::uint8_t>(number));
}

tl::unexpected<error> damaged(const char* what) { return fail(errc::invalid, "delta", what); }

}  // namespace

void delta_writer::add(const delta_change& change) {
  const std::size_t before = bytes_.size();
  try {
    write(change);
  } catch (...) {
    bytes_.resize(before);
    throw;
  }
}

void delta_writer::write(const delta_change& change) {
  COUA_ASSERT(change.records.size() <= delta_records_max);
  const bool fallback = !change.put.empty() || !change.drop.empty();
  bytes_.push_back(static_cast<std::uint8_t>(
      (change.growth ? is_growth : 0) | (change.choices.empty() ? 0 : has_choices) |
      (fallback ? has_fallback : 0) | change.records.size() << records_shift));
  put_varint(bytes_, change.block);
  bytes_.insert(bytes_.end(), change.split.begin(), change.split.end());
  bytes_.insert(bytes_.end(), change.added.begin(), change.added.end());
  if (!change.choices.empty()) {
    bytes_.push_back(static_cast<std::uint8_t>(change.choices.size()));
    for (const bucket_choice& each : change.choices) put(bytes_, each);
  }
  for (const group_record& each : change.records) {
    bytes_.push_back(each.group);
    bytes_.insert(bytes_.end(), each.record, each.record + layout_.group_bytes());
  }
  if (fallback) write_fallback(change);
}

void delta_writer::write_fallback(const delta_change& change) {
  put_varint(bytes_, change.put.size());
  put_varint(bytes_, change.drop.size());
  for (const keyed_value& each : change.put) {
    put(bytes_, each.hash);
    put(bytes_, each.value);
  }
  for (const key_hash& each : change.drop) put(bytes_, each);
}

std::span<const std::uint8_t> delta_writer::seal(const table_version& as) {
  header front{};
  std::memcpy(front.magic, magic, sizeof magic);
  front.version = version;
  front.of = as;
  front.body_bytes = static_cast<std::uint32_t>(bytes_.size() - sizeof front);
  std::memcpy(bytes_.data(), &front, sizeof front);
  front.crc = crc_of(bytes_);
  std::memcpy(bytes_.data(), &front, sizeof front);
  return bytes_;
}

result<table_version> open_delta(std::span<const std::uint8_t> delta) {
  header front;
  if (delta.size() < sizeof front) return damaged("is too short");
  std::memcpy(&front, delta.data(), sizeof front);
  if (std::memcmp(front.magic, magic, sizeof magic) != 0) return damaged("is none");
  if (front.version != version || front.zero != 0) return damaged("has an unknown version");
  if (front.body_bytes != delta.size() - sizeof front) return damaged("is not as long as it says");
  if (front.crc != crc_of(delta)) return damaged("is damaged: its checksum is wrong");
  if (front.of.sequence == 0) return damaged("has no number");
  return front.of;
}

bool delta_reader::take(std::span<const std::uint8_t>& into, std::size_t n) {
  if (left_.size() < n) return false;
  into = left_.first(n);
  left_ = left_.subspan(n);
  return true;
}

template <class Number>
bool delta_reader::take(Number& into) {
  std::span<const std::uint8_t> from;
  if (!take(from, sizeof into)) return false;
  std::memcpy(&into, from.data(), sizeof into);
  return true;
}

bool delta_reader::take_varint(std::uint64_t& into) {
  into = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    std::uint8_t part;
    if (!take(part)) return false;
    into |= std::uint64_t{part & 0x7fU} << shift;
    if (part < 0x80) return true;
  }
  return false;
}

result<void> delta_reader::next(delta_change& into) {
  into.choices.clear();
  into.records.clear();
  into.put.clear();
  into.drop.clear();
  into.split = into.added = {};
  std::uint8_t what;
  std::uint64_t block;
  if (!take(what) || !take_varint(block)) return damaged("ends within a change");
  into.growth = (what & is_growth) != 0;
  into.block = static_cast<std::uint32_t>(block);
  if (into.growth) {
    if ((what & has_choices) != 0 || what >> records_shift != 0) {
      return damaged("has a growth with records");
    }
    if (block != std::uint64_t{size_.n_blocks} + 1) return damaged("does not grow by one block");
    if (block > room_) {
      return fail(errc::no_room, "delta",
                  "the table has no room for more than " + std::to_string(room_) + " blocks");
    }
    const std::size_t bytes = layout_.block_bytes();
    if (!take(into.split, bytes) || !take(into.added, bytes)) return damaged("ends within a block");
    ++size_.n_blocks;
    if (size_.level() >= split_bits) return damaged("splits a block too often");
  } else if (block >= size_.n_blocks) {
    return damaged("has a block that the table does not have");
  }
  if ((what & has_choices) != 0) {
    std::uint8_t n;
    if (!take(n)) return damaged("ends within a change");
    for (unsigned i = 0; i < n; ++i) {
      bucket_choice one;
      if (!take(one)) return damaged("ends within a change");
      if (one.choice >= n_choices) return damaged("has a choice that there is not");
      into.choices.push_back(one);
    }
  }
  for (unsigned i = 0; i < what >> records_shift; ++i) {
    std::uint8_t group;
    std::span<const std::uint8_t> record;
    if (!take(group) || !take(record, layout_.group_bytes())) {
      return damaged("ends within a record");
    }
    if (group >= block_groups) return damaged("has a group that there is not");
    into.records.push_back({group, record.data()});
  }
  return (what & has_fallback) != 0 ? read_fallback(into) : result<void>{};
}

result<void> delta_reader::read_fallback(delta_change& into) {
  std::uint64_t n_put, n_drop;
  if (!take_varint(n_put) || !take_varint(n_drop)) return damaged("ends within a change");
  if (n_put * put_bytes + n_drop * drop_bytes > left_.size()) {
    return damaged("ends within the fallback");
  }
  for (std::uint64_t i = 0; i < n_put; ++i) {
    keyed_value one;
    (void)take(one.hash);
    (void)take(one.value);
    if (one.value >> layout_.value_bits != 0) return damaged("has a value of too many bits");
    into.put.push_back(one);
  }
  for (std::uint64_t i = 0; i < n_drop; ++i) {
    key_hash one;
    (void)take(one);
    into.drop.push_back(one);
  }
  return {};
}

}  // namespace coua::setsep
