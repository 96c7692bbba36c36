// SPDX-License-Identifier: Apache-2.0
#include "setsep/table.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>

#include "base/prefetch.h"

namespace coua::setsep {
namespace {

// Blocks that a thread takes at a time: some ten milliseconds.
constexpr std::uint64_t chunk_blocks = 16;
constexpr std::size_t batch_max = 32;

bool before(const keyed_value& a, const keyed_value& b) {
  return std::tie(a.hash.high, a.hash.low) < std::tie(b.hash.high, b.hash.low);
}

result<void> check(std::span<const keyed_value> keys, const build_params& params) {
  const layout& shape = params.shape;
  const auto bad = [](const std::string& what) { return fail(errc::invalid, "setsep", what); };
  if (shape.value_bits < 1 || shape.value_bits > value_bits_max) {
    return bad("a value has 1 to 16 bits, not " + std::to_string(shape.value_bits));
  }
  for (const unsigned bytes : {shape.index_bytes, shape.array_bytes}) {
    if (bytes != 1 && bytes != 2) return bad("an index or an array has 1 or 2 bytes");
  }
  if (params.threads < 1 || params.threads > 256) return bad("there are 1 to 256 threads");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].value >> shape.value_bits == 0) continue;
    return bad("key " + std::to_string(i) + ": the value " + std::to_string(keys[i].value) +
               " has more than " + std::to_string(shape.value_bits) + " bits");
  }
  return {};
}

/// The keys of each block, one after the other.
class sorted_keys {
 public:
  sorted_keys(std::span<const keyed_value> keys, std::uint64_t n_blocks)
      : begin_(n_blocks + 1), keys_(keys.size()) {
    for (const keyed_value& each : keys) ++begin_[block_of(each.hash, n_blocks) + 1];
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    std::vector<std::uint64_t> at(begin_.begin(), begin_.end() - 1);
    for (const keyed_value& each : keys) keys_[at[block_of(each.hash, n_blocks)]++] = each;
  }
  std::span<const keyed_value> of(std::uint64_t block) const {
    return std::span(keys_).subspan(begin_[block], begin_[block + 1] - begin_[block]);
  }

 private:
  std::vector<std::uint64_t> begin_;
  std::vector<keyed_value> keys_;
};

}  // namespace

