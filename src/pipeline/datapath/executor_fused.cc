// SPDX-License-Identifier: Apache-2.0
//
// A loop for each row of fused_ops.h.
#include <algorithm>
#include <bit>
#include <utility>

#include "net/rewrite_ip.h"
#include "net/rewrite_link.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/datapath/fused_ops.h"

namespace coua::pipeline {
namespace {

using net::rewrite_result;

/// One op on one frame, but an output.
template <action_step Step>
[[gnu::always_inline]] inline rewrite_result run_step(packet_state& on, const op& what) noexcept {
  net::packet& p = on.buffer;
  net::layers& l = on.layers;
  constexpr auto which = static_cast<field>(Step.field);
  if constexpr (Step.code == op_code::push_vlan) {
    return push_vlan(p, l, what.small);
  } else if constexpr (Step.code == op_code::set_macs) {
    return set_macs(p, l, macs_of(what));
  } else if constexpr (Step.code == op_code::pop_vlan) {
    return pop_vlan(p, l);
  } else if constexpr (Step.code == op_code::dec_ip_ttl) {
    return dec_ip_ttl(p, l);
  } else {
    static_assert(Step.code == op_code::set);
    const std::uint64_t value = what.value;
    if constexpr (which == field::eth_dst) {
      return set_eth_dst(p, l, value);
    } else if constexpr (which == field::eth_src) {
      return set_eth_src(p, l, value);
    } else if constexpr (which == field::vlan_vid) {
      return set_vlan_vid(p, l, static_cast<std::uint16_t>(value));
    } else if constexpr (which == field::ipv4_src) {
      return set_ipv4_src(p, l, static_cast<std::uint32_t>(value));
    } else {
      static_assert(which == field::ipv4_dst);
      return set_ipv4_dst(p, l, static_cast<std::uint32_t>(value));
    }
  }
}

constexpr unsigned place_of_ttl(const fused_ops& row) {
  unsigned at = 0;
  while (at < row.n && row.steps[at].code != op_code::dec_ip_ttl) ++at;
  return at;
}

constexpr bool resizes(const fused_ops& row) {
  return std::any_of(row.steps, row.steps + row.n,
                     [](const action_step& step) { return pipeline::resizes(step.code); });
}

}  // namespace

template <std::size_t Row>
void executor::run_row(work& all, unsigned index) noexcept {
  constexpr fused_ops row = fused::all[Row];
  constexpr bool sends = row.steps[row.n - 1].code == op_code::output;
  constexpr std::size_t n_changes = sends ? row.n - 1 : row.n;
  if constexpr (n_changes != 0) own_frames(all);
  if constexpr (resizes(row)) some_resized_ = true;
  const port_list& ports = *plan_->ports;
  packet_bits invalid = 0, lost = 0, sent_oddly = 0;
  // Copies of packets, or many deliveries: one by one.
  const bool oddly = n_slots_ != burst_max || deliveries_max - n_deliveries_ < all.n;
  for (unsigned k = 0; k < all.n; ++k) {
    const slot at = all.at[k];
    packet_state& p = packets_[at];
    const op* const ops = all.ops[k] + index;
    bool is_valid = true, has_room = true;
    const auto change = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      const rewrite_result done = run_step<row.steps[I]>(p, ops[I]);
      if (done < rewrite_result::no_headroom) [[likely]]
        return true;
      if (row.steps[I].code == op_code::dec_ip_ttl) return is_valid = false;
      return has_room = settle(at, done);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)(... && change(std::integral_constant<std::size_t, I>()));
    }(std::make_index_sequence<n_changes>());
    if (!is_valid) [[unlikely]] {
      invalid |= packet_bits{1} << k;
      continue;
    }
    if (!has_room) [[unlikely]] {
      lost |= packet_bits{1} << k;
      continue;
    }
    if constexpr (sends) {
      const port_no to = ops[n_changes].number;
      if (to == p.in_port || (ports.states_if_near(to) & port_list::sends) == 0 || oddly ||
          first_[at] != 0) [[unlikely]] {
        sent_oddly |= packet_bits{1} << k;
        continue;
      }
      first_[at] = sent_bit | to;
    }
  }
  if constexpr (sends) {
    some_borrowed_ = true;
    const packet_bits others = sent_oddly | invalid | lost;
    n_deliveries_ += all.n - (others == 0 ? 0 : static_cast<unsigned>(std::popcount(others)));
    all.all_sent = others == 0;
    for (; sent_oddly != 0; sent_oddly &= sent_oddly - 1) {
      const int k = std::countr_zero(sent_oddly);
      output_by_number(all.at[k], all.ops[k][index + n_changes].number);
    }
  }
  if ((invalid | lost) != 0) [[unlikely]]
    end_some(all, index + place_of_ttl(row), invalid, lost);
}

unsigned executor::run_fused(work& all, unsigned index, std::uint8_t which) noexcept {
  using run = void (executor::*)(work&, unsigned) noexcept;
  static constexpr auto rows = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<run, sizeof...(I)>{&executor::run_row<I>...};
  }(std::make_index_sequence<fused::n>());
  (this->*rows[which - 1U])(all, index);
  return static_cast<unsigned>(fused::all[which - 1].n);
}

}  // namespace coua::pipeline
