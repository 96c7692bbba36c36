// SPDX-License-Identifier: Apache-2.0
#include "checked_pipeline.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/check.h"

namespace coua::test {
namespace {

using namespace pipeline;

bridge_params parameters(std::size_t rules_max, unsigned n_tables) {
  bridge_params made;
  made.n_tables = n_tables;
  made.rules_max = rules_max;
  return made;
}

template <class T>
T must(result<T> made) {
  if (!made) throw std::runtime_error(made.error().message());
  return std::move(*made);
}

std::string name_of(const rule& one) { return name_rule(one.table, one.priority, one.match); }

std::string hex_of(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const std::uint8_t each : bytes) {
    constexpr char digits[] = "0123456789abcdef";
    text += {digits[each >> 4], digits[each & 15]};
  }
  return text;
}

std::string text_of(const sent& one) {
  return "port " + port_name(one.port) + " queue " + std::to_string(one.queue) + " " +
         hex_of(one.bytes);
}
std::string text_of(const packet_in& one) {
  std::string registers;
  for (const std::uint32_t each : one.reg) registers += " " + std::to_string(each);
  return "reason " + std::to_string(static_cast<int>(one.reason)) + " table " +
         std::to_string(one.table) + " cookie " + std::to_string(one.cookie) + " in_port " +
         std::to_string(one.in_port) + " metadata " + std::to_string(one.metadata) + " tunnel " +
         std::to_string(one.tunnel_id) + " registers" + registers + " " + hex_of(one.bytes);
}

std::string text_of(const std::string& one) { return one; }

std::string text_of_rule(const rule_mod& one) {
  return name_rule(one.table, one.priority, one.match) + " cookie " + std::to_string(one.cookie) +
         " idle " + std::to_string(one.idle_timeout_s) + " hard " +
         std::to_string(one.hard_timeout_s) + " flags " + std::to_string(one.flags) + " limit " +
         std::to_string(one.limit) + (one.takes_along ? " goes along" : "") + " -> " +
         to_string(one.instructions);
}

template <class T>
void compare_lists(const char* what, const std::vector<T>& got, const std::vector<T>& expected) {
  if (got == expected) return;
  std::string text = std::string(what) + " differ; got:";
  for (const T& each : got) text += "\n  " + text_of(each);
  text += "\nexpected:";
  for (const T& each : expected) text += "\n  " + text_of(each);
  throw std::runtime_error(text);
}

/// Where there were more than the datapath has room for: which ones go is not said.
template <class T>
void compare_some(const char* what, const std::vector<T>& got, const std::vector<T>& expected) {
  const auto sorted = [](const std::vector<T>& all) {
    std::vector<std::string> texts;
    for (const T& each : all) texts.push_back(text_of(each));
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  const std::vector<std::string> some = sorted(got), all = sorted(expected);
  if (!std::includes(all.begin(), all.end(), some.begin(), some.end())) {
    throw std::runtime_error(std::string("not all ") + what + " are among those expected");
  }
}

void compare_counts(const std::string& what, const traffic& got, const traffic& expected) {
  if (got == expected) return;
  throw std::runtime_error(what + " counted " + std::to_string(got.packets) + " packets, " +
                           std::to_string(got.bytes) + " bytes; expected " +
                           std::to_string(expected.packets) + ", " +
                           std::to_string(expected.bytes));
}

/// The rules that went, with what they counted in the end. In which order those of one moment go is
/// not said: packets that came meanwhile leave the two stores with different lists of what is due.
void compare_gone(const change_list& got, const change_list& expected) {
  const auto gone_of = [](const change_list& changes) {
    std::vector<const rule_change*> gone;
    for (const change& each : changes) {
      const auto* one = std::get_if<rule_change>(&each);
      if (one != nullptr && one->after == nullptr) gone.push_back(one);
    }
    std::sort(gone.begin(), gone.end(), [](const rule_change* a, const rule_change* b) {
      return name_of(*a->before) < name_of(*b->before);
    });
    return gone;
  };
  const auto a = gone_of(got), b = gone_of(expected);
  if (a.size() != b.size()) throw std::runtime_error("other rules went");
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string name = name_of(*b[i]->before);
    if (name_of(*a[i]->before) != name) throw std::runtime_error("other rules went than " + name);
    compare_counts(name + " (gone)", a[i]->state_before.counted, b[i]->state_before.counted);
  }
}

bool takes_out_rules(const operation& one) {
  const auto* of_rules = std::get_if<rule_mod>(&one);
  return of_rules != nullptr && (of_rules->command == rule_command::remove ||
                                 of_rules->command == rule_command::remove_strict);
}

}  // namespace

checked_pipeline::checked_pipeline(std::size_t rules_max, const compiler_params& params,
                                   unsigned n_tables)
    : bridge_(must(running_bridge::create(parameters(rules_max, n_tables), params))),
      executor_(must(executor::create(bridge_->compiler().published(), 0,
                                      bridge_->compiler().counts(0), buffers_))),
      model_(must(bridge::create(parameters(rules_max, n_tables)))),
      oracle_(model_, &two_port_switch()) {}

