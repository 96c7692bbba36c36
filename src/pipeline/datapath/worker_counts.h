// SPDX-License-Identifier: Apache-2.0
//
// What one worker counts. Rules, groups, buckets, meters and bands have numbers, which the compiler
// gives out; it reads the counts of all workers and adds what is new to the model. Counts only
// grow, also when a number goes on to another thing.
//
// Memory order: relaxed; one worker writes, whoever reads sees each number at some recent moment.
#pragma once

#include <array>
#include <cstdint>

#include "base/atomic_word.h"
#include "base/reserved_array.h"
#include "pipeline/datapath/burst_times.h"
#include "pipeline/model/instructions.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

enum class pipeline_drop : std::uint8_t {
  no_rule,       // no rule of a table matches
  no_output,     // the rules send the packet nowhere
  port_closed,   // it came from a port that receives nothing
  no_port,       // a copy for a port that is not there
  port_forbids,  // a copy for a port that forwards nothing, or no packet-ins
  own_port,      // a copy for the port where it came from
  no_bucket,     // no bucket of a group lives
  meter,         // a band of a meter dropped it
  invalid_ttl,   // it went to the controller instead
  no_buffer,     // there was no memory for a copy
  no_headroom,   // no room for a tag or label: the packet ended
  too_many,      // copies of one burst: deliveries_max
  resubmits,     // a bound of model/resubmit.h
  // Rules that were not left behind; the packet goes on.
  learn_no_field,  // the packet has not all that the learn takes
  learn_too_many,  // of one burst: learned_max
};
inline constexpr std::size_t n_pipeline_drops =
    static_cast<std::size_t>(pipeline_drop::learn_too_many) + 1;
const char* to_string(pipeline_drop why);

class worker_counts {
 public:
  struct cell {
    std::uint64_t packets, bytes;
  };
  struct table_cell {
    std::uint64_t lookups = 0, matches = 0;
  };

  static result<worker_counts> create(std::size_t n_max) {
    auto cells = reserved_array<cell>::create(n_max);
    if (!cells) return tl::unexpected(std::move(cells.error()));
    worker_counts made;
    made.cells_ = std::move(*cells);
    return made;
  }

  /// Before things have the numbers below `n`: the worker that counts under them takes no page
  /// fault.
  void reach(std::size_t n) { cells_.make_real(n); }

  // The worker.
  const cell* place(std::uint32_t number) const noexcept { return &cells_[number]; }
  /// All cells, for loops: what they store cannot be where the array begins.
  class cells {
   public:
    explicit cells(cell* first) : first_(first) {}
    void add(std::uint32_t number, std::uint64_t n_bytes,
             std::uint64_t n_packets = 1) const noexcept {
      cell& to = first_[number];
      bump(to.packets, n_packets);
      bump(to.bytes, n_bytes);
    }

   private:
    cell* first_;
  };
  cells all() noexcept { return cells(cells_.data()); }
  void add(std::uint32_t number, std::uint64_t n_bytes, std::uint64_t n_packets = 1) noexcept {
    all().add(number, n_bytes, n_packets);
  }
  void add_table(table_id id, std::uint64_t lookups, std::uint64_t matches) noexcept {
    bump(tables_[id].lookups, lookups);
    bump(tables_[id].matches, matches);
  }
  void add(pipeline_drop why, std::uint64_t n = 1) noexcept {
    bump(drops_[static_cast<std::size_t>(why)], n);
  }
  void add_burst(std::uint64_t n_packets, std::uint64_t n_cycles) noexcept {
    burst_times::sum& to = times_.of(burst_times::kind_of(n_packets, n_cycles));
    bump(to.bursts, 1);
    bump(to.packets, n_packets);
    bump(to.cycles, n_cycles);
  }

  // Any thread.
  traffic at(std::uint32_t number) const noexcept {
    return {load_relaxed(&cells_[number].packets), load_relaxed(&cells_[number].bytes)};
  }
  table_cell table(table_id id) const noexcept {
    return {load_relaxed(&tables_[id].lookups), load_relaxed(&tables_[id].matches)};
  }
  /// Of the bursts that were timed (executor::run).
  burst_times times() const noexcept {
    burst_times made;
    for (unsigned k = 0; k < burst_times::n_kinds; ++k) {
      const burst_times::sum& from = times_.of(k);
      made.of(k) = {load_relaxed(&from.bursts), load_relaxed(&from.packets),
                    load_relaxed(&from.cycles)};
    }
    return made;
  }
  std::uint64_t drops(pipeline_drop why) const noexcept {
    return load_relaxed(&drops_[static_cast<std::size_t>(why)]);
  }

 private:
  static void bump(std::uint64_t& counter, std::uint64_t by) noexcept { add_relaxed(&counter, by); }

  reserved_array<cell> cells_;
  std::array<table_cell, std::size_t{table_max} + 1> tables_{};
  std::array<std::uint64_t, n_pipeline_drops> drops_{};
  burst_times times_;
};

}  // namespace coua::pipeline
