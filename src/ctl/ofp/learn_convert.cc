// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/learn_convert.h"

#include <endian.h>

#include <cstring>

#include "ctl/ofp/bits_convert.h"
#include "ctl/ofp/field_convert.h"
#include "pipeline/model/learn.h"
#include "pipeline/model/of_error.h"

namespace coua::ofp {
namespace {

using learn = pipeline::act::learn;
using part_role = learn::part::role;
using pipeline::of_error;
using pipeline::of_result;
using pipeline::refuse;
using pipeline::value128;

constexpr unsigned vlan_bit = 12;  // of NXM_OF_VLAN_TCI: there is a tag

std::size_t constant_bytes(unsigned n_bits) { return (n_bits + 7) / 8; }

of_result<void> refused(const char* what) {
  return refuse(of_error::bad_action_argument, "learn", what);
}

of_result<void> check_options(const ofpact_learn& theirs) {
  constexpr unsigned known = NX_LEARN_F_SEND_FLOW_REM | NX_LEARN_F_DELETE_LEARNED;
  if (theirs.fin_idle_timeout != 0 || theirs.fin_hard_timeout != 0) {
    return refused("time-outs after a FIN are not there");
  }
  if ((theirs.flags & NX_LEARN_F_WRITE_RESULT) != 0) {
    return refused("result_dst is not there: a packet goes on before its rule is made");
  }
  if ((theirs.flags & ~known) != 0) return refused("a flag that the switch does not know");
  return {};
}

of_result<void> add_constant(const ofpact_learn_spec& from, part_role what, learn& to) {
  const value128 value = pipeline::ones(from.n_bits) &
                         from_ovs_value(ofpact_learn_spec_imm(&from), constant_bytes(from.n_bits));
  // Without the bit that there is a tag there is none afterwards, whatever the other bits say.
  const bool has_bit = from.dst.ofs == 0 && from.n_bits > vlan_bit;
  if (what == part_role::load && from.dst.field->id == MFF_VLAN_TCI && has_bit &&
      (value >> vlan_bit & 1) == 0) {
    to.parts.push_back(pipeline::take_tag_away());
    return {};
  }
  const auto pieces = pieces_from_ovs(from.dst);
  if (!pieces) return tl::unexpected(pieces.error());
  for (const bits_piece& each : *pieces) {
    const value128 bits = value >> each.at & pipeline::ones(each.ours.n_bits);
    to.parts.push_back({what, std::nullopt, bits, each.ours});
  }
  return {};
}

of_result<void> add_part(const ofpact_learn_spec& from, learn& to) {
  if (from.dst_type == NX_LEARN_DST_OUTPUT) {
    const auto bits = bits_from_ovs(from.src);
    if (!bits) return tl::unexpected(bits.error());
    to.parts.push_back({part_role::output, *bits, 0, {}});
    return {};
  }
  const part_role what = from.dst_type == NX_LEARN_DST_LOAD ? part_role::load : part_role::match;
  if (from.src_type == NX_LEARN_SRC_IMMEDIATE) return add_constant(from, what, to);
  const auto moves = moves_from_ovs(from.src, from.dst);
  if (!moves) return tl::unexpected(moves.error());
  for (const pipeline::act::move& each : *moves) {
    to.parts.push_back({what, each.from, 0, each.to});
  }
  return {};
}

of_result<void> put_part(const learn::part& from, ofpbuf* into) {
  ofpact_learn_spec made = {};
  made.n_bits = from.what == part_role::output ? from.from->n_bits : from.to.n_bits;
  made.src_type = from.from ? NX_LEARN_SRC_FIELD : NX_LEARN_SRC_IMMEDIATE;
  made.dst_type = from.what == part_role::match  ? NX_LEARN_DST_MATCH
                  : from.what == part_role::load ? NX_LEARN_DST_LOAD
                                                 : NX_LEARN_DST_OUTPUT;
  if (from.from) {
    const auto bits = to_ovs_bits(*from.from);
    if (!bits) return tl::unexpected(bits.error());
    made.src = *bits;
  }
  if (from.what != part_role::output) {
    const auto bits = to_ovs_bits(from.to);
    if (!bits) return tl::unexpected(bits.error());
    made.dst = *bits;
  }
  // Of all 16 bits: as everybody writes it.
  if (pipeline::takes_tag_away(from)) made.n_bits = made.dst.n_bits = made.dst.field->n_bits;
  ofpbuf_put(into, &made, sizeof made);
  if (from.from) return {};
  const std::size_t n = constant_bytes(made.n_bits);
  auto* to = static_cast<std::uint8_t*>(ofpbuf_put_zeros(into, OFPACT_ALIGN(n)));
  for (std::size_t i = 0; i < n; ++i)
    to[i] = static_cast<std::uint8_t>(from.value >> 8 * (n - 1 - i));
  return {};
}

}  // namespace

of_result<learn> from_ovs(const ofpact_learn& theirs) {
  if (auto good = check_options(theirs); !good) return tl::unexpected(good.error());
  learn made;
  made.table = theirs.table_id;
  made.priority = theirs.priority;
  made.idle_timeout_s = theirs.idle_timeout;
  made.hard_timeout_s = theirs.hard_timeout;
  made.cookie = be64toh(theirs.cookie);
  made.limit = theirs.limit;
  made.send_removed = (theirs.flags & NX_LEARN_F_SEND_FLOW_REM) != 0;
  made.takes_along = (theirs.flags & NX_LEARN_F_DELETE_LEARNED) != 0;
  const ofpact_learn_spec* each;
  OFPACT_LEARN_SPEC_FOR_EACH(each, &theirs) {
    if (auto good = add_part(*each, made); !good) return tl::unexpected(good.error());
  }
  return made;
}

of_result<void> to_ovs(const learn& ours, ofpbuf* into) {
  ofpact_learn* made = ofpact_put_LEARN(into);
  made->table_id = ours.table;
  made->priority = ours.priority;
  made->idle_timeout = ours.idle_timeout_s;
  made->hard_timeout = ours.hard_timeout_s;
  made->cookie = htobe64(ours.cookie);
  made->limit = ours.limit;
  made->flags = static_cast<nx_learn_flags>((ours.send_removed ? NX_LEARN_F_SEND_FLOW_REM : 0) |
                                            (ours.takes_along ? NX_LEARN_F_DELETE_LEARNED : 0));
  for (const learn::part& each : ours.parts) {
    if (auto good = put_part(each, into); !good) return good;
  }
  made = static_cast<ofpact_learn*>(into->header);
  ofpact_finish_LEARN(into, &made);
  return {};
}

}  // namespace coua::ofp
