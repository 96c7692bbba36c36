// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ctl/ofp/table_ability.h"
#include "ctl/openflow/answerer.h"

namespace coua::openflow {

void conversation::answerer::operator()(const ofp::ask::description&) const {
  in.send_(ofp::description_reply(asked, in.bridge_.identity.description));
}

void conversation::answerer::operator()(const ofp::ask::rules& which) const {
  if (which.filter.table != pipeline::table_all && which.filter.table >= control().n_tables()) {
    return in.refuse(asked, ofp::bad_table());
  }
  const pipeline::time_ns now = control().now();
  if (which.sum) {
    pipeline::traffic sum;
    std::uint64_t n_rules = 0;
    control().dump_rules(which.filter, [&](std::span<const ctl::rule_record> part) {
      for (const ctl::rule_record& one : part) sum += one.state.counted;
      n_rules += part.size();
      return true;
    });
    in.send_(ofp::sum_reply(asked, sum, n_rules));
    return;
  }
  ofp::multipart answer(asked);
  bool is_there = true;
  control().dump_rules(which.filter, [&](std::span<const ctl::rule_record> part) {
    for (const ctl::rule_record& one : part) answer.add(*one.rule, one.state, now);
    for (ofp::message& full : answer.take_full()) {
      if (is_there) is_there = in.send_(std::move(full));
    }
    return is_there;
  });
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::tables&) const {
  const ctl::pipeline_status status = control().status();
  std::vector<ofp::table_facts> tables(control().n_tables());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].id = static_cast<pipeline::table_id>(i);
  }
  for (const ctl::pipeline_status::table& one : status.tables) {
    tables[one.id].rules = one.rules;
    tables[one.id].lookups = one.lookups;
    tables[one.id].matches = one.matches;
  }
  in.send_(ofp::tables_reply(asked, tables));
}

// Every table can do everything, always: a controller that asks for no more than that has it, and
// tables that it does not name are not taken away.

ofp::table_facts conversation::answerer::facts_of(pipeline::table_id table) const {
  const auto& names = in.bridge_.identity.table_names;
  const auto named = names.find(table);
  ofp::table_facts made;
  made.id = table;
  made.name = named != names.end() ? named->second : "table" + std::to_string(table);
  made.rules_max = control().rules_max();
  return made;
}

tl::expected<void, ofp::refusal> conversation::answerer::check_features(
    ofp::message_view wanted) const {
  const auto tables = ofp::read_abilities(wanted);
  if (!tables) return tl::unexpected(tables.error());
  for (const ofp::table_ability& one : *tables) {
    if (one.table >= control().n_tables()) {
      constexpr auto bad_table = static_cast<std::uint16_t>(ofp::table_features_error::bad_table);
      return tl::unexpected(
          ofp::refusal{ofp::table_features_failed, bad_table, 0, "there is no such table"});
    }
    if (auto good = ofp::check_ability(one, ofp::ability_of(facts_of(one.table), asked)); !good) {
      return good;
    }
  }
  return {};
}

void conversation::answerer::operator()(const ofp::ask::table_features& wanted) const {
  if (const auto good = check_features(wanted.body); !good) return in.refuse(asked, good.error());
  ofp::multipart answer(asked);
  for (unsigned i = 0; i < control().n_tables(); ++i) {
    answer.add_features(facts_of(static_cast<pipeline::table_id>(i)));
  }
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::port_stats& which) const {
  const pipeline::time_ns now = control().now();
  ofp::multipart answer(asked);
  bool found = which.number == pipeline::port_any;
  for (const ofp::port_facts& one : control().ports()) {
    if (which.number != pipeline::port_any && which.number != one.number) continue;
    found = true;
    answer.add_stats(one, now);
  }
  if (!found) return in.refuse(asked, ofp::bad_port());
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::port_descriptions&) const {
  ofp::multipart answer(asked);
  for (const ofp::port_facts& one : control().ports()) answer.add_port(one);
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::group_stats& which) const {
  const pipeline::time_ns now = control().now();
  ofp::multipart answer(asked);
  for (const ctl::group_record& one : control().groups()) {
    if (which.id != pipeline::group_all && which.id != one.group->id) continue;
    answer.add_stats(*one.group, one.state, now);
  }
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::group_descriptions&) const {
  ofp::multipart answer(asked);
  for (const ctl::group_record& one : control().groups()) answer.add_group(*one.group);
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::group_features&) const {
  in.send_(ofp::group_features_reply(asked));
}

void conversation::answerer::operator()(const ofp::ask::meter_stats& which) const {
  const pipeline::time_ns now = control().now();
  ofp::multipart answer(asked);
  bool found = which.id == pipeline::meter_all;
  for (const ctl::meter_record& one : control().meters()) {
    if (which.id != pipeline::meter_all && which.id != one.meter->id) continue;
    found = true;
    answer.add_stats(*one.meter, one.state, now);
  }
  if (!found) return in.refuse(asked, unknown_meter());
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::meter_configs& which) const {
  ofp::multipart answer(asked);
  bool found = which.id == pipeline::meter_all;
  for (const ctl::meter_record& one : control().meters()) {
    if (which.id != pipeline::meter_all && which.id != one.meter->id) continue;
    found = true;
    answer.add_meter(*one.meter);
  }
  if (!found) return in.refuse(asked, unknown_meter());
  in.send_all(answer.finish());
}

void conversation::answerer::operator()(const ofp::ask::meter_features&) const {
  in.send_(ofp::meter_features_reply(asked));
}

// Ports have no queues of their own: answers are empty where the port is one.

void conversation::answerer::operator()(const ofp::ask::queue_stats& which) const {
  constexpr std::uint16_t bad_number = 0, bad_queue = 1;
  constexpr std::uint32_t all_queues = 0xffff'ffff;
  if (which.port != pipeline::port_any && !is_port(which.port)) {
    return in.refuse(asked, {ofp::queue_op_failed, bad_number, 0, "there is no such port"});
  }
  if (which.queue != all_queues) {
    return in.refuse(asked, {ofp::queue_op_failed, bad_queue, 0, "there is no such queue"});
  }
  in.send_all(ofp::multipart(asked).finish());
}

void conversation::answerer::operator()(const ofp::ask::queue_config& which) const {
  constexpr std::uint16_t bad_number = 0;
  if (which.port != pipeline::port_any && !is_port(which.port)) {
    return in.refuse(asked, {ofp::queue_op_failed, bad_number, 0, "there is no such port"});
  }
  in.send_(ofp::queue_config_reply(asked));
}

bool conversation::answerer::is_port(pipeline::port_no number) const {
  return std::ranges::any_of(control().ports(),
                             [number](const ofp::port_facts& one) { return one.number == number; });
}

}  // namespace coua::openflow
