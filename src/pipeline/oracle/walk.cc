// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/walk.h"

#include "pipeline/model/action_set.h"
#include "pipeline/model/resubmit.h"
#include "pipeline/oracle/rewrite.h"
#include "pipeline/semantics/dscp_remark.h"

namespace coua::pipeline {

std::string trace_words::port(port_no number) const { return port_name(number); }
std::string trace_words::actions(const action_list& list) const { return to_string(list); }
std::string trace_words::rule(const pipeline::rule& one) const {
  return name_rule(one.table, one.priority, one.match) + " actions=" + to_string(one.instructions);
}

verdict oracle::receive(const packet& one, time_ns now, trace_mode trace) {
  walk way(*this, one, now, trace);
  way.receive(one);
  return way.take();
}

of_result<verdict> oracle::packet_out(const packet& one, const action_list& actions, time_ns now,
                                      trace_mode trace) {
  if (auto good = model_.check_packet_out(actions); !good)
    return tl::unexpected(std::move(good.error()));
  walk way(*this, one, now, trace);
  way.packet_out(one, actions);
  return way.take();
}

void walk::note(const std::string& text, rule_ptr hit) {
  if (trace_ == trace_mode::on) out_.trace.push_back({depth_, text, std::move(hit)});
}

fate walk::end_at_bound(const char* why) {
  ++out_.n_over_bounds;
  note(why);
  return fate::ends;
}

void walk::receive(const packet& one) {
  const port* from = model_.find_port(one.in_port);
  if (from != nullptr && from->no_recv) {
    note("port " + oracle_.words_.port(one.in_port) + " receives nothing: dropped");
    return;
  }
  run_tables(one);
}

void walk::packet_out(const packet& one, const action_list& actions) {
  packet copy = one;
  const origin controller{0, no_cookie, packet_in_reason::action};
  action_set set;
  fate left = run_list(copy, actions, controller, set);
  if (left == fate::goes_on) left = run_set(copy, set, controller.table);
  if (left == fate::ends) note("dropped");
}

void walk::run_tables(packet one) {
  action_set set;
  table_id last = 0;
  if (run_way(one, 0, one.in_port, set, last) != way_end::done) return;
  if (set.empty()) note("no action set: done");
  if (run_set(one, set, last) == fate::ends) note("dropped");
}

fate walk::run_set(packet& one, const action_set& set, table_id last) {
  if (set.empty()) return fate::goes_on;
  const action_list list = set.ordered();
  note("action set: " + oracle_.words_.actions(list));
  const deeper inside(*this);
  action_set none;
  return run_list(one, list, {last, no_cookie, packet_in_reason::action}, none);
}

found_rule walk::look_up(packet one, table_id in, port_no in_port) {
  if (one.in_phy_port == 0) one.in_phy_port = one.in_port;
  one.in_port = in_port;
  return find_rule(model_.tables()[in], parse(one).values);
}

walk::way_end walk::run_way(packet& one, table_id first, port_no in_port, action_set& set,
                            table_id& last) {
  for (std::optional<table_id> next = first; next; in_port = one.in_port) {
    last = *next;
    const auto [hit, conjunction] = look_up(one, last, in_port);
    counts::table_counts& counted = out_.counts.tables[last];
    ++counted.lookups;
    if (hit == nullptr) {
      note("table " + std::to_string(last) + ": no rule matches" +
           (resubmit_nesting_ == 0 ? ": dropped" : ""));
      return way_end::missed;
    }
    ++counted.matches;
    const rule& found = *hit->rule;
    if (conjunction) {
      ++out_.n_conjunctions;
      note("all clauses match: conj_id=" + std::to_string(*conjunction));
    }
    note(name_rule(found.table, found.priority, found.match) + " -> " +
             to_string(found.instructions),
         hit->rule);
    traffic& seen = out_.counts.rules[found.id];
    if ((found.flags & rule_no_packet_counts) == 0) seen.packets += 1;
    if ((found.flags & rule_no_byte_counts) == 0) seen.bytes += n_bytes_;
    const deeper inside(*this);
    if (execute(one, found, set) == fate::ends) return way_end::dropped;
    next = found.instructions.goto_table;
  }
  return way_end::done;
}

fate walk::execute(packet& one, const rule& hit, action_set& set) {
  const instructions& what = hit.instructions;
  if (what.meter && pass_meter(one, *what.meter) == fate::ends) return fate::ends;
  if (what.apply) {
    const auto reason = hit.is_miss() ? packet_in_reason::no_match : packet_in_reason::action;
    if (run_list(one, *what.apply, {hit.table, hit.cookie, reason}, set) == fate::ends) {
      return fate::ends;
    }
  }
  if (what.clear_actions) set.clear();
  if (what.write) {
    if (set.n_writes() == set_writes_max) {
      return end_at_bound("the action set was written too often: dropped");
    }
    set.write(*what.write);
  }
  if (what.metadata) {
    one.metadata =
        (one.metadata & ~what.metadata->mask) | (what.metadata->value & what.metadata->mask);
  }
  return fate::goes_on;
}

fate walk::pass_meter(packet& one, meter_id id) {
  const meter_entry& entry = *model_.find_meter(id);
  out_.counts.meters[id] += one_packet();
  const std::string name = "meter " + std::to_string(id);
  if (oracle_.meter_mode_ == meter_mode::passed) {
    note(name + ": lets it pass: a trace measures no rates");
    return fate::goes_on;
  }
  const auto [run, fresh] = oracle_.meters_.try_emplace(
      id, oracle::meter_run{entry.state.generation, meter_buckets(*entry.meter, now_)});
  if (!fresh && run->second.generation != entry.state.generation) {
    run->second = {entry.state.generation, meter_buckets(*entry.meter, now_)};
  }
  const std::optional<std::size_t> taken = run->second.buckets.charge(n_bytes_, now_);
  if (!taken) {
    note(name + ": within its rates");
    return fate::goes_on;
  }
  out_.counts.bands[{id, *taken}] += one_packet();
  const meter_band& band = entry.meter->bands[*taken];
  if (band.type == band_type::drop) {
    note(name + ": band " + std::to_string(*taken) + " is exceeded: dropped");
    return fate::ends;
  }
  note(name + ": band " + std::to_string(*taken) + " is exceeded: remarked");
  const parsed headers = parse(one);
  const auto dscp = static_cast<std::uint8_t>(headers.get(field::ip_dscp));
  if (headers.has(field::ip_dscp) && is_assured_forwarding(dscp)) {
    const std::uint8_t remarked = remark_dscp(dscp, band.prec_level);
    write_field(one, field::ip_dscp, remarked, full_mask(field::ip_dscp));
    out_.n_remarked += remarked != dscp ? 1 : 0;
  }
  return fate::goes_on;
}

}  // namespace coua::pipeline
