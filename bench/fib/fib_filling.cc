// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/fib_filling.h"

#include <algorithm>

#include "bench/harness/cpu_time.h"
#include "bench/harness/question.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

std::uint64_t insert_each(coua_fib* fib, const std::vector<coua_fib_record>& records) {
  std::uint64_t taken = 0;
  for (const coua_fib_record& each : records) {
    taken += coua_fib_insert(fib, &each) == COUA_FIB_ADDED;
  }
  return taken;
}

std::uint64_t insert_batches(coua_fib* fib, const std::vector<coua_fib_record>& records,
                             std::size_t batch) {
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < records.size(); i += batch) {
    taken += coua_fib_insert_batch(fib, records.data() + i, std::min(batch, records.size() - i),
                                   nullptr);
  }
  return taken;
}

}  // namespace

result<void> fib_filling::fill(coua_table& table, bool batched) {
  std::uint64_t ns = 0, taken = 0;
  crew_.run(1, [&](unsigned) {
    std::vector<coua_fib_record> records;
    for (std::uint64_t from = 0; from < people_.entries && taken == from; from += records.size()) {
      records.resize(std::min<std::uint64_t>(chunk_keys, people_.entries - from));
      for (std::size_t i = 0; i < records.size(); ++i) {
        const std::uint64_t key = people_.key(from + i);
        records[i] = {key, people_.value(key), 0, 0, 0};
      }
      const std::uint64_t start = this_thread_cpu_ns();
      taken += batched ? insert_batches(table.fib(), records, batch_records)
                       : insert_each(table.fib(), records);
      ns += this_thread_cpu_ns() - start;
    }
  });
  if (taken != people_.entries) {
    return fail(errc::no_room, "fib",
                "refuses entries after " + std::to_string(taken) + " of " +
                    std::to_string(people_.entries) + ": choose a lower --load");
  }
  mops_[batched].push_back(static_cast<double>(taken) * 1e3 /
                           static_cast<double>(std::max<std::uint64_t>(1, ns)));
  return {};
}

row fib_filling::make_row(const coua_table& filled, bool batched, const json& params) const {
  const summary rate = summarise(mops_[batched]);
  const coua_fib_stats now = filled.stats();
  const auto entries = static_cast<double>(now.entries);
  row out;
  out.name = batched ? "fib/insert-batch" : "fib/insert";
  out.params = params;
  out.params["batch"] = batched ? batch_records : 1;
  out.set_rate(rate.median);
  out.spread = rate.spread;
  out.bytes_per_entry = static_cast<double>(filled.bytes()) / entries;
  out.more["load_reached"] = entries / static_cast<double>(now.slots);
  out.more["moves_per_entry"] = static_cast<double>(now.moves) / entries;
  if (batched && mops_[0].size() == mops_[1].size()) {
    out.more["ratio_to_insert"] = paired_ratio(mops_[1], mops_[0]).median;
  }
  return out;
}

}  // namespace coua::bench
