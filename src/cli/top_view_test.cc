// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <gtest/gtest.h>

namespace coua::cli {
namespace {

template <typename Counters>
void set(Counters* counters, const std::string& name, std::uint64_t value) {
  auto* added = counters->Add();
  added->set_name(name);
  added->set_value(value);
}

/// After `seconds` of a life in which each port received 1000 packets a second, and dropped 10.
top_reading reading(unsigned seconds, std::vector<std::string> ports = {"p0", "p1"}) {
  top_reading out;
  out.daemon.set_version("1.0");
  out.daemon.set_uptime_s(100'000 + seconds);
  out.stats.set_time_ns(seconds * 1'000'000'000ull);
  unsigned factor = 1;
  for (const std::string& name : ports) {
    auto* port = out.stats.add_ports();
    port->set_port(name);
    set(port->mutable_counters(), "rx_packets", factor * 1000 * seconds);
    set(port->mutable_counters(), "rx_bytes", factor * 64'000 * seconds);
    set(port->mutable_counters(), "drop_hairpin", 10 * seconds);
    auto* state = out.ports.add_ports();
    state->mutable_spec()->set_name(name);
    state->set_link_up(true);
    state->set_link_mbps(10'000);
    state->set_learned(5);
    ++factor;
  }
  set(out.stats.mutable_totals(), "rx_packets", 3000 * seconds);
  set(out.stats.mutable_totals(), "drop_hairpin", 20 * seconds);
  set(out.stats.mutable_totals(), "drop_tx_full", 7);
  set(out.stats.mutable_totals(), "drop_truncated", 0);
  set(out.stats.mutable_totals(), "learn_ring_full", 2 * seconds);
  auto* worker = out.workers.add_workers();
  worker->set_core(1);
  set(worker->mutable_counters(), "rx_packets", 3000 * seconds);
  set(worker->mutable_counters(), "cycles_busy", 300'000 * seconds);
  set(worker->mutable_counters(), "cycles_idle", 700'000 * seconds);
  for (unsigned n = 0; n <= 64; ++n)
    worker->add_burst_histogram(n == 1 || n == 64 ? 100 * seconds : n == 0 ? 5'000'000 : 0);
  out.fib.set_entries(10);
  out.fib.set_slots(40);
  out.fib.set_refused(3 * seconds);
  out.bridges.add_bridges()->set_flows(1);
  return out;
}

const top_port& port_of(const top_view& view, const std::string& name) {
  static const top_port none;
  for (const top_port& each : view.ports)
    if (each.name == name) return each;
  ADD_FAILURE() << "no port " << name;
  return none;
}

const top_count& count_of(const std::vector<top_count>& counts, const std::string& name) {
  static const top_count none;
  for (const top_count& each : counts)
    if (each.name == name) return each;
  ADD_FAILURE() << "no counter " << name;
  return none;
}

TEST(top_view, rates_are_of_the_time_between_the_readings) {
  const top_view view = make_top_view(reading(10), reading(12));
  EXPECT_EQ(view.daemon, "couad 1.0, up 1 d 03:46:52");
  EXPECT_DOUBLE_EQ(view.seconds, 2);
  EXPECT_DOUBLE_EQ(port_of(view, "p0").rx_pps, 1000);
  EXPECT_DOUBLE_EQ(port_of(view, "p1").rx_bps, 8 * 128'000);
  EXPECT_DOUBLE_EQ(port_of(view, "p1").drop_pps, 10);
  EXPECT_EQ(port_of(view, "p1").drops, 120u);
  EXPECT_DOUBLE_EQ(view.all.rx_pps, 3000);
  EXPECT_EQ(view.all.learned, 10u);
  ASSERT_EQ(view.workers.size(), 1u);
  EXPECT_DOUBLE_EQ(view.workers[0].busy, 0.3);
  EXPECT_DOUBLE_EQ(view.workers[0].cycles_per_packet, 100);
  EXPECT_DOUBLE_EQ(view.workers[0].bursts.mean, 32.5);
  EXPECT_DOUBLE_EQ(view.workers[0].bursts.shares[0], 0.5);
  EXPECT_DOUBLE_EQ(view.workers[0].bursts.shares[4], 0.5);
  ASSERT_EQ(view.drops.size(), 2u);
  EXPECT_EQ(view.drops[0].name, "drop_hairpin");
  EXPECT_DOUBLE_EQ(view.drops[0].per_second, 20);
  EXPECT_DOUBLE_EQ(view.drops[1].per_second, 0);
  EXPECT_DOUBLE_EQ(view.fib_load, 0.25);
  EXPECT_DOUBLE_EQ(count_of(view.fib, "refused").per_second, 3);
  EXPECT_DOUBLE_EQ(count_of(view.learning, "ring_full").per_second, 2);
}

TEST(top_view, bursts_of_a_worker_since_its_start) {
  const burst_sizes all = bursts_between(nullptr, reading(3).workers.workers(0));
  EXPECT_DOUBLE_EQ(all.mean, 32.5);
  EXPECT_DOUBLE_EQ(all.shares[0], 0.5);
  EXPECT_DOUBLE_EQ(all.shares[4], 0.5);
  EXPECT_EQ(burst_cells(all), (std::vector<std::string>{"32.5", "50%", "0%", "0%", "0%", "50%"}));
  const burst_sizes none = bursts_between(nullptr, reading(0).workers.workers(0));
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(none.shares[0], 0);
  EXPECT_EQ(burst_cells(none), std::vector<std::string>(burst_heads().size(), "-"));
}

TEST(top_view, bursts_are_counted_by_their_size) {
  for (const auto& [n, its] : {std::pair<int, std::size_t>{1, 0},
                               {2, 1},
                               {7, 1},
                               {8, 2},
                               {31, 2},
                               {32, 3},
                               {63, 3},
                               {64, 4}}) {
    v1::Worker worker;
    for (int i = 0; i <= 64; ++i) worker.add_burst_histogram(i == n ? 3 : 0);
    EXPECT_EQ(bursts_between(nullptr, worker).shares[its], 1) << n;
  }
}

// Red when a counter that went back makes a rate of 10^19.
TEST(top_view, another_daemon_and_another_port_count_from_zero) {
  const top_view view = make_top_view(reading(1000), reading(4));
  EXPECT_LE(port_of(view, "p0").rx_pps, 4000);
  EXPECT_LE(count_of(view.fib, "refused").per_second, 12);
  const top_view later = make_top_view(reading(10, {"p0"}), reading(12, {"p0", "new"}));
  EXPECT_DOUBLE_EQ(port_of(later, "new").rx_pps, 0);
  EXPECT_DOUBLE_EQ(make_top_view(reading(5), reading(5)).all.rx_pps, 0);
}

TEST(top_view, order_of_ports) {
  top_view view = make_top_view(reading(10, {"b", "a", "c"}), reading(12, {"b", "a", "c"}));
  const auto order = [&](top_order by) {
    sort_ports(view, by);
    std::string names;
    for (const top_port& each : view.ports) names += each.name;
    return names;
  };
  EXPECT_EQ(order(top_order::name), "abc");
  EXPECT_EQ(order(top_order::rx), "cab");
  EXPECT_EQ(order(top_order::drops), "abc");
}

TEST(top_view, short_numbers) {
  for (const auto& [number, text] :
       std::initializer_list<std::pair<double, const char*>>{{0, "0"},
                                                             {0.4, "0.4"},
                                                             {9.96, "10"},
                                                             {999, "999"},
                                                             {999.6, "1.00K"},
                                                             {1234, "1.23K"},
                                                             {99'960, "100K"},
                                                             {45'600'000, "45.6M"},
                                                             {7.89e9, "7.89G"},
                                                             {1e14, "100T"}})
    EXPECT_EQ(short_number(number), text);
}

// Red when a small terminal gets more than it has, or loses the line that says so.
TEST(top_view, every_size_of_terminal) {
  std::vector<std::string> names;
  for (unsigned n = 0; n < 64; ++n) names.push_back("port" + std::to_string(n));
  const top_view view = make_top_view(reading(10, names), reading(12, names));
  for (std::size_t height = 1; height < 100; ++height) {
    for (const std::size_t width : {1u, 20u, 80u, 200u}) {
      const auto lines = top_lines(view, width, height);
      EXPECT_LE(lines.size(), height);
      for (const std::string& line : lines) EXPECT_LE(line.size(), width);
    }
  }
  const auto lines = top_lines(view, 80, 30);
  EXPECT_EQ(lines.size(), 30u);
  EXPECT_EQ(lines[0].substr(0, 4), "PORT");
  const auto cut =
      std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("... "); });
  ASSERT_NE(cut, lines.end());
  EXPECT_EQ(*cut, "... " + std::to_string(64 - (cut - lines.begin() - 2)) + " more");
  EXPECT_GT(top_lines(view, 200, 0).size(), 70u);
}

TEST(top_view, json_has_what_the_text_has) {
  const json told = make_top_view(reading(10), reading(12)).to_json();
  EXPECT_EQ(told["ports"]["p0"]["rx_pps"], 1000);
  EXPECT_EQ(told["workers"][0]["cycles_per_packet"], 100);
  EXPECT_EQ(told["drops"]["drop_hairpin"]["total"], 240);
  EXPECT_EQ(told["fib"]["counters"]["refused"]["per_second"], 3);
  EXPECT_EQ(told["learning"]["ring_full"]["total"], 24);
}

}  // namespace
}  // namespace coua::cli
