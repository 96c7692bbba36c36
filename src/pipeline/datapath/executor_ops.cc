// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "base/clock.h"
#include "net/rewrite_arp.h"
#include "net/rewrite_ip.h"
#include "net/rewrite_link.h"
#include "net/rewrite_mpls.h"
#include "net/rewrite_transport.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/datapath/field_place.h"
#include "pipeline/datapath/write_field.h"
#include "pipeline/semantics/dscp_remark.h"

namespace coua::pipeline {

using net::rewrite_result;

bool executor::settle(slot at, rewrite_result done) noexcept {
  if (done == rewrite_result::no_headroom) {
    counts_.add(pipeline_drop::no_headroom);
    return false;
  }
  if (done == rewrite_result::parse_again) {
    packets_[at].layers = net::parse(packets_[at].buffer, depth_);
  }
  return true;
}

bool executor::run_list(slot at, const op_list& list, then after) noexcept {
  work one;
  one.n = 1;
  one.at[0] = at;
  one.ops[0] = list.ops;
  for (unsigned i = 0; i < list.n && one.n != 0; ++i) {
    run_op(one, i, i + 1 == list.n ? after : then::more);
  }
  return one.n != 0;
}

void executor::run_op(work& all, unsigned index, then after) noexcept {
  const op& first = all.ops[0][index];
  switch (first.code) {
    case op_code::output:
    case op_code::in_port:
    case op_code::normal:
    case op_code::all:
    case op_code::flood:
    case op_code::controller: return run_output(all, index);
    case op_code::output_bits: return run_output_bits(all, index);
    case op_code::pipeline:
      for (unsigned k = 0; k < all.n; ++k) run_pipeline(all.at[k]);
      return;
    case op_code::group:
      for (unsigned k = 0; k < all.n; ++k) {
        const bool is_last =
            after == then::nothing && (n_sets_[all.at[k]] | n_calls_[all.at[k]]) == 0;
        run_group(all.at[k], *all.ops[k][index].group, is_last ? then::nothing : then::more);
      }
      return;
    case op_code::set_queue:
      some_state_ = true;
      for (unsigned k = 0; k < all.n; ++k) {
        deliver_sent(all.at[k]);
        packets_[all.at[k]].queue = all.ops[k][index].number;
      }
      return;
    case op_code::meter: return;  // pass_meter, before all others
    case op_code::clear_set:
      for (unsigned k = 0; k < all.n; ++k) n_sets_[all.at[k]] = 0;
      return;
    case op_code::write_set:
      if (some_called_) [[unlikely]]
        drop_full_sets(all);
      ends_differ_ = true;
      for (unsigned k = 0; k < all.n; ++k) {
        const slot at = all.at[k];
        sets_[std::size_t{at} * n_tables_max + n_sets_[at]++] = all.ops[k][index].set;
      }
      return;
    case op_code::metadata:
      some_state_ = true;
      for (unsigned k = 0; k < all.n; ++k) packets_[all.at[k]].metadata = all.ops[k][index].value;
      return;
    case op_code::metadata_bits:
      some_state_ = true;
      for (unsigned k = 0; k < all.n; ++k) {
        const wide_value& to = *all.ops[k][index].wide;
        std::uint64_t& of = packets_[all.at[k]].metadata;
        of = static_cast<std::uint64_t>((of & ~to.mask) | to.value);
      }
      return;
    case op_code::resubmit:  // of a list that is not a rule's
      if (!run_nested(all.at[0], all.ops[0][index])) all.n = 0;
      return;
    case op_code::learn: return run_learn(all, index);
    case op_code::dec_ip_ttl:
    case op_code::dec_mpls_ttl: return run_decrement(all, index);
    default: return run_on_frames(all, index);
  }
}

void executor::run_on_frames(work& all, unsigned index) noexcept {
  some_resized_ |= resizes(all.ops[0][index].code);
  if (changes_frame(all.ops[0][index])) {
    own_frames(all);
  } else {
    some_state_ = true;
  }
  /// `change` is called for each packet, and says what became of it.
  const auto each = [&](auto change) {
    packet_bits lost = 0;
    for (unsigned k = 0; k < all.n; ++k) {
      packet_state& p = packets_[all.at[k]];
      const rewrite_result done = change(p.buffer, p.layers, all.ops[k][index]);
      if (done < rewrite_result::no_headroom) [[likely]]
        continue;
      if (!settle(all.at[k], done)) lost |= packet_bits{1} << k;
    }
    if (lost != 0) [[unlikely]]
      all.leave_out(lost);
  };
  const op& first = all.ops[0][index];
  switch (first.code) {
    case op_code::push_vlan:
      return each([](auto& p, auto& l, const op& o) { return push_vlan(p, l, o.small); });
    case op_code::pop_vlan: return each([](auto& p, auto& l, const op&) { return pop_vlan(p, l); });
    case op_code::push_mpls:
      return each([](auto& p, auto& l, const op& o) { return push_mpls(p, l, o.small); });
    case op_code::pop_mpls:
      return each([](auto& p, auto& l, const op& o) { return pop_mpls(p, l, o.small); });
    case op_code::set_macs:
      return each([](auto& p, auto& l, const op& o) { return set_macs(p, l, macs_of(o)); });
    case op_code::set_ip_ttl:
      return each([](auto& p, auto& l, const op& o) {
        return set_ip_ttl(p, l, static_cast<std::uint8_t>(o.small));
      });
    case op_code::set_mpls_ttl:
      return each([](auto& p, auto& l, const op& o) {
        return set_mpls_ttl(p, l, static_cast<std::uint8_t>(o.small));
      });
    case op_code::copy_ttl_out:
      return each([](auto& p, auto& l, const op&) { return copy_ttl_out(p, l); });
    case op_code::copy_ttl_in:
      return each([](auto& p, auto& l, const op&) { return copy_ttl_in(p, l); });
    default: break;
  }
  // Fields that pipelines often set have a loop of their own.
  if (first.code == op_code::set) {
    switch (static_cast<field>(first.which)) {
      case field::eth_dst:
        return each([](auto& p, auto& l, const op& o) { return set_eth_dst(p, l, o.value); });
      case field::eth_src:
        return each([](auto& p, auto& l, const op& o) { return set_eth_src(p, l, o.value); });
      case field::ipv4_src:
        return each([](auto& p, auto& l, const op& o) {
          return set_ipv4_src(p, l, static_cast<std::uint32_t>(o.value));
        });
      case field::ipv4_dst:
        return each([](auto& p, auto& l, const op& o) {
          return set_ipv4_dst(p, l, static_cast<std::uint32_t>(o.value));
        });
      default: break;
    }
  }
  if (first.code == op_code::move) {
    for (unsigned k = 0; k < all.n; ++k) {
      const op& one = all.ops[k][index];
      (void)settle(all.at[k], move_bits(packets_[all.at[k]], to_bits(one.number),
                                        static_cast<field>(one.which), one.number >> 24));
    }
    return;
  }
  for (unsigned k = 0; k < all.n; ++k) {
    const op& one = all.ops[k][index];
    const auto which = static_cast<field>(one.which);
    (void)settle(all.at[k],
                 one.code == op_code::set
                     ? write_field(packets_[all.at[k]], which, one.value, full_mask(which))
                     : write_field(packets_[all.at[k]], which, one.wide->value, one.wide->mask));
  }
}

void executor::run_decrement(work& all, unsigned index) noexcept {
  own_frames(all);
  const bool is_ip = all.ops[0][index].code == op_code::dec_ip_ttl;
  packet_bits invalid = 0;
  for (unsigned k = 0; k < all.n; ++k) {
    packet_state& p = packets_[all.at[k]];
    const rewrite_result done =
        is_ip ? dec_ip_ttl(p.buffer, p.layers) : dec_mpls_ttl(p.buffer, p.layers);
    if (done == rewrite_result::invalid_ttl) invalid |= packet_bits{1} << k;
  }
  if (invalid != 0) end_some(all, index, invalid, 0);
}

void executor::end_some(work& all, unsigned index, packet_bits invalid, packet_bits lost) noexcept {
  for (packet_bits left = invalid; left != 0; left &= left - 1) {
    const int k = std::countr_zero(left);
    counts_.add(pipeline_drop::invalid_ttl);
    output_controller(all.at[k], packet_in_reason::invalid_ttl, all.ops[k][index].value);
  }
  all.leave_out(invalid | lost);
}

/// Field by field: the same packet comes here again only until its rule is there.
void executor::run_learn(const work& all, unsigned index) noexcept {
  for (unsigned k = 0; k < all.n; ++k) {
    const learning& how = *all.ops[k][index].learning;
    if (n_learned_ == learned_max) {
      counts_.add(pipeline_drop::learn_too_many);
      continue;
    }
    learned_values& made = learned_[n_learned_];
    made.id = how.id;
    made.in_match = how.in_match;
    made.n = 0;
    for (const field_bits& from : how.takes) {
      const std::optional<value128> there = read_field(packets_[all.at[k]], from.which);
      if (!there) break;
      made.values[made.n++] = *there >> from.first & ones(from.n_bits);
    }
    if (made.n == how.takes.size()) {
      ++n_learned_;
    } else {
      counts_.add(pipeline_drop::learn_no_field);
    }
  }
}

bool executor::pass_meter(slot at, const op& one) noexcept {
  const std::uint32_t n_bytes = frame_bytes_[at];
  const meter_version* meter = one.meter->at(version_);
  if (meter == nullptr) return true;  // a rule never names one that is not there at its version
  counts_.add(meter->counters, n_bytes);
  std::optional<std::size_t> taken;
  if (now_ == when_asked) now_ = now_ns();
  {
    const flag_lock hold(meter->lock);
    taken = meter->buckets.charge(n_bytes, now_);
  }
  if (!taken) return true;
  counts_.add(meter->band_counters + static_cast<std::uint32_t>(*taken), n_bytes);
  const meter_band& band = meter->bands[*taken];
  if (band.type == band_type::drop) {
    counts_.add(pipeline_drop::meter);
    return false;
  }
  own_frame(at);
  remark(packets_[at], band.prec_level);
  return true;
}

void executor::run_pipeline(slot at) noexcept {
  const std::optional<slot> copy = copy_to_slot(at);
  if (!copy) return;
  table_[*copy] = 0;
  wait_at_table(*copy);
  while (step_nested(*copy)) {
  }
  leave_slot(*copy);
}

}  // namespace coua::pipeline
