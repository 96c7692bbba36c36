// SPDX-License-Identifier: Apache-2.0
//
// A benchmark of wrong answers must not print numbers.
#include "bench/fib/measurement.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "bench/fib/coua_table.h"
#include "bench/fib/factor_table.h"
#include "bench/fib/peers.h"

namespace coua::bench {
namespace {

struct map_kernel {
  const std::unordered_map<std::uint64_t, std::uint32_t>* map;
  template <typename Sink>
  void each(unsigned, const std::uint64_t* keys, std::size_t n, Sink&& sink) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = map->find(keys[i]);
      const std::uint32_t word = at == map->end() ? no_value : at->second;
      sink(&word, 1);
    }
  }
  template <typename Sink>
  void rest(unsigned, Sink&&) {}
};

/// A map that lies about one key out of many.
class liar final : public lookup_table {
 public:
  explicit liar(std::uint64_t wrong_index) : wrong_(population{}.key(wrong_index)) {}
  std::string name() const override { return "liar"; }
  result<void> load(const population& people) override {
    for (std::uint64_t i = 0; i < people.entries; ++i) {
      const std::uint64_t key = people.key(i);
      map_[key] = people.value(key) ^ (key == wrong_ ? 1U : 0U);
    }
    return {};
  }
  std::uint64_t bytes() const override { return map_.size() * 8; }
  json describe() const override { return json::object(); }
  std::vector<std::unique_ptr<lookup>> lookups() override {
    std::vector<std::unique_ptr<lookup>> out;
    out.push_back(make_lookup("liar/single", json::object(), map_kernel{&map_}));
    return out;
  }

 private:
  std::uint64_t wrong_;
  std::unordered_map<std::uint64_t, std::uint32_t> map_;
};

fib_options short_run() {
  fib_options options;
  options.run.seconds = 0.002;
  options.run.repetitions = 2;
  options.misses = {0, 50};
  options.pairs = 2;
  return options;
}

struct bench_of {
  fib_options options = short_run();
  population people{2000, 16};
  std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(1 << 14);
  std::unique_ptr<crew> threads = std::move(*crew::create(1));
  progress shown{"test"};
  std::unique_ptr<measurement> run = std::move(
      *measurement::create(options, people, *threads, memory.data(), memory.size() * 8, shown));
};

std::unique_ptr<coua_table> our_table(std::uint64_t entries) {
  coua_table_params params;
  params.entries = entries;
  params.modes = {"batch", "ahead", "pipeline"};
  params.batches = {5, 32};
  params.load_threads = 1;
  return std::move(*coua_table::create(params));
}

TEST(measurement, right_answers_become_rows) {
  bench_of bench;
  liar honest(bench.people.entries + 1);
  ASSERT_TRUE(honest.load(bench.people));
  ASSERT_TRUE(bench.run->add(honest, {{"entries", 2000}}));
  std::vector<row> rows;
  ASSERT_TRUE(bench.run->run(rows));
  ASSERT_EQ(rows.size(), 2U) << "one for each share of misses";
  for (const row& each : rows) {
    EXPECT_GT(*each.mops, 0);
    EXPECT_GT(*each.limit_mops, 0);
    EXPECT_DOUBLE_EQ(*each.ratio_to_limit, *each.mops / *each.limit_mops);
    EXPECT_EQ(each.params["entries"], 2000);
  }
}

TEST(measurement, one_wrong_value_ends_the_benchmark) {
  bench_of bench;
  liar table(1234);
  ASSERT_TRUE(table.load(bench.people));
  const result<void> added = bench.run->add(table, json::object());
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message().find("liar/single: wrong answer"), std::string::npos);
}

TEST(measurement, every_mode_and_odd_batch_of_ours_passes_the_check) {
  bench_of bench;
  const auto table = our_table(bench.people.entries);
  const result<void> loaded = table->load(bench.people);
  ASSERT_TRUE(loaded) << loaded.error().message();
  const result<void> added = bench.run->add(*table, {{"layout", "x"}});
  ASSERT_TRUE(added) << added.error().message();
  std::vector<row> rows;
  const result<void> done = bench.run->run(rows);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(rows.size(), 3U * 2 * 2) << "modes, batches, misses";
}

TEST(measurement, updates_leave_the_population_as_it_was) {
  bench_of bench;
  const auto table = our_table(bench.people.entries);
  ASSERT_TRUE(table->load(bench.people));
  ASSERT_TRUE(bench.run->add(*table, {{"layout", "x"}}));
  // On a busy machine, the writer may get no processor within the few milliseconds of a window.
  for (int i = 0; i < 100 && (i == 0 || table->stats().erased == 0); ++i) {
    std::vector<row> rows;
    const result<void> done = bench.run->run_updates(table->fib(), 50'000, rows);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(rows.size(), 3U * 2 * 2);
    EXPECT_GE(rows[0].more["updates_per_s"].get<double>(), 0);
  }
  const coua_fib_stats stats = table->stats();
  EXPECT_EQ(stats.entries, bench.people.entries);
  EXPECT_GT(stats.erased, 0U);
  ASSERT_TRUE(bench.run->add(*table, {{"layout", "x"}})) << "all keys are back with their values";
}

TEST(peers, all_of_this_build_pass_the_check) {
  for (const std::string& name : peer_names()) {
    bench_of bench;
    auto made = make_peer(name, {bench.people.entries, page_kind::automatic, {5, 32}});
    ASSERT_TRUE(made) << made.error().message();
    const result<void> loaded = (*made)->load(bench.people);
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_GT((*made)->bytes(), bench.people.entries * 10) << name;
    const result<void> added = bench.run->add(**made, json::object());
    EXPECT_TRUE(added) << added.error().message();
    bench.run.reset();
  }
}

TEST(factors, every_step_passes_the_check) {
  auto made = make_factor_tables({2000, 0.95, 10, 14, 1});
  ASSERT_TRUE(made) << made.error().message();
  ASSERT_EQ(made->size(), 5U);
  for (const auto& table : *made) {
    bench_of bench;
    bench.people.value_bits = 10;
    bench.run =
        std::move(*measurement::create(bench.options, bench.people, *bench.threads,
                                       bench.memory.data(), bench.memory.size() * 8, bench.shown));
    const result<void> loaded = table->load(bench.people);
    ASSERT_TRUE(loaded) << loaded.error().message();
    const result<void> added = bench.run->add(*table, json::object());
    EXPECT_TRUE(added) << added.error().message();
    bench.run.reset();
  }
}

TEST(peers, an_unknown_name_is_answered_with_those_that_are_known) {
  const auto made = make_peer("nothing", {100, page_kind::automatic, {32}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("unordered_map"), std::string::npos);
}

}  // namespace
}  // namespace coua::bench
