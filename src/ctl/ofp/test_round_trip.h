// SPDX-License-Identifier: Apache-2.0
//
// What must hold of texts, whoever makes them up: an operation that is written and read is the same
// operation.
#pragma once

#include "ctl/ofp/flow_text.h"

namespace coua::ofp::test {

inline const char* word_of(pipeline::rule_command command) {
  switch (command) {
    case pipeline::rule_command::add: return "add ";
    case pipeline::rule_command::modify: return "modify ";
    case pipeline::rule_command::modify_strict: return "modify_strict ";
    case pipeline::rule_command::remove: return "delete ";
    case pipeline::rule_command::remove_strict: return "delete_strict ";
    case pipeline::rule_command::learn: break;  // of packets only
  }
  return "?";
}

inline bool same(const pipeline::rule& a, const pipeline::rule& b) {
  return a.table == b.table && a.priority == b.priority && a.idle_timeout_s == b.idle_timeout_s &&
         a.hard_timeout_s == b.hard_timeout_s && a.flags == b.flags && a.cookie == b.cookie &&
         a.match == b.match && a.instructions == b.instructions;
}
inline bool same(const pipeline::rule_mod& a, const pipeline::rule_mod& b) {
  return a.command == b.command && same(pipeline::to_rule(a), pipeline::to_rule(b)) &&
         a.cookie_mask == b.cookie_mask && a.out_port == b.out_port && a.out_group == b.out_group;
}
inline bool same(const pipeline::group& a, const pipeline::group& b) {
  return a.id == b.id && a.type == b.type && a.buckets == b.buckets;
}

}  // namespace coua::ofp::test
