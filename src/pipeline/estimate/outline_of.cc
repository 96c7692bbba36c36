// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/outline_of.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "pipeline/compiler/decomposed_form.h"
#include "pipeline/compiler/other_rules.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/estimate/op_costs.h"

namespace coua::pipeline {
namespace {

constexpr std::size_t rules_looked_at = 1024;  // of a table
constexpr double line_size = 64;
constexpr double record_size = sizeof(action_record);
constexpr double burst_size = executor::burst_max;

/// What is known of the rules of a table: of some of them, shares of the packets.
struct rule_mix {
  op_costs::counts ops{};
  std::map<table_id, double> next;
  std::map<std::string, double> shapes;
  double apart = 0;         // whose ops are in a list of their own
  double bytes_of_ops = 0;  // of the lists, on average
  std::set<std::string> lists;
  double n_looked_at = 0;
  double prefix_bits = 0;  // of lpm: that a prefix has
};

/// Of the rules of a larger table some of those of a smaller one.
bool is_looked_at(rule_id id, std::size_t n) {
  const std::uint64_t drawn = (id + 1) * 0x9e37'79b9'7f4a'7c15 >> 32;
  const std::size_t one_in = std::bit_ceil((n + rules_looked_at - 1) / rules_looked_at);
  return drawn % one_in == 0;
}

/// Packets of a rule since a moment.
std::uint64_t met_since(const rule_table::entry& one, const met_until& moment) {
  const rule_id id = one.rule->id;
  const std::uint64_t met = one.state.counted.packets;
  if (id > moment.newest) return met;
  const auto before = moment.packets.find(id);
  if (before == moment.packets.end()) return 0;  // it was not looked at
  // Less than then: its counters were reset.
  return met < before->second ? met : met - before->second;
}

/// Shares of the packets of a table, by rule.
std::vector<double> shares_of(const std::vector<const rule_table::entry*>& rules,
                              const met_until* since) {
  std::vector<std::uint64_t> met(rules.size(), 0);
  std::uint64_t n = 0;
  if (since != nullptr) {
    for (std::size_t i = 0; i < rules.size(); ++i) n += met[i] = met_since(*rules[i], *since);
  }
  if (n == 0) {
    for (std::size_t i = 0; i < rules.size(); ++i) n += met[i] = rules[i]->state.counted.packets;
  }
  std::vector<double> shares;
  for (const std::uint64_t each : met) {
    shares.push_back(n == 0 ? 1 / static_cast<double>(met.size())
                            : static_cast<double>(each) / static_cast<double>(n));
  }
  return shares;
}

/// The codes of the ops of a rule, one character each; and how many they are.
std::string shape_of(const op_costs::counts& ops, bool goes_on) {
  std::string made(goes_on ? ">" : ".");
  for (std::size_t i = 0; i < n_atoms; ++i) {
    for (double n = ops[i]; n > 0; --n) made += static_cast<char>('a' + i);
  }
  return made;
}

std::size_t n_ops_of(const instructions& what) {
  return (what.meter ? 1 : 0) + (what.apply ? what.apply->size() : 0) +
         (what.clear_actions ? 1 : 0) + (what.write ? 1 : 0) + (what.metadata ? 1 : 0);
}

double prefix_bits_of(const match& what, std::optional<field> of) {
  if (!of) return 0;
  const match_term* term = what.find(*of);
  if (term == nullptr) return 0;
  unsigned n = 0;
  for (value128 left = term->mask; left != 0; left &= left - 1) ++n;
  return n;
}

rule_mix mix_of(const std::vector<const rule_table::entry*>& some, const met_until* since,
                op_costs& costs, std::optional<field> prefix_field) {
  rule_mix made;
  const std::vector<double> shares = shares_of(some, since);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const rule_table::entry* const each = some[i];
    const instructions& what = each->rule->instructions;
    const double share = shares[i];
    const op_costs::counts ops = costs.of(what);
    for (std::size_t k = 0; k < n_atoms; ++k) made.ops[k] += share * ops[k];
    if (what.goto_table) made.next[*what.goto_table] += share;
    for (const action& one : what.apply.value_or(action_list{})) {
      const auto* to = std::get_if<act::resubmit>(&one);
      if (to != nullptr) made.next[to->table.value_or(each->rule->table)] += share;
    }
    made.shapes[shape_of(ops, what.goto_table.has_value())] += share;
    made.prefix_bits += share * prefix_bits_of(each->rule->match, prefix_field);
    const std::size_t n_ops = n_ops_of(what);
    if (n_ops > action_record::n_inline || what.write) {
      made.apart += share;
      made.bytes_of_ops +=
          share * std::ceil(static_cast<double>(n_ops * sizeof(op)) / line_size) * line_size;
      made.lists.insert(to_string(what));
    }
  }
  made.n_looked_at = static_cast<double>(some.size());
  return made;
}

/// Builds an outline, table by table.
class outliner {
 public:
  outliner(const running_bridge& from, const met_until* since)
      : from_(from), model_(from.model()), since_(since), costs_(from.model()) {}

