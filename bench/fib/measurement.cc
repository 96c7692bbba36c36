// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/measurement.h"

#include <algorithm>

#include "bench/fib/fib_writer.h"
#include "bench/harness/peer_field.h"

namespace coua::bench {
namespace {

/// What our own table says of itself.
bool is_ours(const compared_lookup& each) { return each.params.contains("layout"); }

/// A table of our own, through its C API.
class table_writer final : public fib_writer {
 public:
  table_writer(coua_fib* fib, record_of record) : fib_writer(std::move(record)), fib_(fib) {}

 private:
  std::size_t erase(std::span<const std::uint64_t> keys) override {
    return coua_fib_erase_batch(fib_, keys.data(), keys.size());
  }
  std::size_t insert(std::span<const coua_fib_record> records) override {
    results_.resize(records.size());
    coua_fib_insert_batch(fib_, records.data(), records.size(), results_.data());
    return static_cast<std::size_t>(
        std::count(results_.begin(), results_.end(), static_cast<std::int8_t>(COUA_FIB_ADDED)));
  }

  coua_fib* fib_;
  std::vector<std::int8_t> results_;
};

}  // namespace

result<std::unique_ptr<measurement>> measurement::create(const fib_options& options,
                                                         const population& people, crew& threads,
                                                         const void* memory, std::uint64_t bytes,
                                                         progress& shown) {
  std::unique_ptr<measurement> made(new measurement(options, people, shown));
  auto comparison =
      lookup_comparison::create(plan_for(options, people, 1), threads, memory, bytes, shown);
  if (!comparison) return tl::unexpected(comparison.error());
  made->comparison_ = std::move(*comparison);
  return made;
}

result<void> measurement::add(lookup_table& table, const json& params) {
  const double bytes = static_cast<double>(table.bytes()) / static_cast<double>(people_.entries);
  for (std::unique_ptr<lookup>& how : table.lookups()) {
    progress_.step("checking " + how->name());
    if (result<void> good = check(table, *how); !good) return good;
    json all = params;
    all.update(how->params());
    comparison_->add({std::move(how), table.code(), std::move(all), bytes});
  }
  return {};
}

result<void> measurement::check(lookup_table& table, lookup& how) {
  const answer_code code = table.code();
  std::vector<std::uint32_t> words(chunk_keys);
  for (const unsigned misses : {0U, 50U, 100U}) {
    comparison_->fill_keys(misses);
    const sequence& keys = comparison_->keys()[0];
    for (std::size_t i = 0; i < std::min(check_chunks, keys.chunks()); ++i) {
      const std::uint64_t* const asked = keys.chunk(i);
      how.answer(0, asked, chunk_keys, words.data());
      for (std::size_t k = 0; k < chunk_keys; ++k) {
        const std::optional<std::uint32_t> value = keys.expected_value(i, k, people_);
        const std::uint32_t right = value ? *value * code.scale + code.offset : code.miss;
        if (words[k] != right) {
          return fail(errc::io, how.name(),
                      "wrong answer to key " + std::to_string(asked[k]) + ": " +
                          std::to_string(words[k]) + " instead of " + std::to_string(right));
        }
      }
    }
  }
  return {};
}

result<void> measurement::run(std::vector<row>& rows) {
  if (result<void> done = comparison_->run(); !done) return done;
  for (const compared_lookup& each : comparison_->lookups()) {
    for (const auto& [at, rates] : each.rates) {
      rows.push_back(make_row(each, at, 0, summarise(rates)));
      if (is_ours(each) && !options_.peers.empty()) compare_with_peers(each, at, rows.back());
    }
  }
  return {};
}

void measurement::compare_with_peers(const compared_lookup& each, comparison_point at,
                                     row& out) const {
  for (const compared_lookup& peer : comparison_->lookups()) {
    if (is_ours(peer) || peer.params.at("batch") != each.params.at("batch")) continue;
    const summary ratio = paired_ratio(each.rates.at(at), peer.rates.at(at));
    out.more[peer_field("ratio_to", peer.how->name())] = ratio.median;
  }
}

row measurement::make_row(const compared_lookup& each, comparison_point at, std::uint64_t updates,
                          const summary& rate) const {
  row out = lookup_comparison::make_row(each, at, rate);
  out.params["updates"] = updates;
  out.set_limit(comparison_->limit(at.threads));
  return out;
}

result<void> measurement::run_updates(coua_fib* fib, std::uint64_t per_second,
                                      std::vector<row>& rows) {
  table_writer target(fib, [this](std::uint64_t index) -> coua_fib_record {
    const std::uint64_t key = people_.key(index);
    return {key, people_.value(key), 0, 0, 0};
  });
  churn writer(target, people_.entries, static_cast<double>(per_second));
  for (const std::uint64_t threads : options_.threads) {
    comparison_->run_limit(narrow(threads));
    for (const std::uint64_t misses : options_.misses) {
      for (compared_lookup& each : comparison_->lookups()) {
        if (!is_ours(each)) continue;
        const comparison_point at = {narrow(threads), narrow(misses)};
        result<churn_pairs> pairs =
            comparison_->run_pairs(each, at, writer, options_.pairs, "updates");
        if (!pairs) return tl::unexpected(pairs.error());
        row out = make_row(each, at, per_second, pairs->rate());
        out.more = pairs->fields();
        rows.push_back(std::move(out));
      }
    }
  }
  return {};
}

}  // namespace coua::bench
