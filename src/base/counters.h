// SPDX-License-Identifier: Apache-2.0
//
// Event counters without contention: each owner (a worker, say) has a row of its own on lines of
// its own, and readers sum over the rows. Counters only grow; 64 bits do not wrap.
//
// Memory order: relaxed throughout. Only the owner writes, so a plain load and store add up
// without a locked instruction; a reader sees each counter at some recent moment, and two counters
// not necessarily at the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/atomic_word.h"
#include "base/cache_line.h"
#include "base/check.h"

namespace coua {

class counters {
  using cell = std::uint64_t;
  static constexpr std::size_t cells_per_line = cache_line_bytes / sizeof(cell);
  struct alignas(cache_line_bytes) line {
    cell cells[cells_per_line] = {};
  };
  static cell& at(line* lines, std::size_t index) noexcept {
    return lines[index / cells_per_line].cells[index % cells_per_line];
  }

 public:
  /// What one owner counts with. Used by one thread at a time.
  class row {
   public:
    row() = default;
    void add(std::size_t index, std::uint64_t n = 1) const noexcept {
      COUA_ASSERT(index < n_counters_);
      add_relaxed(&at(lines_, index), n);
    }

   private:
    friend class counters;
    row(line* lines, std::size_t n_counters) : lines_(lines), n_counters_(n_counters) {}
    line* lines_ = nullptr;
    std::size_t n_counters_ = 0;
  };

  counters(std::size_t owners, std::size_t n_counters)
      : n_owners_(owners),
        n_counters_(n_counters),
        n_lines_((n_counters + cells_per_line - 1) / cells_per_line),
        lines_(std::make_unique<line[]>(owners * n_lines_)) {}

  std::size_t owners() const noexcept { return n_owners_; }
  std::size_t size() const noexcept { return n_counters_; }

  /// The row of one owner, 0 to owners() - 1.
  row of(std::size_t owner) noexcept { return {first(owner), n_counters_}; }

  /// One owner's counter. Any thread.
  std::uint64_t value(std::size_t owner, std::size_t index) const noexcept {
    COUA_ASSERT(index < n_counters_);
    return load_relaxed(&at(first(owner), index));
  }

  /// A counter summed over all owners. Any thread.
  std::uint64_t sum(std::size_t index) const noexcept {
    std::uint64_t total = 0;
    for (std::size_t owner = 0; owner < n_owners_; ++owner) total += value(owner, index);
    return total;
  }

 private:
  line* first(std::size_t owner) const noexcept {
    COUA_ASSERT(owner < n_owners_);
    return lines_.get() + owner * n_lines_;
  }

  std::size_t n_owners_, n_counters_, n_lines_;
  std::unique_ptr<line[]> lines_;
};

}  // namespace coua
