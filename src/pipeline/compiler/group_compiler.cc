// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/group_compiler.h"

#include "pipeline/model/liveness.h"

namespace coua::pipeline {
namespace {

/// A version, with the ops of its buckets.
struct stored_group : group_version {
  std::deque<stored_ops> ops;
};

bool watches(const group& one) {
  for (const bucket& each : one.buckets) {
    if (each.is_watched()) return true;
  }
  return false;
}

/// Puts a version in its place; the one before goes when no batch can be at it.
template <class Thing, class Version>
void put(compile_context& in, Thing& of, std::shared_ptr<Version> next) {
  next->from = in.making;
  next->previous = of.latest.get();
  next->counters = of.counters;
  of.place.set(next.get());
  in.garbage.emplace_back([old = std::move(of.latest)] {});
  of.latest = std::move(next);
}

template <class Thing>
result<void> number(compile_context& in, Thing& of, std::size_t n) {
  const std::uint32_t first = in.counts.take(static_cast<std::uint32_t>(n));
  if (first == count_book::none) return fail(errc::no_room, "counters", "all are in use");
  if (of.n_counters != 0) {
    in.garbage.emplace_back([&counts = in.counts, before = of.counters, n_before = of.n_counters] {
      counts.give_back(before, n_before);
    });
  }
  of.counters = first;
  of.n_counters = static_cast<std::uint32_t>(n);
  return {};
}

template <class Things>
void drop(compile_context& in, Things& from, std::uint32_t id) {
  const auto at = from.find(id);
  in.garbage.emplace_back(
      [&counts = in.counts, gone = std::shared_ptr(std::move(at->second))]() mutable {
        counts.give_back(gone->counters, gone->n_counters);
      });
  from.erase(at);
}

}  // namespace

std::vector<bool> group_compiler::lives_of(const group& one) const {
  std::vector<bool> lives;
  for (const bucket& each : one.buckets) lives.push_back(is_live(model_, each));
  return lives;
}

void group_compiler::make(compile_context& in, group_thing& of, const group& from) {
  auto made = std::make_shared<stored_group>();
  made->type = from.type;
  const std::vector<bool> lives = lives_of(from);
  std::vector<std::uint16_t> weights;
  for (std::size_t i = 0; i < from.buckets.size(); ++i) {
    made->ops.push_back(in.actions.compile_set(from.buckets[i].actions));
    made->buckets.push_back(made->ops.back().list());
    weights.push_back(lives[i] ? from.buckets[i].weight : std::uint16_t{0});
    if (lives[i] && made->first_live == group_version::none) made->first_live = i;
  }
  if (from.type == group_type::select) {
    made->map = select_map(from.secret, weights);
    made->hash = keyed_hash(from.secret);
  }
  put(in, of, std::shared_ptr<group_version>(std::move(made)));
  if (watches(from)) {
    watching_[from.id] = lives;
  } else {
    watching_.erase(from.id);
  }
}

result<void> group_compiler::change_group(compile_context& in, const group_change& change) {
  if (change.after == nullptr) {
    watching_.erase(change.before->id);
    drop(in, groups_, change.before->id);
    return {};
  }
  const group& now = *change.after;
  std::unique_ptr<group_thing>& at = groups_[now.id];
  if (at == nullptr) at = std::make_unique<group_thing>();
  return number(in, *at, 1 + now.buckets.size());
}

result<void> group_compiler::change_meter(compile_context& in, const meter_change& change,
                                          time_ns now) {
  if (change.after == nullptr) {
    drop(in, meters_, change.before->id);
    return {};
  }
  const meter& to = *change.after;
  std::unique_ptr<meter_thing>& at = meters_[to.id];
  if (at == nullptr) at = std::make_unique<meter_thing>();
  if (auto good = number(in, *at, 1 + to.bands.size()); !good) return good;
  put(in, *at, std::make_shared<meter_version>(to, now));
  return {};
}

void group_compiler::revive(compile_context& in) {
  std::vector<group_id> other;
  for (const auto& [id, lived] : watching_) {
    if (lives_of(*model_.find_group(id)->group) != lived) other.push_back(id);
  }
  for (const group_id id : other) make(in, *groups_.at(id), *model_.find_group(id)->group);
}

result<void> group_compiler::follow(compile_context& in, const change_list& changes, time_ns now) {
  bool lives_change = false;
  std::set<group_id> changed;
  for (const change& each : changes) {
    lives_change |= std::holds_alternative<port_change>(each);
    if (const auto* of_meter = std::get_if<meter_change>(&each)) {
      if (auto good = change_meter(in, *of_meter, now); !good) return good;
    }
    const auto* of_group = std::get_if<group_change>(&each);
    if (of_group == nullptr) continue;
    lives_change = true;
    if (auto good = change_group(in, *of_group); !good) return good;
    const group_ptr& named = of_group->after != nullptr ? of_group->after : of_group->before;
    changed.insert(named->id);
  }
  // All places are there: groups may refer to each other.
  for (const group_id id : changed) {
    if (const group_entry* entry = model_.find_group(id)) make(in, *groups_.at(id), *entry->group);
  }
  if (lives_change) revive(in);
  return {};
}

result<void> group_compiler::restore(compile_context& in, time_ns now) {
  const auto drop_others = [&](auto& things, const auto& there) {
    std::vector<std::uint32_t> gone;
    for (const auto& [id, one] : things) {
      if (!there.contains(id)) gone.push_back(id);
    }
    for (const std::uint32_t id : gone) drop(in, things, id);
  };
  drop_others(groups_, model_.groups());
  drop_others(meters_, model_.meters());
  std::erase_if(watching_, [&](const auto& each) { return !groups_.contains(each.first); });
  // What was not touched stays, with the tokens of its meters.
  const auto is_whole = [&](const auto& things, std::uint32_t id) {
    const auto at = things.find(id);
    return at != things.end() && at->second->latest != nullptr &&
           at->second->latest->from != in.making;
  };
  change_list others;
  for (const auto& [id, entry] : model_.groups()) {
    if (!is_whole(groups_, id)) others.push_back(group_change{{}, entry.group, {}});
  }
  for (const auto& [id, entry] : model_.meters()) {
    if (!is_whole(meters_, id)) others.push_back(meter_change{{}, entry.meter, {}});
  }
  return follow(in, others, now);
}

void group_compiler::collect(compile_context& in, bridge& model) {
  for (const auto& [id, one] : groups_) {
    model.count_group(id, in.counts.news(one->counters));
    for (std::uint32_t i = 1; i < one->n_counters; ++i) {
      model.count_bucket(id, i - 1, in.counts.news(one->counters + i));
    }
  }
  for (const auto& [id, one] : meters_) {
    model.count_meter(id, in.counts.news(one->counters));
    for (std::uint32_t i = 1; i < one->n_counters; ++i) {
      model.count_band(id, i - 1, in.counts.news(one->counters + i));
    }
  }
}

}  // namespace coua::pipeline
