// SPDX-License-Identifier: Apache-2.0
//
// A benchmark of wrong answers must not print numbers, and one of unequal loads is none.
#include "bench/flow/flow_measurement.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/flow/coua_flows.h"
#include "bench/flow/flow_filling.h"
#include "bench/flow/flow_peers.h"

namespace coua::bench {
namespace {

using words = std::vector<std::uint64_t>;
using entries = std::map<words, words>;

struct map_kernel {
  const entries* map;
  flow_population people;
  template <typename Sink>
  void each(unsigned, const std::uint64_t* keys, std::size_t n, Sink&& sink) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t* const key = keys + i * people.key_words();
      const auto at = map->find(words(key, key + people.key_words()));
      const std::uint64_t hit = at != map->end() ? 1 : 0;
      sink(1, &hit, [&](std::size_t) { return hit != 0 ? at->second.data() : keys; });
    }
  }
  template <typename Sink>
  void rest(unsigned, Sink&&) {}
};

/// A map that can be told to lie about one value, or to forget one key.
class liar final : public measured_table {
 public:
  explicit liar(const flow_population& people) : people_(people) {}
  std::string name() const override { return "liar"; }
  result<void> make(unsigned) override {
    map_.clear();
    return {};
  }
  std::size_t insert(unsigned, const std::uint64_t* keys, const std::uint64_t* values,
                     std::size_t n) override {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < n && map_.size() < room; ++i, ++taken) {
      const std::uint64_t* const key = keys + i * people_.key_words();
      const std::uint64_t* const value = values + i * people_.value_words();
      map_[words(key, key + people_.key_words())] = words(value, value + people_.value_words());
    }
    return taken;
  }
  std::uint64_t bytes_of_entry = 100;
  std::uint64_t room = UINT64_MAX;
  std::uint64_t bytes() const override { return map_.size() * bytes_of_entry; }
  json describe() const override { return json::object(); }
  std::vector<std::unique_ptr<flow_lookup>> lookups() override {
    std::vector<std::unique_ptr<flow_lookup>> out;
    out.push_back(
        make_flow_lookup("liar/single", json::object(), people_, map_kernel{&map_, people_}));
    return out;
  }
  void lie() { map_.begin()->second.back() ^= 1; }
  void forget() { map_.erase(map_.begin()); }

 private:
  flow_population people_;
  entries map_;
};

struct bench_of {
  flow_options options;
  flow_population people{1946, 13, 12};
  std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(1 << 14);
  std::unique_ptr<crew> threads = std::move(*crew::create(1));
  progress shown{"test"};
  std::unique_ptr<flow_measurement> run;

  bench_of() {
    options.run.seconds = 0.002;
    options.run.repetitions = 2;
    options.misses = {0, 50};
    start();
  }
  void start() {
    run = std::move(*flow_measurement::create(options, people, *threads, memory.data(),
                                              memory.size() * 8, shown));
  }
  void fill(measured_table& table) {
    ASSERT_TRUE(make_empty(*threads, table));
    const result<double> took = fill_tables(*threads, table, people, 0, people.entries);
    ASSERT_TRUE(took) << took.error().message();
    EXPECT_GT(*took, 0);
  }
  measured_params params() const {
    return {2048, people, 1, page_kind::automatic, {"batch", "ahead", "pipeline"}, {5, 32}};
  }
};

TEST(flow_population, keys_and_values_fill_their_width_and_no_more) {
  for (const unsigned key_bytes : {4U, 7U, 8U, 13U, 16U, 37U, 128U}) {
    const flow_population people{50'000, key_bytes, key_bytes / 2};
    std::set<std::vector<std::uint64_t>> seen;
    std::vector<std::uint64_t> key(people.key_words()), all(people.key_words());
    std::vector<std::uint64_t> value(people.value_words()), all_values(people.value_words());
    for (std::uint64_t i = 0; i < people.entries; ++i) {
      people.key(i, key.data());
      people.value(key.data(), value.data());
      EXPECT_TRUE(seen.insert(key).second);
      for (std::size_t word = 0; word < key.size(); ++word) all[word] |= key[word];
      for (std::size_t word = 0; word < value.size(); ++word) all_values[word] |= value[word];
    }
    const auto ones = [](const std::vector<std::uint64_t>& words) {
      std::size_t sum = 0;
      for (const std::uint64_t each : words)
        sum += static_cast<unsigned>(__builtin_popcountll(each));
      return sum;
    };
    EXPECT_EQ(ones(all), 8 * key_bytes);
    EXPECT_EQ(ones(all_values), 8 * (key_bytes / 2));
  }
}

TEST(flow_measurement, right_answers_become_rows) {
  bench_of bench;
  liar honest(bench.people);
  bench.fill(honest);
  const result<void> added = bench.run->add(honest, {{"load", 0.95}});
  ASSERT_TRUE(added) << added.error().message();
  std::vector<row> rows;
  const result<void> done = bench.run->run(rows);
  ASSERT_TRUE(done) << done.error().message();
  ASSERT_EQ(rows.size(), 2U) << "one for each share of misses";
  for (const row& each : rows) {
    EXPECT_DOUBLE_EQ(*each.ratio_to_limit, *each.mops / *each.limit_mops);
    EXPECT_EQ(*each.bytes_per_entry, 100);
  }
  // A hit reads a bucket and an entry, of one line each, a miss the bucket alone.
  EXPECT_NEAR(*rows[1].limit_mops / *rows[0].limit_mops, 2.0 / 1.5, 1e-9);
}

TEST(flow_measurement, a_wrong_value_or_a_lost_key_ends_the_benchmark) {
  bench_of bench;
  liar table(bench.people);
  bench.fill(table);
  table.lie();
  const result<void> wrong = bench.run->add(table, json::object());
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("is in the table: found"), std::string::npos);
  table.forget();
  const result<void> lost = bench.run->add(table, json::object());
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message().find("is in the table: not found"), std::string::npos);
}

