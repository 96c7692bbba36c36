// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_filling.h"

#include "bench/harness/cpu_time.h"

namespace coua::bench {
namespace {

struct alignas(64) filled {
  std::uint64_t ns = 0;
  std::uint64_t refused_near = UINT64_MAX;  // an index; all were taken
};

filled fill_one(unsigned thread, measured_table& table, const flow_population& people,
                std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> keys(chunk_keys * people.key_words());
  std::vector<std::uint64_t> values(chunk_keys * people.value_words());
  filled out;
  while (from < to) {
    const std::size_t count = std::min<std::uint64_t>(chunk_keys, to - from);
    people.put_all(from, count, keys.data(), values.data());
    const std::uint64_t start = this_thread_cpu_ns();
    const std::size_t taken = table.insert(thread, keys.data(), values.data(), count);
    out.ns += this_thread_cpu_ns() - start;
    if (taken != count) {
      out.refused_near = from;
      return out;
    }
    from += count;
  }
  return out;
}

}  // namespace

result<void> make_empty(crew& people, measured_table& table) {
  std::vector<result<void>> made(people.size());
  people.run(people.size(), [&](unsigned thread) { made[thread] = table.make(thread); });
  for (result<void>& each : made) {
    if (!each) return std::move(each);
  }
  return {};
}

result<double> fill_tables(crew& threads, measured_table& table, const flow_population& people,
                           std::uint64_t from, std::uint64_t to) {
  std::vector<filled> parts(threads.size());
  threads.run(threads.size(),
              [&](unsigned thread) { parts[thread] = fill_one(thread, table, people, from, to); });
  double seconds = 0;
  for (const filled& each : parts) {
    if (each.refused_near != UINT64_MAX) {
      return fail(errc::no_room, table.name(),
                  "refuses entries after " + std::to_string(each.refused_near) + " of " +
                      std::to_string(to) + ": choose a lower --load");
    }
    seconds += static_cast<double>(each.ns) / 1e9 / static_cast<double>(parts.size());
  }
  return seconds;
}

}  // namespace coua::bench
