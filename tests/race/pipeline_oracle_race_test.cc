// SPDX-License-Identifier: Apache-2.0
//
// Bursts against random operations and bundles, with the oracle to say afterwards what was right. A
// batch sees one version throughout, so of all versions from the one that was published before a
// burst to the last one that was begun when it was over, one must explain the whole burst: every
// copy, to the bit.
//
//   writer   operations --> bridge, and the log: which version each made
//   reader   bursts     --> executor, and what came of each, with the versions of before and after
//   then     the log, version by version, into a model; bursts of that version through its oracle
//
// Counters, and what packets learn, are those of the versions that were met: the sequential test
// (tests/pipeline/model_test.cc) compares them, and meters, for which order counts.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/model/test_model.h"
#include "race.h"
#include "random_pipeline.h"
#include "test_deliveries.h"

namespace coua::test {
namespace {

using namespace pipeline;

constexpr time_ns now = 1;
const bridge_params params{.n_tables = pipeline_tables, .rules_max = 4096};

struct logged_change {
  version_no version;
  std::vector<operation> bundle;
};
struct logged_burst {
  version_no first, last;  // one of them it saw
  bool changed;            // another version was published meanwhile
  std::vector<std::size_t> packets;
  std::vector<delivered> got;
};

/// Copies take their time, so that versions pass by in the middle of a burst on any machine.
class slow_buffers final : public test_buffers {
 public:
  bool copy(const owned_packet& from, owned_packet& to) noexcept override {
    if (++n_copies_ % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    return test_buffers::copy(from, to);
  }

 private:
  unsigned n_copies_ = 0;
};

class oracle_race {
 public:
  oracle_race(profile is, std::uint64_t number) : is_(is), random_(number) {
    constexpr template_limits limits[] = {{}, no_mixed_tables, {.direct_long = 0}};
    auto made = running_bridge::create(
        params,
        {.limits = limits[number / 2 % std::size(limits)], .share_from = 1, .join_after = 0});
    COUA_CHECK(made.has_value());
    bridge_ = std::move(*made);
    apply(way_through(is));
    for (table_id table = 1; table < pipeline_tables; ++table) {
      for (int i = 0; i < 40; ++i) apply({random_simple_rule(random_(), table)});
    }
    for (int i = 0; i < 100; ++i) apply(some_operations(1));
    for (int i = 0; i < 1000; ++i) packets_.push_back(random_packet(random_()));
  }

  void write(const std::atomic<bool>& stop) {
    while (!stop.load()) {
      apply(next_bundle());
      if (random_() % 4 == 0) bridge_->reclaim();
      if (random_() % 2 == 0) bridge_->tend(now);
      for (unsigned table = 0; table < pipeline_tables; ++table) {
        const table_form* form = bridge_->compiler().form(static_cast<table_id>(table));
        if (form != nullptr) met[static_cast<std::size_t>(form->kind())] = true;
      }
    }
  }

  void read(const std::atomic<bool>& stop, std::mt19937_64 random) {
    const std::atomic<version_no>& version = bridge_->compiler().published().version;
    worker_counts& counts = bridge_->compiler().counts(0);
    auto made = executor::create(bridge_->compiler().published(), 0, counts, buffers_);
    COUA_CHECK(made.has_value());
    executor& worker = **made;
    while (!stop.load()) {
      logged_burst one;
      std::vector<executor::arrival> burst;
      const std::size_t n_packets = random() % 16 == 0 ? executor::burst_max : 1 + random() % 12;
      for (std::size_t n = n_packets; n > 0; --n) {
        one.packets.push_back(random() % packets_.size());
      }
      if (random() % 4 == 0) {
        // A train, or nearly one.
        one.packets.assign(executor::burst_max, one.packets[0]);
        if (random() % 2 == 0) one.packets[1] = random() % packets_.size();
      }
      for (const std::size_t each : one.packets) {
        burst.push_back({buffers_.make(packets_[each].bytes), packets_[each].in_port});
      }
      const std::uint64_t n_beyond = counts.drops(pipeline_drop::too_many);
      one.first = version.load();
      worker.run(burst, now);
      const version_no after = version.load();
      one.last = begun_.load();
      one.changed = after != one.first;
      one.got = take_deliveries(worker, buffers_);
      ++n_run;
      // Which copies went where there was no room for all is not said; long ones are left to the
      // sequential test.
      if (counts.drops(pipeline_drop::too_many) != n_beyond || one.got.size() > 2000) continue;
      std::atomic<std::size_t>& n_kept = one.changed ? n_changed : n_unchanged;
      if (n_kept >= (one.changed ? kept_max : kept_max / 4)) continue;
      bursts_.push_back(std::move(one));
      ++n_kept;
    }
  }

