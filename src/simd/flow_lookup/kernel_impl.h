// SPDX-License-Identifier: Apache-2.0
//
// The kernels' common body: the steps put together to batches and a pipeline. Instantiated by each
// instruction set's file with its own way to compare a bucket's tags (`Match`).
#pragma once

#include "simd/flow_lookup/steps.h"

namespace coua::simd {
namespace {

template <class Steps>
struct flow_kernel : Steps {
  using steps = Steps;
  using steps::group_size, steps::key_words, steps::value_words, steps::put_value;
  using steps::probe_homes, steps::probe_seconds;
  using typename steps::bytes_in;

  // `shared` is the caller's view, of which `view` is the loop's own copy: what is out of line gets
  // the former.

  [[gnu::always_inline]] static void settle(const flow_view& shared, flow_reader_state& state,
                                            flow_group& group, std::uint32_t unsure,
                                            std::uint32_t renew_units, std::uint8_t* values,
                                            std::size_t stride) noexcept {
    if (unsure == 0) [[likely]]
      return;
    steps::count_retries(state, unsure);
    steps::look_up_each(shared, state, group, unsure, renew_units, values, stride);
  }

  /// Second buckets and entries of a group whose primary ones were compared in this call. The
  /// second buckets come first: what they nominate is fetched while the other entries are taken.
  [[gnu::always_inline]] static void finish_now(const flow_view& shared, const flow_view& view,
                                                flow_reader_state& state, flow_group& group,
                                                std::uint32_t renew_units, std::uint8_t* values,
                                                std::size_t stride) noexcept {
    probe_seconds(view, group);
    const std::uint32_t unsure =
        steps::template take_found<true>(shared, view, state, group, renew_units, values, stride);
    settle(shared, state, group, unsure, renew_units, values, stride);
  }

  /// Writes the answers of `n` (up to 32) keys from key `at` of a call. The words are written in
  /// order: a word's first answers clear the rest of it.
  [[gnu::always_inline]] static void put_hits(std::uint64_t* hits, std::size_t at, unsigned n,
                                              std::uint32_t found) noexcept {
    if (hits == nullptr || n == 0) return;
    const unsigned shift = at % 64;
    std::uint64_t* word = hits + at / 64;
    *word = (shift == 0 ? 0 : *word) | std::uint64_t{found} << shift;
    if (shift + n > 64) word[1] = std::uint64_t{found} >> (64 - shift);
  }

  // Batches.

  using fetched = typename steps::fetched;
  struct call {
    fetched first;  // of its first group
    bytes_in keys;
    const std::uint64_t* hashes;
    std::size_t n;
    std::uint8_t* values;
    std::uint64_t* hits;
    bytes_in next_keys;
    std::size_t n_next;
    std::uint32_t renew_units;
  };

  [[gnu::always_inline]] static unsigned as_group(std::size_t n) noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(n, group_size));
  }

  [[gnu::always_inline]] static void start_first(const flow_view& shared, flow_group& group,
                                                 const call& c, fetched what) noexcept {
    switch (what) {
      case fetched::nothing:
        return steps::template start<fetched::nothing>(shared, group, 0, c.keys, c.hashes);
      case fetched::homes:
        return steps::template start<fetched::homes>(shared, group, 0, c.keys, c.hashes);
      case fetched::both:
        return steps::template start<fetched::both>(shared, group, 0, c.keys, c.hashes);
    }
  }

  /// Of the first keys of a call.
  [[gnu::always_inline]] static fetched to_fetch(const flow_view& view,
                                                 const flow_reader_state& state,
                                                 const call& c) noexcept {
    if (view.is_small || c.first == fetched::nothing) return fetched::nothing;
    const bool both = !steps::has_filters || (c.n <= steps::few_keys && state.fetches_both());
    return both ? fetched::both : fetched::homes;
  }

  /// So few keys take less one after the other than by groups with lists (docs/flow-table.md).
  static constexpr std::size_t alone_max = 4;
  static std::size_t one_by_one(const flow_view& view, flow_reader_state& state,
                                const call& c) noexcept {
    flow_group& group = state.batch[0];
    group.n = as_group(c.n);
    group.hits = 0;
    start_first(view, group, c, to_fetch(view, state, c));
    steps::look_up_each(view, state, group, steps::all_of(group.n), c.renew_units, c.values,
                        view.value_stride);
    put_hits(c.hits, 0, group.n, group.hits);
    return static_cast<unsigned>(__builtin_popcount(group.hits));
  }

