// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/bits_convert.h"

#include <algorithm>

#include "ctl/ofp/field_convert.h"
#include "pipeline/model/of_error.h"

namespace coua::ofp {
namespace {

using pipeline::field;
using pipeline::field_bits;
using pipeline::of_error;
using pipeline::of_result;
using pipeline::refuse;

/// Bits of theirs, from bit `at` on.
struct part {
  unsigned at;
  field_bits ours;
};

field_bits all_of(field which) { return {which, 0, pipeline::info(which).n_bits}; }

/// A row of registers, the first of them the highest.
std::vector<part> registers(unsigned first, unsigned n) {
  std::vector<part> made;
  for (unsigned i = 0; i < n; ++i)
    made.push_back({32 * i, all_of(pipeline::reg(first + n - 1 - i))});
  return made;
}

/// The parts of their field that are of ours, from the lowest on.
std::vector<part> parts_of(mf_field_id id) {
  if (id >= MFF_XREG0 && id <= MFF_XREG7) return registers(2 * (id - MFF_XREG0), 2);
  if (id >= MFF_XXREG0 && id <= MFF_XXREG3) return registers(4 * (id - MFF_XXREG0), 4);
  switch (id) {
    case MFF_IN_PORT: return {{0, {field::in_port, 0, 16}}};
    case MFF_VLAN_TCI: return {{0, all_of(field::vlan_vid)}, {13, all_of(field::vlan_pcp)}};
    case MFF_DL_VLAN: return {{0, {field::vlan_vid, 0, 12}}};
    case MFF_DL_VLAN_PCP: return {{0, all_of(field::vlan_pcp)}};
    case MFF_IP_DSCP: return {{2, all_of(field::ip_dscp)}};  // in place, above ECN
    default: break;
  }
  const auto ours = from_ovs_field(id);
  if (!ours) return {};
  return {{0, all_of(*ours)}};
}

/// Those that begin at bit `at` of theirs, up to the end of ours. None: there are none.
std::optional<field_bits> from_bit(const std::vector<part>& parts, unsigned at) {
  for (const part& each : parts) {
    if (at < each.at || at >= each.at + each.ours.n_bits) continue;
    const unsigned skipped = at - each.at;
    return field_bits{each.ours.which, static_cast<std::uint8_t>(each.ours.first + skipped),
                      static_cast<std::uint8_t>(each.ours.n_bits - skipped)};
  }
  return std::nullopt;
}

pipeline::of_failure no_such_bits(const mf_subfield& theirs) {
  return {of_error::bad_action_set_type, theirs.field->name,
          "the switch has no field with these bits"};
}

/// Where a bit of a register stands among those of all, the first register the highest.
unsigned place_of(const field_bits& bits) {
  return 32 * (index_of(field::reg15) - index_of(bits.which)) + bits.first;
}

}  // namespace

of_result<std::vector<pipeline::act::move>> moves_from_ovs(const mf_subfield& from,
                                                           const mf_subfield& to) {
  const std::vector<part> sources = parts_of(from.field->id), targets = parts_of(to.field->id);
  std::vector<pipeline::act::move> made;
  for (unsigned done = 0; done < from.n_bits;) {
    auto source = from_bit(sources, from.ofs + done);
    auto target = from_bit(targets, to.ofs + done);
    if (!source) return tl::unexpected(no_such_bits(from));
    if (!target) return tl::unexpected(no_such_bits(to));
    const unsigned n =
        std::min({unsigned{source->n_bits}, unsigned{target->n_bits}, from.n_bits - done});
    source->n_bits = target->n_bits = static_cast<std::uint8_t>(n);
    made.push_back({*source, *target});
    done += n;
  }
  // As memmove: upwards what is highest goes first.
  const bool within_registers =
      !made.empty() && is_reg(made[0].from.which) && is_reg(made[0].to.which);
  if (within_registers && place_of(made[0].from) < place_of(made[0].to)) {
    std::reverse(made.begin(), made.end());
  }
  return made;
}

of_result<std::vector<bits_piece>> pieces_from_ovs(const mf_subfield& theirs) {
  const std::vector<part> parts = parts_of(theirs.field->id);
  std::vector<bits_piece> made;
  for (unsigned done = 0; done < theirs.n_bits;) {
    auto found = from_bit(parts, theirs.ofs + done);
    if (!found) return tl::unexpected(no_such_bits(theirs));
    const unsigned n = std::min(unsigned{found->n_bits}, theirs.n_bits - done);
    found->n_bits = static_cast<std::uint8_t>(n);
    made.push_back({done, *found});
    done += n;
  }
  return made;
}

of_result<field_bits> bits_from_ovs(const mf_subfield& theirs) {
  const auto found = from_bit(parts_of(theirs.field->id), theirs.ofs);
  if (!found || found->n_bits < theirs.n_bits) return tl::unexpected(no_such_bits(theirs));
  return field_bits{found->which, found->first, static_cast<std::uint8_t>(theirs.n_bits)};
}

of_result<mf_subfield> to_ovs_bits(const field_bits& ours) {
  const mf_field* theirs = to_ovs_field(ours.which);
  // Ours has 32 and 13 bits; these are those that everybody writes.
  const unsigned end = ours.first + ours.n_bits;
  if (ours.which == field::in_port && end <= 16) theirs = mf_from_id(MFF_IN_PORT);
  if (ours.which == field::vlan_vid) theirs = mf_from_id(MFF_VLAN_TCI);
  if (theirs == nullptr) {
    return refuse(of_error::bad_action_set_type, pipeline::info(ours.which).name,
                  "libopenvswitch has no such field");
  }
  mf_subfield made = {};
  made.field = theirs;
  made.ofs = ours.first;
  made.n_bits = ours.n_bits;
  return made;
}

}  // namespace coua::ofp
