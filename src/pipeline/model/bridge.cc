// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/bridge.h"

#include <algorithm>

#include "pipeline/model/action_check.h"
#include "pipeline/model/operations.h"

namespace coua::pipeline {
namespace {

/// What was learned goes with the last rule that learned it, where that said so.
void drop_left_behind(store& in) {
  for (auto left = in.take_left_behind(); !left.empty(); left = in.take_left_behind()) {
    for (const auto& [table, cookie] : left) {
      for (store::rule_entry* one : in.tables()[table].all_of(cookie)) {
        in.drop_rule(*one, removal_reason::deleted);
      }
    }
  }
}

of_result<void> perform_any(store& in, const operation& asked, time_ns now) {
  auto done = std::visit([&](const auto& one) { return perform(in, one, now); }, asked);
  if (done) drop_left_behind(in);
  return done;
}

}  // namespace

result<bridge> bridge::create(const bridge_params& params) {
  if (params.n_tables < 1 || params.n_tables > table_max + 1U) {
    return fail(errc::invalid, "n_tables", "a bridge has 1 to 255 tables");
  }
  return bridge(params);
}

change_list bridge::commit() {
  change_list done = store_.commit();
  if (!done.empty()) ++version_;
  return done;
}

of_result<change_list> bridge::apply(const operation& asked, time_ns now) {
  if (auto good = perform_any(store_, asked, now); !good) {
    store_.undo();
    return tl::unexpected(std::move(good.error()));
  }
  return commit();
}

of_result<change_list> bridge::apply(std::span<const operation> bundle, time_ns now) {
  return apply(bundle, now, {});
}

of_result<change_list> bridge::apply(std::span<const operation> bundle, time_ns now,
                                     const follower& follow) {
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    auto good = perform_any(store_, bundle[i], now);
    if (good) continue;
    store_.undo();
    of_failure failure = std::move(good.error());
    failure.operation = i + 1;
    failure.where = "operation " + std::to_string(i + 1) + ": " + failure.where;
    return tl::unexpected(std::move(failure));
  }
  if (follow) {
    if (auto good = follow(store_.changes()); !good) {
      store_.undo();
      return tl::unexpected(std::move(good.error()));
    }
  }
  return commit();
}

change_list bridge::expire(time_ns now, const follower& follow) {
  while (rule_table::entry* one = store_.first_due()) {
    if (one->due > now) break;
    // Packets may have come since it was put in the list.
    store_.set_due(*one);
    if (one->due > now) continue;
    const rule& old = *one->rule;
    const time_ns from = std::max(old.added, one->state.learned);
    const bool hard = old.hard_timeout_s != 0 && now >= from + old.hard_timeout_s * ns_per_s;
    store_.drop_rule(*one, hard ? removal_reason::hard_timeout : removal_reason::idle_timeout);
  }
  drop_left_behind(store_);
  if (follow && !store_.changes().empty() && !follow(store_.changes())) {
    store_.undo();
    return {};
  }
  return commit();
}

time_ns bridge::next_expiry() {
  const rule_table::entry* one = store_.first_due();
  return one == nullptr ? 0 : one->due;
}

const rule_table::entry* bridge::find_rule(rule_id id) const {
  return const_cast<store&>(store_).find_rule(id);
}
const group_entry* bridge::find_group(group_id id) const {
  const auto at = groups().find(id);
  return at == groups().end() ? nullptr : &at->second;
}
const meter_entry* bridge::find_meter(meter_id id) const {
  const auto at = meters().find(id);
  return at == meters().end() ? nullptr : &at->second;
}
const port* bridge::find_port(port_no number) const {
  const auto at = ports().find(number);
  return at == ports().end() ? nullptr : &at->second;
}

of_result<void> bridge::check_packet_out(const action_list& actions) const {
  packet_knowledge nothing;
  return check_actions(actions, action_place::packet_out, nothing, tables().size(),
                       [this](group_id id) { return find_group(id) != nullptr; });
}

void bridge::count_rule(rule_id id, const traffic& more, time_ns used) {
  rule_table::entry* one = store_.find_rule(id);
  if (one == nullptr) return;
  one->state.counted += more;
  if (used > one->state.used) one->state.used = used;
}

void bridge::count_table(table_id id, std::uint64_t lookups, std::uint64_t matches) {
  if (id >= store_.tables().size()) return;
  store_.tables()[id].lookups += lookups;
  store_.tables()[id].matches += matches;
}

void bridge::count_group(group_id id, const traffic& more) {
  if (group_entry* one = store_.find_group(id)) one->state.counted += more;
}

void bridge::count_bucket(group_id id, std::size_t bucket, const traffic& more) {
  group_entry* one = store_.find_group(id);
  if (one != nullptr && bucket < one->state.buckets.size()) one->state.buckets[bucket] += more;
}

void bridge::count_meter(meter_id id, const traffic& more) {
  if (meter_entry* one = store_.find_meter(id)) one->state.counted += more;
}

void bridge::count_band(meter_id id, std::size_t band, const traffic& more) {
  meter_entry* one = store_.find_meter(id);
  if (one != nullptr && band < one->state.bands.size()) one->state.bands[band] += more;
}

}  // namespace coua::pipeline
