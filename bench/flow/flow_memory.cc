// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_memory.h"

#include "bench/flow/coua_flows.h"
#include "bench/flow/flow_filling.h"
#include "bench/flow/flow_peers.h"
#include "bench/harness/progress.h"

namespace coua::bench {
namespace {

row memory_row(const flow_options& options, const measured_table& table, std::uint64_t capacity,
               double load) {
  const auto bytes = static_cast<double>(table.bytes());
  row out;
  out.name = table.name() + "/memory";
  out.params = {{"capacity", capacity},
                {"load", load},
                {"key", options.key_bytes},
                {"value", options.value_bytes},
                {"pages", pages_word(options.pages)}};
  out.params.update(table.params());
  out.bytes_per_entry = bytes / (load * static_cast<double>(capacity));
  out.more = {{"bytes_per_slot", bytes / static_cast<double>(capacity)}, {"bytes", table.bytes()}};
  return out;
}

}  // namespace

result<void> add_memory(const flow_options& options, crew& people, std::uint64_t capacity,
                        report& out) {
  progress shown("flow");
  measured_params params;
  params.capacity = capacity;
  params.people = {static_cast<std::uint64_t>(options.loads.back() * static_cast<double>(capacity)),
                   options.key_bytes, options.value_bytes};
  params.tables = people.size();
  params.pages = options.pages;
  const auto add = [&](measured_table& table) -> result<void> {
    shown.step("making " + table.name());
    if (result<void> made = make_empty(people, table); !made) return made;
    for (const double load : options.loads) {
      out.rows.push_back(memory_row(options, table, capacity, load));
    }
    return {};
  };
  for (const flow_variant_word& variant : options.variants) {
    for (const coua_flow_sync sync : options.syncs) {
      coua_flows table(params, variant, sync);
      if (result<void> done = add(table); !done) return done;
    }
  }
  for (const std::string& name : options.peers) {
    auto made = make_wanted_peer(options, name, params, out);
    if (!made) return tl::unexpected(made.error());
    if (*made == nullptr) continue;
    if (result<void> done = add(**made); !done) return done;
  }
  return {};
}

}  // namespace coua::bench
