// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/executor.h"

#include <algorithm>
#include <bit>

#include "base/prefetch.h"
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
  made->sets_.resize(std::size_t{n_slots} * n_tables_max);
  made->left_over_.resize(burst_max);
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
  now_ = now;
}

void executor::load(std::span<const arrival> burst) noexcept {
  COUA_ASSERT(burst.size() <= burst_max);
  n_ = n_slots_ = static_cast<unsigned>(burst.size());
  n_deliveries_ = 0;
  n_left_over_ = 0;
  some_borrowed_ = false;
  // All are parsed before any result is copied: a load of 16 bytes that were just stored one by one
  // would wait for them.
  net::packet frames[burst_max];
  net::layers layers[burst_max];
  for (unsigned i = 0; i < n_; ++i) frames[i] = burst[i].what.buffer;
  net::parse_burst(frames, layers, n_, depth_);
  for (unsigned i = 0; i < n_; ++i) {
    packet_state& p = packets_[i];
    p.buffer = frames[i];
    p.layers = layers[i];
    p.in_port = p.in_phy_port = burst[i].in_port;
    p.metadata = p.tunnel_id = 0;
    std::fill(std::begin(p.reg), std::end(p.reg), 0);
    p.queue = 0;
    slots_[i] = {burst[i].what.owner, 0, 0, static_cast<std::uint8_t>(i), 0, false};
    frame_bytes_[i] = p.buffer.length;
    first_[i] = last_[i] = 0;
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
  begin(now);
  load(burst);
  for (unsigned i = 0; i < n_; ++i) {
    const port* from = plan_->ports->find(packets_[i].in_port);
    if (from != nullptr && from->no_recv) {
      counts_.add(pipeline_drop::port_closed);
    } else {
      send_to(static_cast<slot>(i), 0);
    }
  }
  run_tables();
  finish();
}

void executor::run_actions(const arrival& one, const op_list& actions, time_ns now) noexcept {
  begin(now);
  depth_ = net::parse_depth::transport;  // whatever its actions need
  load({&one, 1});
  run_list(0, actions, then::nothing);
  run_tables();
  finish();
}

void executor::send_to(slot at, table_id table) noexcept {
  COUA_ASSERT(at < 64);
  slots_[at].table = table;
  pending_[table] |= std::uint64_t{1} << at;
  pending_tables_[table / 64] |= std::uint64_t{1} << table % 64;
}

void executor::take_pending(table_id first, packet_list& out) noexcept {
  std::uint64_t packets = 0;
  const auto take = [&](table_id table) {
    packets |= std::exchange(pending_[table], 0);
    pending_tables_[table / 64] &= ~(std::uint64_t{1} << table % 64);
  };
  take(first);
  const table_stage* stage = plan_->tables[first];
  const bool shares = stage != nullptr &&
                      (stage->kind == table_template::exact || stage->kind == table_template::lpm);
  for (unsigned word = first / 64; shares && word < std::size(pending_tables_); ++word) {
    for (std::uint64_t left = pending_tables_[word]; left != 0; left &= left - 1) {
      const auto table = static_cast<table_id>(64 * word + std::countr_zero(left));
      const table_stage* other = plan_->tables[table];
      if (other != nullptr && goes_with(*other, *stage)) take(table);
    }
  }
  out.n = 0;
  for (; packets != 0; packets &= packets - 1) {
    out.at[out.n++] = static_cast<slot>(std::countr_zero(packets));
  }
}

void executor::run_tables() noexcept {
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
    execute(list, records);
  }
}

void executor::execute(const packet_list& list, const action_record* const* records) noexcept {
  for (unsigned k = 0; k < list.n; ++k) {
    if (records[k] != nullptr) prefetch_to_write(counts_.place(records[k]->counters));
  }
  std::uint32_t left = 0;
  for (unsigned k = 0; k < list.n; ++k) {
    const slot_state& state = slots_[list.at[k]];
    counts_.add_table(state.table, 1, records[k] != nullptr);
    if (records[k] == nullptr) {
      counts_.add(pipeline_drop::no_rule);
      continue;
    }
    counts_.add(records[k]->counters, frame_bytes_[state.origin]);
    const auto& steps = records[k]->shape->steps;
    const bool is_metered = !steps.empty() && steps.front().code == op_code::meter;
    if (is_metered && !pass_meter(list.at[k], records[k]->ops[0])) continue;
    left |= std::uint32_t{1} << k;
  }
  while (left != 0) {
    const action_shape& shape = *records[std::countr_zero(left)]->shape;
    work all;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int k = std::countr_zero(rest);
      if (records[k]->shape != &shape) continue;
      left &= ~(std::uint32_t{1} << k);
      all.at[all.n] = list.at[k];
      all.ops[all.n++] = records[k]->ops;
    }
    const then after = shape.next_table == no_table ? then::nothing : then::more;
    for (unsigned i = 0; i < shape.steps.size() && all.n != 0; ++i) {
      run_op(all, i, i + 1 == shape.steps.size() ? after : then::more);
    }
    if (shape.next_table == no_table) {
      end_of_pipeline(all);
    } else {
      for (unsigned k = 0; k < all.n; ++k) send_to(all.at[k], shape.next_table);
    }
  }
}

void executor::end_of_pipeline(const work& all) noexcept {
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
  run_list(at, merged, then::nothing);
}

}  // namespace coua::pipeline
