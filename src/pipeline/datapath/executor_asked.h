// SPDX-License-Identifier: Apache-2.0
//
// For the look-ups of the executor.
#pragma once

#include "pipeline/datapath/executor.h"

namespace coua::pipeline {

/// Those of a list that may match, without gaps: all of them, mostly, and then the list is used as
/// it is.
class executor::asked {
 public:
  /// `may_match(slot)` for each.
  template <class MayMatch>
  asked(const packet_list& list, MayMatch may_match) noexcept {
    for (unsigned k = 0; k < list.n; ++k) {
      if (may_match(list.at[k])) add(k, list.at[k]);
    }
  }
  asked(const packet_list& list, const packet_state* packets, layer_needs needs) noexcept {
    const net::layer::bits common = common_layers(list, packets);
    const bool have_one = needs.one == 0 || (common & needs.one) != 0;
    if (have_one && (common & needs.all) == needs.all) [[likely]] {
      n_ = list.n;
      at_ = list.at;
      which_ = first_slots.data();
      is_in_a_row_ = list.is_in_a_row;
      return;
    }
    for (unsigned k = 0; k < list.n; ++k) {
      if (needs.are_in(packets[list.at[k]].layers)) add(k, list.at[k]);
    }
  }
  asked() = default;
  asked(const asked&) = delete;
  asked& operator=(const asked&) = delete;

  unsigned n() const noexcept { return n_; }
  slot at(unsigned i) const noexcept { return at_[i]; }
  const slot* slots() const noexcept { return at_; }
  /// As key_layout::take() has it.
  const slot* slots_or_first() const noexcept { return is_in_a_row_ ? nullptr : at_; }
  /// Its place in the list.
  unsigned which(unsigned i) const noexcept { return which_[i]; }

  void add(unsigned k, slot packet) noexcept {
    own_at_[n_] = packet;
    own_which_[n_++] = static_cast<std::uint8_t>(k);
  }

 private:
  static net::layer::bits common_layers(const packet_list& list,
                                        const packet_state* packets) noexcept {
    net::layer::bits common = ~net::layer::bits{0};
    if (list.is_in_a_row) [[likely]] {
      for (unsigned k = 0; k < list.n; ++k) common &= packets[k].layers.present;
    } else {
      for (unsigned k = 0; k < list.n; ++k) common &= packets[list.at[k]].layers.present;
    }
    return common;
  }

  unsigned n_ = 0;
  bool is_in_a_row_ = false;  // the first slots, all of them
  const slot* at_ = own_at_;
  const std::uint8_t* which_ = own_which_;
  slot own_at_[burst_max] = {};
  std::uint8_t own_which_[burst_max] = {};
};

}  // namespace coua::pipeline
