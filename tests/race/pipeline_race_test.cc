// SPDX-License-Identifier: Apache-2.0
//
// Bundles against bursts. Each bundle writes one number into rules of two tables, or into a rule
// and a group; a packet carries away what both say, so it shows when it saw one half of a bundle.
// It must be one number, at least that of the last bundle that was done before its burst, and at
// most that of the last one that was begun after it. Other rules come and go meanwhile, take tables
// from template to template, and would send packets to a port of their own, if ever a rule were
// missed.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "checked_pipeline.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"
#include "race.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;

enum class shape {
  direct,
  exact,
  exact_and_apart,
  lpm,
  lpm_and_apart,
  decomposed,
  routers,
  classifier
};
struct raced {
  const char* name;
  shape rules;
  bool grouped;  // the second half is in a group
  /// Decoys take tables from direct to exact, the classifier or a long direct one, and back.
  bool swings = false;
  /// So many of them come and go that the store grows and shrinks.
  bool grows = false;
  template_limits limits = no_mixed_tables;
  /// Batches go on between bundles, so that rules of one number share records.
  bool shares = false;
  /// Rules stay, and what they count is compared.
  bool stays = false;
  /// Both tables are joined between bundles.
  bool joins = false;
};
void PrintTo(const raced& one, std::ostream* out) { *out << one.name; }

/// That tables have at the start.
table_template template_of(const raced& one) {
  if (one.swings) return table_template::direct;
  switch (one.rules) {
    case shape::direct: return table_template::direct;
    case shape::exact:
    case shape::exact_and_apart: return table_template::exact;
    case shape::lpm:
    case shape::lpm_and_apart: return table_template::lpm;
    case shape::decomposed:
    case shape::routers: return table_template::decomposed;
    case shape::classifier: return table_template::classifier;
  }
  return table_template::direct;
}

constexpr unsigned n_flows = 6;
constexpr port_no right_port = 2, wrong_port = 3;

