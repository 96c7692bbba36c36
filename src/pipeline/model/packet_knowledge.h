// SPDX-License-Identifier: Apache-2.0
//
// What is known of a packet without seeing it: from the match of its rule, and from the actions
// that ran before. It decides whether a match or an action may name a field.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/model/field.h"

namespace coua::pipeline {

class match;

class packet_knowledge {
 public:
  packet_knowledge() = default;  // nothing
  explicit packet_knowledge(const match& seen);

  bool meets(prerequisite needed) const;

  /// After an action that adds a tag or writes a field. After a pop_vlan there may be another tag
  /// below, so it changes nothing here.
  void pushed_vlan() { vlan_ = true; }
  void changed_eth_type(std::uint16_t to) {
    eth_type_ = to;
    ip_proto_.reset();
    icmpv6_type_.reset();
  }
  /// Without a mask: something.
  void wrote(field which, value128 value, value128 mask);

 private:
  bool in_port_ = false;
  bool vlan_ = false;
  std::optional<std::uint16_t> eth_type_;
  std::optional<std::uint8_t> ip_proto_;
  std::optional<std::uint8_t> icmpv6_type_;
};

}  // namespace coua::pipeline
