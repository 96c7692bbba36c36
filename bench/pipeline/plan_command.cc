// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/plan_command.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/clock.h"
#include "bench/cases/rule_words.h"
#include "bench/harness/population.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"
#include "pipeline/compiler/running_bridge.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr std::uint64_t bridge_tables = 250;

/// Bridges with so many tables in all, which share no key with another.
class many_tables {
 public:
  static result<many_tables> create(std::uint64_t n_tables, std::uint64_t n_rules) {
    many_tables made;
    made.n_rules_ = n_rules;
    const std::uint64_t n_bridges = (n_tables + bridge_tables - 1) / bridge_tables;
    for (std::uint64_t i = 0; i < n_bridges; ++i) {
      // As many in each, but for the rest.
      const std::uint64_t n = n_tables / n_bridges + (i < n_tables % n_bridges);
      bridge_params params;
      params.n_tables = static_cast<unsigned>(n);
      auto one = running_bridge::create(params);
      if (!one) return tl::unexpected(one.error());
      made.bridges_.push_back(std::move(*one));
      std::vector<operation> bundle{port_mod{mod_command::add, made.port_}};
      for (std::uint64_t t = 0; t < n; ++t) {
        for (std::uint64_t r = 0; r < n_rules; ++r) bundle.push_back(made.rule_of(t, r));
      }
      if (auto done = made.bridges_.back()->apply(bundle, now_ns()); !done) {
        return fail(errc::no_room, "plan", done.error().message());
      }
    }
    return made;
  }

  /// Each bridge does make(): the time of all, in ms.
  template <class Make>
  result<double> time(Make make) {
    const std::uint64_t start = now_ns();
    for (auto& each : bridges_) {
      const operation one = make();
      if (auto done = each->apply(one, start); !done) {
        return fail(errc::io, "plan", done.error().message());
      }
    }
    const double ms = static_cast<double>(now_ns() - start) * 1e-6;
    for (auto& each : bridges_) (void)each->reclaim();
    return ms;
  }

  /// Every plan is made anew: all of them refer to the list of ports.
  result<double> change_a_port() {
    port_.no_flood = !port_.no_flood;
    return time([&] { return port_mod{mod_command::modify, port_}; });
  }
  /// In place: none is.
  result<double> add_a_rule() {
    return time([&] { return rule_of(at_, n_rules_); });
  }
  result<double> remove_the_rule() {
    const std::uint64_t table = at_;
    at_ = (at_ + 1) % bridges_.back()->model().tables().size();
    return time([&] {
      rule_mod one = rule_of(table, n_rules_);
      one.command = rule_command::remove_strict;
      return one;
    });
  }
  std::size_t bridges() const { return bridges_.size(); }

 private:
  rule_mod rule_of(std::uint64_t table, std::uint64_t i) const {
    return rule_for(static_cast<table_id>(table),
                    {exact(field::eth_dst, population::mac(table << 20 | i))},
                    {act::output{port_.number}});
  }

  std::vector<std::unique_ptr<running_bridge>> bridges_;
  port port_{.number = 1};
  std::uint64_t n_rules_ = 0;
  std::uint64_t at_ = 0;
};

row make_row(const char* name, std::uint64_t n_tables, const many_tables& of,
             const std::vector<double>& ms) {
  row one;
  one.name = name;
  one.params = {{"tables", n_tables}, {"bridges", of.bridges()}};
  const summary all = summarise(ms);
  one.spread = all.spread;
  one.more["ms"] = all.median;
  one.more["longest_ms"] = *std::max_element(ms.begin(), ms.end());
  return one;
}

}  // namespace

result<report> run_plan(const plan_options& options) {
  report out;
  out.bench = "plan";
  out.params = {{"rules", options.rules}, {"repetitions", options.run.repetitions}};
  progress told("plan");
  for (const std::uint64_t n : options.tables) {
    told.step("adding the rules");
    auto made = many_tables::create(n, options.rules);
    if (!made) return tl::unexpected(made.error());
    std::vector<double> rebuild, add, remove;
    // The first ones touch memory that nobody has touched.
    for (unsigned i = 0; i < options.run.repetitions + 2; ++i) {
      const auto port = made->change_a_port();
      const auto more = made->add_a_rule();
      const auto less = made->remove_the_rule();
      for (const auto* each : {&port, &more, &less}) {
        if (!*each) return tl::unexpected(each->error());
      }
      if (i < 2) continue;
      rebuild.push_back(*port);
      add.push_back(*more);
      remove.push_back(*less);
    }
    out.rows.push_back(make_row("plan/rebuild", n, *made, rebuild));
    out.rows.push_back(make_row("plan/add-rule", n, *made, add));
    out.rows.push_back(make_row("plan/remove-rule", n, *made, remove));
  }
  return out;
}

}  // namespace coua::bench
