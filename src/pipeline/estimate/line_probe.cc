// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/line_probe.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/arena.h"
#include "base/clock.h"

namespace coua::pipeline {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr unsigned lines_at_once = 32;  // as look-ups of a burst
constexpr unsigned n_batches = 64;      // between two looks at the clock
constexpr unsigned n_reads = n_batches * lines_at_once;
constexpr unsigned reading_rounds = 7;
constexpr std::size_t largest_set = 8 << 20;

/// Zeroed memory, of which random lines are read.
class line_probe {
 public:
  explicit line_probe(arena memory) : memory_(std::move(memory)) {}

  /// Cycles of each line of the first `bytes`. `in_memory`: they are in no cache.
  double measure(std::size_t bytes, bool in_memory) {
    const std::uint64_t n_lines = std::max<std::size_t>(bytes / line_bytes, 1);
    // All of the set is in the caches, as far as it fits them.
    for (std::uint64_t i = 0; i < n_lines; ++i) (void)*line(i);
    std::vector<double> took;
    for (unsigned round = 0; round < reading_rounds; ++round) {
      for (std::uint64_t& each : drawn_) each = draw(n_lines);
      if (in_memory) put_out();
      took.push_back(static_cast<double>(read()) / n_reads);
    }
    std::nth_element(took.begin(), took.begin() + reading_rounds / 2, took.end());
    return took[reading_rounds / 2];
  }

 private:
  const volatile std::uint64_t* line(std::uint64_t i) const {
    return reinterpret_cast<const volatile std::uint64_t*>(
        static_cast<const std::uint8_t*>(memory_.data()) + i * line_bytes);
  }

  std::uint64_t draw(std::uint64_t below) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(state_) * below) >> 64);
  }

  void put_out() const {
#if defined(__x86_64__)
    for (const std::uint64_t each : drawn_)
      __builtin_ia32_clflush(const_cast<std::uint64_t*>(line(each)));
    __builtin_ia32_mfence();
#endif
  }

  std::uint64_t read() const {
    std::uint64_t read_before = 0;  // 0 in the end, but nobody knows that before the batch is read
    const std::uint64_t start = cycles();
    for (unsigned at = 0; at < n_reads; at += lines_at_once) {
      const volatile std::uint64_t* lines[lines_at_once];
      for (unsigned i = 0; i < lines_at_once; ++i) {
        lines[i] = line(drawn_[at + i] + read_before);
        __builtin_prefetch(const_cast<const std::uint64_t*>(lines[i]));
      }
      for (const auto* each : lines) read_before += *each;
    }
    return cycles() - start + read_before;
  }

  arena memory_;
  std::uint64_t state_ = 1;
  std::uint64_t drawn_[n_reads] = {};
};

}  // namespace

result<std::vector<memory_level>> measure_levels(std::span<const std::size_t> caches) {
  auto memory = arena::create(largest_set);
  if (!memory) return tl::unexpected(std::move(memory.error()));
  const auto probe = std::make_unique<line_probe>(std::move(*memory));
  std::vector<memory_level> made;
  for (const std::size_t bytes : caches) {
    if (bytes == 0) continue;
    made.push_back({bytes, probe->measure(std::min(bytes / 2, largest_set), false)});
  }
  made.push_back({std::numeric_limits<std::uint64_t>::max(), probe->measure(largest_set, true)});
  // A cache is no slower than what is behind it; what was measured may be disturbed.
  for (std::size_t i = made.size() - 1; i-- > 0;) {
    made[i].line_cycles = std::min(made[i].line_cycles, made[i + 1].line_cycles);
  }
  return made;
}

}  // namespace coua::pipeline
