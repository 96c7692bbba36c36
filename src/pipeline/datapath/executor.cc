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
  depth_ = plan_->depth;
  some_clauses_ = is_special_ = plan_->some_clauses;
  now_ = now;
}

void executor::load(std::span<const arrival> burst) noexcept {
  COUA_ASSERT(burst.size() <= burst_max);
  n_ = n_slots_ = static_cast<unsigned>(burst.size());
  n_deliveries_ = 0;
  n_left_over_ = 0;
  n_learned_ = 0;
  some_borrowed_ = false;
  some_called_ = false;
  std::fill_n(first_, n_, 0);
  std::fill_n(last_, n_, 0);
  switch (depth_) {
    case net::parse_depth::link: return load_to<net::parse_depth::link>(burst);
    case net::parse_depth::network: return load_to<net::parse_depth::network>(burst);
    case net::parse_depth::transport: return load_to<net::parse_depth::transport>(burst);
  }
}

template <net::parse_depth Depth>
void executor::load_to(std::span<const arrival> burst) noexcept {
  for (unsigned i = 0; i < burst.size(); ++i) {
    const arrival& from = burst[i];
    packet_state& p = packets_[i];
    p.buffer = from.what.buffer;
    if (!net::parse_usual<Depth>(from.what.buffer, p.layers)) {
      net::parse_burst(&from.what.buffer, &p.layers, 1, Depth);
    }
    p.in_port = p.in_phy_port = from.in_port;
    p.metadata = p.tunnel_id = 0;
    std::fill(std::begin(p.reg), std::end(p.reg), 0);
    p.queue = 0;
    slots_[i] = {from.what.owner, 0, 0, static_cast<std::uint8_t>(i), 0, from.what.buffer.length};
  }
}

void executor::finish() noexcept {
  for (unsigned i = 0; i < n_; ++i) {
    const owned_packet one{packets_[i].buffer, slots_[i].owner};
    if (slots_[i].borrowed != 0) {
      deliveries_[slots_[i].borrowed].what = one;
    } else {
      left_over_[n_left_over_++] = one;
    }
  }
}

void executor::run(std::span<const arrival> burst, time_ns now) noexcept {
  if (n_runs_++ % timed_each != 0) [[likely]]
    return run_burst(burst, now);
  const std::uint64_t start = cycles();
  run_burst(burst, now);
  counts_.add_burst(burst.size(), cycles() - start);
}

[[gnu::noinline]] void executor::run_burst(std::span<const arrival> burst, time_ns now) noexcept {
  begin(now);
  load(burst);
  send_to(admitted(burst), 0);
  run_tables();
  finish();
}

std::uint64_t executor::admitted(std::span<const arrival> burst) noexcept {
  const port_list& ports = *plan_->ports;
  unsigned states = 0;
  for (const arrival& each : burst) states |= ports.states(each.in_port);
  std::uint64_t all = (std::uint64_t{1} << burst.size()) - 1;
  if ((states & port_list::receives_nothing) == 0) [[likely]]
    return all;
  for (unsigned i = 0; i < burst.size(); ++i) {
    if ((ports.states(burst[i].in_port) & port_list::receives_nothing) == 0) continue;
    counts_.add(pipeline_drop::port_closed);
    all &= ~(std::uint64_t{1} << i);
  }
  return all;
}

void executor::run_actions(const arrival& one, const op_list& actions, time_ns now) noexcept {
  begin(now);
  depth_ = net::parse_depth::transport;  // whatever its actions need
  load({&one, 1});
  run_apart(0, actions);
  finish();
}

void executor::send_to(std::uint64_t packets, table_id table) noexcept {
  pending_[table] |= packets;
  pending_tables_[table / 64] |= std::uint64_t{packets != 0} << table % 64;
}

/// 0, 1, 2...
constexpr auto first_slots = [] {
  std::array<std::uint8_t, executor::burst_max> made{};
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint8_t>(i);
  return made;
}();

void executor::take_pending(table_id first, packet_list& out) noexcept {
  std::uint64_t packets = 0;
  const auto take = [&](table_id table) {
    packets |= std::exchange(pending_[table], 0);
    pending_tables_[table / 64] &= ~(std::uint64_t{1} << table % 64);
  };
  take(first);
  const std::uint64_t packets_of_first = packets;
  const table_stage* stage = plan_->tables[first];
  const bool shares = stage != nullptr && !has_clauses(first) &&
                      (stage->kind == table_template::exact || stage->kind == table_template::lpm);
  for (unsigned word = first / 64; shares && word < std::size(pending_tables_); ++word) {
    for (std::uint64_t left = pending_tables_[word]; left != 0; left &= left - 1) {
      const auto table = static_cast<table_id>(64 * word + std::countr_zero(left));
      const table_stage* other = plan_->tables[table];
      if (other != nullptr && goes_with(*other, *stage) && !has_clauses(table)) take(table);
    }
  }
  out.is_mixed = packets != packets_of_first;
  if ((packets & (packets + 1)) == 0 && packets >> burst_max == 0) [[likely]] {
    // All of a burst, mostly.
    out.n = static_cast<unsigned>(std::countr_one(packets));
    std::copy(std::begin(first_slots), std::end(first_slots), out.at);
    return;
  }
  out.n = 0;
  for (; packets != 0; packets &= packets - 1) {
    out.at[out.n++] = static_cast<slot>(std::countr_zero(packets));
  }
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
    const auto table = static_cast<table_id>(64 * word + std::countr_zero(pending_tables_[word]));
    packet_list list;
    take_pending(table, list);
    const action_record* records[burst_max];
    if (const table_stage* stage = plan_->tables[table]) {
      look_up(*stage, list, records);
    } else {
      std::fill_n(records, list.n, nullptr);
    }
    if (is_special_) [[unlikely]]
      look_up_specially(table, list, records);
    execute(list, records);
  }
}

