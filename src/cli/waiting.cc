// SPDX-License-Identifier: Apache-2.0
#include "cli/waiting.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/runner.h"
#include "cli/verbs.h"

namespace coua::cli {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds pause{100};

/// A look takes what is left of the time at most, and this where next to nothing is: a daemon on a
/// busy machine must not seem to be gone.
constexpr std::chrono::duration<double> look_least{1};

/// The daemon is asked by its socket first: the library would come back to one that was not there
/// after seconds only.
result<bool> look_once(const session& s, const look& once, std::chrono::duration<double> left) {
  constexpr double call_most = 30;
  const double most = s.call.has("timeout") ? s.call.real("timeout") : call_most;
  s.daemon.point_to(choose_socket(s.call));
  s.daemon.set_timeout(std::min(most, std::max(left, look_least).count()));
  if (auto there = s.daemon.probe(); !there) return tl::unexpected(there.error());
  return once();
}

bool may_change(const result<bool>& found) {
  if (found) return !*found;
  const errc code = found.error().code;
  return code == errc::unavailable || code == errc::busy || code == errc::not_found;
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
  auto found = look_once(s, once, patience);
  while (may_change(found) && clock::now() < end) {
    if (s.daemon.wait(pause)) return tl::unexpected(interrupted());
    found = look_once(s, once, end - clock::now());
  }
  s.daemon.set_timeout(s.call.has("timeout") ? std::optional(s.call.real("timeout"))
                                             : std::nullopt);
  if (!found) {
    if (may_change(found)) s.status = exit_not_yet;
    return tl::unexpected(found.error());
  }
  if (*found) return {};
  std::fprintf(stderr, "coua %s: not within %s s: %s\n", s.call.what->path.c_str(),
               s.call.text("wait").c_str(), what.c_str());
  s.status = exit_not_yet;
  return {};
}

}  // namespace coua::cli
