// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/table_ability.h"

#include <openflow/openflow-1.3.h>

#include <algorithm>
#include <set>

#include "ctl/ofp/wire_bytes.h"

namespace coua::ofp {
namespace {

using element_list = std::vector<std::uint64_t>;
using pipeline::table_id;

constexpr std::uint16_t experimenter_class = 0xffff;

refusal wrong(table_features_error code, table_id table, const char* what) {
  return {table_features_failed, static_cast<std::uint16_t>(code), 0,
          "table " + std::to_string(table) + ": " + what};
}

/// Instructions or actions: a type, a length, and of experimenters who it is. Nothing: a length is
/// wrong.
std::optional<element_list> read_types(message_view from) {
  constexpr std::size_t header = 4, experimenter = 8;
  element_list made;
  while (!from.empty()) {
    if (from.size() < header) return std::nullopt;
    const std::uint16_t type = u16(from, 0);
    const bool is_foreign = type == experimenter_class;
    const std::size_t length = u16(from, 2);
    if (length < (is_foreign ? experimenter : header) || length > from.size()) return std::nullopt;
    made.push_back(std::uint64_t{type} << 32 | (is_foreign ? u32(from, header) : 0));
    from = from.subspan(length);
  }
  return made;
}

/// Headers of OXM, without their lengths: it is open whether these count a mask. Whether there may
/// be a mask is said by what can be matched; elsewhere the bit means nothing.
std::optional<element_list> read_fields(message_view from, bool with_masks) {
  constexpr std::uint32_t mask_bit = 0x100, all_but_length = 0xffff'ff00;
  const std::uint32_t kept = with_masks ? all_but_length : all_but_length & ~mask_bit;
  element_list made;
  while (!from.empty()) {
    if (from.size() < 4) return std::nullopt;
    const bool is_foreign = u16(from, 0) == experimenter_class;
    const std::size_t length = is_foreign ? 8 : 4;
    if (length > from.size()) return std::nullopt;
    made.push_back(std::uint64_t{u32(from, 0) & kept} << 32 | (is_foreign ? u32(from, 4) : 0));
    from = from.subspan(length);
  }
  return made;
}

enum class content { types, tables, fields };

/// Nothing: there is no such property, or it is an experimenter's, of which we have none.
std::optional<content> content_of(std::uint16_t property) {
  switch (property) {
    case OFPTFPT13_INSTRUCTIONS:
    case OFPTFPT13_INSTRUCTIONS_MISS:
    case OFPTFPT13_WRITE_ACTIONS:
    case OFPTFPT13_WRITE_ACTIONS_MISS:
    case OFPTFPT13_APPLY_ACTIONS:
    case OFPTFPT13_APPLY_ACTIONS_MISS: return content::types;
    case OFPTFPT13_NEXT_TABLES:
    case OFPTFPT13_NEXT_TABLES_MISS: return content::tables;
    case OFPTFPT13_MATCH:
    case OFPTFPT13_WILDCARDS:
    case OFPTFPT13_WRITE_SETFIELD:
    case OFPTFPT13_WRITE_SETFIELD_MISS:
    case OFPTFPT13_APPLY_SETFIELD:
    case OFPTFPT13_APPLY_SETFIELD_MISS: return content::fields;
    default: return std::nullopt;
  }
}

std::optional<element_list> read_elements(content of, std::uint16_t property, message_view from) {
  switch (of) {
    case content::types: return read_types(from);
    case content::tables: return element_list(from.begin(), from.end());
    case content::fields: return read_fields(from, property == OFPTFPT13_MATCH);
  }
  return std::nullopt;
}

tl::expected<void, refusal> read_properties(message_view from, table_ability& into) {
  constexpr std::size_t header = 4;
  const auto refuse = [&into](table_features_error code, const char* what) {
    return tl::unexpected(wrong(code, into.table, what));
  };
  while (!from.empty()) {
    const std::size_t length = u16(from, 2), padded = (length + 7) / 8 * 8;
    if (length < header || padded > from.size()) {
      return refuse(table_features_error::bad_length, "the length of a property is wrong");
    }
    const std::uint16_t type = u16(from, 0);
    const auto what = content_of(type);
    if (!what) return refuse(table_features_error::bad_type, "it has no such property");
    auto elements = read_elements(*what, type, from.subspan(header, length - header));
    if (!elements) {
      return refuse(table_features_error::bad_length, "the length in a property is wrong");
    }
    std::ranges::sort(*elements);
    if (!into.properties.emplace(type, std::move(*elements)).second) {
      return refuse(table_features_error::bad_type, "a property is there twice");
    }
    from = from.subspan(padded);
  }
  return {};
}

/// All of `wanted` is in `there`, the elements of one property. Of a field that may be matched with
/// a mask, the match without one is there, too.
bool is_within(const element_list& wanted, const element_list& there, std::uint16_t property) {
  constexpr std::uint64_t mask_bit = 0x100ULL << 32;
  return std::ranges::all_of(wanted, [&](std::uint64_t one) {
    return std::ranges::binary_search(there, one) ||
           (property == OFPTFPT13_MATCH && std::ranges::binary_search(there, one | mask_bit));
  });
}

}  // namespace

tl::expected<std::vector<table_ability>, refusal> read_abilities(message_view body) {
  constexpr std::size_t header = 64;
  std::vector<table_ability> made;
  std::set<table_id> seen;
  while (!body.empty()) {
    table_ability one;
    if (body.size() >= 8) one.table = body[2];
    const std::size_t length = body.size() >= 2 ? u16(body, 0) : 0;
    if (length < header || length % 8 != 0 || length > body.size()) {
      return tl::unexpected(wrong(table_features_error::bad_length, one.table,
                                  "the length of its features is wrong"));
    }
    if (!seen.insert(one.table).second) {
      return tl::unexpected(wrong(table_features_error::bad_table, one.table, "it is there twice"));
    }
    one.metadata_match = u64(body, 40);
    one.metadata_write = u64(body, 48);
    one.config = u32(body, 56);
    one.max_entries = u32(body, 60);
    const message_view properties = body.subspan(header, length - header);
    if (auto good = read_properties(properties, one); !good) return tl::unexpected(good.error());
    made.push_back(std::move(one));
    body = body.subspan(length);
  }
  return made;
}

table_ability ability_of(const table_facts& one, message_view request) {
  constexpr std::size_t multipart_header = 16;
  multipart answer(request);
  answer.add_features(one);
  const message made = std::move(answer.finish().front());
  return read_abilities(message_view(made).subspan(multipart_header))->front();
}

tl::expected<void, refusal> check_ability(const table_ability& wanted, const table_ability& there) {
  const auto refuse = [&wanted](table_features_error code, const char* what) {
    return tl::unexpected(wrong(code, wanted.table, what));
  };
  if ((wanted.metadata_match & ~there.metadata_match) != 0 ||
      (wanted.metadata_write & ~there.metadata_write) != 0) {
    return refuse(table_features_error::bad_metadata, "it has fewer bits of metadata");
  }
  // OFPTC_DEPRECATED_MASK: two bits that once meant something.
  constexpr std::uint32_t config_known = 3;
  if ((wanted.config & ~config_known) != 0) {
    return refuse(table_features_error::bad_argument, "there is no such configuration");
  }
  if (wanted.max_entries > there.max_entries) {
    return refuse(table_features_error::bad_argument, "it has room for fewer rules");
  }
  for (const auto& [type, elements] : wanted.properties) {
    const auto own = there.properties.find(type);
    if (own == there.properties.end() || !is_within(elements, own->second, type)) {
      return refuse(table_features_error::bad_argument, "it can do less");
    }
  }
  return {};
}

}  // namespace coua::ofp
