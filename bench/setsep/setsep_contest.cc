// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/setsep_contest.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/harness/cpu_time.h"
#include "bench/harness/stats.h"

namespace coua::bench {

key_trace::key_trace(const population& people, const setsep::key_hasher& hasher, std::size_t n_keys,
                     std::size_t n_hashes, std::uint64_t seed) {
  random_words random(seed);
  keys.resize(n_keys + slack_keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i < n_keys ? people.key(random.below(people.entries)) : keys[i - n_keys];
  }
  hashes.reserve(n_hashes);
  for (std::size_t i = 0; i < n_hashes; ++i) hashes.push_back(hasher(&keys[i]));
}

std::uint64_t key_trace::sum_of_values(const population& people, std::size_t n) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += people.value(keys[i]);
  return sum;
}

void setsep_contest::make_traces(unsigned threads, const setsep::key_hasher& hasher) {
  std::size_t n_keys = 0, n_hashes = 0;
  for (const setsep_contender& each : all_) {
    n_keys = std::max(n_keys, each.n_keys);
    if (each.ours) n_hashes = std::max(n_hashes, each.n_keys);
  }
  for (std::size_t t = traces_.size(); t < threads; ++t) {
    traces_.emplace_back(population_, hasher, n_keys, n_hashes, run_.seed + t + 1);
  }
}

result<void> setsep_contest::run(unsigned threads, line_limit& limit,
                                 const setsep::key_hasher& hasher) {
  make_traces(threads, hasher);
  for (setsep_contender& each : all_) each.rates.clear();
  for (unsigned round = 0; round < run_.repetitions; ++round) {
    limit.run(threads);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      setsep_contender& one = all_[(i + round) % all_.size()];
      progress_.step("looking up: " + one.name);
      const auto rate = window(one, threads);
      if (!rate) return tl::unexpected(rate.error());
      one.rates.push_back(*rate);
    }
  }
  return {};
}

/// Millions a second, of all threads together.
result<double> setsep_contest::window(const setsep_contender& one, unsigned threads) {
  std::vector<double> rates(threads);
  std::vector<char> right(threads, 1);
  std::vector<std::uint64_t> expected(threads);
  for (unsigned t = 0; t < threads; ++t) {
    expected[t] = traces_[t].sum_of_values(population_, one.n_keys) * one.code.scale +
                  std::uint64_t{one.n_keys} * one.code.offset;
  }
  crew_.run(threads, [&](unsigned t) {
    const auto length_ns = static_cast<std::uint64_t>(run_.seconds * 1e9);
    (void)one.ask(t, traces_[t]);  // its table into the cache that another one had
    const std::uint64_t start = now_ns(), cpu_start = this_thread_cpu_ns();
    std::uint64_t passes = 0;
    do {
      if (one.ask(t, traces_[t]) != expected[t]) right[t] = 0;
      ++passes;
    } while (now_ns() - start < length_ns);
    rates[t] = 1e3 * static_cast<double>(passes * one.n_keys) /
               static_cast<double>(this_thread_cpu_ns() - cpu_start);
  });
  if (std::count(right.begin(), right.end(), 0) != 0) {
    return fail(errc::io, one.name, "gave a wrong value");
  }
  double all = 0;
  for (const double each : rates) all += each;
  return all;
}

double setsep_contest::ratio_to(const char* peer, const setsep_contender& one) const {
  const setsep_contender* best = nullptr;
  for (const setsep_contender& each : all_) {
    if (each.ours || !each.name.starts_with(std::string(peer) + "/")) continue;
    if (best == nullptr || summarise(each.rates).median > summarise(best->rates).median) {
      best = &each;
    }
  }
  return best == nullptr ? 0 : paired_ratio(one.rates, best->rates).median;
}

std::vector<row> setsep_contest::rows(unsigned threads, double limit) const {
  std::vector<row> made;
  for (const setsep_contender& each : all_) {
    row one;
    one.name = each.name;
    one.params = each.params;
    one.params["threads"] = threads;
    const summary rate = summarise(each.rates);
    one.set_rate(rate.median, threads);
    one.spread = rate.spread;
    one.more = each.more;
    if (each.ours) {
      one.set_limit(limit);
      for (const char* peer : {"fib", "rte_efd"}) {
        if (const double ratio = ratio_to(peer, each); ratio != 0) {
          one.more[std::string("ratio_to_") + peer] = ratio;
        }
      }
    }
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace coua::bench
