// SPDX-License-Identifier: Apache-2.0
#include "ctl/pipeline_control.h"

#include <string_view>

namespace coua::ctl {
namespace {

bool differ(const pipeline::rule& a, const pipeline::rule& b) {
  return a.instructions != b.instructions || a.cookie != b.cookie || a.flags != b.flags ||
         a.idle_timeout_s != b.idle_timeout_s || a.hard_timeout_s != b.hard_timeout_s;
}
bool differ(const pipeline::group& a, const pipeline::group& b) {
  return a.type != b.type || a.buckets != b.buckets;
}
bool differ(const pipeline::meter& a, const pipeline::meter& b) { return a != b; }

class named_words final : public pipeline::trace_words {
 public:
  explicit named_words(const ofp::port_names& names) : names_(names) {}
  std::string port(pipeline::port_no number) const override { return name_of(number, names_); }
  std::string rule(const pipeline::rule& one) const override {
    return ofp::print_rule(one, names_);
  }
  std::string actions(const pipeline::action_list& list) const override {
    pipeline::rule one;
    one.instructions.apply = list;
    const std::string text = rule(one);
    constexpr std::string_view before = "actions=";
    const std::size_t at = text.find(before);
    return at == std::string::npos ? pipeline::to_string(list) : text.substr(at + before.size());
  }

 private:
  const ofp::port_names& names_;
};

struct is_change {
  bool operator()(const pipeline::port_change&) const { return false; }
  template <class Change>
  bool operator()(const Change& one) const {
    return one.before == nullptr || one.after == nullptr || differ(*one.before, *one.after);
  }
};

}  // namespace

std::string name_of(pipeline::port_no number, const ofp::port_names& names) {
  const auto found = names.all().find(number);
  const bool has_name = found != names.all().end() && number != pipeline::port_local;
  return has_name ? found->second : pipeline::port_name(number);
}

std::size_t count_changes(const pipeline::change_list& done) {
  std::size_t n = 0;
  for (const pipeline::change& one : done) n += std::visit(is_change(), one) ? 1 : 0;
  return n;
}

void set_port_flags(pipeline::port& of, std::uint32_t config, std::uint32_t mask) {
  if ((mask & ofp::port_no_recv) != 0) of.no_recv = (config & ofp::port_no_recv) != 0;
  if ((mask & ofp::port_no_fwd) != 0) of.no_fwd = (config & ofp::port_no_fwd) != 0;
  if ((mask & ofp::port_no_packet_in) != 0) {
    of.no_packet_in = (config & ofp::port_no_packet_in) != 0;
  }
}

std::uint32_t port_flags(const pipeline::port& of) {
  return (of.no_recv ? ofp::port_no_recv : 0) | (of.no_fwd ? ofp::port_no_fwd : 0) |
         (of.no_packet_in ? ofp::port_no_packet_in : 0);
}

std::vector<group_record> list_groups(const pipeline::bridge& in, pipeline::group_id first,
                                      std::size_t most) {
  std::vector<group_record> made;
  for (auto at = in.groups().lower_bound(first); at != in.groups().end() && made.size() < most;
       ++at)
    made.push_back({at->second.group, at->second.state});
  return made;
}

std::vector<meter_record> list_meters(const pipeline::bridge& in, pipeline::meter_id first,
                                      std::size_t most) {
  std::vector<meter_record> made;
  for (auto at = in.meters().lower_bound(first); at != in.meters().end() && made.size() < most;
       ++at)
    made.push_back({at->second.meter, at->second.state});
  return made;
}

pipeline_status status_of(const pipeline::bridge& in) {
  pipeline_status made;
  made.rules = in.n_rules();
  made.groups = in.groups().size();
  made.meters = in.meters().size();
  made.version = in.version();
  for (std::size_t id = 0; id < in.tables().size(); ++id) {
    const pipeline::rule_table& table = in.tables()[id];
    if (table.size() == 0 && table.lookups == 0) continue;
    made.tables.push_back(
        {static_cast<pipeline::table_id>(id), table.size(), table.lookups, table.matches});
  }
  return made;
}

trace_answer trace_standalone(std::string then) {
  trace_answer made;
  made.lines.push_back({0, standalone_text});
  made.lines.push_back({1, std::move(then)});
  return made;
}

trace_answer trace_through(
    const pipeline::bridge& in, pipeline::normal_switch* normal, const pipeline::packet& one,
    pipeline::time_ns now, const ofp::port_names& names,
    const std::function<pipeline::table_template(pipeline::table_id)>& template_of) {
  const named_words words(names);
  pipeline::oracle judge(in, normal, pipeline::meter_mode::passed, words);
  trace_answer made;
  pipeline::verdict said = judge.receive(one, now, pipeline::trace_mode::on);
  for (pipeline::trace_line& each : said.trace) {
    trace_answer::line line{each.depth, std::move(each.text), std::move(each.hit), std::nullopt};
    if (line.hit != nullptr) line.found_by = template_of(line.hit->table);
    made.lines.push_back(std::move(line));
  }
  for (pipeline::sent& each : said.outputs) made.copies.push_back({std::move(each)});
  made.packet_ins = std::move(said.packet_ins);
  return made;
}

}  // namespace coua::ctl