  /// The groups of a call. While one is between two steps, the next is started.
  [[gnu::noinline]] static std::size_t run(const flow_view& shared, flow_reader_state& state,
                                           const call& asked) noexcept {
    if (asked.n <= alone_max && asked.n_next == 0) return one_by_one(shared, state, asked);
    const flow_view view = shared;
    const call c = asked;
    state.batch[0].n = as_group(c.n);
    start_first(shared, state.batch[0], c, to_fetch(view, state, c));
    std::size_t n_hits = 0;
    unsigned turn = 0;
    for (std::size_t at = 0; at < c.n; turn ^= 1) {
      flow_group& group = state.batch[turn];
      const std::size_t next = at + group.n;
      probe_homes(view, group);
      const bool is_last = next == c.n;
      const std::size_t n_to_start = is_last ? c.n_next : c.n - next;
      if (n_to_start != 0) {
        flow_group& following = state.batch[turn ^ 1];
        following.n = as_group(n_to_start);
        const bytes_in keys = is_last ? c.next_keys : c.keys + next * view.key_stride;
        const std::uint64_t* hashes = is_last || c.hashes == nullptr ? nullptr : c.hashes + next;
        if (view.is_small) {
          steps::template start<fetched::nothing>(shared, following, 0, keys, hashes);
        } else {
          steps::template start<fetched::homes>(shared, following, 0, keys, hashes);
        }
      }
      finish_now(shared, view, state, group, c.renew_units,
                 c.values != nullptr ? c.values + at * view.value_stride : nullptr,
                 view.value_stride);
      put_hits(c.hits, at, group.n, group.hits);
      n_hits += static_cast<unsigned>(__builtin_popcount(group.hits));
      at = next;
    }
    state.found_few = n_hits < c.n / 4;
    return n_hits;
  }

  static std::size_t batch(const flow_view& view, flow_reader_state& state, bytes_in keys,
                           const std::uint64_t* hashes, std::size_t n, std::uint8_t* values,
                           std::uint64_t* hits) noexcept {
    return run(view, state, {fetched::both, keys, hashes, n, values, hits, nullptr, 0, 0});
  }
  /// What was fetched by the last call is not remembered but hashed again: it costs less than to
  /// find out whether these are the keys that were announced.
  static std::size_t ahead(const flow_view& view, flow_reader_state& state, bytes_in keys,
                           std::size_t n, std::uint8_t* values, std::uint64_t* hits,
                           bytes_in next_keys, std::size_t n_next) noexcept {
    return run(view, state,
               {fetched::nothing, keys, nullptr, n, values, hits, next_keys, n_next, 0});
  }
  static std::size_t refresh(const flow_view& view, flow_reader_state& state, bytes_in keys,
                             std::size_t n, std::uint8_t* values, std::uint64_t* hits,
                             std::uint32_t units) noexcept {
    return run(view, state, {fetched::both, keys, nullptr, n, values, hits, nullptr, 0, units});
  }

  // The pipeline. A key is hashed and its primary bucket fetched when it is submitted; the other
  // steps take whole groups, and a last, partial one only when drained.

