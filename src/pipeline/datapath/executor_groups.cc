// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/executor.h"
#include "pipeline/datapath/select_key_of.h"

namespace coua::pipeline {

void executor::run_group(slot at, const versioned<group_version>& group, then after) noexcept {
  const group_version* of = group.at(version_);
  if (of == nullptr) return;  // a rule never names a group that is not there at its version
  counts_.add(of->counters, frame_bytes_[at]);
  std::size_t chosen = group_version::none;
  switch (of->type) {
    case group_type::all:
    case group_type::indirect:
      for (std::size_t i = 0; i < of->buckets.size(); ++i) {
        run_bucket(at, *of, i, i + 1 == of->buckets.size() ? after : then::more);
      }
      return;
    case group_type::fast_failover: chosen = of->first_live; break;
    case group_type::select: {
      const std::uint64_t hash = hash_select_key(select_key_of(packets_[at]), of->hash);
      chosen = of->map.bucket(hash).value_or(group_version::none);
      break;
    }
  }
  if (chosen == group_version::none) return counts_.add(pipeline_drop::no_bucket);
  run_bucket(at, *of, chosen, after);
}

void executor::run_bucket(slot at, const group_version& of, std::size_t index,
                          then after) noexcept {
  counts_.add(of.bucket_counters + static_cast<std::uint32_t>(index), frame_bytes_[at]);
  if (bucket_nesting_ == bucket_nesting_max) return counts_.add(pipeline_drop::resubmits);
  ++bucket_nesting_;
  run_bucket_list(at, of.buckets[index], after);
  --bucket_nesting_;
}

void executor::run_bucket_list(slot at, const op_list& list, then after) noexcept {
  if (after == then::nothing) return run_apart(at, list);
  if (!list.changes_frames) {
    // Queue and registers are the bucket's own.
    const packet_state before = packets_[at];
    (void)run_list(at, list, then::more);
    packets_[at] = before;
    return;
  }
  const std::optional<slot> copy = copy_to_slot(at);
  if (!copy) return;
  run_apart(*copy, list);
  leave_slot(*copy);
}

void executor::run_apart(slot at, const op_list& list) noexcept {
  const bool is_left = run_list(at, list, then::nothing);
  if (n_sets_[at] == 0) return;
  if (is_left) {
    run_sets(at);
  } else {
    n_sets_[at] = 0;
  }
}

std::optional<executor::slot> executor::copy_to_slot(slot at) noexcept {
  owned_packet copied;
  if (!copier_.copy({packets_[at].buffer, owner_[at]}, copied)) {
    counts_.add(pipeline_drop::no_buffer);
    return std::nullopt;
  }
  COUA_ASSERT(n_slots_ < n_slots);
  const auto to = static_cast<slot>(n_slots_++);
  packets_[to] = packets_[at];
  packets_[to].buffer = copied.buffer;
  origin_[to] = origin_[at];
  table_[to] = table_[at];
  frame_bytes_[to] = frame_bytes_[at];
  n_calls_[to] = n_calls_[at];
  call_depth_[to] = call_depth_[at];
  owner_[to] = copied.owner;
  borrowed_[to] = 0;
  n_sets_[to] = 0;
  return to;
}

void executor::leave_slot(slot copy) noexcept {
  --n_slots_;
  const owned_packet one{packets_[copy].buffer, owner_[copy]};
  if (borrowed_[copy] != 0) {
    deliveries_[borrowed_[copy]].copy = one;
  } else {
    copier_.give_back(one);
  }
}

}  // namespace coua::pipeline
