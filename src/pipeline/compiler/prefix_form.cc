// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/prefix_form.h"

namespace coua::pipeline {
namespace {

ipv4_number ipv4_of(value128 prefix) { return {static_cast<std::uint32_t>(prefix)}; }
ipv6_number ipv6_of(value128 prefix) {
  return {static_cast<std::uint64_t>(prefix >> 64), static_cast<std::uint64_t>(prefix)};
}

template <class Lpm, class Address>
rule_head head_in(const Lpm& table, Address prefix, unsigned length) {
  const lpm_slot slot = table.find(prefix, length);
  return rule_head::of_short(slot == 0 ? 0 : table.handle(slot));
}

template <class Lpm, class Address>
result<void> put_in(Lpm& table, Address prefix, unsigned length, rule_head head) {
  if (const lpm_slot slot = table.find(prefix, length); slot != 0) {
    table.set_handle(slot, head.short_word());
    return {};
  }
  const auto made = table.insert(prefix, length, head.short_word());
  if (!made) return tl::unexpected(made.error());
  return {};
}

}  // namespace

std::optional<prefix_places::where> prefix_places::of(const match& what) const {
  if (!same_but_for{which}(like, what)) return std::nullopt;
  const match_term* term = what.find(which);
  if (term == nullptr) return where{0, 0};
  const auto length = prefix_length(term->mask, info(which).n_bits);
  if (!length) return std::nullopt;
  return where{term->value, *length};
}
rule_head prefix_places::head(const where& at) const {
  return table.is_ipv4() ? head_in(*table.ipv4, ipv4_of(at.prefix), at.length)
                         : head_in(*table.ipv6, ipv6_of(at.prefix), at.length);
}
result<void> prefix_places::put(const where& at, rule_head head) {
  return table.is_ipv4() ? put_in(*table.ipv4, ipv4_of(at.prefix), at.length, head)
                         : put_in(*table.ipv6, ipv6_of(at.prefix), at.length, head);
}
void prefix_places::erase(const where& at) {
  if (table.is_ipv4()) {
    (void)table.ipv4->erase(ipv4_of(at.prefix), at.length);
  } else {
    (void)table.ipv6->erase(ipv6_of(at.prefix), at.length);
  }
}

prefix_form::prefix_form(compile_context& in, table_id table, field which, const match& like)
    : placed_form(in, own_kind, table, {which, like}) {}

result<std::shared_ptr<prefix_form>> prefix_form::create(compile_context& in, table_id table,
                                                         field which, const match& like,
                                                         std::size_t n_rules, reclaimer& reclaim) {
  std::shared_ptr<prefix_form> made(new prefix_form(in, table, which, like));
  prefix_table& prefixes = made->places_.table;
  const bool is_ipv4 = which == field::ipv4_src || which == field::ipv4_dst;
  lpm_params params;
  made->has_small_root_ = n_rules <= small_root_prefixes;
  params.root_bits = made->has_small_root_ ? 8 : 16;
  if (is_ipv4) {
    auto table_made = ipv4_lpm::create(params, reclaim);
    if (!table_made) return tl::unexpected(std::move(table_made.error()));
    prefixes.ipv4 = std::move(*table_made);
  } else {
    auto table_made = ipv6_lpm::create(params, reclaim);
    if (!table_made) return tl::unexpected(std::move(table_made.error()));
    prefixes.ipv6 = std::move(*table_made);
  }
  prefixes.place = place_of(which, ip_version::v4);
  COUA_CHECK(prefixes.place.from == field_place::base::network);
  std::vector<match_term> terms = like.terms();
  std::erase_if(terms, [which](const match_term& term) { return term.which == which; });
  if (terms.size() > 1) {
    // More than the Ethernet type.
    const auto rest = match::make(std::move(terms));
    COUA_CHECK(rest.has_value());
    prefixes.rest = key_layout::of({&*rest, 1});
    const auto asked = prefixes.rest->words_of(*rest);
    COUA_CHECK(asked && asked->size() == 1);
    prefixes.rest_asked = asked->front();
  }
  made->stage_.prefixes = &prefixes;
  return made;
}

std::size_t prefix_form::size() const {
  return places_.table.is_ipv4() ? places_.table.ipv4->stats().prefixes
                                 : places_.table.ipv6->stats().prefixes;
}

bool prefix_form::is_outgrown() const { return has_small_root_ && size() > outgrown_prefixes; }

std::uint64_t prefix_form::bytes_of_places() const {
  return places_.table.is_ipv4() ? places_.table.ipv4->stats().bytes
                                 : places_.table.ipv6->stats().bytes;
}

}  // namespace coua::pipeline
