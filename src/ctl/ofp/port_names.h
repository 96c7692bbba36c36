// SPDX-License-Identifier: Apache-2.0
//
// Names of ports, for texts: "output:p0" is "output:1" when port 1 is called p0. A name is one of
// one port only. Reserved ports (LOCAL, IN_PORT...) have names of their own, which cannot be given
// away: a port with the number LOCAL is read by its name, too, and printed as LOCAL.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/model/port.h"

namespace coua::ofp {

class port_names {
 public:
  port_names() = default;
  port_names(std::initializer_list<std::pair<const pipeline::port_no, std::string>> named)
      : names_(named) {}

  void add(pipeline::port_no number, std::string name) { names_[number] = std::move(name); }
  bool empty() const { return names_.empty(); }
  const std::map<pipeline::port_no, std::string>& all() const { return names_; }

 private:
  std::map<pipeline::port_no, std::string> names_;
};

}  // namespace coua::ofp
