// SPDX-License-Identifier: Apache-2.0
#include "bench/limit/line_reader.h"

#include <algorithm>
#include <array>

namespace coua::bench {
namespace {

constexpr std::array<unsigned, 13> distances = {4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192};

template <hint Where>
void fetch(const char* line) {
  if constexpr (Where == hint::t0) {
    __builtin_prefetch(line, 0, 3);
  } else {
    __builtin_prefetch(line, 0, 2);
  }
}

std::uint64_t word_at(const char* line) {
  // The table may be written by another thread meanwhile.
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(line), __ATOMIC_RELAXED);
}

template <hint Where>
std::uint64_t rolling(const char* base, const std::uint64_t* offsets, std::size_t n,
                      unsigned distance) {
  std::uint64_t sum = 0;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < n; ++i) {
    fetch<Where>(base + offsets[i + distance]);
    sum += word_at(base + offsets[i]);
  }
  return sum;
}

template <hint Where>
std::uint64_t grouped(const char* base, const std::uint64_t* offsets, std::size_t n,
                      unsigned group) {
  std::uint64_t sum = 0;
  for (std::size_t start = 0; start < n; start += group) {
    const std::size_t count = std::min<std::size_t>(group, n - start);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) fetch<Where>(base + offsets[start + i]);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) sum += word_at(base + offsets[start + i]);
  }
  return sum;
}

}  // namespace

const char* to_string(hint where) { return where == hint::t0 ? "t0" : "t1"; }
const char* to_string(scheme how) { return how == scheme::grouped ? "grouped" : "rolling"; }

std::uint64_t line_reader::ask(unsigned /*thread*/, const std::uint64_t* words, std::size_t n) {
  const auto* const base = static_cast<const char*>(memory_);
  if (how_.how == scheme::grouped) {
    return how_.where == hint::t0 ? grouped<hint::t0>(base, words, n, how_.distance)
                                  : grouped<hint::t1>(base, words, n, how_.distance);
  }
  return how_.where == hint::t0 ? rolling<hint::t0>(base, words, n, how_.distance)
                                : rolling<hint::t1>(base, words, n, how_.distance);
}

std::vector<reading> best_readings(crew& people, unsigned threads, const void* memory,
                                   const std::vector<sequence>& lines, hint where,
                                   double seconds_each, std::size_t how_many) {
  struct tried {
    reading how;
    double mops;
  };
  std::vector<tried> all;
  for (const scheme how : {scheme::grouped, scheme::rolling}) {
    for (const unsigned distance : distances) {
      line_reader reader(memory, {where, how, distance});
      all.push_back({reader.how(), run_window(people, threads, reader, lines, seconds_each).mops});
    }
  }
  std::sort(all.begin(), all.end(), [](const tried& a, const tried& b) { return a.mops > b.mops; });
  std::vector<reading> best;
  for (std::size_t i = 0; i < std::min(how_many, all.size()); ++i) best.push_back(all[i].how);
  return best;
}

}  // namespace coua::bench
