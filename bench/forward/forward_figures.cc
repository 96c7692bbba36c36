// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/forward_figures.h"

#include <cstdio>

#include "base/size.h"
#include "bench/fib/coua_table.h"
#include "bench/fib/factor_table.h"
#include "bench/fib/peers.h"

namespace coua::bench {
namespace {

constexpr unsigned value_bits = 10;  // as in the switch

result<std::unique_ptr<lookup_table>> make_ours(std::uint64_t entries, std::uint64_t batch) {
  coua_table_params params;
  params.entries = entries;
  params.value_bits = value_bits;
  params.modes = {"batch"};
  params.batches = {batch};
  result<std::unique_ptr<coua_table>> made = coua_table::create(params);
  if (!made) return tl::unexpected(made.error());
  return std::move(*made);
}

result<std::unique_ptr<lookup_table>> make_table(const std::string& name, std::uint64_t entries,
                                                 std::uint64_t batch) {
  if (name == "fib") return make_ours(entries, batch);
  return make_peer(name, {entries, page_kind::automatic, {batch}});
}

}  // namespace

bool figure_needs_tables(unsigned figure) { return figure == 8 || figure == 9; }

result<void> add_figure_tables(const forward_options& options, l2_forward_case& one, crew& threads,
                               progress& shown) {
  if (options.figure == 8) {
    factor_params params;
    params.entries = one.traffic().rules;
    params.value_bits = value_bits;
    params.batch = options.burst;
    auto made = make_factor_tables(params);
    if (!made) return tl::unexpected(made.error());
    for (std::unique_ptr<lookup_table>& each : *made) {
      result<void> added = one.add_table("bare/", std::move(each), threads, shown);
      if (!added) return added;
    }
  }
  std::vector<std::string> names = {"fib"};
  if (options.figure == 9) names.push_back("dense_hash_map");
  for (const std::string& name : names) {
    auto made = make_table(name, one.traffic().rules, options.burst);
    if (!made) return tl::unexpected(made.error());
    result<void> added = one.add_table("bare/", std::move(*made), threads, shown);
    if (!added) return added;
  }
  return {};
}

result<report> run_memory_table(const forward_options& options, report out) {
  progress shown("forward");
  for (const std::uint64_t entries : options.rules) {
    for (const char* const name : {"fib", "dense_hash_map"}) {
      shown.step(std::string(name) + " of " + format_count(entries));
      result<std::unique_ptr<lookup_table>> made = make_table(name, entries, 1);
      if (!made && made.error().code == errc::invalid) return tl::unexpected(made.error());
      result<void> loaded;
      if (made) loaded = (*made)->load({entries, value_bits});
      row each;
      each.name = name;
      each.params = {{"rules", entries}};
      if (made && loaded) {
        const double bytes = static_cast<double>((*made)->bytes());
        each.bytes_per_entry = bytes / static_cast<double>(entries);
        each.more["gib"] = bytes / (1 << 30);
      } else {
        // The paper's own table has such a gap: what does not fit is part of the answer.
        each.more["does_not_fit"] = (made ? loaded.error() : made.error()).message();
      }
      out.rows.push_back(std::move(each));
    }
  }
  return out;
}

}  // namespace coua::bench
