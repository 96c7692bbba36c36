// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/probe_rules.h"

#include <utility>

#include "base/check.h"
#include "net/ethernet.h"
#include "net/ip_protocol.h"
#include "pipeline/estimate/pipeline_probe.h"

namespace coua::pipeline {
namespace {

using operations = std::vector<operation>;
using probe = pipeline_probe;

constexpr table_id last_table = 20;    // of a way through several
constexpr table_id unused_table = 30;  // whose rules only make packets parsed deeper

match match_of(std::vector<match_term> terms) {
  auto made = match::make(std::move(terms));
  COUA_CHECK(made.has_value());
  return std::move(*made);
}
match_term is_ip() { return exact(field::eth_type, net::ethertype_ipv4); }
match_term is_tcp() { return exact(field::ip_proto, net::ip_proto_tcp); }
/// One of the kinds of packets in `n`.
match_term one_in(unsigned n, unsigned which) { return {field::eth_dst, which, n - 1}; }

rule_mod rule_with(table_id table, std::vector<match_term> terms, action_list actions) {
  rule_mod made;
  made.table = table;
  made.match = match_of(std::move(terms));
  made.instructions.apply = std::move(actions);
  return made;
}
rule_mod rule_on(table_id table, std::vector<match_term> terms, table_id next) {
  rule_mod made;
  made.table = table;
  made.match = match_of(std::move(terms));
  made.instructions.goto_table = next;
  return made;
}
act::output out() { return {probe::out_port}; }

/// A table with `n` rules, with the terms of `terms_of(i)`, before the last one.
template <class TermsOf>
operations before_last(unsigned n, TermsOf terms_of) {
  operations made{rule_with(last_table, {}, {out()})};
  for (unsigned i = 0; i < n; ++i) made.emplace_back(rule_on(0, terms_of(i), last_table));
  return made;
}

operations one_rule(std::vector<match_term> terms, action_list actions) {
  actions.emplace_back(out());
  return {rule_with(0, std::move(terms), std::move(actions))};
}

operations exact_tables(bool wide) {
  return before_last(probe::n_kinds, [wide](unsigned kind) {
    std::vector<match_term> terms{exact(field::eth_dst, probe::eth_dst(kind))};
    if (!wide) return terms;
    terms.insert(terms.end(),
                 {is_ip(), is_tcp(), exact(field::ipv4_src, probe::ip_src(kind)),
                  exact(field::ipv4_dst, probe::ip_dst(kind)),
                  exact(field::tcp_src, probe::tcp_src), exact(field::tcp_dst, probe::tcp_dst)});
    return terms;
  });
}

/// A prefix for each kind of packet, and one below all of them: those of one length would be an
/// exact table.
operations prefixes(field which, std::uint32_t address_of(unsigned), std::uint32_t mask) {
  operations made = before_last(probe::n_kinds, [=](unsigned kind) {
    return std::vector{is_ip(), match_term{which, address_of(kind) & mask, mask}};
  });
  rule_mod shorter = rule_on(0, {is_ip(), match_term{which, 0, 0x8000'0000}}, last_table);
  --shorter.priority;
  made.emplace_back(std::move(shorter));
  return made;
}

/// Each mask leaves out two of the bits that tell kinds apart, so that all of them have but one of
/// these in common: such a table is not split (decompose.h).
operations with_masks(unsigned n_masks) {
  return before_last(probe::n_kinds, [n_masks](unsigned kind) {
    constexpr std::uint64_t all = (std::uint64_t{1} << 48) - 1;
    const unsigned which = (kind ^ kind >> 2 ^ kind >> 4) % n_masks;
    const std::uint64_t left_out =
        (1 + std::uint64_t{which}) << 20 | 1U << (1 + which % 5) | 1U << (1 + (which + 2) % 5);
    const std::uint64_t mask = all & ~left_out;
    return std::vector{match_term{field::eth_dst, probe::eth_dst(kind) & mask, mask}};
  });
}

/// A direct table that sends packets to tables 1 to 8, to which `add_table(made, table)` adds.
template <class AddTable>
operations eight_ways(AddTable add_table) {
  operations made{rule_with(last_table, {}, {out()})};
  for (unsigned i = 0; i < 8; ++i) {
    const auto table = static_cast<table_id>(1 + i);
    made.emplace_back(rule_on(0, {one_in(8, i)}, table));
    add_table(made, table);
  }
  return made;
}

operations eight_exact() {
  return eight_ways([](operations& made, table_id table) {
    // More than a direct table holds: three for each kind that comes here.
    for (unsigned kind = table - 1; kind < probe::n_kinds; kind += 8) {
      for (unsigned other = 0; other < 3; ++other) {
        const std::uint64_t mac = probe::eth_dst(kind) + (other << 16);
        made.emplace_back(rule_on(table, {exact(field::eth_dst, mac)}, last_table));
      }
    }
  });
}

operations eight_rules(bool with_ops) {
  operations made;
  for (unsigned i = 0; i < 8; ++i) {
    action_list actions;
    for (unsigned n = 0; with_ops && n < i; ++n) actions.emplace_back(act::set_queue{n});
    actions.emplace_back(out());
    made.emplace_back(rule_with(0, {one_in(8, i)}, std::move(actions)));
  }
  return made;
}

operations by_set() {
  rule_mod only = rule_with(0, {}, {});
  only.instructions.apply.reset();
  only.instructions.write = action_list{out()};
  return {only};
}

operations by_group() {
  group_mod add;
  add.what.id = 1;
  add.what.type = group_type::select;
  for (const port_no port : {probe::out_port, probe::other_port}) {
    bucket one;
    one.weight = 1;
    one.actions = {act::output{port}};
    add.what.buckets.push_back(one);
  }
  return {add, rule_with(0, {}, {act::group{1}})};
}

operations metered() {
  meter_mod add;
  add.what.id = 1;
  add.what.bands.push_back({band_type::drop, 1U << 31, 0, 0});
  rule_mod only = rule_with(0, {}, {out()});
  only.instructions.meter = 1;
  return {add, only};
}

operations rules_alone(small_pipeline which) {
  using enum small_pipeline;
  switch (which) {
    case link:
    case network:
    case whole: return one_rule({}, {});
    case dropped: return {rule_with(0, {}, {})};
    case two_tables: return {rule_with(last_table, {}, {out()}), rule_on(0, {}, last_table)};
    case direct_8:
    case direct_16: {
      const unsigned n = which == direct_8 ? 8 : 16;
      return before_last(n, [n](unsigned i) { return std::vector{one_in(n, i)}; });
    }
    case direct_wide:
      return before_last(8, [](unsigned i) {
        return std::vector{one_in(8, i),
                           is_ip(),
                           is_tcp(),
                           match_term{field::ipv4_src, 0, 1 << 20},
                           pipeline::exact(field::tcp_dst, probe::tcp_dst),
                           pipeline::exact(field::in_port, probe::in_port),
                           pipeline::exact(field::metadata, 0)};
      });
    case exact: return exact_tables(false);
    case exact_wide: return exact_tables(true);
    case lpm: return prefixes(field::ipv4_src, probe::ip_src, 0xff00'0000);
    case lpm_group: return prefixes(field::ipv4_dst, probe::ip_dst, 0xffff'0000);
    case masks_4: return with_masks(4);
    case masks_16: return with_masks(16);
    case eight_direct:
      return eight_ways([](operations& made, table_id table) {
        made.emplace_back(rule_on(table, {}, last_table));
      });
    case eight_exact: return pipeline::eight_exact();
    case one_shape: return eight_rules(false);
    case eight_shapes: return eight_rules(true);
    case push: return one_rule({}, {act::push_vlan{}});
    case note: return one_rule({}, {act::set_queue{1}});
    case copy: return one_rule({}, {act::output{probe::other_port}});
    case write_set: return by_set();
    case group: return by_group();
    case meter: return metered();
    case ip: return one_rule({is_ip()}, {});
    case set_mac: return one_rule({is_ip()}, {act::set(field::eth_dst, 1)});
    case set_ip: return one_rule({is_ip()}, {act::set(field::ipv4_dst, 1)});
    case set_field: return one_rule({is_ip()}, {act::set(field::ip_dscp, 1)});
    case decrement: return one_rule({is_ip()}, {act::dec_ip_ttl{}});
    case tagged:
    case pop: {
      const match_term has_tag = pipeline::exact(field::vlan_vid, vlan_present | 1);
      return one_rule({has_tag}, which == pop ? action_list{act::pop_vlan{}} : action_list{});
    }
  }
  return {};
}

}  // namespace

std::vector<operation> rules_of(small_pipeline which) {
  operations made = rules_alone(which);
  if (which == small_pipeline::network) {
    made.emplace_back(rule_with(unused_table, {is_ip(), exact(field::ipv4_dst, 1)}, {}));
  } else if (which != small_pipeline::link) {
    made.emplace_back(rule_with(unused_table, {is_ip(), is_tcp(), exact(field::tcp_dst, 1)}, {}));
  }
  return made;
}

}  // namespace coua::pipeline
