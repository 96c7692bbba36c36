// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/match.h"

#include <algorithm>

#include "net/ethernet.h"
#include "pipeline/model/packet_knowledge.h"

namespace coua::pipeline {
namespace {

of_result<void> check_term(const match_term& term) {
  const field_info& about = info(term.which);
  const value128 full = full_mask(term.which);
  if ((term.value & ~full) != 0) {
    return refuse(of_error::bad_match_value, about.name,
                  "the value has more than " + std::to_string(about.n_bits) + " bits");
  }
  if ((term.mask & ~full) != 0) {
    return refuse(of_error::bad_match_mask, about.name,
                  "the mask has more than " + std::to_string(about.n_bits) + " bits");
  }
  if ((term.value & ~term.mask) != 0) {
    return refuse(of_error::bad_match_wildcards, about.name,
                  "the value has bits that the mask leaves out: no packet could match");
  }
  if (!about.maskable && term.mask != full && term.mask != 0) {
    return refuse(of_error::bad_match_mask, about.name, "the field takes no mask");
  }
  if (term.which == field::vlan_vid && (term.mask & vlan_present) != 0 &&
      (term.value & vlan_present) == 0 && term.value != 0) {
    return refuse(of_error::bad_match_value, about.name,
                  "a VLAN number without the present bit (0x1000): no packet could match");
  }
  return {};
}

}  // namespace

of_result<match> match::make(std::vector<match_term> terms) {
  const auto is_before = [](const match_term& a, const match_term& b) { return a.which < b.which; };
  // Mostly they are in order; to sort them takes memory.
  if (!std::is_sorted(terms.begin(), terms.end(), is_before)) {
    std::stable_sort(terms.begin(), terms.end(), is_before);
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i > 0 && terms[i - 1].which == terms[i].which) {
      return refuse(of_error::bad_match_dup_field, info(terms[i].which).name,
                    "the field is given twice");
    }
    if (auto good = check_term(terms[i]); !good) return tl::unexpected(good.error());
  }
  match made;
  made.terms_ = std::move(terms);
  const packet_knowledge known(made);
  for (const match_term& term : made.terms_) {
    const field_info& about = info(term.which);
    if (!known.meets(about.needs)) {
      return refuse(of_error::bad_match_prereq, about.name,
                    std::string("the match must also say that the packet is, or has, ") +
                        pipeline::to_string(about.needs));
    }
  }
  std::erase_if(made.terms_, [](const match_term& term) { return term.mask == 0; });
  for (const match_term& term : made.terms_) made.hash_ += hash_of(term);
  return made;
}

const match_term* match::find(field which) const {
  // There are few: to halve them takes longer.
  const auto at = std::find_if(terms_.begin(), terms_.end(),
                               [which](const match_term& term) { return term.which >= which; });
  return at != terms_.end() && at->which == which ? &*at : nullptr;
}

std::optional<value128> match::exact_value(field which) const {
  const match_term* term = find(which);
  if (term == nullptr || term->mask != full_mask(which)) return std::nullopt;
  return term->value;
}

bool match::matches(const field_values& packet) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const match_term& term) {
    return packet.has(term.which) && (packet.get(term.which) & term.mask) == term.value;
  });
}

bool match::covers(const match& narrower) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const match_term& term) {
    const match_term* other = narrower.find(term.which);
    return other != nullptr && (other->mask & term.mask) == term.mask &&
           (other->value & term.mask) == term.value;
  });
}

bool match::overlaps(const match& other) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const match_term& term) {
    const match_term* there = other.find(term.which);
    return there == nullptr || ((there->value ^ term.value) & there->mask & term.mask) == 0;
  });
}

std::string match::to_string() const {
  if (terms_.empty()) return "any";
  std::string text;
  for (const match_term& term : terms_) {
    if (!text.empty()) text += ',';
    text += info(term.which).name;
    text += '=' + format_value(term.which, term.value, term.mask);
  }
  return text;
}

}  // namespace coua::pipeline
