// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/match_convert.h"

#include <cstring>

#include "base/check.h"
#include "ctl/ofp/field_convert.h"

namespace coua::ofp {
namespace {

using pipeline::field;
using pipeline::match_term;
using pipeline::of_error;
using pipeline::of_result;
using pipeline::refuse;

constexpr unsigned tci_vid = 0x0fff, tci_present = 0x1000, tci_pcp = 0xe000;
constexpr ovs_be32 packet_type_ethernet = 0;  // namespace 0 (OFPHTN_ONF), type 0

/// A match that takes untagged packets has no say about number and priority of a tag.
of_result<void> simplify_vlan(::match& of) {
  const unsigned mask = ntohs(of.wc.masks.vlans[0].tci);
  const unsigned value = ntohs(of.flow.vlans[0].tci);
  if ((mask & tci_present) == 0 || (value & tci_present) != 0) return {};
  if ((value & mask) != 0) {
    return refuse(of_error::bad_match_value, "vlan_tci",
                  "a number or priority without a tag: no packet could match");
  }
  of.wc.masks.vlans[0].tci = htons(mask & (tci_vid | tci_present));
  return {};
}

/// The library takes or leaves mask bits that no value can have.
void drop_idle_bits(::match& of) {
  of.flow.packet_type = 0;  // packets begin with Ethernet: ours do all
  of.wc.masks.packet_type = 0;
  of.wc.masks.nw_frag &= FLOW_NW_FRAG_MASK;
  of.wc.masks.ipv6_label &= htonl(0xfffff);
}

/// A field of ours, and the words of the library's structure in which its bits are.
struct field_place {
  field ours;
  const mf_field* theirs;
  std::size_t first, last;  // the same one, or neighbours
};

field_place place_of(const field_pair& pair) {
  field_place made{pair.ours, mf_from_id(pair.theirs), 0, 0};
  flow_wildcards bits;
  std::memset(&bits, 0, sizeof bits);
  mf_mask_field(made.theirs, &bits);
  while (made.first < n_flow_words && flow_word(bits.masks, made.first) == 0) ++made.first;
  made.last = n_flow_words - 1;
  while (made.last > made.first && flow_word(bits.masks, made.last) == 0) --made.last;
  COUA_CHECK(made.first < n_flow_words && made.last - made.first <= 1);
  return made;
}

/// In the order of our fields.
const std::vector<field_place>& field_places() {
  static const std::vector<field_place> all = [] {
    std::vector<field_place> made;
    for (const field_pair& pair : field_pairs()) made.push_back(place_of(pair));
    return made;
  }();
  return all;
}

/// The fields that the match takes and that we have.
std::vector<match_term> known_terms(const ::match& of) {
  std::vector<match_term> terms;
  terms.reserve(8);  // more are rare
  for (const auto& [ours, mf, first, last] : field_places()) {
    if ((flow_word(of.wc.masks, first) | flow_word(of.wc.masks, last)) == 0) continue;  // most are
    if (mf_is_all_wild(mf, &of.wc) || !mf_are_match_prereqs_ok(mf, &of)) continue;
    mf_value value, mask;
    mf_get(mf, &of, &value, &mask);
    const pipeline::value128 full = pipeline::full_mask(ours);
    const pipeline::value128 bits = from_ovs_value(&mask, mf->n_bytes) & full;
    // The library compares the low byte of an ARP operation, and takes the high one for 0.
    const bool low_byte = ours == field::arp_op && bits == 0xff;
    terms.push_back({ours, from_ovs_value(&value, mf->n_bytes) & bits, low_byte ? full : bits});
  }
  return terms;
}

of_result<void> build(const pipeline::match& from, ::match& made) {
  match_init_catchall(&made);
  for (const match_term& term : from.terms()) {
    const char* name = pipeline::info(term.which).name;
    const mf_field* mf = to_ovs_field(term.which);
    if (mf == nullptr) {
      return refuse(of_error::bad_match_field, name, "libopenvswitch has no such field");
    }
    const mf_value value = to_ovs_value(*mf, term.value);
    const mf_value mask = to_ovs_value(*mf, term.mask);
    const bool whole = term.mask == pipeline::full_mask(term.which);
    if (whole && !mf_is_value_valid(mf, &value)) {
      return refuse(of_error::bad_match_value, name, "libopenvswitch does not take this value");
    }
    if (term.which == field::in_port) {
      const auto port = to_ovs_port(static_cast<pipeline::port_no>(term.value));
      if (!port) return refuse(of_error::bad_match_value, name, port.error().what);
    }
    char* said = nullptr;
    mf_set(mf, &value, whole ? nullptr : &mask, &made, &said);
    const ovs_error_text wrong(said);
    if (wrong != nullptr) return refuse(of_error::bad_match_value, name, wrong.get());
  }
  drop_idle_bits(made);
  return {};
}

/// Why `of` takes more than `found`, which is what we understood of it.
pipeline::of_failure what_is_left(const ::match& of, const ::match& found) {
  if ((of.wc.masks.vlans[0].tci & htons(tci_pcp)) != 0 &&
      (of.wc.masks.vlans[0].tci & htons(tci_present)) == 0) {
    return {of_error::bad_match_prereq, "vlan_tci", "a priority needs the present bit (0x1000)"};
  }
  for (int id = 0; id < MFF_N_IDS; ++id) {
    const mf_field* mf = mf_from_id(static_cast<mf_field_id>(id));
    if (mf_is_all_wild(mf, &of.wc) || !mf_is_all_wild(mf, &found.wc)) continue;
    const auto ours = from_ovs_field(mf->id);
    if (ours && !mf_are_match_prereqs_ok(mf, &of)) {
      return {of_error::bad_match_prereq, mf->name,
              std::string("the match must also say that the packet is, or has, ") +
                  to_string(pipeline::info(*ours).needs)};
    }
  }
  for (int id = 0; id < MFF_N_IDS; ++id) {
    const mf_field* mf = mf_from_id(static_cast<mf_field_id>(id));
    if (mf_is_all_wild(mf, &of.wc) || !mf_is_all_wild(mf, &found.wc)) continue;
    if (!from_ovs_field(mf->id) && mf_are_match_prereqs_ok(mf, &of)) {
      return {of_error::bad_match_field, mf->name, "the switch has no such field"};
    }
  }
  return {of_error::bad_match_field, "match", "the switch does not have all of its fields"};
}

/// Brings it into normal form, as what it is compared with has.
of_result<pipeline::match> read(::match& of) {
  if (of.wc.masks.packet_type != 0 && of.flow.packet_type != packet_type_ethernet) {
    return refuse(of_error::bad_match_field, "packet_type", "the switch has Ethernet packets only");
  }
  drop_idle_bits(of);
  if (auto good = simplify_vlan(of); !good) return tl::unexpected(good.error());
  auto made = pipeline::match::make(known_terms(of));
  if (!made) return made;
  ::match back;
  if (auto good = build(*made, back); !good) return tl::unexpected(good.error());
  if (!match_equal(&back, &of)) return tl::unexpected(what_is_left(of, back));
  return made;
}

}  // namespace

of_result<pipeline::match> from_ovs(const ::match& theirs) {
  ::match of = theirs;
  return read(of);
}

of_result<pipeline::match> from_ovs(const minimatch& theirs) {
  ::match of;
  minimatch_expand(&theirs, &of);
  return read(of);
}

of_result<::match> to_ovs(const pipeline::match& ours) {
  ::match made;
  if (auto good = build(ours, made); !good) return tl::unexpected(good.error());
  const auto back = from_ovs(made);
  if (!back || *back != ours) {
    return refuse(of_error::bad_match_field, ours.to_string(),
                  back ? "libopenvswitch has no such match" : back.error().message());
  }
  return made;
}

}  // namespace coua::ofp
