// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/shared_records.h"

#include <algorithm>
#include <utility>

namespace coua::pipeline {
namespace {

bool same(const op& a, const op& b) {
  return a.code == b.code && a.which == b.which && a.small == b.small && a.number == b.number &&
         a.value == b.value;
}

}  // namespace

shared_records::effect::effect(const action_record& of) : shape(of.shape), traits(of.traits) {
  if (shape->ops_apart) {
    list = of.shared;
  } else {
    // Behind its ops a record has whatever was there before.
    std::copy_n(of.own, shape->steps.size(), in_record.begin());
  }
}

bool shared_records::effect::operator==(const effect& other) const {
  return shape == other.shape && traits.bits() == other.traits.bits() && list == other.list &&
         std::equal(in_record.begin(), in_record.end(), other.in_record.begin(), same);
}

std::size_t shared_records::hash::operator()(const effect& of) const {
  std::uint64_t made = 0;
  const auto add = [&made](std::uint64_t word) {
    made = (made ^ word) * 0x9e37'79b9'7f4a'7c15;
    made ^= made >> 29;
  };
  add(reinterpret_cast<std::uintptr_t>(of.shape));
  add(of.traits.bits());
  add(reinterpret_cast<std::uintptr_t>(of.list));
  for (const op& each : of.in_record) {
    add(std::uint64_t{each.small} << 32 | each.number);
    add(each.value);
  }
  return made;
}

record_id shared_records::join(const effect& of) {
  const auto at = all_.find(of);
  if (at == all_.end()) return 0;
  ++at->second.n_rules;
  return at->second.record;
}

bool shared_records::is_worth_it(const effect& of, std::uint32_t counters) {
  if (all_.size() >= n_max) return false;
  const std::size_t hashed = hash()(of);
  const trace its{static_cast<std::uint32_t>(hashed >> 32) | 1, counters};
  const trace there = std::exchange(traces_[hashed % traces_.size()], its);
  return there.hash == its.hash && there.counters != its.counters;
}

void shared_records::add(const effect& of, record_id made) { all_.try_emplace(of, entry{made, 1}); }

bool shared_records::leave(const effect& of, std::size_t n_rules) {
  const auto at = all_.find(of);
  at->second.n_rules -= n_rules;
  if (at->second.n_rules != 0) return false;
  all_.erase(at);
  return true;
}

}  // namespace coua::pipeline
