// SPDX-License-Identifier: Apache-2.0
//
// How deep packets must be parsed for a pipeline (ESWITCH, SIGCOMM 2016, section 3: parser
// templates): a pipeline of Ethernet addresses never looks for an IP header.
#pragma once

#include <array>

#include "net/layers.h"
#include "pipeline/model/group.h"
#include "pipeline/model/meter.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

net::parse_depth depth_of(const rule& one);
net::parse_depth depth_of(const group& one);
net::parse_depth depth_of(const meter& one);

/// The depth of all rules, groups and meters, as they come and go.
class needed_depth {
 public:
  template <class Thing>
  void add(const Thing& one) {
    ++n_[static_cast<std::size_t>(depth_of(one))];
  }
  template <class Thing>
  void remove(const Thing& one) {
    --n_[static_cast<std::size_t>(depth_of(one))];
  }
  net::parse_depth deepest() const {
    for (std::size_t i = n_.size(); i-- > 0;) {
      if (n_[i] != 0) return static_cast<net::parse_depth>(i);
    }
    return net::parse_depth::link;
  }

 private:
  std::array<std::size_t, 3> n_{};
};

}  // namespace coua::pipeline