  pipeline_outline run() {
    add_always();
    visits_[0] = 1;
    for (unsigned i = 0; i < model_.tables().size(); ++i) {
      const auto table = static_cast<table_id>(i);
      if (from_.compiler().form(table) != nullptr) add_table(table);
    }
    for (const auto& [key, tables] : together_) add_ways(tables);
    return std::move(made_);
  }
  /// Of all rules that were looked at.
  met_until met() { return std::move(met_); }

 private:
  void add_always() {
    const net::parse_depth depth =
        from_.compiler().published().root.load(std::memory_order_relaxed)->depth;
    made_.always.push_back({atom::packet});
    if (depth >= net::parse_depth::network) made_.always.push_back({atom::parse_network});
    if (depth >= net::parse_depth::transport) made_.always.push_back({atom::parse_transport});
  }

  std::size_t area(double bytes) {
    made_.areas.push_back({static_cast<std::uint64_t>(std::max(bytes, line_size))});
    return made_.areas.size() - 1;
  }
  /// Memory of several tables, of which `key` is the beginning.
  std::size_t shared_area(const void* key, double bytes) {
    const auto [at, is_new] = shared_.try_emplace(key, 0);
    if (is_new) at->second = area(bytes);
    return at->second;
  }

  std::vector<const rule_table::entry*> look_at(const rule_table& rules) {
    std::vector<const rule_table::entry*> some;
    each_other_rule(rules, [&](const rule_table::entry& one) {
      const rule_id id = one.rule->id;
      met_.newest = std::max(met_.newest, id);
      if (!is_looked_at(id, rules.size())) return;
      some.push_back(&one);
      met_.packets.emplace(id, one.state.counted.packets);
    });
    return some;
  }

  void add_table(table_id id) {
    const table_stage& stage = from_.compiler().form(id)->stage();
    const rule_table& rules = model_.tables()[id];
    const rule_mix mix =
        mix_of(look_at(rules), since_, costs_, from_.compiler().choice(id)->prefix_field);
    stage_outline one;
    one.table = id;
    one.visits = visits_[id];
    const double n = static_cast<double>(rules.size());
    switch (stage.kind) {
      case table_template::direct: add_direct(one, *stage.direct.load()); break;
      case table_template::exact: add_exact(one, *stage.exact); break;
      case table_template::lpm: add_prefixes(one, *stage.prefixes, mix, n); break;
      case table_template::decomposed:
        add_decomposed(one, static_cast<const decomposed_form&>(*from_.compiler().form(id)), n);
        break;
      case table_template::classifier: add_wildcard(one, *stage.wildcard, n); break;
    }
    const direct_table* const rules_apart = stage.rules_apart();
    if (rules_apart != nullptr) add_direct(one, *rules_apart);
    const table_form::sharing shared = from_.compiler().form(id)->shared();
    const double n_sharing = static_cast<double>(shared.rules);
    if (n_sharing < n)
      one.lines.push_back({area((n - n_sharing) * record_size), 1 - n_sharing / n});
    if (n_sharing > 0) {
      const auto n_records = static_cast<double>(shared.records);
      one.lines.push_back({area(n_records * record_size), n_sharing / n});
    }
    // Counters are written: what is not kept goes back to where it came from.
    one.lines.push_back({area(n * sizeof(worker_counts::cell)), 2});
    add_joined(one);
    if (mix.apart > 0) {
      // As many lists as rules, if those that were looked at are all different.
      const double n_lists = static_cast<double>(mix.lists.size()) * n / mix.n_looked_at;
      const double n_kept =
          mix.lists.size() * 2 > mix.n_looked_at ? n_lists : static_cast<double>(mix.lists.size());
      const double bytes = mix.bytes_of_ops / mix.apart;
      one.lines.push_back({area(n_kept * bytes), mix.bytes_of_ops / line_size});
    }
    for (std::size_t i = 0; i < n_atoms; ++i) {
      if (mix.ops[i] > 0) one.atoms.push_back({static_cast<atom>(i), mix.ops[i], mix.ops[i]});
    }
    add_shapes(one, mix);
    send_on(one, rules, mix);
    const void* key = rules_apart != nullptr                ? static_cast<const void*>(&stage)
                      : stage.kind == table_template::exact ? stage.exact
                      : stage.kind == table_template::lpm
                          ? static_cast<const void*>(stage.prefixes->is_ipv4() ? &ipv4_ : &ipv6_)
                          : &stage;
    together_[key].push_back(made_.stages.size());
    made_.stages.push_back(std::move(one));
  }