result<table> table::build(std::span<const keyed_value> keys, const build_params& params) {
  if (auto good = check(keys, params); !good) return tl::unexpected(std::move(good.error()));
  table made;
  made.shape_ = params.shape;
  made.n_keys_ = keys.size();
  made.n_blocks_ = std::max<std::uint64_t>(1, (keys.size() + block_keys - 1) / block_keys);
  auto memory =
      arena::create(made.n_blocks_ * made.shape_.block_bytes() + slack_bytes, params.memory);
  if (!memory) return tl::unexpected(std::move(memory.error()));
  made.memory_ = std::move(*memory);

  const sorted_keys sorted(keys, made.n_blocks_);
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;  // of what follows, and the progress
  std::uint64_t n_done = 0;
  const auto work = [&] {
    block_builder builder(params.shape, params.instruction_set);
    std::vector<keyed_value> failed;
    for (;;) {
      const std::uint64_t first = next.fetch_add(chunk_blocks, std::memory_order_relaxed);
      if (first >= made.n_blocks_) break;
      const std::uint64_t end = std::min(first + chunk_blocks, made.n_blocks_);
      for (std::uint64_t i = first; i < end; ++i) {
        builder.build(sorted.of(i), const_cast<std::uint8_t*>(made.block(i)), failed);
      }
      const std::lock_guard hold(mutex);
      n_done += end - first;
      if (params.progress) params.progress(n_done, made.n_blocks_);
    }
    const std::lock_guard hold(mutex);
    made.fallback_.insert(made.fallback_.end(), failed.begin(), failed.end());
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < params.threads; ++i) others.emplace_back(work);
    work();
  }
  // Whatever the threads, the same table. A key with two values is here: nothing separates it.
  std::vector<keyed_value>& all = made.fallback_;
  std::sort(all.begin(), all.end(), [](const keyed_value& a, const keyed_value& b) {
    return before(a, b) || (a.hash == b.hash && a.value < b.value);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto twice = std::adjacent_find(
      all.begin(), all.end(),
      [](const keyed_value& a, const keyed_value& b) { return a.hash == b.hash; });
  if (twice != all.end()) {
    return fail(errc::exists, "setsep",
                "a key has two values, " + std::to_string(twice->value) + " and " +
                    std::to_string((twice + 1)->value));
  }
  return made;
}

std::uint16_t table::find_fallback(const key_hash& hash) const noexcept {
  const auto at =
      std::lower_bound(fallback_.begin(), fallback_.end(), keyed_value{hash, 0}, before);
  return at != fallback_.end() && at->hash == hash ? at->value : 0;
}

/// `Layout`: a layout, or one whose numbers the compiler knows.
template <class Layout>
void table::find_as(Layout of, const key_hash* hashes, std::size_t n,
                    std::uint16_t* values) const noexcept {
  const auto* const memory = static_cast<const std::uint8_t*>(memory_.data());
  const std::uint64_t n_blocks = n_blocks_;
  const std::uint8_t* at[batch_max];
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = memory + block_of(hashes[i], n_blocks) * of.block_bytes();
    prefetch_to_second_level(at[i] + bucket_of(hashes[i]) / 4);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned bucket = bucket_of(hashes[i]);
    const unsigned choice = at[i][bucket / 4] >> bucket % 4 * 2 & 3;
    at[i] += choice_bytes + group_of(bucket, choice) * of.group_bytes();
    prefetch_to_second_level(at[i]);
    prefetch_to_second_level(at[i] + of.group_bytes() - 1);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t base = base_of(hashes[i]), step = step_of(hashes[i]);
    unsigned value = 0;
    bool failed = false;
    for (unsigned bit = 0; bit < of.value_bits; ++bit) {
      const group_part part = load_part(of, at[i] + bit * of.part_bytes());
      if (bit == 0) failed = part.index == of.failed();
      value |= (part.places >> ((base + part.index * step) >> (32 - of.place_bits())) & 1) << bit;
    }
    values[i] = failed ? find_fallback(hashes[i]) : static_cast<std::uint16_t>(value);
  }
}

namespace {

/// The usual ones, at compile time.
template <unsigned ValueBits>
struct known_layout {
  static constexpr unsigned value_bits = ValueBits, index_bytes = 2, array_bytes = 1;
  static constexpr layout as{value_bits, index_bytes, array_bytes};
  static constexpr unsigned place_bits() noexcept { return as.place_bits(); }
  static constexpr std::uint32_t failed() noexcept { return as.failed(); }
  static constexpr unsigned part_bytes() noexcept { return as.part_bytes(); }
  static constexpr unsigned group_bytes() noexcept { return as.group_bytes(); }
  static constexpr unsigned block_bytes() noexcept { return as.block_bytes(); }
};

}  // namespace

std::uint16_t table::find(const key_hash& hash) const noexcept {
  std::uint16_t value;
  find_batch(&hash, 1, &value);
  return value;
}

void table::find_batch(const key_hash* hashes, std::size_t n,
                       std::uint16_t* values) const noexcept {
  const bool usual = shape_.index_bytes == 2 && shape_.array_bytes == 1;
  for (std::size_t done = 0; done < n;) {
    const std::size_t part = std::min(batch_max, n - done);
    const auto as = [&](auto of) { find_as(of, hashes + done, part, values + done); };
    switch (usual ? shape_.value_bits : 0) {
      case 1: as(known_layout<1>()); break;
      case 2: as(known_layout<2>()); break;
      case 3: as(known_layout<3>()); break;
      case 4: as(known_layout<4>()); break;
      default: as(shape_);
    }
    done += part;
  }
}

std::uint64_t table::bytes() const {
  return n_blocks_ * shape_.block_bytes() + slack_bytes + fallback_.size() * sizeof(keyed_value);
}

}  // namespace coua::setsep
