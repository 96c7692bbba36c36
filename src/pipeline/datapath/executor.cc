// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/executor.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/clock.h"
#include "base/prefetch.h"
#include "net/parse_usual.h"
#include "pipeline/datapath/merge_sets.h"

namespace coua::pipeline {

executor::executor(published_plan& follows, unsigned worker, worker_counts& counts,
                   packet_copier& copier)
    : follows_(follows),
      worker_(worker),
      counts_(counts),
      copier_(copier),
      match_rows_(simd::select_direct_match(active_isa())) {}

result<std::unique_ptr<executor>> executor::create(published_plan& follows, unsigned worker,
                                                   worker_counts& counts, packet_copier& copier) {
  std::unique_ptr<executor> made(new executor(follows, worker, counts, copier));
  auto reader = follows.grace.register_reader();
  if (!reader) return tl::unexpected(std::move(reader.error()));
  auto deliveries = reserved_array<delivery>::create(deliveries_max + 1);
  if (!deliveries) return tl::unexpected(std::move(deliveries.error()));
  made->grace_ = std::move(*reader);
  made->deliveries_ = std::move(*deliveries);
  auto calls = reserved_array<call_frame>::create(std::size_t{n_slots} * resubmit_nesting_max);
  if (!calls) return tl::unexpected(std::move(calls.error()));
  made->calls_ = std::move(*calls);
  auto conjunctions = reserved_array<met_conjunction>::create(met_conjunctions_max);
  if (!conjunctions) return tl::unexpected(std::move(conjunctions.error()));
  made->conjunctions_ = std::move(*conjunctions);
  // What nearly all bursts use: the first packets of a worker wait for no page.
  made->deliveries_.make_real(1);
  made->calls_.make_real(1);
  made->conjunctions_.make_real(1);
  made->sets_.resize(std::size_t{n_slots} * n_tables_max);
  made->left_over_.resize(burst_max);
  made->learned_.resize(learned_max);
  made->grace_.online();
  return made;
}

executor::~executor() = default;

void executor::begin(time_ns now) noexcept {
  grace_.quiescent();
  // The version first (plan.h).
  version_ = follows_.version.load(std::memory_order_acquire);
  plan_ = follows_.root.load(std::memory_order_acquire);
  version_ = std::max(version_, plan_->from);
  joined_ = follows_.joined.load(std::memory_order_acquire);
  if (joined_ != nullptr && joined_->from > version_) joined_ = nullptr;
  depth_ = plan_->depth;
  some_clauses_ = is_special_ = plan_->some_clauses;
  now_ = now;
}

void executor::load(unsigned n) noexcept {
  COUA_ASSERT(n <= burst_max);
  const unsigned n_before = std::exchange(n_, n);
  n_slots_ = burst_max;
  n_deliveries_ = n_numbers_ = 0;
  n_left_over_ = 0;
  n_learned_ = 0;
  some_resized_ = false;
  some_borrowed_ = false;
  some_called_ = false;
  ends_differ_ = false;
  // Of a whole burst or of few packets: their number is known here.
  const auto clear = [this](auto some) {
    std::fill_n(first_, some.value, 0);
    std::fill_n(borrowed_, some.value, 0);
    std::fill_n(n_sets_, some.value, 0);
    std::fill_n(n_calls_, some.value, 0);
    std::fill_n(call_depth_, some.value, 0);
    std::fill_n(table_, some.value, 0);
    std::copy_n(first_slots.begin(), some.value, origin_);
  };
  if (n <= few_packets) {
    clear(std::integral_constant<unsigned, few_packets>());
  } else {
    clear(std::integral_constant<unsigned, burst_max>());
  }
  if (some_state_) [[unlikely]]
    clear_state(n_before);
  switch (depth_) {
    case net::parse_depth::link: return parse_all<net::parse_depth::link>();
    case net::parse_depth::network: return parse_all<net::parse_depth::network>();
    case net::parse_depth::transport: return parse_all<net::parse_depth::transport>();
  }
}

/// From packet `i` on, those that `parse` parses. Returns the first that it does not.
template <class Parse>
[[gnu::always_inline]] inline unsigned executor::parse_run(unsigned i, Parse parse) noexcept {
  while (i < n_ && parse(packets_[i].buffer, packets_[i].layers)) ++i;
  return i;
}

template <net::parse_depth Depth>
void executor::parse_all() noexcept {
  for (unsigned i = 0; i < n_;) {
    const unsigned before = i;
    if constexpr (Depth == net::parse_depth::link) {
      i = parse_run(i, net::parse_usual_link);
    } else {
      i = parse_run(i, net::parse_usual_kind<Depth, net::usual_kind::untagged>);
      i = parse_run(i, net::parse_usual_kind<Depth, net::usual_kind::tagged>);
      i = parse_run(i, net::parse_usual_kind<Depth, net::usual_kind::tagged_qinq>);
    }
    if (i != before) [[likely]]
      continue;
    net::parse_burst(&packets_[i].buffer, &packets_[i].layers, 1, Depth);
    ++i;
  }
  look_at_ports();
}

void executor::look_at_ports() noexcept {
  const port_list& ports = *plan_->ports;
  // They come from one port, mostly.
  const port_no port = packets_[0].in_port;
  port_states_ = ports.states(port);
  unsigned i = 1;
  while (i < n_ && packets_[i].in_port == port) ++i;
  is_one_port_ = i >= n_;
  for (; i < n_; ++i) port_states_ |= ports.states(packets_[i].in_port);
}

void executor::clear_state(unsigned n_before) noexcept {
  for (unsigned i = 0; i < n_before; ++i) {
    packet_state& each = packets_[i];
    each.queue = 0;
    each.metadata = each.tunnel_id = 0;
    std::fill(std::begin(each.reg), std::end(each.reg), 0);
  }
  some_state_ = false;
}

void executor::finish() noexcept {
  // Mostly, all of them go somewhere.
  std::uint32_t sent = sent_bit;
  for (unsigned i = 0; i < n_; ++i) sent &= first_[i];
  if (sent != 0) [[likely]]
    return;
  for (unsigned i = 0; i < n_; ++i) {
    if (is_sent(i) || borrowed_[i] != 0) continue;
    left_over_[n_left_over_++] = packet_of(i);
  }
}

void executor::run(unsigned n, time_ns now) noexcept {
  if (n_runs_++ % timed_each != 0) [[likely]]
    return run_burst(n, now);
  const std::uint64_t start = cycles();
  run_burst(n, now);
  counts_.add_burst(n, cycles() - start);
}

[[gnu::noinline]] void executor::run_burst(unsigned n, time_ns now) noexcept {
  begin(now);
  load(n);
  is_train_ = may_be_one_flow();
  packet_bits arrived = admitted();
  if (joined_ != nullptr && !is_train_) arrived = run_joined(arrived);
  if (arrived != 0) {
    packet_list first;
    first.put(arrived);
    run_batch(first);
  }
  run_tables();
  finish();
}

executor::packet_bits executor::admitted() noexcept {
  packet_bits all = first_bits(n_);
  if ((port_states_ & port_list::receives_nothing) == 0) [[likely]]
    return all;
  for (unsigned i = 0; i < n_; ++i) {
    if ((plan_->ports->states(packets_[i].in_port) & port_list::receives_nothing) == 0) continue;
    counts_.add(pipeline_drop::port_closed);
    all &= ~(packet_bits{1} << i);
  }
  return all;
}

void executor::run_actions(const arrival& one, const op_list& actions, time_ns now) noexcept {
  begin(now);
  depth_ = net::parse_depth::transport;  // whatever its actions need
  put(0, one);
  load(1);
  run_apart(0, actions);
  finish();
}

void executor::send_to(packet_bits packets, table_id table) noexcept {
  const table_id batch = plan_->batch_of[table];
  pending_[batch] |= packets;
  pending_tables_[batch / 64] |= std::uint64_t{packets != 0} << batch % 64;
}

void executor::take_pending(table_id batch, packet_list& out) noexcept {
  const packet_bits packets = std::exchange(pending_[batch], 0);
  out.put(packets);
  pending_tables_[batch / 64] &= ~(std::uint64_t{1} << batch % 64);
  const table_id first = table_[std::countr_zero(packets)];
  table_id differs = 0;  // no wider than tables: so many are compared at a time
  if (out.is_in_a_row) [[likely]] {
    for (unsigned k = 0; k < out.n; ++k) differs |= table_[k] ^ first;
  } else {
    for (unsigned k = 0; k < out.n; ++k) differs |= table_[out.at[k]] ^ first;
  }
  out.is_mixed = differs != 0;
}

void executor::run_tables() noexcept {
  run_pending();
  while (some_called_ && (returned_ | pending_tables_[0] | pending_tables_[1] | pending_tables_[2] |
                          pending_tables_[3]) != 0) [[unlikely]] {
    // Of those that wait for others to come back many may go on as one batch.
    run_pending();
    resume_returned();
  }
}

void executor::run_pending() noexcept {
  for (unsigned word = 0; word < std::size(pending_tables_);) {
    if (pending_tables_[word] == 0) {
      ++word;
      continue;
    }
    packet_list list;
    take_pending(static_cast<table_id>(64 * word + std::countr_zero(pending_tables_[word])), list);
    word = 0;  // a table further on may be of the batch of an earlier one
    run_batch(list);
  }
}

void executor::run_batch(const packet_list& list) noexcept {
  const table_id table = table_[list.at[0]];
  met_rules found;
  if (const table_stage* stage = plan_->tables[table]) {
    if (is_train_) [[unlikely]] {
      look_up_train(*stage, list, found);
    } else {
      look_up(*stage, list, found);
    }
  } else {
    found.clear(list.n);
  }
  if (is_special_) [[unlikely]]
    look_up_specially(table, list, found);
  execute(list, found);
}

executor::packet_bits executor::count(const packet_list& list, const met_rules& found, work& all,
                                      alike& are) noexcept {
  const worker_counts::cells cells = counts_.all();
  const action_record* const first = found.records[0];
  const action_shape* const shape = first != nullptr ? first->shape : nullptr;
  const record_traits traits = first != nullptr ? first->traits : record_traits{};
  const unsigned n = list.n;
  packet_bits missed = 0;
  std::uintptr_t shape_differs = 0;
  std::uint32_t traits_differ = 0;
  const auto each = [&](auto ops_apart) {
    for (unsigned k = 0; k < n; ++k) {
      const action_record* const one = found.records[k];
      if (one == nullptr) [[unlikely]] {
        missed |= packet_bits{1} << k;
        continue;
      }
      cells.add(found.counters[k], frame_bytes_[list.at[k]]);
      shape_differs |=
          reinterpret_cast<std::uintptr_t>(one->shape) ^ reinterpret_cast<std::uintptr_t>(shape);
      traits_differ |= one->traits.bits() ^ traits.bits();
      // Where shapes differ, of another record perhaps what it has not: then nobody looks here.
      all.ops[k] = ops_apart ? one->shared : one->own;
    }
  };
  if (shape != nullptr && shape->ops_apart) {
    each(std::true_type());
  } else {
    each(std::false_type());
  }
  all.n = n;
  all.is_in_a_row = list.is_in_a_row;
  all.next[0] = traits.next_table;
  all.next_differs = (traits_differ & record_traits::next_bits) != 0;
  if (all.next_differs) {
    for (unsigned k = 0; k < n; ++k)
      all.next[k] = found.records[k] != nullptr ? found.records[k]->traits.next_table : no_table;
  }
  std::copy(std::begin(list.at), std::end(list.at), all.at);
  are = {missed == 0 && shape_differs == 0,
         ((traits.bits() | traits_differ) & record_traits::metered_bits) != 0};
  if (missed == 0 && !list.is_mixed) [[likely]] {
    counts_.add_table(table_[list.at[0]], n, n);
  } else {
    count_tables(list, missed);
  }
  return missed;
}

void executor::count_tables(const packet_list& list, packet_bits missed) noexcept {
  for (packet_bits some = missed; some != 0; some &= some - 1) {
    miss(list.at[std::countr_zero(some)]);
  }
  if (!list.is_mixed) {
    const auto n_missed = static_cast<unsigned>(std::popcount(missed));
    return counts_.add_table(table_[list.at[0]], list.n, list.n - n_missed);
  }
  for (unsigned k = 0; k < list.n; ++k) {
    counts_.add_table(table_[list.at[k]], 1, ~missed >> k & 1);
  }
}

void executor::miss(slot at) noexcept {
  if (n_calls_[at] != 0) {
    go_back(at);
  } else {
    counts_.add(pipeline_drop::no_rule);
  }
}

executor::packet_bits executor::meter_all(const packet_list& list, const met_rules& found,
                                          packet_bits which) noexcept {
  packet_bits dropped = 0;
  for (packet_bits left = which; left != 0; left &= left - 1) {
    const int k = std::countr_zero(left);
    const action_record& one = *found.records[k];
    if (!one.traits.is_metered || pass_meter(list.at[k], one.ops()[0])) continue;
    dropped |= packet_bits{1} << k;
  }
  return dropped;
}

void executor::execute(const packet_list& list, const met_rules& found) noexcept {
  alike are;
  work all;
  const bool is_one = may_be_one_rule(found, list.n) && count_as_one(list, found, all, are);
  const packet_bits missed = is_one ? 0 : count(list, found, all, are);
  if (are.shapes && !are.metered) [[likely]]
    return run_shape(*found.records[0]->shape, all);
  packet_bits left = first_bits(list.n) & ~missed;
  if (are.metered) left &= ~meter_all(list, found, left);
  // Without branches that depend on shapes: which packet has which is hard to predict.
  const action_shape* shapes[burst_max];
  for (unsigned k = 0; k < list.n; ++k) {
    shapes[k] = (left >> k & 1) != 0 ? found.records[k]->shape : nullptr;
  }
  while (left != 0) {
    const action_shape& shape = *shapes[std::countr_zero(left)];
    packet_bits same = 0;
    for (unsigned k = 0; k < list.n; ++k) same |= packet_bits{shapes[k] == &shape} << k;
    left &= ~same;
    work some;
    for (; same != 0; same &= same - 1) {
      const int k = std::countr_zero(same);
      some.add(list.at[k], *found.records[k]);
    }
    run_shape(shape, some);
  }
}

void executor::run_shape(const action_shape& shape, work& all) noexcept {
  if (shape.resubmits) [[unlikely]]
    return run_calling(shape, 0, all);
  const then after = shape.goes_on ? then::more : then::nothing;
  const auto n_steps = static_cast<unsigned>(shape.steps.size());
  for (unsigned i = 0; i < n_steps && all.n != 0;) {
    if (const std::uint8_t fused = shape.steps[i].fused; fused != 0) {
      i += run_fused(all, i, fused);
      continue;
    }
    run_op(all, i, i + 1 == n_steps ? after : then::more);
    ++i;
  }
  if (shape.goes_on) {
    send_on(all);
  } else {
    end_of_pipeline(all);
  }
}

/// The slots of packets, as bits.
static std::uint64_t bits_of(const std::uint8_t* at, unsigned n) noexcept {
  std::uint64_t bits = 0;
  for (unsigned k = 0; k < n; ++k) bits |= std::uint64_t{1} << at[k];
  return bits;
}

void executor::send_on(const work& all) noexcept {
  const unsigned n = all.n;
  if (n == 0) return;
  const table_id next = all.next[0];
  table_id differs = 0;
  if (all.is_in_a_row && !all.next_differs) {
    std::fill_n(table_, n, next);
  } else if (is_copy(all.at[0])) [[unlikely]] {
    table_[all.at[0]] = next;
    return wait_at_table(all.at[0]);
  } else {
    const std::array<table_id, n_tables_max>& batch_of = plan_->batch_of;
    for (unsigned k = 0; k < n; ++k) {
      table_[all.at[k]] = all.next_of(k);
      differs |= batch_of[all.next_of(k)] ^ batch_of[next];
    }
  }
  if (differs == 0) [[likely]] {
    return send_to(all.is_in_a_row ? first_bits(n) : bits_of(all.at, n), next);
  }
  for (unsigned k = 0; k < n; ++k) send_to(packet_bits{1} << all.at[k], all.next_of(k));
}

void executor::end_of_pipeline(work& all) noexcept {
  if (some_called_) [[unlikely]]
    leave_out_returned(all);
  if (all.all_sent && !ends_differ_) [[likely]]
    return;
  for (unsigned k = 0; k < all.n; ++k) {
    const slot at = all.at[k];
    if (n_sets_[at] != 0) run_sets(at);
    if (first_[origin_[at]] == 0) counts_.add(pipeline_drop::no_output);
  }
}

void executor::run_sets(slot at) noexcept {
  const action_set_ops* const* written = &sets_[std::size_t{at} * n_tables_max];
  const unsigned n = std::exchange(n_sets_[at], std::uint16_t{0});
  merge_room room;
  const op_list merged = merge_sets({written, n}, room);
  (void)run_list(at, merged, then::nothing);
}

}  // namespace coua::pipeline
