// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/table_features.h"

#include <algorithm>
#include <cstring>

#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/field_convert.h"

namespace coua::ofp {
namespace {

void set_bit(unsigned long* bits, std::size_t at) {
  constexpr std::size_t word = 8 * sizeof(unsigned long);
  bits[at / word] |= 1UL << at % word;
}

/// For every field that OpenFlow 1.3 or the library's extensions can name.
template <class Call>
void each_field(Call call) {
  for (const field_pair& pair : field_pairs()) call(pair.theirs, pipeline::info(pair.ours));
}

void fill(ofputil_table_features::ofputil_table_instruction_features& into, unsigned table) {
  into.instructions = 1U << OVSINST_OFPIT13_METER | 1U << OVSINST_OFPIT11_APPLY_ACTIONS |
                      1U << OVSINST_OFPIT11_CLEAR_ACTIONS | 1U << OVSINST_OFPIT11_WRITE_ACTIONS |
                      1U << OVSINST_OFPIT11_WRITE_METADATA;
  if (table < pipeline::table_max) into.instructions |= 1U << OVSINST_OFPIT11_GOTO_TABLE;
  for (unsigned next = table + 1; next <= pipeline::table_max; ++next) set_bit(into.next, next);
  for (auto* actions : {&into.write, &into.apply}) {
    actions->ofpacts = all_actions();
    each_field([actions](mf_field_id id, const pipeline::field_info& about) {
      if (about.writable) set_bit(actions->set_fields.bm, id);
    });
  }
}

}  // namespace

ofputil_table_features features_of(const table_facts& one) {
  ofputil_table_features made{};
  made.table_id = one.id;
  std::memcpy(made.name, one.name.data(), std::min(one.name.size(), sizeof made.name - 1));
  made.metadata_match = OVS_BE64_MAX;
  made.metadata_write = OVS_BE64_MAX;
  made.max_entries = static_cast<std::uint32_t>(std::min<std::uint64_t>(one.rules_max, UINT32_MAX));
  made.any_properties = true;
  made.supports_eviction = made.supports_vacancy_events = -1;
  fill(made.nonmiss, one.id);
  fill(made.miss, one.id);
  each_field([&made](mf_field_id id, const pipeline::field_info& about) {
    set_bit(made.match.bm, id);
    set_bit(made.wildcard.bm, id);
    if (about.maskable) set_bit(made.mask.bm, id);
  });
  return made;
}

}  // namespace coua::ofp
