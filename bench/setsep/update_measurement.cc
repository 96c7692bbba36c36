// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/update_measurement.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/harness/population.h"
#include "setsep/snapshot_file.h"

namespace coua::bench {
namespace {

// Deltas that are kept for the replica: some hundred MiB.
constexpr std::size_t kept_bytes_max = std::size_t{256} << 20;

}  // namespace

result<void> update_measurement::bring_up() {
  std::vector<std::uint8_t> snapshot(from_.snapshot_bytes());
  if (auto made = from_.snapshot(snapshot); !made) return made;
  if (auto loaded = to_.load(snapshot); !loaded) return tl::unexpected(loaded.error());
  // Not written over: it is mapped.
  if (auto done = setsep::write_snapshot_file(path_, snapshot); !done) return done;
  if (auto mapped = mapped_.map(path_); !mapped) return tl::unexpected(mapped.error());
  return {};
}

result<update_measurement::window> update_measurement::run(double seconds, unsigned per_delta) {
  if (auto up = bring_up(); !up) return tl::unexpected(up.error());
  random_words random(++seed_);
  const std::uint64_t value_mask = (std::uint64_t{1} << from_.table().shape().value_bits) - 1;
  delta_list deltas;
  auto& [kept, ends] = deltas;
  kept.reserve(kept_bytes_max);
  ends.reserve(std::size_t{1} << 22);
  const auto length_ns = static_cast<std::uint64_t>(seconds * 1e9);
  const std::uint64_t start = now_ns();
  std::uint64_t n = 0;
  do {
    for (unsigned i = 0; i < per_delta; ++i, ++n) {
      setsep::keyed_value& one = keys_[random.below(keys_.size())];
      if (n % 4 < 2) {
        one.value =
            static_cast<std::uint16_t>((one.value + 1 + random.below(value_mask)) & value_mask);
        if (auto put = from_.put(one); !put) return tl::unexpected(put.error());
      } else if (n % 4 == 2) {
        if (auto gone = from_.remove(one.hash); !gone) return tl::unexpected(gone.error());
        // The next one comes in its place.
        std::swap(one, keys_.back());
      } else {
        setsep::keyed_value& other = keys_.back();
        other.hash = {random(), random()};
        if (auto put = from_.put(other); !put) return tl::unexpected(put.error());
      }
    }
    const auto delta = from_.take_delta();
    kept.insert(kept.end(), delta.begin(), delta.end());
    if (!delta.empty()) ends.push_back(kept.size());
    // Not between a removal and the insertion of another key.
  } while (n % 4 == 3 || (now_ns() - start < length_ns && kept.size() < kept_bytes_max / 2 &&
                          ends.size() < ends.capacity() - 4));
  window made;
  made.update_mops = 1e3 * static_cast<double>(n) / static_cast<double>(now_ns() - start);
  made.delta_bytes = static_cast<double>(kept.size()) / static_cast<double>(n);

  const auto applied = apply(deltas, to_), on_mapped = apply(deltas, mapped_);
  if (!applied) return tl::unexpected(applied.error());
  if (!on_mapped) return tl::unexpected(on_mapped.error());
  made.apply_mops = 1e3 * static_cast<double>(n) / *applied;
  made.mapped_apply_mops = 1e3 * static_cast<double>(n) / *on_mapped;
  return made;
}

result<double> update_measurement::apply(const delta_list& deltas, setsep::replica& to) const {
  const std::uint64_t start = now_ns();
  std::size_t at = 0;
  for (const std::size_t end : deltas.ends) {
    const auto applied = to.apply(std::span(deltas.bytes).subspan(at, end - at));
    if (!applied) return tl::unexpected(applied.error());
    if (*applied != setsep::delta_outcome::applied) {
      return fail(errc::io, "setsep/apply", "a delta was not the next one");
    }
    at = end;
  }
  const auto ns = static_cast<double>(now_ns() - start);
  if (!std::ranges::equal(from_.table().blocks(), to.table()->blocks())) {
    return fail(errc::io, "setsep/apply", "the replica differs from the builder");
  }
  return ns;
}

}  // namespace coua::bench
