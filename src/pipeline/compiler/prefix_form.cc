// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/prefix_form.h"

#include "pipeline/compiler/table_shape.h"

namespace coua::pipeline {
namespace {

// A root of 8 bits takes 1 KiB, one of 16 bits 256 KiB, which many small tables would feel.
constexpr std::size_t small_root_prefixes = 512;

ipv4_number ipv4_of(value128 prefix) { return {static_cast<std::uint32_t>(prefix)}; }
ipv6_number ipv6_of(value128 prefix) {
  return {static_cast<std::uint64_t>(prefix >> 64), static_cast<std::uint64_t>(prefix)};
}

template <class Lpm, class Address>
record_id head_in(const Lpm& table, Address prefix, unsigned length) {
  const lpm_slot slot = table.find(prefix, length);
  return slot == 0 ? 0 : table.handle(slot);
}

template <class Lpm, class Address>
result<void> put_in(Lpm& table, Address prefix, unsigned length, record_id head) {
  if (const lpm_slot slot = table.find(prefix, length); slot != 0) {
    table.set_handle(slot, head);
    return {};
  }
  const auto made = table.insert(prefix, length, head);
  if (!made) return tl::unexpected(made.error());
  return {};
}

}  // namespace

record_id prefix_form::slots::head(const where& at) const {
  return of.is_ipv4() ? head_in(*of.ipv4, ipv4_of(at.prefix), at.length)
                      : head_in(*of.ipv6, ipv6_of(at.prefix), at.length);
}
result<void> prefix_form::slots::put(const where& at, record_id head) {
  return of.is_ipv4() ? put_in(*of.ipv4, ipv4_of(at.prefix), at.length, head)
                      : put_in(*of.ipv6, ipv6_of(at.prefix), at.length, head);
}
void prefix_form::slots::erase(const where& at) {
  if (of.is_ipv4()) {
    (void)of.ipv4->erase(ipv4_of(at.prefix), at.length);
  } else {
    (void)of.ipv6->erase(ipv6_of(at.prefix), at.length);
  }
}

prefix_form::prefix_form(compile_context& in, table_id table, field which)
    : table_form(in, table_template::lpm, table), which_(which), places_(in), catch_all_(in) {}

result<std::shared_ptr<prefix_form>> prefix_form::create(compile_context& in, table_id table,
                                                         field which, const match& example,
                                                         std::size_t n_rules, reclaimer& reclaim) {
  std::shared_ptr<prefix_form> made(new prefix_form(in, table, which));
  const bool is_ipv4 = which == field::ipv4_src || which == field::ipv4_dst;
  lpm_params params;
  made->has_small_root_ = n_rules <= small_root_prefixes;
  params.root_bits = made->has_small_root_ ? 8 : 16;
  if (is_ipv4) {
    auto table_made = ipv4_lpm::create(params, reclaim);
    if (!table_made) return tl::unexpected(std::move(table_made.error()));
    made->prefixes_.ipv4 = std::move(*table_made);
  } else {
    auto table_made = ipv6_lpm::create(params, reclaim);
    if (!table_made) return tl::unexpected(std::move(table_made.error()));
    made->prefixes_.ipv6 = std::move(*table_made);
  }
  made->prefixes_.place = place_of(which, ip_version::v4);
  COUA_CHECK(made->prefixes_.place.from == field_place::base::network);
  made->rest_ = made->rest_of(example);
  if (made->rest_.size() > 1) {
    // More than the Ethernet type.
    const auto rest = match::make(made->rest_);
    COUA_CHECK(rest.has_value());
    made->prefixes_.rest = key_layout::of({&*rest, 1});
    if (!made->prefixes_.rest) {
      return fail(errc::no_room, "table " + std::to_string(table),
                  "its rules match on too many bits");
    }
    const auto asked = made->prefixes_.rest->words_of(*rest);
    COUA_CHECK(asked && asked->size() == 1);
    made->prefixes_.rest_asked = asked->front();
  }
  made->stage_.prefixes = &made->prefixes_;
  return made;
}

std::vector<match_term> prefix_form::rest_of(const match& what) const {
  std::vector<match_term> rest = what.terms();
  std::erase_if(rest, [this](const match_term& term) { return term.which == which_; });
  return rest;
}

prefix_form::where prefix_form::where_of(const match& what) const {
  const match_term* term = what.find(which_);
  if (term == nullptr) return {0, 0};
  return {term->value, *prefix_length(term->mask, info(which_).n_bits)};
}

std::size_t prefix_form::size() const {
  return prefixes_.is_ipv4() ? prefixes_.ipv4->stats().prefixes : prefixes_.ipv6->stats().prefixes;
}

bool prefix_form::takes(const match& what) const {
  if (has_small_root_ && size() > 2 * small_root_prefixes) return false;
  return what.is_any() || rest_of(what) == rest_;
}

result<void> prefix_form::add(const rule_ptr& one) {
  if (one->match.is_any()) {
    catch_all_store at{stage_.catch_all};
    return catch_all_.add(at, {}, one);
  }
  slots at{prefixes_};
  return places_.add(at, where_of(one->match), one);
}

result<void> prefix_form::replace(const rule_ptr& one) {
  if (one->match.is_any()) {
    catch_all_store at{stage_.catch_all};
    return catch_all_.replace(at, {}, one);
  }
  slots at{prefixes_};
  return places_.replace(at, where_of(one->match), one);
}

result<void> prefix_form::remove(const rule_ptr& one) {
  if (one->match.is_any()) {
    catch_all_store at{stage_.catch_all};
    return catch_all_.remove(at, *this, {}, one);
  }
  slots at{prefixes_};
  return places_.remove(at, *this, where_of(one->match), one);
}

void prefix_form::bury(record_id gone) {
  slots at{prefixes_};
  places_.bury(at, gone);
  catch_all_store rest{stage_.catch_all};
  catch_all_.bury(rest, gone);
}

void prefix_form::retire() {
  places_.retire();
  catch_all_.retire();
}

std::uint64_t prefix_form::bytes() const {
  return prefixes_.is_ipv4() ? prefixes_.ipv4->stats().bytes : prefixes_.ipv6->stats().bytes;
}

}  // namespace coua::pipeline
