// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/action_set.h"

#include <algorithm>

namespace coua::pipeline {
namespace {

/// Where those stand that send the packet on.
constexpr int first_of_sent = 9;

/// Where a kind of action stands in the order; the two decrements do not meet, since a packet with
/// labels has no TTL of IP. The two pops do where there are more tags than are followed: the label
/// is seen when one of them is gone.
int stage(const action& one) {
  return std::visit(overloaded{
                        [](const act::copy_ttl_in&) { return 0; },
                        [](const act::pop_vlan&) { return 1; },
                        [](const act::pop_mpls&) { return 2; },
                        [](const act::push_mpls&) { return 3; },
                        [](const act::push_vlan&) { return 4; },
                        [](const act::copy_ttl_out&) { return 5; },
                        [](const act::dec_mpls_ttl&) { return 6; },
                        [](const act::dec_ip_ttl&) { return 6; },
                        [](const act::set_field&) { return 7; },
                        [](const act::move&) { return 7; },
                        [](const act::set_mpls_ttl&) { return 7; },
                        [](const act::set_ip_ttl&) { return 7; },
                        [](const act::set_queue&) { return 8; },
                        [](const act::group&) { return first_of_sent; },
                        [](const act::conjunction&) { return 0; },  // in none
                        [](const act::learn&) { return 0; },        // in none
                        [](const act::resubmit&) { return 10; },
                        [](const act::output&) { return 11; },
                        [](const act::output_bits&) { return 11; },
                    },
                    one);
}

/// That the action writes to, if it is a set_field or a move.
std::optional<field> written_by(const action& one) {
  if (const auto* set = std::get_if<act::set_field>(&one)) return set->which;
  if (const auto* move = std::get_if<act::move>(&one)) return move->to.which;
  return std::nullopt;
}

bool is_output(const action& one) {
  return std::holds_alternative<act::output>(one) || std::holds_alternative<act::output_bits>(one);
}

bool same_kind(const action& a, const action& b) {
  if (const auto field_a = written_by(a)) return field_a == written_by(b);
  return a.index() == b.index() || (is_output(a) && is_output(b));
}

/// What is left of both when the one that was written comes after the other one, of its kind.
action joined(const action& was, const action& one) {
  const auto* first = std::get_if<act::set_field>(&was);
  const auto* next = std::get_if<act::set_field>(&one);
  if (first == nullptr || next == nullptr) return one;
  act::set_field both = *next;
  both.value = (first->value & ~next->mask) | (next->value & next->mask);
  both.mask = first->mask | next->mask;
  return both;
}

}  // namespace

void action_set::write(const action& one) {
  const auto at = std::find_if(actions_.begin(), actions_.end(),
                               [&](const action& other) { return same_kind(one, other); });
  if (at == actions_.end()) {
    actions_.push_back(one);
  } else {
    *at = joined(*at, one);
  }
}

action_list action_set::ordered() const {
  action_list list = actions_;
  std::stable_sort(list.begin(), list.end(),
                   [](const action& a, const action& b) { return stage(a) < stage(b); });
  // Of these the first one hides the others.
  const auto is_sent = [](const action& one) { return stage(one) >= first_of_sent; };
  const auto first = std::find_if(list.begin(), list.end(), is_sent);
  if (first != list.end()) list.erase(first + 1, list.end());
  return list;
}

}  // namespace coua::pipeline
