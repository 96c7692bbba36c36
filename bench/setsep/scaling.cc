// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/scaling.h"

#include <bit>
#include <cmath>

#include "base/size.h"
#include "bench/fib/coua_table.h"
#include "bench/harness/progress.h"
#include "setsep/bulk_build.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t cluster_nodes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr double node_bits = 8.0 * (16 << 20);
constexpr double paper_entry_bits = 64;

/// What an entry takes of a node.
struct cost {
  double entry_bits = 0;  // of the table with keys and values
  double map_bits = 0;    // of the map, for each key of the cluster
};

void add_rows(report& out, std::uint64_t keys, std::uint64_t nodes, const char* source,
              const cost& of) {
  const auto n = static_cast<double>(nodes);
  const auto add = [&](const char* name, double bits_of_a_node, double map_bits) {
    row one;
    one.name = name;
    one.params = {{"nodes", nodes}, {"keys", keys}, {"source", source}};
    one.more["million_entries"] = node_bits / bits_of_a_node / 1e6;
    one.more["entry_bits"] = of.entry_bits;
    one.more["map_bits"] = map_bits;
    one.more["node_mib"] = bits_of_a_node * static_cast<double>(keys) / 8 / (1 << 20);
    out.rows.push_back(std::move(one));
  };
  add("duplication", of.entry_bits, 0);
  add("scalebricks", of.entry_bits / n + of.map_bits, of.map_bits);
  add("hash-partition", of.entry_bits / n, 0);
}

/// The map of all keys to nodes. A cluster of one has none.
result<double> map_bits(std::uint64_t n_keys, std::uint64_t nodes, unsigned threads,
                        std::uint64_t seed) {
  if (nodes == 1) return 0;
  random_words random(seed);
  std::vector<setsep::keyed_value> keys(n_keys);
  for (setsep::keyed_value& each : keys) {
    each = {{random(), random()}, static_cast<std::uint16_t>(random.below(nodes))};
  }
  setsep::build_params params;
  params.shape.value_bits = static_cast<unsigned>(std::bit_width(nodes - 1));
  params.threads = threads;
  const auto made = setsep::build_table(keys, params);
  if (!made) return tl::unexpected(made.error());
  return 8 * static_cast<double>((*made)->bytes_used()) / static_cast<double>(n_keys);
}

/// The FIB of one node's keys.
result<double> entry_bits(std::uint64_t n_keys) {
  coua_table_params params;
  params.entries = n_keys;
  // Wider values take wider slots where a table is small; pages shall not round it up.
  params.value_bits = 10;
  params.pages = page_kind::kib4;
  auto made = coua_table::create(params);
  if (!made) return tl::unexpected(made.error());
  if (auto done = (*made)->load({.entries = n_keys, .value_bits = 10}); !done) {
    return tl::unexpected(done.error());
  }
  return 8 * static_cast<double>((*made)->bytes()) / static_cast<double>(n_keys);
}

}  // namespace

result<void> add_scaling(const setsep_options& options, report& out) {
  progress shown("setsep");
  const auto threads = static_cast<unsigned>(options.threads.back());
  for (const std::uint64_t keys : options.keys) {
    for (const std::uint64_t nodes : cluster_nodes) {
      const auto n = static_cast<double>(nodes);
      add_rows(out, keys, nodes, "formula",
               {paper_entry_bits, nodes == 1 ? 0 : 0.5 + 1.5 * std::log2(n)});
      shown.step("a cluster of " + format_count(nodes));
      const auto map = map_bits(keys, nodes, threads, options.run.seed);
      if (!map) return tl::unexpected(map.error());
      const auto entries = entry_bits((keys + nodes - 1) / nodes);
      if (!entries) return tl::unexpected(entries.error());
      add_rows(out, keys, nodes, "measured", {*entries, *map});
    }
  }
  return {};
}

}  // namespace coua::bench
