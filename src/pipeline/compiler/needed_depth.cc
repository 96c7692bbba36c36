// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/needed_depth.h"

#include <algorithm>

#include "pipeline/datapath/field_place.h"

namespace coua::pipeline {
namespace {

using net::parse_depth;

parse_depth depth_to_write(field which) {
  const bool is_address = which == field::ipv4_src || which == field::ipv4_dst ||
                          which == field::ipv6_src || which == field::ipv6_dst;
  // L4 has a checksum over it.
  return is_address ? parse_depth::transport : pipeline::depth_of(which);
}

parse_depth depth_of(const action& one) {
  return std::visit(
      overloaded{
          [](const act::output&) { return parse_depth::link; },
          [](const act::group&) { return parse_depth::link; },  // it has a depth of its own
          [](const act::set_queue&) { return parse_depth::link; },
          [](const act::resubmit&) { return parse_depth::link; },
          [](const act::conjunction&) { return parse_depth::link; },
          [](const act::push_vlan&) { return parse_depth::link; },
          // Behind the last of too many tags a header may come to light.
          [](const act::pop_vlan&) { return parse_depth::link; },
          [](const act::set_field& a) { return depth_to_write(a.which); },
          [](const act::move& a) {
            return std::max(pipeline::depth_of(a.from.which), depth_to_write(a.to.which));
          },
          [](const act::output_bits& a) { return pipeline::depth_of(a.from.which); },
          [](const act::learn& a) {
            parse_depth deepest = parse_depth::link;
            for (const act::learn::part& each : a.parts) {
              if (each.from) deepest = std::max(deepest, pipeline::depth_of(each.from->which));
            }
            return deepest;
          },
          [](const auto&) { return parse_depth::network; },
      },
      one);
}

parse_depth depth_of(const action_list& list) {
  parse_depth deepest = parse_depth::link;
  for (const action& each : list) deepest = std::max(deepest, depth_of(each));
  return deepest;
}

}  // namespace

parse_depth depth_of(const rule& one) {
  parse_depth deepest = parse_depth::link;
  for (const match_term& term : one.match.terms()) {
    deepest = std::max(deepest, depth_of(term.which));
  }
  if (one.instructions.apply) deepest = std::max(deepest, depth_of(*one.instructions.apply));
  if (one.instructions.write) deepest = std::max(deepest, depth_of(*one.instructions.write));
  return deepest;
}

parse_depth depth_of(const group& one) {
  parse_depth deepest = one.type == group_type::select ? parse_depth::transport : parse_depth::link;
  for (const bucket& each : one.buckets) deepest = std::max(deepest, depth_of(each.actions));
  return deepest;
}

parse_depth depth_of(const meter& one) {
  const bool remarks = std::any_of(one.bands.begin(), one.bands.end(), [](const meter_band& band) {
    return band.type == band_type::dscp_remark;
  });
  return remarks ? parse_depth::network : parse_depth::link;
}

}  // namespace coua::pipeline
