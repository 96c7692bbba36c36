// SPDX-License-Identifier: Apache-2.0
#include "cli/waiting.h"

#include <chrono>
#include <cstdio>

#include "cli/verbs.h"

namespace coua::cli {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds pause{100};

/// The daemon is asked by its socket first: the library would come back to one that was not there
/// after seconds only.
result<bool> look_once(const session& s, const look& once) {
  if (auto there = s.daemon.probe(); !there) return tl::unexpected(there.error());
  return once();
}

bool may_change(const result<bool>& found) {
  if (found) return !*found;
  return found.error().code == errc::unavailable || found.error().code == errc::not_found;
}

}  // namespace

parameter wait_option(const std::string& what) {
  return {.name = "wait",
          .value = "SECONDS",
          .help = "wait until " + what + ", so long at most: exit status 5 when it is not by then",
          .type = kind::real,
          .high = 86400};
}

result<void> look_until(const session& s, const std::string& what, const look& once) {
  if (!s.call.has("wait")) {
    const auto found = once();
    if (!found) return tl::unexpected(found.error());
    return {};
  }
  const std::chrono::duration<double> patience(s.call.real("wait"));
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(patience);
  auto found = look_once(s, once);
  while (may_change(found) && clock::now() < end) {
    if (s.daemon.wait(pause)) return fail(errc::io, "coua", "interrupted");
    found = look_once(s, once);
  }
  if (!found) return tl::unexpected(found.error());
  if (*found) return {};
  std::fprintf(stderr, "coua %s: not within %s s: %s\n", s.call.what->path.c_str(),
               s.call.text("wait").c_str(), what.c_str());
  s.status = exit_not_yet;
  return {};
}

}  // namespace coua::cli
