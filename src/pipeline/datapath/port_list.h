// SPDX-License-Identifier: Apache-2.0
//
// The ports of a bridge as the datapath asks for them: what may be done with one, by its number,
// and all of them in order.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pipeline/model/port.h"

namespace coua::pipeline {

class port_list {
 public:
  /// What is so of a port; of one that is not there: nothing.
  enum state : std::uint8_t { exists = 1, sends = 2, receives_nothing = 4, no_packet_in = 8 };

  static constexpr port_no n_near = 1024;  // found without a search

  port_list() = default;
  /// By number, rising.
  explicit port_list(std::vector<port> ports) : ports_(std::move(ports)) {
    for (const port& each : ports_) {
      if (each.number < n_near) near_[each.number] = state_of(each);
      const port_no own = each.own != 0 ? each.own : each.number;
      if (own < 1 || own > 64) continue;
      const std::uint64_t bit = std::uint64_t{1} << (own - 1);
      if (each.no_fwd) no_fwd_ |= bit;
      if (each.no_recv) no_recv_ |= bit;
    }
  }

  std::span<const port> all() const noexcept { return ports_; }
  /// Of ports 1 to 64 (LOCAL by its own number), from the lowest bit on: packets to it are dropped.
  std::uint64_t no_fwd() const noexcept { return no_fwd_; }
  /// Likewise: packets from it are dropped.
  std::uint64_t no_recv() const noexcept { return no_recv_; }
  /// Bits of `state`, of a port that is found without a search; of another one: nothing.
  std::uint8_t states_if_near(port_no number) const noexcept {
    return number < n_near ? near_[number] : std::uint8_t{0};
  }
  /// Bits of `state`.
  std::uint8_t states(port_no number) const noexcept {
    return number < n_near ? near_[number] : states_of_far(number);
  }

 private:
  static std::uint8_t state_of(const port& one) noexcept {
    unsigned made = exists;
    if (!one.no_fwd) made |= sends;
    if (one.no_recv) made |= receives_nothing;
    if (one.no_packet_in) made |= no_packet_in;
    return static_cast<std::uint8_t>(made);
  }
  [[gnu::noinline]] std::uint8_t states_of_far(port_no number) const noexcept {
    const auto at = std::lower_bound(ports_.begin(), ports_.end(), number,
                                     [](const port& one, port_no n) { return one.number < n; });
    return at == ports_.end() || at->number != number ? 0 : state_of(*at);
  }

  std::vector<port> ports_;
  std::uint8_t near_[n_near] = {};
  std::uint64_t no_fwd_ = 0, no_recv_ = 0;
};

}  // namespace coua::pipeline