  [[gnu::always_inline]] static flow_group& group_of(flow_reader_state& state,
                                                     std::uint64_t key) noexcept {
    return state.ring[key / group_size % flow_reader_state::n_ring];
  }
  [[gnu::noinline]] static void step_homes(const flow_view& shared,
                                           flow_reader_state& state) noexcept {
    const flow_view view = shared;
    flow_group& group = group_of(state, state.homed);
    probe_homes(view, group);
    state.homed += group.n;
  }
  [[gnu::noinline]] static void step_seconds(const flow_view& shared,
                                             flow_reader_state& state) noexcept {
    const flow_view view = shared;
    flow_group& group = group_of(state, state.seconded);
    probe_seconds(view, group);
    state.seconded += group.n;
  }
  /// Returns the group.
  [[gnu::noinline]] static const flow_group& step_finish(const flow_view& shared,
                                                         flow_reader_state& state,
                                                         std::uint8_t* values,
                                                         std::size_t stride) noexcept {
    const flow_view view = shared;
    flow_group& group = group_of(state, state.finished);
    const std::uint32_t unsure =
        steps::template take_found<false>(shared, view, state, group, 0, values, stride);
    settle(shared, state, group, unsure, 0, values, stride);
    state.finished += group.n;
    return group;
  }
  /// Its answers wait to be collected.
  static void step_finish_aside(const flow_view& view, flow_reader_state& state) noexcept {
    step_finish(view, state, group_of(state, state.finished).values, 8 * value_words(view));
  }
  /// A whole group that no answers wait before: straight to the caller.
  static void step_finish_to(const flow_view& view, flow_reader_state& state, std::size_t n_out,
                             std::uint8_t* values, std::uint64_t* hits) noexcept {
    std::uint8_t* first = values != nullptr ? values + n_out * view.value_stride : nullptr;
    const flow_group& group = step_finish(view, state, first, view.value_stride);
    put_hits(hits, n_out, group_size, group.hits);
    state.collected += group_size;
  }
  /// Up to `max` answers, as numbers `n_out` and following of a call.
  static std::size_t collect(const flow_view& view, flow_reader_state& state, std::size_t max,
                             std::size_t n_out, std::uint8_t* values,
                             std::uint64_t* hits) noexcept {
    const std::size_t end = n_out + std::min<std::size_t>(max, state.finished - state.collected);
    while (n_out < end) {
      const flow_group& group = group_of(state, state.collected);
      const unsigned from = state.collected % group_size;
      const auto n = static_cast<unsigned>(std::min<std::size_t>(end - n_out, group_size - from));
      const std::uint32_t mask = n == 32 ? ~0u : (1u << n) - 1;
      const std::uint32_t found = group.hits >> from & mask;
      put_hits(hits, n_out, n, found);
      if (values != nullptr) {
        for (std::uint32_t left = found; left != 0; left &= left - 1) {
          const auto i = static_cast<unsigned>(__builtin_ctz(left));
          const std::uint8_t* value = group.values + (from + i) * 8 * value_words(view);
          put_value(view, reinterpret_cast<const std::uint64_t*>(value),
                    values + (n_out + i) * view.value_stride);
        }
      }
      state.collected += n;
      n_out += n;
    }
    return n_out;
  }

  static std::size_t pipeline(const flow_view& view, flow_reader_state& state, bytes_in keys,
                              std::size_t n, std::uint8_t* values, std::uint64_t* hits) noexcept {
    constexpr std::uint64_t block = group_size;
    std::size_t n_out = 0;
    if (hits != nullptr) std::fill_n(hits, (n + 63) / 64, 0);
    for (std::size_t at = 0; at < n;) {
      flow_group& group = group_of(state, state.started);
      const auto from = static_cast<unsigned>(state.started % block);
      const std::size_t size = std::min<std::size_t>(n - at, block - from);
      group.n = from + static_cast<unsigned>(size);
      steps::template start<fetched::homes>(view, group, from, keys + at * view.key_stride,
                                            nullptr);
      state.started += size;
      at += size;
      if (state.started % block == 0) {
        if (state.started - state.homed > flow_reader_state::start_to_homes * block) {
          step_homes(view, state);
        }
        if (state.homed - state.seconded > flow_reader_state::homes_to_seconds * block) {
          step_seconds(view, state);
        }
        if (state.seconded - state.finished > flow_reader_state::seconds_to_finish * block) {
          if (size == block && state.collected == state.finished) {
            step_finish_to(view, state, n_out, values, hits);
            n_out += block;
            continue;
          }
          step_finish_aside(view, state);
        }
      }
      n_out = collect(view, state, size, n_out, values, hits);
    }
    return n_out;
  }

  static std::size_t drain(const flow_view& view, flow_reader_state& state, std::uint8_t* values,
                           std::uint64_t* hits) noexcept {
    while (state.homed < state.started) step_homes(view, state);
    while (state.seconded < state.homed) step_seconds(view, state);
    while (state.finished < state.seconded) step_finish_aside(view, state);
    const std::size_t n_left = state.finished - state.collected;
    if (hits != nullptr) std::fill_n(hits, (n_left + 63) / 64, 0);
    const std::size_t n = collect(view, state, n_left, 0, values, hits);
    // Groups start at multiples of their size again.
    state.started = state.homed = state.seconded = state.finished = state.collected = 0;
    return n;
  }

  static constexpr flow_kernels set() {
    return {steps::instruction_set, &batch, &ahead, &refresh, &pipeline, &drain};
  }
};

}  // namespace
}  // namespace coua::simd
