// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/factor_table.h"

#include <array>

#include "base/cpu.h"
#include "bench/fib/bulk_source.h"
#include "table/optimistic_fib.h"

namespace coua::bench {
namespace {

struct step {
  const char* name;
  optimistic_step what;
  coua_fib_pages pages;
};

constexpr std::array<step, 5> steps = {{
    {"factor/baseline", optimistic_step::baseline, COUA_FIB_PAGES_4K},
    {"factor/+hugepage", optimistic_step::baseline, COUA_FIB_PAGES_AUTO},
    {"factor/+memorder", optimistic_step::memory_order, COUA_FIB_PAGES_AUTO},
    {"factor/+batching", optimistic_step::batch, COUA_FIB_PAGES_AUTO},
    {"factor/+prefetch", optimistic_step::prefetch, COUA_FIB_PAGES_AUTO},
}};

struct factor_call {
  const optimistic_fib* table;
  std::size_t operator()(unsigned, const std::uint64_t* keys, std::size_t n,
                         std::uint32_t* words) const {
    table->lookup(keys, n, words);
    return n;
  }
};

class factor_table final : public lookup_table {
 public:
  factor_table(const step& which, const factor_params& params,
               std::unique_ptr<optimistic_fib> table)
      : step_(which), params_(params), table_(std::move(table)) {}

  std::string name() const override { return step_.name; }
  unsigned load_threads() const override {
    return params_.load_threads != 0 ? params_.load_threads
                                     : static_cast<unsigned>(allowed_cpus().size());
  }

  result<void> load(const population& people) override {
    bulk_source source(people, load_threads());
    const int code = table_->table().bulk_load(bulk_source::next, &source, load_threads(), true);
    const std::uint64_t stored = stats().entries;
    if (code == 0 && stored == people.entries) return {};
    return fail(errc::no_room, step_.name,
                "of " + std::to_string(people.entries) + " entries " + std::to_string(stored) +
                    " are in the table: choose a lower --load");
  }

  std::uint64_t bytes() const override { return stats().bytes; }
  json describe() const override {
    return {{"memory", to_string(table_->table().memory().pages())}};
  }
  answer_code code() const override {
    return {1u << COUA_FIB_ENTRY_VALUE_SHIFT, table_->table().epoch(), COUA_FIB_MISS};
  }

  std::vector<std::unique_ptr<lookup>> lookups() override {
    std::vector<std::unique_ptr<lookup>> out;
    out.push_back(make_batched_lookup(step_.name, params_.batch, factor_call{table_.get()}));
    return out;
  }

 private:
  coua_fib_stats stats() const {
    coua_fib_stats out{};
    out.size = sizeof out;
    table_->table().get_stats(out);
    return out;
  }

  step step_;
  factor_params params_;
  std::unique_ptr<optimistic_fib> table_;
};

}  // namespace

result<std::vector<std::unique_ptr<lookup_table>>> make_factor_tables(const factor_params& asked) {
  std::vector<std::unique_ptr<lookup_table>> out;
  for (const step& each : steps) {
    coua_fib_params params = COUA_FIB_PARAMS_INIT;
    params.entries = asked.entries;
    params.max_load = asked.load;
    params.value_bits = asked.value_bits;
    params.pages = each.pages;
    auto made = optimistic_fib::create(params, each.what);
    if (!made) return tl::unexpected(made.error());
    out.push_back(std::make_unique<factor_table>(each, asked, std::move(*made)));
  }
  return out;
}

}  // namespace coua::bench
