// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/setsep_peers.h"

#include <algorithm>

#include "bench/fib/coua_table.h"
#include "bench/fib/peers.h"
#ifdef COUA_BENCH_DPDK
#include "bench/setsep/peers/rte_efd.h"
#endif

namespace coua::bench {
namespace {

// Keys of a table that is asked for trust only: enough that a fault of some groups shows.
constexpr std::uint64_t trial_keys = 20'000;
// It has vectors of 256 bits, and a scalar look-up where they may not be used.
constexpr unsigned narrow_bits = 128;

/// How many of the first `n` keys of the population do not get their value.
std::uint64_t count_wrong(lookup_table& table, lookup& how, const population& people,
                          std::uint64_t n) {
  const answer_code code = table.code();
  std::vector<std::uint64_t> keys(chunk_keys + slack_keys);
  std::vector<std::uint32_t> words(chunk_keys);
  std::uint64_t wrong = 0;
  for (std::uint64_t done = 0; done < n;) {
    const std::size_t part = std::min<std::uint64_t>(chunk_keys, n - done);
    for (std::size_t i = 0; i < part; ++i) keys[i] = people.key(done + i);
    how.answer(0, keys.data(), part, words.data());
    for (std::size_t i = 0; i < part; ++i) {
      wrong += words[i] != people.value(keys[i]) * code.scale + code.offset;
    }
    done += part;
  }
  return wrong;
}

std::string share_text(std::uint64_t wrong, std::uint64_t n) {
  return std::to_string(wrong) + " of " + std::to_string(n) + " keys";
}

#ifdef COUA_BENCH_DPDK
/// A small table of the same keys shows whether this build of it can be trusted on this machine,
/// and if not, whether it can without its vectors. null: it can not.
result<std::unique_ptr<lookup_table>> trusted_rte_efd(const peer_params& params,
                                                      const population& people,
                                                      std::vector<std::string>& notes) {
  population few = people;
  few.entries = std::min(people.entries, trial_keys);
  const auto wrong_with = [&](unsigned simd_bits) -> result<std::uint64_t> {
    auto trial = make_rte_efd(params, simd_bits);
    if (!trial) return tl::unexpected(trial.error());
    if (auto good = (*trial)->load(few); !good) return tl::unexpected(good.error());
    return count_wrong(**trial, *(*trial)->lookups()[0], few, few.entries);
  };
  const auto packaged = wrong_with(0);
  if (packaged && *packaged == 0) return make_rte_efd(params, 0);
  if (!packaged) {
    notes.push_back(packaged.error().message() + ": left out");
    return nullptr;
  }
  const std::string what =
      "rte_efd as packaged gives wrong values for " + share_text(*packaged, few.entries);
  const auto narrow = wrong_with(narrow_bits);
  const bool right = narrow && *narrow == 0;
  notes.push_back(what + (right ? ": compared without its vectors" : ": left out"));
  if (right) return make_rte_efd(params, narrow_bits);
  return nullptr;
}
#endif

result<std::unique_ptr<lookup_table>> make(const std::string& name, const population& people,
                                           const peer_params& params, unsigned threads,
                                           std::vector<std::string>& notes) {
#ifdef COUA_BENCH_DPDK
  if (name == "rte_efd") return trusted_rte_efd(params, people, notes);
#endif
  (void)notes;
  if (name != "fib") return make_peer(name, params);
  coua_table_params fib;
  fib.entries = people.entries;
  // Wider values take wider slots where the table is small.
  fib.value_bits = std::max(10U, people.value_bits);
  fib.modes = {"batch", "pipeline"};
  fib.batches = params.batches;
  fib.readers = threads;
  auto made = coua_table::create(fib);
  if (!made) return tl::unexpected(made.error());
  return std::move(*made);
}

}  // namespace

const std::vector<std::string>& setsep_peer_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
#ifdef COUA_BENCH_DPDK
    out.push_back("rte_efd");
#endif
    out.push_back("fib");
    out.insert(out.end(), peer_names().begin(), peer_names().end());
    return out;
  }();
  return names;
}

result<setsep_peers> setsep_peers::create(std::vector<std::string> names, std::uint64_t most_keys) {
  std::string known;
  for (const std::string& each : setsep_peer_names()) known += (known.empty() ? "" : ", ") + each;
  for (const std::string& each : names) {
    if (std::ranges::count(setsep_peer_names(), each) != 0) continue;
    return fail(errc::invalid, "--peers " + each, "this build has " + known);
  }
#ifdef COUA_BENCH_DPDK
  if (std::ranges::count(names, "rte_efd") != 0) {
    if (auto started = start_rte_efd(most_keys); !started) return tl::unexpected(started.error());
  }
#endif
  (void)most_keys;
  return setsep_peers(std::move(names));
}

result<std::unique_ptr<setsep_peers::loaded>> setsep_peers::load(
    const population& people, const std::vector<std::uint64_t>& batches, unsigned threads,
    const json& params, progress& shown, std::vector<std::string>& notes) const {
  auto all = std::make_unique<loaded>();
  for (const std::string& name : names_) {
    shown.step("loading " + name);
    const std::size_t n_notes = notes.size();
    auto made = make(name, people, {people.entries, page_kind::automatic, batches}, threads, notes);
    if (!made) return tl::unexpected(made.error());
    if (*made == nullptr) continue;
    lookup_table& table = **made;
    if (auto done = table.load(people); !done) {
      if (done.error().code == errc::no_memory) return tl::unexpected(done.error());
      notes.push_back(done.error().message() + ": left out");
      continue;
    }
    const double bits =
        8 * static_cast<double>(table.bytes()) / static_cast<double>(people.entries);
    for (std::unique_ptr<lookup>& each : table.lookups()) {
      const std::shared_ptr<lookup> how = std::move(each);
      if (const auto wrong = count_wrong(table, *how, people, people.entries); wrong != 0) {
        notes.push_back(how->name() + " gives wrong values for " +
                        share_text(wrong, people.entries) + ": left out");
        continue;
      }
      setsep_contender one;
      one.name = how->name();
      one.params = params;
      one.params.update(how->params());
      one.more["bits_per_key"] = bits;
      if (notes.size() != n_notes) one.more["vectors"] = "off";
      // One that has no keys is small, as ours.
      one.n_keys = sequence_words(name == "rte_efd" ? 0 : table.bytes());
      one.code = table.code();
      one.ask = [how, n = one.n_keys](unsigned thread, const key_trace& of) {
        return how->ask(thread, of.keys.data(), n) + how->finish(thread);
      };
      all->contenders.push_back(std::move(one));
    }
    all->tables.push_back(std::move(*made));
  }
  return all;
}

}  // namespace coua::bench
