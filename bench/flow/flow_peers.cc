// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_peers.h"

#include <utility>

namespace coua::bench {
namespace {

/// In the order in which they are shown.
const std::vector<std::pair<std::string, rte_kind>>& kinds() {
  static const std::vector<std::pair<std::string, rte_kind>> all = {
#ifdef COUA_BENCH_DPDK
      {"rte_hash", rte_kind::plain},
      {"rte_hash_lf", rte_kind::lock_free},
      {"rte_hash_ext", rte_kind::extendable},
#endif
  };
  return all;
}

}  // namespace

const std::vector<std::string>& flow_peer_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& [name, kind] : kinds()) out.push_back(name);
    return out;
  }();
  return names;
}

result<std::unique_ptr<measured_table>> make_flow_peer(const std::string& name,
                                                       const measured_params& params) {
  std::string known;
  for (const auto& [each, kind] : kinds()) {
#ifdef COUA_BENCH_DPDK
    if (each == name) return make_rte_flows(params, kind);
#else
    (void)params;
#endif
    known += (known.empty() ? "" : ", ") + each;
  }
  return fail(errc::invalid, "--peers " + name,
              known.empty() ? "this build has none: it has no DPDK" : "this build has " + known);
}

result<std::unique_ptr<measured_table>> make_wanted_peer(const flow_options& options,
                                                         const std::string& name,
                                                         const measured_params& params,
                                                         report& out) {
  auto made = make_flow_peer(name, params);
  if (made || options.peers_asked || made.error().code != errc::invalid) return made;
  out.notes.push_back("without " + name + ": " + made.error().message());
  return std::unique_ptr<measured_table>();
}

}  // namespace coua::bench
