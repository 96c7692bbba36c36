// SPDX-License-Identifier: Apache-2.0
//
// A looking-up thread's place at a table that may be replaced: at the start of each call it holds
// nothing from before, so what it used then may be freed. While it makes no call it holds back
// what was retired; who is idle for long pauses.
#pragma once

#include <algorithm>
#include <memory>

#include "base/atomic_word.h"
#include "base/qsbr.h"
#include "setsep/pipeline.h"
#include "setsep/table.h"

namespace coua::setsep {

/// Where readers find the table: none yet, if that is null.
struct table_source {
  qsbr* readers;
  const table* const* shown;
};

/// Used by one thread at a time.
class reader {
 public:
  /// Errors: no_room (256 readers at most). Any thread.
  static result<std::unique_ptr<reader>> create(const table_source& source) {
    auto place = source.readers->register_reader();
    if (!place) return tl::unexpected(std::move(place.error()));
    return std::unique_ptr<reader>(new reader(source, std::move(*place)));
  }

  void find_batch(const key_hash* hashes, std::size_t n, std::uint16_t* values) noexcept {
    const table* const now = enter();
    if (now == nullptr) {
      std::fill_n(values, n, std::uint16_t{0});
    } else {
      now->find_batch(hashes, n, values);
    }
  }
  /// As lookup_pipeline. While there is no table: values of 0, at once.
  std::size_t submit(const key_hash* hashes, std::size_t n, std::uint16_t* values) noexcept {
    const table* const now = enter();
    if (now != nullptr) return pipeline_.submit(*now, hashes, n, values);
    std::fill_n(values, n, std::uint16_t{0});
    return n;
  }
  std::size_t drain(std::uint16_t* values) noexcept {
    const table* const now = enter();
    return now == nullptr ? 0 : pipeline_.drain(*now, values);
  }
  /// Until the next call nothing waits for this reader.
  void pause() noexcept { place_.offline(); }

 private:
  reader(const table_source& source, qsbr::reader place)
      : shown_(source.shown), place_(std::move(place)) {}
  const table* enter() noexcept {
    if (place_.is_online()) {
      place_.quiescent();
    } else {
      place_.online();
    }
    // With the store that shows a table: what is in it is there to see.
    return load_acquire(shown_);
  }

  const table* const* shown_;
  qsbr::reader place_;
  lookup_pipeline pipeline_;
};

}  // namespace coua::setsep