  /// Packets that meet joined rules are looked up, and counted, once for both tables, at the first
  /// one.
  void add_joined(stage_outline& one) {
    const table_joiner& joined = from_.compiler().joined();
    if (joined.entries() == nullptr) return;
    const double share = joined.share_met(one.table);
    for (atom_use& each : one.atoms) {
      each.fewest *= 1 - share;
      each.most *= 1 - share;
    }
    for (line_use& each : one.lines) each.lines *= 1 - share;
    if (one.table != 0) return;
    add_exact(one, *joined.entries());
    const auto n = static_cast<double>(joined.n_pairs());
    one.lines.push_back({area(n * record_size), share});
    one.lines.push_back({area(n * sizeof(worker_counts::cell)), 2 * share});
  }

  static void add_direct(stage_outline& one, const direct_table& table) {
    if (table.rows.n_words == 0) return one.atoms.push_back({atom::all_packets});
    const double words = table.rows.n_words;
    const unsigned n_groups = table.rows.n_rules / simd::direct_rules::group;
    const double groups = n_groups;
    const double least = table.is_of_port ? 0 : 1;  // once for a burst of one port
    one.atoms.push_back({atom::direct, least, 1});
    one.atoms.push_back({atom::direct_word, least * (words - 1), words - 1});
    one.atoms.push_back({atom::direct_rows, least * words * (groups - 1), words * (groups - 1)});
  }

  void add_exact(stage_outline& one, const exact_store& store) {
    const double further = store.stride() - 2;
    one.atoms.push_back({atom::exact});
    one.atoms.push_back({atom::exact_word, further, further});
    // A bucket has a line and eight slots. Of those that are used some lines are touched.
    const double slot = (store.stride() + 1) * sizeof(std::uint64_t);
    const auto n_buckets = static_cast<double>(store.n_buckets());
    const double n = static_cast<double>(store.size());
    const auto* key = reinterpret_cast<const char*>(&store);
    one.lines.push_back({shared_area(key, std::min(n_buckets, n) * line_size), 1.1});
    one.lines.push_back({shared_area(key + 1, std::min(n_buckets * 8 * slot, n * line_size)),
                         1 + (slot - sizeof(std::uint64_t)) / line_size});
  }

  /// A set, which an exact look-up leads to, is compared with as the rows of a direct table, or
  /// looked up as one of prefixes; packets meet both as often as rules are there.
  void add_decomposed(stage_outline& one, const decomposed_form& form, double n) {
    const decomposed_table& of = *form.stage().decomposed;
    add_exact(one, *of.by_value);
    const decomposed_form::in_prefixes prefixes = form.prefixes();
    const double share = n > 0 ? std::min(static_cast<double>(prefixes.rules) / n, 1.0) : 0;
    if (share > 0) {
      const auto bytes = static_cast<double>(prefixes.bytes);
      one.atoms.push_back({atom::lpm, share, share});
      one.atoms.push_back({atom::lpm_group, 0, share});
      // The root, a group and the prefix.
      const double n_rules = static_cast<double>(prefixes.rules);
      one.lines.push_back({area(std::min(bytes, 3 * n_rules * line_size)), 3 * share});
    }
    if (share < 1) {
      const double n_sets = std::max(static_cast<double>(of.by_value->size() - prefixes.sets), 1.0);
      const double of_sets = std::max(
          static_cast<double>(form.bytes() - of.by_value->bytes() - prefixes.bytes), line_size);
      one.atoms.push_back({atom::direct, 1 - share, 1 - share});
      one.lines.push_back(
          {area(of_sets), (1 - share) * std::max(of_sets / n_sets / line_size, 1.0)});
    }
    const direct_table* const apart = of.apart->load();
    if (apart != nullptr && apart->n_rules != 0) add_direct(one, *apart);
  }

