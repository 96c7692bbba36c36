// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_shape.h"

#include <array>

#include "bench/flow/coua_flows.h"
#include "bench/flow/flow_filling.h"
#include "bench/harness/progress.h"
#include "simd/flow_lookup/line.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t asked_misses = std::uint64_t{16} << 20;

/// One table of ours that is filled step by step.
class growing {
 public:
  growing(const flow_options& options, crew& people, std::uint64_t capacity,
          const flow_variant_word& variant, unsigned bucket_slots)
      : options_(options), crew_(people), capacity_(capacity) {
    measured_params params;
    params.capacity = capacity;
    params.people = {0, options.key_bytes, options.value_bytes};
    params.tables = people.size();
    params.pages = options.pages;
    params.bucket_slots = bucket_slots;
    table_ = std::make_unique<coua_flows>(params, variant, options.syncs.front());
  }

  result<void> make() { return make_empty(crew_, *table_); }

  /// Errors: no_room when an insert was refused.
  result<void> grow_to(double load) {
    people_ = {static_cast<std::uint64_t>(load * static_cast<double>(capacity_)),
               options_.key_bytes, options_.value_bytes};
    const result<double> took = fill_tables(crew_, *table_, people_, from_, people_.entries);
    if (!took) return tl::unexpected(took.error());
    from_ = people_.entries;
    return {};
  }

  row make_row(const std::string& what, double load) const {
    row out;
    out.name = table_->name() + "/" + what;
    out.params = {{"capacity", capacity_},
                  {"load", load},
                  {"key", options_.key_bytes},
                  {"value", options_.value_bytes}};
    return out;
  }

  coua_flow_stats stats() const { return table_->stats(0); }
  const coua_flows& table() const { return *table_; }
  const flow_population& people() const { return people_; }

 private:
  const flow_options& options_;
  crew& crew_;
  std::uint64_t capacity_;
  std::unique_ptr<coua_flows> table_;
  flow_population people_;
  std::uint64_t from_ = 0;
};

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// How often a table of thread 0 is led to a second bucket by keys that it does not have.
double false_positive_rate(const growing& what) {
  const flow_population& people = what.people();
  const coua_flows& table = what.table();
  const std::uint64_t before = what.stats().second_looks;
  std::vector<std::uint64_t> keys(chunk_keys * people.key_words());
  for (std::uint64_t i = 0; i < asked_misses; i += chunk_keys) {
    for (std::size_t k = 0; k < chunk_keys; ++k) {
      people.key(people.entries + i + k, keys.data() + k * people.key_words());
    }
    coua_flow_lookup_batch(table.reader(0), keys.data(), chunk_keys, nullptr, nullptr);
  }
  return share(what.stats().second_looks - before, asked_misses);
}

/// Calls look(table, load) for each variant, at each load, which must be reached.
template <typename Look>
result<void> at_each_load(const flow_options& options, crew& people, std::uint64_t capacity,
                          const Look& look) {
  progress shown("flow");
  for (const flow_variant_word& variant : options.variants) {
    growing table(options, people, capacity, variant, 8);
    if (result<void> made = table.make(); !made) return made;
    for (const double load : options.loads) {
      shown.step("filling " + variant.word);
      if (result<void> grown = table.grow_to(load); !grown) return grown;
      look(table, load);
    }
  }
  return {};
}

}  // namespace

result<void> add_secondary_shares(const flow_options& options, crew& people, std::uint64_t capacity,
                                  report& out) {
  progress shown("flow");
  for (const flow_variant_word& variant : options.variants) {
    for (const unsigned slots : {1U, 2U, 4U, 8U}) {
      growing table(options, people, capacity, variant, slots);
      if (result<void> made = table.make(); !made) return made;
      for (const double load : options.loads) {
        shown.step("filling buckets of " + std::to_string(slots));
        const result<void> grown = table.grow_to(load);
        if (!grown && grown.error().code != errc::no_room) return grown;
        const coua_flow_stats now = table.stats();
        row each = table.make_row("secondary", grown ? load : share(now.entries, capacity));
        each.params["slots"] = slots;
        each.more["in_secondary"] = share(now.in_secondary, now.entries);
        if (!grown) each.more["full"] = true;
        out.rows.push_back(std::move(each));
        if (!grown) break;
      }
    }
  }
  return {};
}

result<void> add_moved_counts(const flow_options& options, crew& people, std::uint64_t capacity,
                              report& out) {
  return at_each_load(options, people, capacity, [&](const growing& table, double load) {
    const std::vector<std::uint64_t> buckets = table.table().moved_counts(0);
    for (std::size_t moved = 0; moved < buckets.size(); ++moved) {
      row each = table.make_row("moved", load);
      each.params["moved"] = moved;
      each.more["share"] = share(buckets[moved], capacity / 8);
      out.rows.push_back(std::move(each));
    }
  });
}

result<void> add_false_positives(const flow_options& options, crew& people, std::uint64_t capacity,
                                 report& out) {
  return at_each_load(options, people, capacity, [&](const growing& table, double load) {
    row each = table.make_row("false-positives", load);
    each.more["false_positive_rate"] = false_positive_rate(table);
    out.rows.push_back(std::move(each));
  });
}

}  // namespace coua::bench