TEST(flow_measurement, a_table_that_refuses_an_entry_ends_the_benchmark) {
  bench_of bench;
  liar table(bench.people);
  table.room = bench.people.entries - 1;
  ASSERT_TRUE(make_empty(*bench.threads, table));
  const result<double> took =
      fill_tables(*bench.threads, table, bench.people, 0, bench.people.entries);
  ASSERT_FALSE(took);
  EXPECT_NE(took.error().message().find("liar"), std::string::npos);
}

TEST(flow_measurement, every_variant_width_mode_and_odd_batch_of_ours_passes_the_check) {
  constexpr std::pair<unsigned, unsigned> widths[] = {{16, 16}, {13, 5}, {37, 0}, {4, 64}, {16, 8}};
  unsigned round = 0;  // each variant with other widths
  for (const coua_flow_variant variant :
       {COUA_FLOW_BLOOM, COUA_FLOW_OPTIMISTIC, COUA_FLOW_PESSIMISTIC, COUA_FLOW_HORTON}) {
    for (const bool timers : {false, true}) {
      for (const coua_flow_sync sync : {COUA_FLOW_SINGLE, COUA_FLOW_ONE_WRITER}) {
        const auto [key, value] = widths[round++ % std::size(widths)];
        bench_of bench;
        bench.people.key_bytes = key;
        bench.people.value_bytes = value;
        bench.start();
        coua_flows table(bench.params(), {"x", variant, timers}, sync);
        bench.fill(table);
        EXPECT_EQ(table.stats(0).entries, bench.people.entries);
        const result<void> added = bench.run->add(table, json::object());
        ASSERT_TRUE(added) << added.error().message() << " " << key << "/" << value;
        bench.run.reset();
      }
    }
  }
}

TEST(flow_measurement, churn_leaves_the_entries_as_they_were) {
  bench_of bench;
  bench.options.pairs = 2;
  coua_flows shared(bench.params(), {"shared", COUA_FLOW_BLOOM, true}, COUA_FLOW_ONE_WRITER);
  coua_flows alone(bench.params(), {"alone", COUA_FLOW_BLOOM, false}, COUA_FLOW_SINGLE);
  bench.fill(shared);
  bench.fill(alone);
  ASSERT_TRUE(bench.run->add(shared, json::object()));
  ASSERT_TRUE(bench.run->add(alone, json::object()));
  // On a busy machine, the writer may get no processor within the few milliseconds of a window.
  for (int i = 0; i < 100 && (i == 0 || shared.stats(0).erased == 0); ++i) {
    std::vector<row> rows;
    const result<void> done = bench.run->run_churn(50'000, rows);
    ASSERT_TRUE(done) << done.error().message();
    ASSERT_EQ(rows.size(), 3U * 2 * 2) << "modes, batches, misses; of the shared table";
    for (const row& each : rows) {
      EXPECT_TRUE(each.name.starts_with("shared/"));
      EXPECT_EQ(each.params["churn"], 50'000);
      EXPECT_GE(each.more["updates_per_s"].get<double>(), 0);
    }
  }
  EXPECT_GT(shared.stats(0).erased, 0U);
  EXPECT_EQ(shared.stats(0).entries, bench.people.entries);
  EXPECT_TRUE(bench.run->add(shared, json::object())) << "all keys are back with their values";
}

TEST(coua_flows, moved_counts_add_up_to_the_entries_in_secondary_buckets) {
  for (const coua_flow_variant variant : {COUA_FLOW_BLOOM, COUA_FLOW_HORTON}) {
    bench_of bench;
    coua_flows table(bench.params(), {"x", variant, false}, COUA_FLOW_SINGLE);
    bench.fill(table);
    std::uint64_t buckets = 0, entries = 0, moved = 0;
    for (const std::uint64_t each : table.moved_counts(0)) {
      buckets += each;
      entries += each * moved++;
    }
    EXPECT_EQ(buckets, table.stats(0).buckets);
    EXPECT_EQ(entries, table.stats(0).in_secondary);
    EXPECT_GT(entries, 0U);
  }
}

TEST(flow_peers, all_of_this_build_are_filled_to_the_same_load_and_pass_the_check) {
  for (const std::string& name : flow_peer_names()) {
    for (const unsigned value : {16U, 0U}) {
      bench_of bench;
      bench.people.value_bytes = value;
      bench.start();
      auto made = make_flow_peer(name, bench.params());
      ASSERT_TRUE(made) << made.error().message();
      bench.fill(**made);
      bench.fill(**made);
      EXPECT_NEAR((*made)->describe()["load_reached"].get<double>(), 0.95, 0.001) << name;
      EXPECT_GT((*made)->bytes(), bench.people.entries * (8 + 13 + value)) << name;
      const result<void> added = bench.run->add(**made, json::object());
      EXPECT_TRUE(added) << added.error().message();
      bench.run.reset();
    }
  }
}

TEST(flow_peers, what_they_cannot_have_is_refused) {
  bench_of bench;
  measured_params params = bench.params();
  EXPECT_FALSE(make_flow_peer("nothing", params));
  params.capacity = 3000;
  for (const std::string& name : flow_peer_names()) {
    const auto made = make_flow_peer(name, params);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message().find("power of two"), std::string::npos);
  }
}

}  // namespace
}  // namespace coua::bench
