// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/group_compiler.h"

#include "pipeline/model/liveness.h"

namespace coua::pipeline {
namespace {

bool watches(const group& one) {
  for (const bucket& each : one.buckets) {
    if (each.is_watched()) return true;
  }
  return false;
}

result<std::shared_ptr<const count_block>> numbers_for(compile_context& in, std::size_t n) {
  auto made = in.counts.take_block(static_cast<std::uint32_t>(n));
  if (made == nullptr) return fail(errc::no_room, "counters", "all are in use");
  return made;
}

}  // namespace

std::vector<bool> group_compiler::lives_of(const group& one) const {
  std::vector<bool> lives;
  for (const bucket& each : one.buckets) lives.push_back(is_live(model_, each));
  return lives;
}

void group_compiler::watch(const group& one, std::vector<bool> lives) {
  if (watches(one)) {
    watching_[one.id] = std::move(lives);
  } else {
    watching_.erase(one.id);
  }
}

result<void> group_compiler::make(compile_context& in, const group& from, counting how) {
  auto made = std::make_shared<stored_group>();
  if (how == counting::on) {
    made->numbers = groups_.at(from.id).latest->numbers;
  } else {
    auto numbers = numbers_for(in, from.buckets.size());
    if (!numbers) return tl::unexpected(numbers.error());
    made->numbers = std::move(*numbers);
  }
  made->bucket_counters = made->numbers->first();
  made->type = from.type;
  std::vector<bool> lives = lives_of(from);
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
  groups_.put(in, from.id, std::move(made));
  watch(from, std::move(lives));
  return {};
}

result<void> group_compiler::make(compile_context& in, const meter& from, time_ns now) {
  auto numbers = numbers_for(in, from.bands.size());
  if (!numbers) return tl::unexpected(numbers.error());
  auto made = std::make_shared<stored_meter>(from, now);
  made->numbers = std::move(*numbers);
  made->band_counters = made->numbers->first();
  meters_.put(in, from.id, std::move(made));
  return {};
}

result<void> group_compiler::revive(compile_context& in) {
  std::vector<group_id> other;
  for (const auto& [id, lived] : watching_) {
    if (lives_of(*model_.find_group(id)->group) != lived) other.push_back(id);
  }
  for (const group_id id : other) {
    if (auto good = make(in, *model_.find_group(id)->group, counting::on); !good) return good;
  }
  return {};
}

result<void> group_compiler::follow(compile_context& in, const change_list& changes, time_ns now) {
  bool lives_change = false;
  std::set<group_id> groups;
  std::set<meter_id> meters;
  for (const change& each : changes) {
    lives_change |= std::holds_alternative<port_change>(each);
    if (const auto* one = std::get_if<meter_change>(&each)) {
      if (one->after == nullptr) {
        meters_.drop(in, one->before->id);
      } else if (auto good = meters_.open(in, one->after->id); !good) {
        return good;
      } else {
        meters.insert(one->after->id);
      }
    }
    if (const auto* one = std::get_if<group_change>(&each)) {
      lives_change = true;
      if (one->after == nullptr) {
        watching_.erase(one->before->id);
        groups_.drop(in, one->before->id);
      } else if (auto good = groups_.open(in, one->after->id); !good) {
        return good;
      } else {
        groups.insert(one->after->id);
      }
    }
  }
  for (const meter_id id : meters) {
    const meter_entry* entry = model_.find_meter(id);
    if (entry == nullptr) continue;
    if (auto good = make(in, *entry->meter, now); !good) return good;
  }
  // All places are there: groups may refer to each other.
  for (const group_id id : groups) {
    const group_entry* entry = model_.find_group(id);
    if (entry == nullptr) continue;
    if (auto good = make(in, *entry->group, counting::anew); !good) return good;
  }
  return lives_change ? revive(in) : result<void>{};
}

void group_compiler::keep(compile_context& in) {
  groups_.keep(in);
  meters_.keep(in);
}

void group_compiler::restore(compile_context& in) {
  (void)meters_.restore(in);
  for (const group_id id : groups_.restore(in)) {
    const group_entry* entry = model_.find_group(id);
    if (entry != nullptr) {
      watch(*entry->group, lives_of(*entry->group));
    } else {
      watching_.erase(id);
    }
  }
}

void group_compiler::collect(compile_context& in, bridge& model) {
  for (const auto& [id, one] : groups_.all()) {
    model.count_group(id, in.counts.news(one->number->first()));
    const count_block& numbers = *one->latest->numbers;
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      model.count_bucket(id, i, in.counts.news(numbers.first() + i));
    }
  }
  for (const auto& [id, one] : meters_.all()) {
    model.count_meter(id, in.counts.news(one->number->first()));
    const count_block& numbers = *one->latest->numbers;
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      model.count_band(id, i, in.counts.news(numbers.first() + i));
    }
  }
}

}  // namespace coua::pipeline
