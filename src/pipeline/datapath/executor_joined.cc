// SPDX-License-Identifier: Apache-2.0
//
// The look-up of the first table and those behind it as one (joined_tables.h). Who is met here has
// left these tables; who is not goes through them. So packets of other kinds pay for a look-up that
// is for nothing: where it is for too many of them, bursts pass it over for a while.
#include <algorithm>
#include <bit>

#include "base/prefetch.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/datapath/executor_asked.h"

namespace coua::pipeline {
namespace {

// Of packets. One that is met gains as much as one that is not loses, roughly.
constexpr int most_of_balance = 4 * static_cast<int>(executor::burst_max);
constexpr unsigned bursts_passed_over = 64;

}  // namespace

void executor::weigh_joined(unsigned n_met, unsigned n_missed) noexcept {
  joined_balance_ += static_cast<int>(n_met) - static_cast<int>(n_missed);
  joined_balance_ = std::min(joined_balance_, most_of_balance);
  if (joined_balance_ >= -static_cast<int>(burst_max)) [[likely]]
    return;
  joined_balance_ = 0;
  n_not_joined_ = bursts_passed_over;
}

executor::packet_bits executor::run_joined(packet_bits arrived) noexcept {
  if (n_not_joined_ != 0) {
    --n_not_joined_;
    return arrived;
  }
  packet_list list;
  list.put(arrived);
  const exact_store& store = *joined_->entries;
  const asked which(list, packets_, store.layout().needs());
  store.take(packets_, which.slots_or_first(), which.n(), keys_, table_id{0});
  std::uint64_t heads[burst_max];
  packet_bits hits = store.look_up(worker_, keys_, which.n(), heads);
  const auto n_hits = static_cast<unsigned>(std::popcount(hits));
  weigh_joined(n_hits, list.n - n_hits);
  if (n_hits == 0) return arrived;
  const action_records& all = *follows_.records;
  const auto met_at = [&](unsigned i) {
    const rule_head head = rule_head::of(heads[i]);
    return met_rule{&all[head.record], head.counters};
  };
  met_rules found;
  if (n_hits == list.n) [[likely]] {
    for (unsigned i = 0; i < n_hits; ++i) {
      const met_rule one = met_at(i);
      __builtin_prefetch(one.record);
      prefetch_to_write(counts_.place(one.counters));
      found.put(i, one);
    }
    execute(list, found);
    return 0;
  }
  packet_list some;
  packet_bits joined = 0;
  for (; hits != 0; hits &= hits - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(hits));
    found.put(some.n, met_at(i));
    some.at[some.n++] = which.at(i);
    joined |= packet_bits{1} << which.at(i);
  }
  some.is_in_a_row = (joined & (joined + 1)) == 0;
  execute(some, found);
  return arrived & ~joined;
}

}  // namespace coua::pipeline
