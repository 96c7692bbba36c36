// SPDX-License-Identifier: Apache-2.0
#include "cli/fib_fit.h"

#include <optional>
#include <string>

#include "cli/output.h"

namespace coua::cli {
namespace {

constexpr std::uint64_t key_mask = (std::uint64_t{1} << 60) - 1;

/// Entries of the table that are among those to come. Nothing when the table cannot be read now.
std::optional<std::uint64_t> count_there(client& daemon, const fib_source& source) {
  call_context context(daemon);
  const auto stream = daemon.fib().ShowFib(&context, {});
  std::uint64_t n = 0;
  for (v1::FibBatch batch; stream->Read(&batch);)
    for (const std::uint64_t key : batch.keys()) n += source.has(key & key_mask) ? 1 : 0;
  if (!stream->Finish().ok()) return std::nullopt;
  return n;
}

}  // namespace

result<void> check_fit(client& daemon, fib_source& source) {
  const auto stats =
      daemon.call(daemon.fib(), &v1::FibService::Stub::GetFibStats, v1::GetFibStatsRequest());
  if (!stats) return tl::unexpected(stats.error());
  const std::uint64_t slots = stats->slots(), used = stats->entries();
  if (used + source.size() <= slots) return {};
  const std::uint64_t asked = source.distinct();
  if (used + asked <= slots) return {};
  std::uint64_t there = 0;
  if (asked <= slots) {
    const auto counted = count_there(daemon, source);
    if (!counted || used + asked - *counted <= slots) return {};
    there = *counted;
  }
  return fail(errc::no_room, "fib load",
              grouped(asked) + " entries do not fit: the table has " + grouped(slots) +
                  " slots, of which " + grouped(used) + " are in use" +
                  (there > 0 ? " (" + grouped(there) + " by the same entries)" : "") +
                  "; nothing was loaded");
}

}  // namespace coua::cli
