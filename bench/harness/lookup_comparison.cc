// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/lookup_comparison.h"

namespace coua::bench {
namespace {

/// Pairs that are asked the same keys.
constexpr unsigned pairs_of_keys = 10;

}  // namespace

result<std::unique_ptr<lookup_comparison>> lookup_comparison::create(
    comparison_plan plan, crew& threads, const void* memory, std::uint64_t bytes, progress& shown) {
  std::unique_ptr<lookup_comparison> made(new lookup_comparison(std::move(plan), threads, shown));
  for (unsigned i = 0; i < threads.size(); ++i) {
    result<sequence> keys = sequence::create(sequence_words(bytes), made->plan_.key_words);
    if (!keys) return tl::unexpected(keys.error());
    made->keys_.push_back(std::move(*keys));
  }
  shown.step("line limit");
  auto limit = line_limit::create(threads, made->plan_.threads, memory, bytes, made->plan_.run);
  if (!limit) return tl::unexpected(limit.error());
  made->limit_ = std::move(*limit);
  return made;
}

void lookup_comparison::fill_keys(unsigned misses) {
  ++round_;
  crew_.run(crew_.size(), [&](unsigned thread) {
    plan_.fill(keys_[thread], misses, plan_.run.seed + round_ * 1024 + thread);
  });
}

window lookup_comparison::timed(compared_lookup& each, unsigned threads, double seconds) {
  return run_window(crew_, threads, *each.how, keys_, seconds, each.code);
}

result<void> lookup_comparison::run() {
  for (unsigned round = 0; round < plan_.run.repetitions; ++round) {
    for (const std::uint64_t threads : plan_.threads) {
      limit_->run(narrow(threads));
      for (const std::uint64_t misses : plan_.misses) {
        fill_keys(narrow(misses));
        for (std::size_t i = 0; i < lookups_.size(); ++i) {
          compared_lookup& each = lookups_[(i + round) % lookups_.size()];
          progress_.step(each.how->name());
          const window out = timed(each, narrow(threads), plan_.run.seconds);
          if (out.sum != out.expected) {
            return fail(errc::io, each.how->name(),
                        "wrong answers in a timed window: their sum is " + std::to_string(out.sum) +
                            " instead of " + std::to_string(out.expected));
          }
          each.rates[{narrow(threads), narrow(misses)}].push_back(out.mops);
        }
      }
    }
  }
  return {};
}

result<churn_pairs> lookup_comparison::run_pairs(compared_lookup& each, comparison_point at,
                                                 churn& writer, unsigned pairs,
                                                 const std::string& doing) {
  const double seconds = pair_seconds(plan_.run);
  return run_churn_pairs(
      writer, pairs, each.how->name(),
      [&](unsigned pair) {
        if (pair % pairs_of_keys == 0) fill_keys(at.misses);
        progress_.step(each.how->name() + " with " + doing);
      },
      [&]() -> result<double> { return timed(each, at.threads, seconds).mops; });
}

void lookup_comparison::run_limit(unsigned threads) {
  for (unsigned i = 0; i < plan_.run.repetitions; ++i) limit_->run(threads);
}

row lookup_comparison::make_row(const compared_lookup& each, comparison_point at,
                                const summary& rate) {
  row out;
  out.name = each.how->name();
  out.params = each.params;
  out.params["misses"] = at.misses;
  out.params["threads"] = at.threads;
  out.set_rate(rate.median, at.threads);
  out.bytes_per_entry = each.bytes_per_entry;
  out.spread = rate.spread;
  return out;
}

}  // namespace coua::bench
