// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/peers.h"

#include <functional>
#include <utility>

namespace coua::bench {
namespace {

using maker = std::function<result<std::unique_ptr<lookup_table>>(const peer_params&)>;

/// In the order in which they are shown.
const std::vector<std::pair<std::string, maker>>& makers() {
  static const std::vector<std::pair<std::string, maker>> all = {
#ifdef COUA_BENCH_DPDK
      {"rte_hash", [](const peer_params& params) { return make_rte_hash(params, false); }},
      {"rte_hash_lf", [](const peer_params& params) { return make_rte_hash(params, true); }},
#endif
#ifdef COUA_BENCH_PEERS
      {"absl", make_absl},
      {"boost", make_boost},
      {"dense_hash_map", make_dense_hash_map},
      {"sparse_hash_map", make_sparse_hash_map},
      {"libcuckoo", make_libcuckoo},
      {"tbb", make_tbb},
#endif
      {"unordered_map", make_unordered_map},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& peer_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& [name, make] : makers()) out.push_back(name);
    return out;
  }();
  return names;
}

result<std::unique_ptr<lookup_table>> make_peer(const std::string& name,
                                                const peer_params& params) {
  std::string known;
  for (const auto& [each, make] : makers()) {
    if (each == name) return make(params);
    known += (known.empty() ? "" : ", ") + each;
  }
  return fail(errc::invalid, "--peers " + name, "this build has " + known);
}

}  // namespace coua::bench
