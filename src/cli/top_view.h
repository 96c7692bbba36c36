// SPDX-License-Identifier: Apache-2.0
//
// What `coua top` and `coua stats --rate` show: two readings of the daemon's counters, and what
// happened between them. Reads nothing itself, so tests give it readings.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/output.h"
#include "coua/v1/bridge.pb.h"
#include "coua/v1/fib.pb.h"
#include "coua/v1/port.pb.h"
#include "coua/v1/system.pb.h"

namespace coua::cli {

struct top_reading {
  v1::GetVersionResponse daemon;
  v1::GetStatsResponse stats;
  v1::ListPortsResponse ports;
  v1::ListWorkersResponse workers;
  v1::GetFibStatsResponse fib;
  v1::ListBridgesResponse bridges;
};

/// A counter, and how fast it grew.
struct top_count {
  std::string name;
  double per_second = 0;
  std::uint64_t total = 0;
};

struct top_port {
  std::string name;
  bool is_up = false;
  unsigned mbps = 0;  // 0: unknown
  double rx_pps = 0, tx_pps = 0, rx_bps = 0, tx_bps = 0, drop_pps = 0;
  std::uint64_t drops = 0, learned = 0;
};

/// Bursts by the packets in them: 1, 2-7, 8-31, 32-63, 64.
inline constexpr std::size_t burst_classes = 5;
inline constexpr std::array<const char*, burst_classes> burst_class_names{"1", "2-7", "8-31",
                                                                          "32-63", "64"};

/// Of polls that found packets.
struct burst_sizes {
  double mean = 0;                             // packets
  std::array<double, burst_classes> shares{};  // all 0: there were none
};
/// Those between two readings of a worker; no `before`: all.
burst_sizes bursts_between(const v1::Worker* before, const v1::Worker& after);
/// In a table of workers: the mean, then the shares. How many packets a worker finds at a time says
/// how near it is to what it can do.
std::vector<std::string> burst_heads();
std::vector<std::string> burst_cells(const burst_sizes&);

struct top_worker {
  unsigned number = 0, core = 0;
  double busy = 0;               // share of the cycles in rounds that found packets
  double cycles_per_packet = 0;  // of those rounds; 0: no packets
  double pps = 0;
  burst_sizes bursts;
};

struct top_view {
  std::string daemon;  // "couad 0.1.0, up 3 d 04:05:06"
  double seconds = 0;  // between the readings
  std::vector<top_port> ports;
  top_port all;
  std::vector<top_worker> workers;
  std::vector<top_count> drops;  // that ever happened; the fastest first
  double fib_load = 0;
  std::uint64_t fib_entries = 0, fib_slots = 0;
  std::vector<top_count> fib;       // added, aged out, refused...
  std::vector<top_count> learning;  // reports, lost ones...
  std::uint64_t bridges = 0, rules = 0, groups = 0, meters = 0;
  json to_json() const;
};

/// A counter that went back (the daemon or the port is another one) has grown from zero.
top_view make_top_view(const top_reading& before, const top_reading& after);

enum class top_order { name, rx, tx, drops };
const char* to_string(top_order order);
/// Ports in this order, the greatest first; those that are equal by name.
void sort_ports(top_view& view, top_order order);

/// "0", "12.3", "1.23K", "45.6M", "7.89G": at most 5 characters below 10^15.
std::string short_number(double number);

/// Lines of at most `width` characters, at most `height` of them (0: no limit): where there are too
/// many, ports go first, and a line says how many.
std::vector<std::string> top_lines(const top_view& view, std::size_t width, std::size_t height);

}  // namespace coua::cli