  static constexpr double group_bytes = 1024;
  template <class Address>
  void add_trie(stage_outline& one, const lpm_table<Address>& of, const rule_mix& mix, double n) {
    const double root = std::min(std::ldexp(4.0, static_cast<int>(of.root_bits())), n * line_size);
    const double n_groups = static_cast<double>(of.stats().groups);
    const double below = std::max(mix.prefix_bits - of.root_bits(), 0.0) / 8;
    const double on_way = n_groups == 0 ? 0 : std::ceil(below);
    one.atoms.push_back({atom::lpm});
    one.atoms.push_back({atom::lpm_group, 0, on_way});
    one.lines.push_back({area(root), 1});
    if (on_way > 0)
      one.lines.push_back({area(std::min(n_groups * group_bytes, n * line_size)), on_way});
    // Sometimes the first prefix that is met is not the one that matches.
    one.lines.push_back({area(n * (sizeof(Address) + 12)), 1.3});
  }
  void add_prefixes(stage_outline& one, const prefix_table& of, const rule_mix& mix, double n) {
    if (of.is_ipv4()) {
      add_trie(one, *of.ipv4, mix, n);
    } else {
      add_trie(one, *of.ipv6, mix, n);
    }
  }

  void add_wildcard(stage_outline& one, const wildcard_table& of, double n) {
    coua_classifier_stats stats{};
    stats.size = sizeof stats;
    of.rules().get_stats(stats);
    const double further = std::max(static_cast<double>(stats.masks) - 1, 0.0);
    one.atoms.push_back({atom::classifier});
    one.atoms.push_back({atom::classifier_mask, 0, further});
    one.lines.push_back(
        {area(std::min(static_cast<double>(stats.bytes), 2 * n * line_size)), 2 + further});
  }

  /// Lists of ops that a burst is likely to meet besides the first one.
  static void add_shapes(stage_outline& one, const rule_mix& mix) {
    const double n = burst_size * std::min(one.visits, 1.0);
    if (n <= 1) return;
    double met = 0;
    for (const auto& [shape, share] : mix.shapes) met += 1 - std::pow(1 - share, n);
    if (met > 1) one.atoms.push_back({atom::shape, 0, (met - 1) / one.visits});
  }

  void send_on(const stage_outline& one, const rule_table& rules, const rule_mix& mix) {
    const double found = rules.lookups == 0 ? 1
                                            : static_cast<double>(rules.matches) /
                                                  static_cast<double>(rules.lookups);
    for (const auto& [table, share] : mix.next) visits_[table] += one.visits * found * share;
  }

  /// Of tables that are looked up together: how often they are called for besides once a burst.
  void add_ways(const std::vector<std::size_t>& tables) {
    double visits = 0;
    unsigned n_visited = 0;
    for (const std::size_t each : tables) {
      visits += made_.stages[each].visits;
      n_visited += made_.stages[each].visits > 0 ? 1 : 0;
    }
    if (visits <= 0) return;
    const double calls = 1 - std::pow(1 - std::min(visits, 1.0), burst_size);
    const double further = std::max(calls - visits, 0.0) / visits;
    for (const std::size_t each : tables) {
      if (further > 0) made_.stages[each].atoms.push_back({atom::call, 0, further});
      if (n_visited > 1) made_.stages[each].atoms.push_back({atom::apart, 0, 1});
    }
  }

  const running_bridge& from_;
  const bridge& model_;
  const met_until* const since_;
  met_until met_;
  op_costs costs_;
  pipeline_outline made_;
  double visits_[n_tables_max + 1] = {};
  std::map<const void*, std::size_t> shared_;
  std::map<const void*, std::vector<std::size_t>> together_;
  char ipv4_ = 0, ipv6_ = 0;  // stand for all tables of prefixes of a kind
};

}  // namespace

pipeline_outline outline_of(const running_bridge& what, met_until* until) {
  outliner of(what, until);
  pipeline_outline made = of.run();
  if (until != nullptr) *until = of.met();
  return made;
}

}  // namespace coua::pipeline