bool executor::count(const packet_list& list, const action_record* const* records,
                     const action_shape** shapes, work& all) noexcept {
  const worker_counts::cells cells = counts_.all();
  const bool apart = records[0] != nullptr && records[0]->shape->ops_apart;
  std::uintptr_t differs = 0;
  unsigned n_missed = 0;
  for (unsigned k = 0, n = list.n; k < n; ++k) {
    const slot at = list.at[k];
    const action_record* const one = records[k];
    const action_shape* shape = nullptr;
    if (one != nullptr) [[likely]] {
      cells.add(one->counters, slots_[at].frame_bytes);
      shape = one->shape;
      all.put(k, at, *one, apart);
      if (one->is_metered && !pass_meter(at, one->ops()[0])) shape = nullptr;
    } else {
      ++n_missed;
      if (slots_[at].n_calls != 0) {
        returned_ |= std::uint64_t{1} << at;
      } else {
        counts_.add(pipeline_drop::no_rule);
      }
    }
    if (list.is_mixed) counts_.add_table(slots_[at].table, 1, one != nullptr);
    shapes[k] = shape;
    differs |=
        reinterpret_cast<std::uintptr_t>(shape) ^ reinterpret_cast<std::uintptr_t>(shapes[0]);
  }
  if (!list.is_mixed) counts_.add_table(slots_[list.at[0]].table, list.n, list.n - n_missed);
  all.n = list.n;
  return differs == 0 && shapes[0] != nullptr;
}

void executor::execute(const packet_list& list, const action_record* const* records) noexcept {
  const action_shape* shapes[burst_max];
  work mostly;
  if (count(list, records, shapes, mostly)) return run_shape(*shapes[0], mostly);
  // Without branches that depend on shapes: which packet has which is hard to predict.
  std::uint32_t left = 0;
  for (unsigned k = 0; k < list.n; ++k) left |= std::uint32_t{shapes[k] != nullptr} << k;
  while (left != 0) {
    const action_shape& shape = *shapes[std::countr_zero(left)];
    std::uint32_t same = 0;
    for (unsigned k = 0; k < list.n; ++k) same |= std::uint32_t{shapes[k] == &shape} << k;
    left &= ~same;
    work all;
    for (; same != 0; same &= same - 1) {
      const int k = std::countr_zero(same);
      all.put(all.n++, list.at[k], *records[k], shape.ops_apart);
    }
    run_shape(shape, all);
  }
}

void executor::run_shape(const action_shape& shape, work& all) noexcept {
  if (shape.resubmits) [[unlikely]]
    return run_calling(shape, 0, all);
  const then after = shape.goes_on ? then::more : then::nothing;
  const auto n_steps = static_cast<unsigned>(shape.steps.size());
  for (unsigned i = 0; i < n_steps && all.n != 0; ++i) {
    run_op(all, i, i + 1 == n_steps ? after : then::more);
  }
  if (shape.goes_on) {
    send_on(all);
  } else {
    end_of_pipeline(all);
  }
}

void executor::send_on(const work& all) noexcept {
  std::uint64_t everyone = 0;
  unsigned differs = 0;
  for (unsigned k = 0; k < all.n; ++k) {
    everyone |= std::uint64_t{1} << all.at[k];
    differs |= all.next[k] ^ all.next[0];
    slots_[all.at[k]].table = all.next[k];
  }
  if (differs == 0) return send_to(everyone, all.next[0]);
  for (unsigned k = 0; k < all.n; ++k) send_to(std::uint64_t{1} << all.at[k], all.next[k]);
}

void executor::end_of_pipeline(work& all) noexcept {
  if (some_called_) [[unlikely]]
    leave_out_returned(all);
  for (unsigned k = 0; k < all.n; ++k) {
    const slot at = all.at[k];
    if (slots_[at].n_sets != 0) run_sets(at);
    if (first_[slots_[at].origin] == 0) counts_.add(pipeline_drop::no_output);
  }
}

void executor::run_sets(slot at) noexcept {
  const action_set_ops* const* written = &sets_[std::size_t{at} * n_tables_max];
  const unsigned n = std::exchange(slots_[at].n_sets, std::uint16_t{0});
  op ops[merged_ops_max];
  const op_list merged = merge_sets({written, n}, ops);
  (void)run_list(at, merged, then::nothing);
}

}  // namespace coua::pipeline
