// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "pipeline/model/action_set.h"
#include "pipeline/model/learn.h"
#include "pipeline/model/liveness.h"
#include "pipeline/model/resubmit.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/rewrite.h"
#include "pipeline/oracle/walk.h"

namespace coua::pipeline {

fate walk::run_list(packet& one, const action_list& list, const origin& from, action_set& set) {
  for (const action& what : list) {
    if (run_action(one, what, from, set) == fate::ends) return fate::ends;
  }
  return fate::goes_on;
}

fate walk::run_resubmit(packet& one, const act::resubmit& what, const origin& from,
                        action_set& set) {
  note(oracle_.words_.actions({what}));
  if (resubmit_depth_ == resubmit_depth_max || resubmit_nesting_ == resubmit_nesting_max ||
      out_.n_resubmits == resubmits_max) {
    return end_at_bound("too many resubmits: dropped");
  }
  const table_id to = what.table.value_or(from.table);
  const unsigned deepens = to <= from.table ? 1 : 0;
  ++out_.n_resubmits;
  ++resubmit_nesting_;
  resubmit_depth_ += deepens;
  way_end end;
  {
    const deeper inside(*this);
    table_id last = to;
    const port_no in_port = what.in_port == port_in_port ? one.in_port : what.in_port;
    end = run_way(one, to, in_port, set, last);
  }
  resubmit_depth_ -= deepens;
  --resubmit_nesting_;
  return end == way_end::dropped ? fate::ends : fate::goes_on;
}

fate walk::run_action(packet& one, const action& what, const origin& from, action_set& set) {
  if (const auto* to = std::get_if<act::output>(&what)) {
    output(one, *to, from);
    return fate::goes_on;
  }
  if (const auto* resubmit = std::get_if<act::resubmit>(&what)) {
    return run_resubmit(one, *resubmit, from, set);
  }
  if (const auto* to = std::get_if<act::output_bits>(&what)) {
    output_bits(one, *to, from);
    return fate::goes_on;
  }
  if (const auto* how = std::get_if<act::learn>(&what)) {
    learn(one, *how);
    return fate::goes_on;
  }
  if (const auto* group = std::get_if<act::group>(&what)) {
    run_group(one, group->id, from);
    return fate::goes_on;
  }
  if (const auto* queue = std::get_if<act::set_queue>(&what)) {
    one.queue = queue->queue;
    return fate::goes_on;
  }
  switch (*rewrite(one, what)) {
    case rewrite_result::done: note(to_string(what)); break;
    case rewrite_result::no_header:
      note(to_string(what) + ": has no such header: unchanged");
      break;
    case rewrite_result::invalid_ttl:
      note(to_string(what) + ": the TTL is invalid: to the controller");
      send_to_controller(one, packet_in_reason::invalid_ttl, from, controller_max_len_all);
      return fate::ends;
  }
  return fate::goes_on;
}

void walk::learn(const packet& one, const act::learn& how) {
  note(oracle_.words_.actions({how}));
  const deeper inside(*this);
  const parsed headers = parse(one);
  std::array<value128, learned_values_max> values{};
  const bool is_whole = take_values(how, values.data(), [&](const field_bits& from) {
    return headers.has(from.which)
               ? std::optional(headers.get(from.which) >> from.first & ones(from.n_bits))
               : std::nullopt;
  });
  if (!is_whole) return note("has no such header: nothing is learned");
  auto made = learned_rule(how, values);
  if (!made) return note("no rule: " + made.error().message());
  note(oracle_.words_.rule(to_rule(*made)));
  out_.learned.push_back(std::move(*made));
}

void walk::run_group(const packet& one, group_id id, const origin& from) {
  const group_ptr found = model_.find_group(id)->group;
  const group& group = *found;
  out_.counts.groups[id] += one_packet();
  note("group " + std::to_string(id) + ", " + to_string(group.type));
  const deeper inside(*this);
  if (group.type == group_type::all || group.type == group_type::indirect) {
    for (std::size_t i = 0; i < group.buckets.size(); ++i) run_bucket(one, group, i, from);
    return;
  }
  const std::optional<std::size_t> chosen = choose_bucket(one, found);
  if (chosen) {
    run_bucket(one, group, *chosen, from);
  } else {
    note("no bucket is live: dropped");
  }
}

std::optional<std::size_t> walk::choose_bucket(const packet& one, const group_ptr& in) {
  if (in->type == group_type::fast_failover) {
    for (std::size_t i = 0; i < in->buckets.size(); ++i) {
      if (is_live(model_, in->buckets[i])) return i;
    }
    return std::nullopt;
  }
  std::vector<std::uint16_t> weights;
  for (const bucket& each : in->buckets) {
    weights.push_back(is_live(model_, each) ? each.weight : std::uint16_t{0});
  }
  oracle::select_run& run = oracle_.selects_[in->id];
  if (run.of != in || run.weights != weights) {
    run = {in, weights, select_map(in->secret, weights), keyed_hash(in->secret)};
  }
  return run.map.bucket(hash_select_key(make_select_key(parse(one).values), run.hash));
}

void walk::run_bucket(const packet& one, const group& in, std::size_t index, const origin& from) {
  out_.counts.buckets[{in.id, index}] += one_packet();
  const action_list list = action_set(in.buckets[index].actions).ordered();
  note("bucket " + std::to_string(index) + ": " + oracle_.words_.actions(list));
  const deeper inside(*this);
  if (bucket_nesting_ == bucket_nesting_max) {
    (void)end_at_bound("too many buckets: this copy is dropped");
    return;
  }
  ++bucket_nesting_;
  packet copy = one;
  class action_set set;  // of what it is resubmitted to
  fate left = run_list(copy, list, {from.table, no_cookie, packet_in_reason::action}, set);
  if (left == fate::goes_on) left = run_set(copy, set, from.table);
  if (left == fate::ends) note("this copy is dropped");
  --bucket_nesting_;
}

void walk::output(const packet& one, const act::output& to, const origin& from) {
  switch (to.port) {
    case port_in_port: send(one, one.in_port); break;
    case port_table: run_tables(one); break;
    case port_normal: output_normal(one); break;
    case port_flood: output_all(one, true); break;
    case port_all: output_all(one, false); break;
    case port_controller: send_to_controller(one, from.reason, from, to.max_len); break;
    default:
      if (to.port == one.in_port) {
        note("output:" + oracle_.words_.port(to.port) + ": it came from there: not sent");
      } else {
        send(one, to.port);
      }
  }
}

void walk::output_bits(const packet& one, const act::output_bits& to, const origin& from) {
  const parsed headers = parse(one);
  const std::string name = to_string(action(to));
  if (!headers.has(to.from.which)) return note(name + ": has no such header: not sent");
  const value128 number = headers.get(to.from.which) >> to.from.first & ones(to.from.n_bits);
  const std::optional<port_no> port = port_of_bits(number);
  if (!port) return note(name + ": the number there is of no port: not sent");
  note(name);
  output(one, {*port, to.max_len}, from);
}

void walk::output_normal(const packet& one) {
  if (oracle_.normal_ == nullptr) {
    note("NORMAL: there is no L2 switch: not sent");
    return;
  }
  note("NORMAL");
  const deeper inside(*this);
  for (normal_switch::copy& to : oracle_.normal_->forward(one, now_)) {
    if (to.port == one.in_port) continue;
    packet copy = one;
    copy.bytes = std::move(to.bytes);
    send(copy, to.port);
  }
}

void walk::output_all(const packet& one, bool flood) {
  note(flood ? "FLOOD" : "ALL");
  const deeper inside(*this);
  for (const auto& [number, to] : model_.ports()) {
    if (number == one.in_port || (flood && to.no_flood)) continue;
    send(one, number);
  }
}

void walk::send(const packet& one, port_no to) {
  const port* there = model_.find_port(to);
  const std::string name = "output:" + oracle_.words_.port(to);
  if (there == nullptr || there->no_fwd) {
    note(name + (there == nullptr ? ": there is no such port: not sent"
                                  : ": the port forbids it: not sent"));
    return;
  }
  note(name);
  out_.outputs.push_back({to, one.queue, one.bytes});
}

void walk::send_to_controller(const packet& one, packet_in_reason reason, const origin& from,
                              std::uint16_t max_len) {
  const port* came_from = model_.find_port(one.in_port);
  if (reason == packet_in_reason::no_match && came_from != nullptr && came_from->no_packet_in) {
    note("CONTROLLER: the port it came from forbids it: not sent");
    return;
  }
  if (reason != packet_in_reason::invalid_ttl) note("CONTROLLER:" + std::to_string(max_len));
  out_.packet_ins.push_back({reason, from.table, from.cookie, max_len, one.in_port, one.metadata,
                             one.tunnel_id, one.reg, one.bytes});
}

}  // namespace coua::pipeline
