// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/clock.h"

namespace coua::bench {
namespace {
constexpr std::uint64_t terminal_period_ns = 200'000'000;
constexpr std::uint64_t log_period_ns = 5'000'000'000;
}  // namespace

progress::progress(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_ns_(now_ns()),
      last_ns_(start_ns_) {}

progress::~progress() {
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
}

void progress::step(const std::string& what) {
  const std::uint64_t now = now_ns();
  ++done_;
  if (now - last_ns_ < (terminal_ ? terminal_period_ns : log_period_ns)) return;
  last_ns_ = now;
  shown_ = true;
  const double seconds = static_cast<double>(now - start_ns_) / 1e9;
  std::fprintf(stderr, terminal_ ? "\r\033[K%s %zu: %s (%.0f s)" : "%s %zu: %s (%.0f s)\n",
               what_.c_str(), done_, what.c_str(), seconds);
  std::fflush(stderr);
}

}  // namespace coua::bench
