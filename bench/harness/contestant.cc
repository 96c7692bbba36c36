// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/contestant.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/harness/cpu_time.h"

namespace coua::bench {
namespace {

/// Chunks of warm-up: at most an eighth of a pass, 64 K keys.
constexpr std::size_t warm_chunks = 16;

struct alignas(64) share {
  std::uint64_t words = 0, ns = 0, sum = 0, expected = 0;
};

share run_thread(unsigned thread, contestant& who, const sequence& words, double seconds,
                 const std::optional<answer_code>& code) {
  share out;
  const auto length_ns = static_cast<std::uint64_t>(seconds * 1e9);
  std::size_t at = 0;
  auto next_chunk = [&] {
    const std::size_t now = at;
    at = at + 1 == words.chunks() ? 0 : at + 1;
    return now;
  };
  for (std::size_t i = 0; i < std::min(warm_chunks, words.chunks() / 8); ++i) {
    who.ask(thread, words.chunk(next_chunk()), chunk_keys);
  }
  who.finish(thread);

  const std::uint64_t cpu_start = this_thread_cpu_ns();
  const std::uint64_t start = now_ns();
  std::uint64_t now = start;
  do {
    const std::size_t chunk = next_chunk();
    out.sum += who.ask(thread, words.chunk(chunk), chunk_keys);
    if (code) out.expected += words.expected(chunk, *code);
    out.words += chunk_keys;
    now = now_ns();
  } while (now - start < length_ns);
  out.sum += who.finish(thread);
  out.ns = this_thread_cpu_ns() - cpu_start;
  return out;
}

}  // namespace

window run_window(crew& people, unsigned threads, contestant& who,
                  const std::vector<sequence>& sequences, double seconds,
                  const std::optional<answer_code>& code) {
  std::vector<share> shares(threads);
  people.run(threads, [&](unsigned thread) {
    shares[thread] = run_thread(thread, who, sequences[thread], seconds, code);
  });
  window out;
  for (const share& each : shares) {
    out.mops += 1e3 * static_cast<double>(each.words) / static_cast<double>(each.ns);
    out.sum += each.sum;
    out.expected += each.expected;
  }
  return out;
}

}  // namespace coua::bench
