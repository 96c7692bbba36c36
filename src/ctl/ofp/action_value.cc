// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/action_value.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <string>

#include "ctl/ofp/subfield_text.h"
#include "ctl/ofp/text_check.h"
#include "ctl/ofp/value_check.h"
#include "pipeline/model/rule.h"

namespace coua::ofp {
namespace {

constexpr std::string_view arrow = "->";

/// Takes what is before the separator, or all.
std::string_view take(std::string_view& text, std::string_view separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + separator.size(), text.size()));
  return trimmed(taken);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Not a name: a number, be it a negative one.
bool is_number(std::string_view text) {
  return !text.empty() && (is_digit(text.front()) || text.front() == '-' || text.front() == '+');
}

result<void> only_bits(std::string_view text) {
  if (auto good = read_bits(text); !good) return tl::unexpected(good.error());
  return {};
}

/// A table may not have a name here, so what is no number is the library's to refuse.
result<void> check_table(std::string_view name, std::string_view value) {
  return is_number(value)
             ? check_at_most(name, value, pipeline::table_all - 1, number_form::decimal)
             : result<void>{};
}

result<void> check_no_value(std::string_view name, std::string_view value) {
  if (trimmed(value).empty()) return {};
  return fail(errc::invalid, std::string(name), "it takes no value");
}

result<void> check_output(std::string_view, std::string_view value) {
  return value.find('[') == std::string_view::npos ? result<void>{} : only_bits(value);
}

result<void> check_set_field(std::string_view, std::string_view value) {
  const std::string_view wanted = take(value, arrow);
  const mf_field* of = mf_from_name(std::string(value).c_str());
  return of == nullptr ? result<void>{} : check_value(*of, value, wanted);
}

/// "5->reg0[0..15]"
result<void> check_load(std::string_view, std::string_view value) {
  const std::string_view wanted = take(value, arrow);
  const auto to = read_bits(value);
  if (!to) return tl::unexpected(to.error());
  return to->has_value() ? check_value(**to, value, wanted) : result<void>{};
}

result<void> check_move(std::string_view, std::string_view value) {
  if (auto good = only_bits(take(value, arrow)); !good) return good;
  return only_bits(value);
}

result<void> check_resubmit(std::string_view name, std::string_view value) {
  take(value, ",");
  const std::string_view table = take(value, ",");  // 255 is that of the rule
  return is_number(table) ? check_at_most(name, table, pipeline::table_all, number_form::decimal)
                          : result<void>{};
}

result<void> check_controller(std::string_view name, std::string_view value) {
  constexpr unsigned max_len_bits = 16;
  if (is_number(value)) return check_number(name, value, max_len_bits);
  std::string text(value);
  char* rest = text.data();
  char *key, *said;
  while (ofputil_parse_key_value(&rest, &key, &said)) {
    if (std::string_view(key) != "max_len") continue;
    if (auto good = check_number(key, said, max_len_bits); !good) return good;
  }
  return {};
}

result<void> check_write_metadata(std::string_view name, std::string_view value) {
  return check_masked(name, value, 64);
}

/// "7, 1/2"; what is missing is the library's to say.
result<void> check_conjunction(std::string_view name, std::string_view value) {
  constexpr unsigned clause_bits = 8;
  if (auto good = check_number(name, take(value, ","), 32); !good) return good;
  for (const std::string_view clause : {take(value, "/"), trimmed(value)}) {
    if (auto good = check_number(name, clause, clause_bits, number_form::decimal); !good)
      return good;
  }
  return {};
}

/// "reg0[]=5", "nw_src=10.0.0.1" or "eth_dst=eth_src"
result<void> check_learned_match(std::string_view name, std::string_view value) {
  const auto to = read_bits(name);
  if (!to) return tl::unexpected(to.error());
  mf_subfield from;
  if (!to->has_value() || value.empty()) return {};
  if (coua_read_subfield(std::string(value).c_str(), &from)) return only_bits(value);
  const mf_subfield& bits = **to;
  const bool whole = bits.ofs == 0 && bits.n_bits == bits.field->n_bits;
  return whole ? check_value(*bits.field, name, value) : check_value(bits, name, value);
}

result<void> check_learned_load(std::string_view name, std::string_view value) {
  return is_number(value) ? check_load(name, value) : check_move(name, value);
}

struct learn_number {
  const char* name;
  unsigned n_bits;
  number_form form;
};
// The library reads most of them with atoi, to which 0x10 is 0.
constexpr std::array learn_numbers = std::to_array<learn_number>({
    {"table", 8, number_form::decimal},
    {"priority", 16, number_form::decimal},
    {"idle_timeout", 16, number_form::decimal},
    {"hard_timeout", 16, number_form::decimal},
    {"limit", 32, number_form::decimal},
    {"cookie", 64, number_form::any_base},
});

result<void> check_learned(std::string_view name, std::string_view value, seen_words& seen) {
  for (const learn_number& one : learn_numbers) {
    if (name != one.name) continue;
    if (auto good = check_once(seen, std::string(name)); !good) return good;
    return check_number(name, value, one.n_bits, one.form);
  }
  if (name == "load") return check_learned_load(name, value);
  if (name == "output") return only_bits(value);
  return check_learned_match(name, value);
}

result<void> check_learn(std::string_view, std::string_view value) {
  std::string text(value);
  seen_words seen;
  char* rest = text.data();
  char *name, *said;
  while (ofputil_parse_key_value(&rest, &name, &said)) {
    if (auto good = check_learned(name, said, seen); !good) return good;
  }
  return {};
}

struct number_action {
  const char* name;
  unsigned n_bits;
};
constexpr std::array number_actions = std::to_array<number_action>({
    {"group", 32},          {"set_queue", 32},    {"meter", 32},       {"set_tunnel", 64},
    {"push_vlan", 16},      {"set_tunnel64", 64}, {"push_mpls", 16},   {"pop_mpls", 16},
    {"mod_vlan_vid", 12},   {"set_vlan_vid", 12}, {"mod_vlan_pcp", 3}, {"set_vlan_pcp", 3},
    {"mod_nw_tos", 8},      {"mod_nw_ecn", 2},    {"mod_nw_ttl", 8},   {"set_nw_ttl", 8},
    {"mod_tp_src", 16},     {"mod_tp_dst", 16},   {"set_mpls_tc", 3},  {"set_mpls_ttl", 8},
    {"set_mpls_label", 20},
});

struct other_action {
  const char* name;
  result<void> (*check)(std::string_view name, std::string_view value);
};
constexpr std::array other_actions = std::to_array<other_action>({
    {"output", check_output},
    {"set_field", check_set_field},
    {"load", check_load},
    {"move", check_move},
    {"resubmit", check_resubmit},
    {"goto_table", check_table},
    {"controller", check_controller},
    {"write_metadata", check_write_metadata},
    {"conjunction", check_conjunction},
    {"learn", check_learn},
    {"mod_dl_src", check_mac},
    {"mod_dl_dst", check_mac},
    {"mod_nw_src", check_ipv4},
    {"mod_nw_dst", check_ipv4},
    {"drop", check_no_value},
    {"pop_vlan", check_no_value},
    {"strip_vlan", check_no_value},
    {"dec_mpls_ttl", check_no_value},
    {"clear_actions", check_no_value},
    {"in_port", check_no_value},
    {"normal", check_no_value},
    {"flood", check_no_value},
    {"all", check_no_value},
    {"local", check_no_value},
});

}  // namespace

result<void> check_action_value(const char* name, std::string_view value) {
  for (const number_action& one : number_actions)
    if (strcasecmp(name, one.name) == 0) return check_number(name, value, one.n_bits);
  for (const other_action& one : other_actions)
    if (strcasecmp(name, one.name) == 0) return one.check(name, value);
  return {};
}

}  // namespace coua::ofp
