// SPDX-License-Identifier: Apache-2.0
#include "ctl/bridge_control.h"

#include <algorithm>

#include "base/clock.h"
#include "ctl/port_counts.h"
#include "pipeline/estimate/calibrate.h"
#include "pipeline/estimate/estimate.h"
#include "pipeline/estimate/outline_of.h"

namespace coua::ctl {
namespace {

// Rules that the owner looks at by one command: about a millisecond, in which nothing else is done.
constexpr std::size_t rules_at_once = 4096;
constexpr std::size_t others_at_once = 512;  // groups or meters; each has counters of its own

/// Notes what comes to NORMAL, and sends nothing.
class collect_normal final : public pipeline::normal_switch {
 public:
  explicit collect_normal(std::vector<pipeline::packet>& into) : into_(into) {}
  std::vector<copy> forward(const pipeline::packet& frame, pipeline::time_ns) override {
    into_.push_back(frame);
    return {};
  }

 private:
  std::vector<pipeline::packet>& into_;
};

pipeline::port_no number_in_bridge(const dp::port_status& port) {
  return dp::bridge_port(port.number, port.config.local);
}

ofp::port_names names_of(const std::vector<dp::port_status>& ports) {
  ofp::port_names made;
  for (const dp::port_status& each : ports) made.add(number_in_bridge(each), each.config.name);
  return made;
}

std::vector<table_explanation> explain_tables(const pipeline::running_bridge& in) {
  std::vector<table_explanation> made;
  const pipeline::pipeline_compiler& compiler = in.compiler();
  for (std::size_t i = 0; i < in.model().tables().size(); ++i) {
    const auto id = static_cast<pipeline::table_id>(i);
    const pipeline::rule_table& table = in.model().tables()[i];
    if (table.size() == 0) continue;
    table_explanation one{id, table.size(), table.lookups, table.matches};
    one.clauses = table.n_clauses();
    one.bytes = compiler.bytes(id);
    if (const pipeline::template_choice* served = compiler.choice(id)) {
      one.served = *served;
      one.refused = compiler.why_not_cheaper(id);
      one.by = compiler.form(id)->by();
      one.rows_apart = compiler.form(id)->n_rows_apart();
      one.joined = compiler.joined().n_pairs(id);
    }
    made.push_back(std::move(one));
  }
  return made;
}

/// Why the switch takes nothing from a port and sends nothing by it; empty: it does.
std::string why_closed(const dp::port_status& port) {
  if (port.config.mirror.any()) return "a mirror port";
  if (!port.config.enabled) return "disabled";
  return port.shut_down.empty() ? "" : "shut down by " + port.shut_down;
}

/// What becomes of a frame that is to leave by a port; empty: it leaves.
std::string trouble_of(const dp::port_status& port, std::size_t bytes) {
  const std::string why = why_closed(port);
  if (!why.empty()) return why + ": dropped";
  if (!port.link_up) return "no link: dropped";
  if (bytes <= port.longest_frame) return {};
  return "longer than its MTU of " + std::to_string(port.config.mtu) + ": its driver may drop it";
}

}  // namespace

pipeline::of_result<pipeline::change_list> bridge_control::apply(
    std::span<const pipeline::operation> bundle) {
  return owner_.apply(bundle);
}

std::vector<pipeline::of_result<pipeline::change_list>> bridge_control::apply_each(
    std::span<const pipeline::operation> operations) {
  return owner_.apply_each(operations);
}

pipeline::of_result<void> bridge_control::packet_out(const pipeline::packet& one,
                                                     const pipeline::action_list& actions) {
  return owner_.send({one.in_port, one.bytes, actions});
}

void bridge_control::dump_rules(const ofp::rule_filter& filter,
                                const std::function<bool(std::span<const rule_record>)>& take) {
  std::size_t n_tables =
      owner_.read([](const pipeline::running_bridge& b) { return b.model().tables().size(); });
  std::size_t table = 0;
  if (filter.table != pipeline::table_all) {
    table = filter.table;
    n_tables = std::min<std::size_t>(n_tables, table + 1);
  }
  std::vector<rule_record> part;
  for (; table < n_tables; ++table) {
    pipeline::rule_table::cursor at;
    for (bool more = true; more;) {
      part.clear();
      owner_.read_on([&](const pipeline::running_bridge& b) {
        const std::vector<pipeline::rule_table>& tables = b.model().tables();
        // Tables without rules cost no command of their own.
        while (tables[table].size() == 0 && table + 1 < n_tables) {
          ++table;
          at = {};
        }
        more =
            tables[table].each_from(at, rules_at_once, [&](const pipeline::rule_table::entry& one) {
              if (filter.takes(*one.rule)) part.push_back({one.rule, one.state});
            });
      });
      if (!part.empty() && !take(part)) return;
    }
  }
}

std::vector<group_record> bridge_control::groups() {
  return owner_.read([](const pipeline::running_bridge& b) { return list_groups(b.model()); });
}

std::vector<meter_record> bridge_control::meters() {
  return owner_.read([](const pipeline::running_bridge& b) { return list_meters(b.model()); });
}

void bridge_control::dump_groups(pipeline::group_id first,
                                 const std::function<bool(std::span<const group_record>)>& take) {
  std::vector<group_record> part;
  const auto list = [&](const pipeline::running_bridge& b) {
    part = list_groups(b.model(), first, others_at_once);
  };
  for (owner_.read(list); !part.empty() && take(part); owner_.read_on(list)) {
    first = part.back().group->id + 1;  // no number is the last that there could be
  }
}

void bridge_control::dump_meters(pipeline::meter_id first,
                                 const std::function<bool(std::span<const meter_record>)>& take) {
  std::vector<meter_record> part;
  const auto list = [&](const pipeline::running_bridge& b) {
    part = list_meters(b.model(), first, others_at_once);
  };
  for (owner_.read(list); !part.empty() && take(part); owner_.read_on(list)) {
    first = part.back().meter->id + 1;
  }
}

pipeline_status bridge_control::status() {
  pipeline_status made =
      owner_.read([](const pipeline::running_bridge& b) { return status_of(b.model()); });
  for (dp::counter& each : owner_.drops()) made.drops.push_back({each.name, each.value});
  return made;
}

bridge_explanation bridge_control::explain() {
  bridge_explanation made;
  pipeline::pipeline_outline outline;
  bool is_l2 = false;
  owner_.read([&](const pipeline::running_bridge& b) {
    made.tables = explain_tables(b);
    outline = pipeline::outline_of(b, &met_);
    is_l2 = b.compiler().is_l2_switch();
  });
  add_measured(made);
  made.cycles_hz = cycles_hz();
  if (standalone_ && !is_l2) {  // no packet meets a table
    made.standalone = true;
    made.not_predicted = standalone_text;
    return made;
  }
  // Not in the owner's thread: the first time it takes as long as a thousand changes.
  const auto& machine = pipeline::machine_calibration();
  if (!machine) {
    made.not_predicted = machine.error().message();
    return made;
  }
  const pipeline::pipeline_estimate said = pipeline::estimate(outline, *machine);
  for (const pipeline::stage_estimate& each : said.stages) {
    // It has rules, as all that are served have.
    const auto table = std::ranges::find(made.tables, each.table, &table_explanation::id);
    COUA_CHECK(table != made.tables.end());
    table->visits = each.visits;
    table->cycles = each.cycles;
  }
  if (is_l2) {
    made.not_predicted = "every packet goes to the L2 switch at once, without the pipeline";
  } else {
    made.predicted = said.cycles;
  }
  return made;
}

void bridge_control::add_measured(bridge_explanation& to) {
  const std::lock_guard hold(mutex_);
  const pipeline::burst_times until_now = owner_.times();
  const pipeline::burst_times fresh = until_now.since(explained_);
  to.measured = fresh.usual();
  to.interrupted = fresh.all().bursts - to.measured.bursts;
  to.measured_ns = now() - explained_at_;
  to.measured_since_start = !is_explained_;
  explained_ = until_now;
  explained_at_ = now();
  is_explained_ = true;
}

trace_answer bridge_control::trace(const pipeline::packet& one) {
  const std::vector<dp::port_status> ports = ports_of_bridge();
  const auto from = std::ranges::find(ports, one.in_port, number_in_bridge);
  trace_answer made;
  if (from != ports.end() && !why_closed(*from).empty()) {
    made.lines.push_back({0, from->config.name + " receives nothing: " + why_closed(*from)});
    return made;
  }
  made = trace_rules(one, ports);
  if (from != ports.end() && !from->link_up) {
    const std::string text = from->config.name + " has no link: this is as if it had one";
    made.lines.insert(made.lines.begin(), {0, text});
  }
  for (trace_answer::copy& each : made.copies) {
    const auto to = std::ranges::find(ports, each.what.port, number_in_bridge);
    if (to != ports.end()) each.trouble = trouble_of(*to, each.what.bytes.size());
  }
  return made;
}

trace_answer bridge_control::trace_rules(const pipeline::packet& one,
                                         const std::vector<dp::port_status>& ports) const {
  const ofp::port_names names = names_of(ports);
  std::vector<pipeline::packet> to_l2;
  trace_answer made = owner_.read([&](const pipeline::running_bridge& b) {
    if (standalone_ && !b.compiler().is_l2_switch()) {
      const auto from = b.model().ports().find(one.in_port);
      const bool is_closed = from != b.model().ports().end() && from->second.no_recv;
      if (!is_closed) to_l2.push_back(one);
      return trace_standalone(is_closed ? "port " + name_of(one.in_port, names) +
                                              " receives nothing: dropped"
                                        : "NORMAL");
    }
    collect_normal normal(to_l2);
    return trace_through(
        b.model(), &normal, one, dp::pipeline_owner::now(), names,
        [&](pipeline::table_id table) { return b.compiler().choice(table)->which; });
  });
  // The L2 switch is asked afterwards: the owner of the pipeline does not wait for that of the FIB.
  auto asked = to_l2.begin();
  for (std::size_t i = 0; i < made.lines.size() && asked != to_l2.end(); ++i) {
    if (made.lines[i].hit != nullptr || made.lines[i].text != "NORMAL") continue;
    const unsigned depth = made.lines[i].depth + 1;
    for (std::string& text : ask_l2(*asked++, ports, made)) {
      made.lines.insert(made.lines.begin() + static_cast<std::ptrdiff_t>(++i),
                        {depth, std::move(text)});
    }
  }
  return made;
}

/// What it says, and copies for `to`.
std::vector<std::string> bridge_control::ask_l2(const pipeline::packet& one,
                                                const std::vector<dp::port_status>& ports,
                                                trace_answer& to) const {
  const auto from = std::ranges::find(ports, one.in_port, number_in_bridge);
  auto said = switch_.trace_l2(from != ports.end() ? from->number : dp::max_ports, one.bytes);
  if (!said) return {said.error().message()};
  std::vector<std::string> lines{
      (said->vlan != 0 ? "VLAN " + std::to_string(said->vlan) + ": " : "") + said->what};
  if (!said->limit.empty()) lines.push_back(said->limit);
  for (dp::l2_verdict::copy& each : said->copies) {
    const auto at = std::ranges::find(ports, each.port, &dp::port_status::number);
    const pipeline::port_no out =
        at != ports.end() ? number_in_bridge(*at) : dp::bridge_port(each.port, false);
    lines.push_back("output:" + name_of(out, names_of(ports)));
    if (!each.member.empty()) lines.push_back("by its member " + each.member);
    to.copies.push_back({{out, one.queue, std::move(each.bytes)}});
  }
  return lines;
}

std::vector<dp::port_status> bridge_control::ports_of_bridge() const {
  std::vector<dp::port_status> made = switch_.ports();
  std::erase_if(made, [&](const dp::port_status& each) { return each.config.bridge != bridge_; });
  return made;
}

ofp::port_names bridge_control::port_names() { return names_of(ports_of_bridge()); }

std::vector<ofp::port_facts> bridge_control::ports() {
  const auto in_bridge = owner_.ports();
  std::vector<ofp::port_facts> made;
  for (const dp::port_status& each : ports_of_bridge()) {
    const auto known = std::ranges::find(in_bridge, number_in_bridge(each),
                                         [](const auto& one) { return one.port.number; });
    if (known == in_bridge.end()) continue;  // it comes or goes just now
    ofp::port_facts one;
    one.number = known->port.number;
    one.name = each.config.name;
    std::ranges::copy(each.mac, one.mac.begin());
    one.link_up = each.link_up;
    const bool enabled = each.config.enabled && each.shut_down.empty();
    one.live = each.link_up && enabled;
    one.config = port_flags(known->port) | (enabled ? 0 : ofp::port_down);
    one.speed_mbps = each.link_mbps;
    one.added = known->added;
    if (const auto counters = switch_.port_counters(one.name)) count_port(*counters, one);
    made.push_back(std::move(one));
  }
  return made;
}

pipeline::of_result<void> bridge_control::set_port_config(pipeline::port_no number,
                                                          std::uint32_t config,
                                                          std::uint32_t mask) {
  // What may be refused comes first.
  if ((mask & ofp::port_down) != 0) {
    if (auto done = set_enabled(number, (config & ofp::port_down) == 0); !done) return done;
  }
  return owner_.change_port(number,
                            [&](pipeline::port& one) { set_port_flags(one, config, mask); });
}

pipeline::of_result<void> bridge_control::set_enabled(pipeline::port_no number, bool enabled) {
  // A file says this, too: nobody changes the port meanwhile.
  const auto hold = running_.changing_unless(leaving_);
  if (!hold)
    return pipeline::refuse(pipeline::of_error::port_mod_bad_port, "bridge " + bridge_,
                            "it is being removed");
  for (const dp::port_status& each : ports_of_bridge()) {
    if (number_in_bridge(each) != number) continue;
    dp::port_config wanted = each.config;
    wanted.enabled = enabled;
    const bool reopens = wanted.enabled && !each.shut_down.empty();
    if (wanted.enabled == each.config.enabled && !reopens) return {};
    if (auto done = reopens ? switch_.reopen_port(wanted.name) : switch_.update_port(wanted);
        !done) {
      return pipeline::refuse(pipeline::of_error::port_mod_bad_port, each.config.name,
                              done.error().message());
    }
    return {};
  }
  return pipeline::refuse(pipeline::of_error::port_mod_bad_port, "port " + std::to_string(number),
                          "there is no such port");
}

void bridge_control::listen(bridge_events to) {
  owner_.set_sink(std::move(to.packet_in));
  owner_.set_change_sink(std::move(to.changed));
}

unsigned bridge_control::n_tables() { return owner_.params().n_tables; }

std::uint64_t bridge_control::rules_max() { return owner_.params().rules_max; }

}  // namespace coua::ctl