  /// What is wrong with the bursts.
  void check(fault_log& faults) {
    bridge model = pipeline::test::make_bridge(params);
    oracle by(model, &two_port_switch());
    auto next = changes_.begin();
    std::vector<bool> right(bursts_.size());
    std::size_t from = 0;  // those before it are of earlier versions
    for (version_no at = 0; from < bursts_.size(); ++at) {
      for (; next != changes_.end() && next->version == at; ++next) {
        COUA_CHECK(model.apply(next->bundle, now).has_value());
      }
      for (std::size_t i = from; i < bursts_.size() && bursts_[i].first <= at; ++i) {
        if (!right[i] && at <= bursts_[i].last) right[i] = explains(by, model, bursts_[i]);
      }
      for (; from < bursts_.size() && bursts_[from].last <= at; ++from) {
        const logged_burst& one = bursts_[from];
        if (!right[from]) {
          faults.report("no version explains a burst", from, one.first, one.last);
        }
      }
    }
  }

  // Bursts that are kept of each kind, and all that were run.
  static constexpr std::size_t kept_max = 120;
  std::atomic<std::size_t> n_changed = 0, n_unchanged = 0;
  std::size_t n_run = 0;
  std::array<bool, n_table_templates> met{};
  std::size_t n_changes() const { return changes_.size(); }

 private:
  std::vector<operation> some_operations(unsigned n) {
    std::vector<operation> made;
    while (made.size() < n) {
      operation one = random_operation(random_(), is_);
      if (!std::holds_alternative<meter_mod>(one)) made.push_back(std::move(one));
    }
    return made;
  }

  std::vector<operation> next_bundle() {
    const std::uint64_t what = random_() % 16;
    const auto table = static_cast<table_id>(random_() % pipeline_tables);
    if (what < 4) return some_operations(2 + random_() % 6);
    if (what == 4) return {random_thinning(random_())};
    if (what < 9) return {random_simple_rule(random_(), table)};
    if (what == 9 && bridge_->model().n_rules() > 400) {
      // All rules of a table at once; at every version there is a way through it.
      return {pipeline::test::change_rules(rule_command::remove, table, 0, {}), way_through(table)};
    }
    return some_operations(1);
  }

  void apply(std::vector<operation> bundle) {
    const std::atomic<version_no>& version = bridge_->compiler().published().version;
    begun_.store(version.load() + 1);
    if (!bridge_->apply(bundle, now)) return;
    changes_.push_back({version.load(), std::move(bundle)});
  }

  bool explains(oracle& by, const bridge& model, const logged_burst& one) const {
    const outcome got = outcome_of(one.got, model);
    outcome expected;
    for (const std::size_t each : one.packets) {
      expected.add(by.receive(packets_[each], now));
      if (expected.outputs.size() > got.outputs.size()) return false;
    }
    return got == expected;
  }

  const profile is_;
  std::mt19937_64 random_;  // the writer's
  std::unique_ptr<running_bridge> bridge_;
  std::vector<packet> packets_;
  slow_buffers buffers_;  // the reader's
  std::atomic<version_no> begun_{0};
  std::vector<logged_change> changes_;
  std::vector<logged_burst> bursts_;  // by `first`, and by `last`
};

TEST(pipeline_oracle_race, one_version_explains_each_burst) {
  constexpr std::size_t rounds = 8, changed_min = 60;
  std::array<bool, n_table_templates> met{};
  std::size_t n_run = 0, n_changed = 0, n_unchanged = 0, n_changes = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    oracle_race all(round % 2 == 0 ? profile::plain : profile::resubmitting, round);
    std::atomic<bool> stop{false};
    std::thread reader([&] { all.read(stop, std::mt19937_64(round)); });
    std::thread writer([&] { all.write(stop); });
    race_until([&] { return all.n_changed >= changed_min; },
               [](auto&) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    stop.store(true);
    writer.join();
    reader.join();
    EXPECT_GE(all.n_changed.load(), changed_min);
    fault_log faults;
    all.check(faults);
    EXPECT_EQ(faults.count(), 0U) << "round " << round << ": " << faults.text();
    for (std::size_t i = 0; i < met.size(); ++i) met[i] |= all.met[i];
    n_run += all.n_run;
    n_changed += all.n_changed;
    n_unchanged += all.n_unchanged;
    n_changes += all.n_changes();
  }
  for (std::size_t i = 0; i < met.size(); ++i) {
    EXPECT_TRUE(met[i]) << to_string(static_cast<table_template>(i));
  }
  std::printf("%zu bursts, %zu changes; compared: %zu bursts with changes meanwhile, %zu without\n",
              n_run, n_changes, n_changed, n_unchanged);
}

}  // namespace
}  // namespace coua::test