bool checked_pipeline::apply(const std::vector<operation>& bundle) {
  const std::uint64_t version = bridge_->model().version();
  const auto got = bridge_->apply(bundle, now_);
  if (!got && got.error().code == of_error::flow_mod_table_full) {
    // The datapath's own limits; the model has none that these lists reach.
    if (bridge_->model().version() != version) throw std::runtime_error("a refusal changed");
    if (std::all_of(bundle.begin(), bundle.end(), takes_out_rules)) {
      throw std::runtime_error("rules cannot go: " + got.error().message());
    }
    ++n_full;
    return false;
  }
  const auto expected = model_.apply(bundle, now_);
  if (expected.has_value() != got.has_value()) {
    throw std::runtime_error(got ? "taken; expected: " + expected.error().message()
                                 : "refused: " + got.error().message());
  }
  if (!got && bridge_->model().version() != version) throw std::runtime_error("a refusal changed");
  if (got) compare_gone(*got, *expected);
  bridge_->reclaim();
  return got.has_value();
}

void checked_pipeline::wait(time_ns passed) {
  collect();  // what came before came at its time
  now_ += passed;
  compare_gone(bridge_->expire(now_), model_.expire(now_));
}

void checked_pipeline::collect() { bridge_->collect(now_); }

checked_pipeline::result_of_burst checked_pipeline::deliver() {
  result_of_burst got;
  const std::uint64_t n_beyond = bridge_->compiler().counts(0).drops(pipeline_drop::too_many);
  got.n_beyond = n_beyond - std::exchange(n_beyond_, n_beyond);
  const std::vector<delivered> all = take_deliveries(*executor_, buffers_);
  if (got.n_beyond != 0 && all.size() != executor::deliveries_max) {
    throw std::runtime_error(std::to_string(all.size()) + " deliveries are taken for too many");
  }
  got.sent = outcome_of(all, bridge_->model());
  for (const learned_values& each : executor_->learned()) {
    const auto made = bridge_->to_operation(each);
    if (made) got.learned.push_back(text_of_rule(std::get<rule_mod>(*made)));
  }
  std::sort(got.learned.begin(), got.learned.end());
  if (buffers_.n_out != 0) {
    throw std::runtime_error(std::to_string(buffers_.n_out) + " packets were lost");
  }
  n_outputs += got.sent.outputs.size();
  n_packet_ins += got.sent.packet_ins.size();
  return got;
}

void checked_pipeline::compare(const result_of_burst& got, const result_of_burst& expected) const {
  try {
    if (got.n_beyond == 0) {
      compare_lists("outputs", got.sent.outputs, expected.sent.outputs);
      compare_lists("packet-ins", got.sent.packet_ins, expected.sent.packet_ins);
    } else {
      compare_some("outputs", got.sent.outputs, expected.sent.outputs);
      compare_some("packet-ins", got.sent.packet_ins, expected.sent.packet_ins);
    }
    compare_lists("learned rules", got.learned, expected.learned);
  } catch (const std::runtime_error& difference) {
    throw std::runtime_error(difference.what() + tables_text());
  }
}

std::string checked_pipeline::tables_text() const {
  std::string text;
  for (const rule_table& table : model_.tables()) {
    table.each([&](const rule_table::entry& one) {
      const table_form* form = bridge_->compiler().form(one.rule->table);
      text += std::string("\n  ") + (form == nullptr ? "?" : to_string(form->kind())) + " " +
              name_of(*one.rule) + " -> " + to_string(one.rule->instructions);
    });
  }
  for (const auto& [id, one] : model_.groups()) text += "\n  " + to_string(*one.group);
  return text;
}

std::size_t checked_pipeline::receive_all(std::span<const packet> packets) {
  const std::size_t before = n_outputs;
  while (!packets.empty()) {
    const auto burst = packets.first(std::min<std::size_t>(packets.size(), executor::burst_max));
    receive({burst.begin(), burst.end()});
    packets = packets.subspan(burst.size());
  }
  check_counters();
  return n_outputs - before;
}

void checked_pipeline::receive(const std::vector<packet>& burst) {
  std::vector<executor::arrival> arrivals;
  result_of_burst expected;
  std::vector<rule_mod> learned;
  for (const packet& each : burst) {
    arrivals.push_back({buffers_.make(each.bytes), each.in_port});
    const verdict one = oracle_.receive(each, now_);
    n_resubmits += one.n_resubmits;
    n_ended += one.n_over_bounds;
    n_conjunctions += one.n_conjunctions;
    n_remarked += one.n_remarked;
    one.counts.add_to(model_, now_);
    expected.sent.add(one);
    learned.insert(learned.end(), one.learned.begin(), one.learned.end());
  }
  for (const rule_mod& each : learned) expected.learned.push_back(text_of_rule(each));
  std::sort(expected.learned.begin(), expected.learned.end());
  bridge_->tend(now_);
  executor_->run(arrivals, now_);
  // More than a run keeps: which ones is not said.
  if (learned.size() > executor::learned_max) expected.learned.clear();
  result_of_burst got = deliver();
  if (learned.size() > executor::learned_max) got.learned.clear();
  compare(got, expected);
  learn(learned);
  bridge_->reclaim();
}

