// SPDX-License-Identifier: Apache-2.0
//
// Lists of actions for the fuzz targets of pipelines.
#pragma once

#include "pipeline/model/test_model.h"

namespace coua::pipeline::test {

/// Every field that can be written, in one bucket: there, what is missing is passed over. The types
/// of ICMP come last: with others the packet has fewer fields.
inline action_list write_everything() {
  action_list list, types;
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    const bool is_type = which == field::icmpv4_type || which == field::icmpv6_type;
    if (info(which).writable) {
      (is_type ? types : list).push_back(act::set(which, full_mask(which)));
    }
  }
  list.insert(list.end(), types.begin(), types.end());
  list.push_back(output(2));
  return list;
}

inline action_list tags_and_ttls() {
  return {act::copy_ttl_in{},     act::dec_mpls_ttl{},  act::pop_mpls{0x86dd},
          act::push_vlan{0x88a8}, act::dec_ip_ttl{},    act::push_mpls{0x8848},
          act::copy_ttl_out{},    act::pop_vlan{},      act::pop_mpls{0x800},
          act::set_ip_ttl{9},     act::set_mpls_ttl{8}, output(3)};
}

}  // namespace coua::pipeline::test