value128 mac_of(unsigned flow) { return 0x0200'0000'0000 + flow; }
value128 address_of(unsigned flow) { return 0x0a00'0000 + flow; }

bool are_routes(shape rules) {
  return rules == shape::lpm || rules == shape::lpm_and_apart || rules == shape::routers;
}

match match_of(shape rules, unsigned flow) {
  std::vector<match_term> terms{exact(field::eth_dst, mac_of(flow))};
  if (are_routes(rules)) terms = {pipeline::test::ipv4(), exact(field::ipv4_dst, address_of(flow))};
  // Those of some flows are apart.
  const bool some_are = rules == shape::exact_and_apart || rules == shape::lpm_and_apart;
  if (some_are && flow % 3 == 0) terms.push_back(exact(field::in_port, 1));
  // Routers are told by what packets do not have, but for one.
  if (rules == shape::routers) terms.push_back(exact(field::metadata, 0));
  return pipeline::test::where(std::move(terms));
}

/// A rule below those of the flows, for some of their packets.
rule_mod decoy(const raced& of, table_id table, std::uint64_t number) {
  const instructions then = pipeline::test::apply({pipeline::test::output(wrong_port)});
  switch (of.rules) {
    case shape::lpm_and_apart:
      if (number % 4 == 0) {
        return pipeline::test::add_rule(
            table, static_cast<std::uint16_t>(100 + number / 4 % 4 * 10),
            pipeline::test::where({pipeline::test::ipv4(),
                                   exact(field::in_port, 1),
                                   {field::ipv4_dst, number / 16 & 3, 3}}),
            then);
      }
      [[fallthrough]];
    case shape::lpm:
    case shape::routers: {
      const unsigned length = 16 + number % 16;
      const value128 mask = ones(32) & ~ones(32 - length);
      std::vector<match_term> terms{
          pipeline::test::ipv4(),
          {field::ipv4_dst, (0x0a00'0000 + ((number / 16 % 8) << 8)) & mask, mask}};
      // Some come and go with a router.
      if (of.rules == shape::routers)
        terms.push_back(exact(field::metadata, number % 11 == 0 ? 1 + number / 16 % 3 : 0));
      return pipeline::test::add_rule(table, static_cast<std::uint16_t>(100 + length),
                                      pipeline::test::where(std::move(terms)), then);
    }
    case shape::decomposed: {
      // In sets of the flows, in others that come and go, and apart.
      std::vector<match_term> terms{pipeline::test::ipv4()};
      if (number % 8 != 0) terms.push_back(exact(field::eth_dst, mac_of(number % 16)));
      const auto length = static_cast<unsigned>(8 + number / 16 % 3 * 8);
      const value128 mask = ones(32) & ~ones(32 - length);
      terms.push_back({field::ipv4_src, (number / 64 % 2) << 24 & mask, mask});
      return pipeline::test::add_rule(table, static_cast<std::uint16_t>(1 + number % 5),
                                      pipeline::test::where(std::move(terms)), then);
    }
    case shape::classifier: {
      const value128 mask = 1 + number % 7;
      return pipeline::test::add_rule(
          table, static_cast<std::uint16_t>(1 + number % 5),
          pipeline::test::where(
              {{field::eth_dst, number / 8 & mask, mask}, exact(field::in_port, 1)}),
          then);
    }
    case shape::exact_and_apart:
      if (number % 4 == 0) {
        return pipeline::test::add_rule(
            table, static_cast<std::uint16_t>(1 + number / 4 % 4),
            pipeline::test::where({{field::eth_dst, number / 16 & 3, 3}, exact(field::in_port, 1)}),
            then);
      }
      [[fallthrough]];
    default:
      return pipeline::test::add_rule(
          table, 5,
          pipeline::test::where(
              {exact(field::eth_dst, 0x0300'0000'0000 + number % 1024), pipeline::test::ipv4()}),
          then);
  }
}

class race {
 public:
  explicit race(const raced& of) : of_(of) {
    bridge_params params;
    params.n_tables = 2;
    params.rules_max = 4096;
    auto made = running_bridge::create(
        params,
        {.limits = of.limits, .share_from = 1, .join_after = of.joins ? 0 : table_joiner::never});
    COUA_CHECK(made.has_value());
    bridge_ = std::move(*made);
    for (port_no i = 1; i <= 3; ++i) must({pipeline::test::add_port(i)});
    if (of.grouped) {
      for (unsigned flow = 0; flow < n_flows; ++flow) must({group_of(mod_command::add, flow, 0)});
    }
    for (unsigned flow = 0; flow < n_flows; ++flow) {
      must({rule_of(rule_command::add, 0, flow, 0), rule_of(rule_command::add, 1, flow, 0)});
    }
    if (of.rules != shape::direct && !of.swings) {
      // Prefixes of a few lengths could be apart themselves.
      const unsigned n = of.rules == shape::lpm_and_apart || of.rules == shape::routers ? 60 : 30;
      for (std::uint64_t i = 0; i < n; ++i) must({decoy(of_, 0, i * 17), decoy(of_, 1, i * 17)});
    }
    for (table_id table = 0; table < 2; ++table) kinds_[table] = kind(table);
    store_ = bridge_->compiler().form(0)->stage().exact;
  }

  void write(const std::atomic<bool>& stop, std::mt19937_64 random) {
    std::uint64_t number = 0;
    while (!stop.load()) {
      ++number;
      std::vector<operation> bundle;
      for (unsigned flow = 0; flow < n_flows; ++flow) change(bundle, flow, number, random());
      begun_.store(number);
      must(bundle);
      done_.store(number);
      if (of_.swings) {
        swing(number);
      } else if (of_.grows) {
        grow(number);
        if (number % 16 == 15) let_batches_go_on(stop);
      } else if (of_.shares) {
        let_batches_go_on(stop);
        if (bridge_->compiler().usage().shared > 1) ++n_swings_;  // not decoys alone
      } else if (of_.joins) {
        bridge_->tend(1);
        COUA_CHECK(bridge_->compiler().joined().n_pairs() == n_flows);
        if (number % 4 != 0) let_batches_go_on(stop);
        bridge_->collect(1);
        if (bridge_->compiler().joined().n_met(1) != 0) ++n_swings_;
      } else {
        come_and_go(random);
      }
      note_templates();
      if (random() % 4 == 0) bridge_->reclaim();
    }
  }

  void read(const std::atomic<bool>& stop, fault_log& faults, std::mt19937_64 random) {
    auto made = executor::create(bridge_->compiler().published(), 0, bridge_->compiler().counts(0),
                                 buffers_);
    COUA_CHECK(made.has_value());
    executor& worker = **made;
    const std::vector<std::uint8_t> frame = pipeline::test::frames()[3];  // TCP in IPv4
    while (!stop.load()) {
      std::vector<executor::arrival> burst;
      const std::size_t n = 1 + random() % executor::burst_max;
      const bool is_train = random() % 4 == 0;  // of one flow
      auto flow = static_cast<unsigned>(random() % n_flows);
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<std::uint8_t> bytes = frame;
        if (!is_train) flow = static_cast<unsigned>(random() % n_flows);
        ++n_of_flow_[flow];
        net::store_mac(bytes.data(), static_cast<std::uint64_t>(mac_of(flow)));
        net::store_be32(bytes.data() + 30, static_cast<std::uint32_t>(address_of(flow)));
        burst.push_back({buffers_.make(bytes), 1});
      }
      const std::uint64_t least = done_.load();
      worker.run(burst, 0);
      const std::uint64_t most = begun_.load();
      std::size_t n_seen = 0;
      worker.each_delivery([&](const delivery& one, const owned_packet& what) {
        ++n_seen;
        const std::uint64_t first = net::load_mac(what.buffer.bytes + 6);
        const std::uint64_t second = net::load_be32(what.buffer.bytes + 26);
        if (one.port != right_port) faults.report("a rule was missed", 0, one.port, right_port);
        if (first != second) faults.report("half of a bundle was seen", 0, second, first);
        if (first < least) faults.report("a bundle that was done was not seen", 0, first, least);
        if (first > most) faults.report("a bundle was seen before it was begun", 0, first, most);
        buffers_.give_back(what);
      });
      for (const owned_packet& each : worker.left_over()) {
        faults.report("a packet found no rule", 0, 0, 1);
        buffers_.give_back(each);
      }
      if (n_seen != n) faults.report("not one copy for each packet", 0, n_seen, n);
      n_packets += n;
    }
  }

  /// Each rule has counted the packets of its flow. Afterwards nobody reads.
  void check_counters() {
    bridge_->collect(1);
    for (unsigned flow = 0; flow < n_flows; ++flow) {
      for (const table_id table : {0, 1}) {
        const rule_mod of = rule_of(rule_command::add, table, flow, 0);
        const auto* one = bridge_->model().tables()[table].find(of.priority, of.match);
        ASSERT_NE(one, nullptr);
        EXPECT_EQ(one->state.counted.packets, n_of_flow_[flow]) << "table " << int{table};
      }
    }
  }

  table_template kind(table_id table) const { return bridge_->compiler().form(table)->kind(); }
  std::string by() const { return bridge_->compiler().form(0)->by(); }
  std::uint64_t n_swings() const { return n_swings_.load(); }
  std::uint64_t n_bundles() const { return done_.load(); }
  std::atomic<std::uint64_t> n_packets = 0;

 private:
  void let_batches_go_on(const std::atomic<bool>& stop) {
    while (bridge_->reclaim() != 0 && !stop.load()) std::this_thread::yield();
  }

  void come_and_go(std::mt19937_64& random) {
    for (int i = 0; i < 3; ++i) {
      rule_mod one = decoy(of_, static_cast<table_id>(random() % 2), random());
      if (random() % 2 == 0) one.command = rule_command::remove_strict;
      const unsigned most = of_.rules == shape::direct ? 8 : 100;
      if (one.command == rule_command::remove_strict || bridge_->model().n_rules() < most + 12) {
        must({one});
      }
    }
  }

  /// A round of 48 bundles: decoys come, one of another mask, it goes, all go.
  void swing(std::uint64_t number) {
    const std::uint64_t at = number % 48;
    for (table_id table = 0; table < 2; ++table) {
      if (at < 12 || at >= 36) {
        for (std::uint64_t i = 0; i < 2; ++i) {
          rule_mod one = decoy(of_, table, at % 12 * 2 + i);
          if (at >= 36) one.command = rule_command::remove_strict;
          must({one});
        }
      } else if (at == 12 || at == 20) {
        rule_mod other =
            pipeline::test::add_rule(table, 4, pipeline::test::where({exact(field::in_port, 1)}),
                                     pipeline::test::apply({pipeline::test::output(wrong_port)}));
        if (at == 20) other.command = rule_command::remove_strict;
        must({other});
      }
    }
  }

  /// A round of 16 bundles: a thousand decoys come, and go, until nothing is left of them.
  void grow(std::uint64_t number) {
    constexpr std::uint64_t n_each = 128;
    std::vector<operation> bundle;
    for (std::uint64_t i = 0; i < n_each; ++i) {
      rule_mod one = decoy(of_, static_cast<table_id>(i % 2), number % 8 * n_each + i);
      if (number / 8 % 2 == 1) one.command = rule_command::remove_strict;
      bundle.emplace_back(std::move(one));
    }
    must(bundle);
  }

  void note_templates() {
    const exact_store* const store = bridge_->compiler().form(0)->stage().exact;
    if (of_.grows && store != std::exchange(store_, store)) ++n_swings_;
    for (table_id table = 0; table < 2; ++table) {
      const table_template now = kind(table);
      if (now != std::exchange(kinds_[table], now)) ++n_swings_;
    }
  }

  void must(const std::vector<operation>& bundle) {
    const auto done = bridge_->apply(bundle, 0);
    if (!done) std::fprintf(stderr, "%s\n", done.error().message().c_str());
    COUA_CHECK(done.has_value());
  }

  group_mod group_of(mod_command command, unsigned flow, std::uint64_t number) const {
    group_mod made =
        pipeline::test::add_group(1 + flow, group_type::indirect,
                                  {pipeline::test::to({act::set(field::ipv4_src, number),
                                                       pipeline::test::output(right_port)})});
    made.command = command;
    return made;
  }

  rule_mod rule_of(rule_command command, table_id table, unsigned flow,
                   std::uint64_t number) const {
    action_list list;
    if (table == 0) {
      list = {act::set(field::eth_src, number)};
    } else if (of_.grouped) {
      list = {act::group{1 + flow}};
    } else {
      list = {act::set(field::ipv4_src, number), pipeline::test::output(right_port)};
    }
    // Fields of IP are set for packets that are IP.
    std::vector<match_term> terms = match_of(of_.rules, flow).terms();
    if (!are_routes(of_.rules)) terms.push_back(pipeline::test::ipv4());
    rule_mod made = pipeline::test::add_rule(table, 200, pipeline::test::where(terms),
                                             pipeline::test::apply(std::move(list)));
    if (table == 0) made.instructions.goto_table = 1;
    made.command = command;
    return made;
  }

  /// Writes the number for one flow, one way or another.
  void change(std::vector<operation>& bundle, unsigned flow, std::uint64_t number,
              std::uint64_t how) const {
    for (table_id table = 0; table < 2; ++table, how >>= 2) {
      if (table == 1 && of_.grouped) {
        bundle.emplace_back(group_of(mod_command::modify, flow, number));
      } else if (how % 4 == 0 && !of_.stays) {
        bundle.emplace_back(rule_of(rule_command::remove_strict, table, flow, number));
        bundle.emplace_back(rule_of(rule_command::add, table, flow, number));
      } else {
        bundle.emplace_back(rule_of(how % 4 == 1 ? rule_command::add : rule_command::modify_strict,
                                    table, flow, number));
      }
    }
  }

  const raced of_;
  std::unique_ptr<running_bridge> bridge_;
  test_buffers buffers_;                   // the reader's
  std::uint64_t n_of_flow_[n_flows] = {};  // likewise
  std::atomic<std::uint64_t> begun_{0}, done_{0}, n_swings_{0};
  table_template kinds_[2]{};
  const exact_store* store_ = nullptr;
};

/// While others race: a slow machine gets the time that it needs to show something.
void rest_until(const std::function<bool()>& enough) {
  race_until(enough, [](auto&) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
}

class pipeline_race : public ::testing::TestWithParam<raced> {};

TEST_P(pipeline_race, packets_see_whole_bundles) {
  race all(GetParam());
  for (table_id table : {0, 1}) ASSERT_EQ(all.kind(table), template_of(GetParam()));
  if (GetParam().rules == shape::routers) {
    ASSERT_NE(all.by().find(" lpm table"), std::string::npos);
  }
  fault_log faults;
  std::atomic<bool> stop{false};
  std::thread reader([&] { all.read(stop, faults, std::mt19937_64(1)); });
  std::thread writer([&] { all.write(stop, std::mt19937_64(2)); });
  constexpr std::uint64_t bundles = 20, packets = 500;
  const raced& is = GetParam();
  const std::uint64_t swings = is.swings || is.shares || is.joins ? 16 : is.grows ? 4 : 0;
  rest_until([&] {
    return all.n_bundles() > bundles && all.n_packets > packets && all.n_swings() >= swings;
  });
  stop.store(true);
  writer.join();
  reader.join();
  EXPECT_EQ(faults.count(), 0U) << faults.text();
  EXPECT_GT(all.n_bundles(), bundles);
  EXPECT_GT(all.n_packets.load(), packets);
  EXPECT_GE(all.n_swings(), swings);
  if (is.stays) all.check_counters();
}

/// The pipeline is the L2 switch and nothing else, at every second version only.
TEST(pipeline_all_normal_race, is_said_only_while_it_is_so) {
  auto made = running_bridge::create({.n_tables = 1, .rules_max = 64});
  COUA_CHECK(made.has_value());
  running_bridge& bridge = **made;
  const auto all_to = [&](port_no where) {
    const operation one =
        pipeline::test::add_rule(0, 0, {}, pipeline::test::apply({pipeline::test::output(where)}));
    COUA_CHECK(bridge.apply(one, 0).has_value());
  };
  all_to(port_normal);
  const std::atomic<version_no>& version = bridge.compiler().published().version;
  const version_no first = version.load();  // and every second one after it
  std::atomic<bool> stop{false};
  fault_log faults;
  constexpr std::uint64_t times = 100;
  std::atomic<std::uint64_t> n_normal = 0, n_other = 0;
  std::thread reader([&] {
    test_buffers buffers;
    auto worker =
        executor::create(bridge.compiler().published(), 0, bridge.compiler().counts(0), buffers);
    COUA_CHECK(worker.has_value());
    while (!stop.load()) {
      (*worker)->rest();
      const version_no before = version.load();
      const std::uint32_t rule = (*worker)->all_normal();
      const version_no after = version.load();
      if (rule == executor::none) {
        ++n_other;
        continue;
      }
      (*worker)->count_normal(rule, 1, 60);
      ++n_normal;
      if (before == after && (before - first) % 2 == 1) {
        faults.report("said when it was not so", 0, before, first);
      }
    }
  });
  std::thread writer([&] {
    for (unsigned i = 0; !stop.load(); ++i) {
      all_to(i % 2 == 0 ? 2 : port_normal);
      bridge.reclaim();
    }
  });
  rest_until([&] { return n_normal > times && n_other > times; });
  stop.store(true);
  writer.join();
  reader.join();
  EXPECT_EQ(faults.count(), 0U) << faults.text();
  EXPECT_GT(n_normal.load(), times);
  EXPECT_GT(n_other.load(), times);
  bridge.collect(1);
  EXPECT_EQ(bridge.model().tables()[0].matches, n_normal.load());
}

constexpr raced sharing(const char* name, shape rules, bool stays) {
  raced made{name, rules, false};
  if (rules == shape::exact_and_apart) made.limits = {.direct_long = 0};
  made.shares = true;
  made.stays = stays;
  return made;
}

constexpr raced joining(const char* name, bool stays) {
  raced made{name, shape::exact, false};
  made.joins = true;
  made.stays = stays;
  return made;
}

INSTANTIATE_TEST_SUITE_P(
    all, pipeline_race,
    ::testing::Values(
        raced{"direct", shape::direct, false}, raced{"exact", shape::exact, false},
        raced{"exact_and_apart", shape::exact_and_apart, false, false, false, {.direct_long = 0}},
        raced{"growing_and_apart", shape::exact_and_apart, false, false, true, {.direct_long = 0}},
        raced{"swinging_apart", shape::exact, false, true, false, {.direct_long = 0}},
        raced{"lpm", shape::lpm, false},
        raced{"lpm_and_apart", shape::lpm_and_apart, false, false, false, {.direct_long = 0}},
        raced{"decomposed", shape::decomposed, false}, raced{"routers", shape::routers, false},
        raced{"classifier", shape::classifier, false}, raced{"exact_grouped", shape::exact, true},
        raced{"swinging", shape::exact, false, true},
        raced{"swinging_long", shape::exact, false, true, false, {.apart = 0}},
        raced{"growing", shape::exact, false, false, true}, sharing("sharing", shape::exact, false),
        sharing("sharing_counted", shape::exact, true),
        sharing("sharing_and_apart", shape::exact_and_apart, true),
        sharing("sharing_routes", shape::lpm, false),
        sharing("sharing_routes_counted", shape::lpm, true),
        sharing("sharing_routers", shape::routers, false),
        sharing("sharing_routers_counted", shape::routers, true), joining("joined", false),
        joining("joined_counted", true)),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace coua::test