/// As the owner of a bridge does: all as one change, and where that is refused one by one.
void checked_pipeline::learn(const std::vector<rule_mod>& learned) {
  if (learned.size() > 1) {
    if (apply({learned.begin(), learned.end()})) {
      n_learned += learned.size();
      ++n_learned_together;
      return;
    }
    ++n_learned_apart;
  }
  for (const rule_mod& each : learned) n_learned += apply({each}) ? 1 : 0;
}

/// What the store counts of rules that learn, and of those of a cookie, is what there is.
void checked_pipeline::check_learners() const {
  const class bridge& got = bridge_->model();
  std::map<store::learned_place, std::size_t> takers;
  for (const rule_table& table : got.tables()) {
    std::map<std::uint64_t, std::size_t> of_cookie;
    table.each([&](const rule_table::entry& one) {
      ++of_cookie[one.rule->cookie];
      for (const action& each : one.rule->instructions.apply.value_or(action_list{})) {
        const auto* how = std::get_if<act::learn>(&each);
        if (how != nullptr && how->takes_along) ++takers[{how->table, how->cookie}];
      }
    });
    for (std::uint64_t cookie = 0; cookie < 5; ++cookie) {
      if (table.n_of(cookie) != of_cookie[cookie]) {
        throw std::runtime_error("cookie " + std::to_string(cookie) + ": other rules");
      }
    }
  }
  if (takers != got.takers()) throw std::runtime_error("other actions learn what goes along");
  n_takers += takers.size();
}

void checked_pipeline::packet_out(const packet& one, const action_list& actions) {
  const auto answer = oracle_.packet_out(one, actions, now_);
  if (!answer) return;  // the compiler is never asked for such
  answer->counts.add_to(model_, now_);
  const stored_ops ops = bridge_->compiler().compile_packet_out(actions);
  executor_->run_actions({buffers_.make(one.bytes), one.in_port}, ops.list(), now_);
  result_of_burst expected;
  expected.sent.add(*answer);
  for (const rule_mod& each : answer->learned) expected.learned.push_back(text_of_rule(each));
  std::sort(expected.learned.begin(), expected.learned.end());
  compare(deliver(), expected);
}

void checked_pipeline::check_nothing_stays() {
  group_mod no_group;
  no_group.command = mod_command::remove;
  no_group.what.id = group_all;
  meter_mod no_meter;
  no_meter.command = mod_command::remove;
  no_meter.what.id = meter_all;
  rule_mod no_rule;
  no_rule.command = rule_command::remove;
  no_rule.table = table_all;
  if (!apply({no_rule, no_group, no_meter})) throw std::runtime_error("a removal was refused");
  // What goes may let go of more.
  for (int i = 0; i < 4; ++i) {
    receive({});
    bridge_->reclaim();
  }
  const compiler_usage left = bridge_->compiler().usage();
  if (left == compiler_usage{}) return;
  throw std::runtime_error(
      "of what is gone there are " + std::to_string(left.records) + " records, " +
      std::to_string(left.counters) + " counters, " + std::to_string(left.shapes) + " shapes, " +
      std::to_string(left.action_lists) + " action lists, " + std::to_string(left.stores) +
      " stores, " + std::to_string(left.shared) + " shared records");
}

void checked_pipeline::check_counters() {
  collect();
  check_learners();
  const class bridge& got = bridge_->model();
  for (std::size_t t = 0; t < model_.tables().size(); ++t) {
    const rule_table& expected = model_.tables()[t];
    const std::string name = "table " + std::to_string(t);
    compare_counts(name + " (look-ups, matches)",
                   {got.tables()[t].lookups, got.tables()[t].matches},
                   {expected.lookups, expected.matches});
    if (got.tables()[t].size() != expected.size()) throw std::runtime_error(name + ": other rules");
    expected.each([&](const rule_table::entry& one) {
      compare_counts(name_of(*one.rule),
                     got.tables()[t].find(one.rule->priority, one.rule->match)->state.counted,
                     one.state.counted);
    });
  }
  for (const auto& [id, one] : model_.groups()) {
    const group_state& state = got.find_group(id)->state;
    const std::string name = "group " + std::to_string(id);
    compare_counts(name, state.counted, one.state.counted);
    for (std::size_t i = 0; i < one.state.buckets.size(); ++i) {
      compare_counts(name + " bucket " + std::to_string(i), state.buckets[i], one.state.buckets[i]);
    }
  }
  for (const auto& [id, one] : model_.meters()) {
    const meter_state& state = got.find_meter(id)->state;
    const std::string name = "meter " + std::to_string(id);
    compare_counts(name, state.counted, one.state.counted);
    for (std::size_t i = 0; i < one.state.bands.size(); ++i) {
      compare_counts(name + " band " + std::to_string(i), state.bands[i], one.state.bands[i]);
    }
  }
}

}  // namespace coua::test
