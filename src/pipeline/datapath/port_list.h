// SPDX-License-Identifier: Apache-2.0
//
// The ports of a bridge as the datapath asks for them: by number, and all of them in order.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pipeline/model/port.h"

namespace coua::pipeline {

class port_list {
 public:
  port_list() = default;
  /// By number, rising.
  explicit port_list(std::vector<port> ports) : ports_(std::move(ports)) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (ports_[i].number < n_near) near_[ports_[i].number] = static_cast<std::uint16_t>(i + 1);
    }
  }

  std::span<const port> all() const noexcept { return ports_; }
  /// Null: there is none.
  const port* find(port_no number) const noexcept {
    if (number < n_near) {
      return near_[number] == 0 ? nullptr : &ports_[near_[number] - 1U];
    }
    const auto at = std::lower_bound(ports_.begin(), ports_.end(), number,
                                     [](const port& one, port_no n) { return one.number < n; });
    return at == ports_.end() || at->number != number ? nullptr : &*at;
  }

 private:
  static constexpr port_no n_near = 1024;  // found without a search
  std::vector<port> ports_;
  std::uint16_t near_[n_near] = {};
};

}  // namespace coua::pipeline
