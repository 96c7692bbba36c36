// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/table_shape.h"

#include <cstring>

namespace coua::pipeline {
namespace {

void append(std::string& text, const void* bytes, std::size_t n) {
  text.append(static_cast<const char*>(bytes), n);
}

/// The field whose value says where another one stands in a packet (datapath/field_place.h).
std::optional<field> placed_by(field which) {
  switch (which) {
    case field::ip_dscp:
    case field::ip_ecn:
    case field::ip_ttl: return field::eth_type;
    case field::nd_target: return field::icmpv6_type;
    default: return std::nullopt;
  }
}

/// The bits that a match takes, in packets, as a key of maps.
std::string mask_key(const match& what) {
  std::string key;
  for (const match_term& term : what.terms()) {
    append(key, &term.which, sizeof term.which);
    append(key, &term.mask, sizeof term.mask);
    if (const auto by = placed_by(term.which)) {
      const value128 value = what.exact_value(*by).value_or(0);
      append(key, &value, sizeof value);
    }
  }
  return key;
}

/// What a match asks of all fields but one.
std::string without(const match& what, field which) {
  std::string key;
  for (const match_term& term : what.terms()) {
    if (term.which == which) continue;
    append(key, &term.which, sizeof term.which);
    append(key, &term.value, sizeof term.value);
    append(key, &term.mask, sizeof term.mask);
  }
  return key;
}

void count_in(std::unordered_map<std::string, std::size_t>& counts, std::string key, bool added) {
  if (added) {
    ++counts[std::move(key)];
    return;
  }
  const auto at = counts.find(key);
  if (--at->second == 0) counts.erase(at);
}

}  // namespace

std::optional<unsigned> prefix_length(value128 mask, unsigned n_bits) {
  const value128 rest = ~mask & ones(n_bits);
  if ((rest & (rest + 1)) != 0) return std::nullopt;  // zeros are not all at the end
  unsigned length = n_bits;
  for (value128 left = rest; left != 0; left >>= 1) --length;
  return length;
}

void prefix_shape::count(const rule& one, bool added) {
  const match_term* term = one.match.find(which_);
  const auto length = term == nullptr ? 0U : prefix_length(term->mask, info(which_).n_bits);
  count_other(without(one.match, which_), added);
  if (!length) {
    n_without_ += added ? 1 : std::size_t{0} - 1;
    return;
  }
  priority_counts& priorities = by_length_[*length];
  if (added) {
    priorities.add(one.priority);
  } else {
    priorities.remove(one.priority);
    if (priorities.empty()) by_length_.erase(*length);
  }
}

void prefix_shape::count_other(std::string other, bool added) {
  const auto at = others_.find(other);
  if (at != others_.end()) {
    at->second += added ? 1 : std::size_t{0} - 1;
    if (at->second == 0) others_.erase(at);
  } else if (added && others_.size() < others_max) {
    others_.emplace(std::move(other), 1);
  } else {
    n_more_ += added ? 1 : std::size_t{0} - 1;
  }
}

std::string prefix_shape::why_not() const {
  const std::string name = info(which_).name;
  if (!is_matched()) return "no rule matches " + name;
  if (others_.size() + n_more_ > 1) return "rules differ in more than " + name;
  if (n_without_ > 0) return "a mask of " + name + " is not a prefix";
  unsigned shorter = 0;
  int highest = -1;  // of the lengths before
  for (const auto& [length, priorities] : by_length_) {
    if (priorities.lowest() <= highest) {
      return "a rule of priority " + std::to_string(highest) + " for a /" +
             std::to_string(shorter) + " of " + name + " is not below one of priority " +
             std::to_string(priorities.lowest()) + " for a /" + std::to_string(length);
    }
    highest = priorities.highest();
    shorter = length;
  }
  return {};
}

void table_shape::add(const rule& one) {
  ++n_rules_;
  if (one.match.is_any()) {
    catch_alls_.add(one.priority);
    return;
  }
  others_.add(one.priority);
  count_in(by_mask_, mask_key(one.match), true);
  for (prefix_shape& each : prefixes_) each.add(one);
}

void table_shape::remove(const rule& one) {
  --n_rules_;
  if (one.match.is_any()) {
    catch_alls_.remove(one.priority);
    return;
  }
  others_.remove(one.priority);
  count_in(by_mask_, mask_key(one.match), false);
  for (prefix_shape& each : prefixes_) each.remove(one);
}

}  // namespace coua::pipeline
