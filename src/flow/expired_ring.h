// SPDX-License-Identifier: Apache-2.0
//
// Entries that expired, on their way from the writer to one other thread: key and value in words,
// each entry pushed as a whole, so that it is popped as a whole.
//
// The ring loses nothing. The writer asks for room before it takes an entry out of the table; where
// there is none, the entry stays in its slot, invisible, and the sweep comes by again
// (flow_expiry.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spsc_ring.h"

namespace coua {

class expired_ring {
 public:
  /// Room for `n_entries` or more of `entry_words` words each; 2^32 words at most.
  expired_ring(std::uint64_t n_entries, std::uint32_t entry_words)
      : entry_words_(entry_words), words_(n_entries * entry_words) {}

  // Writer.
  /// Entries that fit at least, until as many were pushed.
  std::uint64_t room() const { return (words_.capacity() - words_.size()) / entry_words_; }
  void push(const std::uint64_t* words) { words_.push({words, entry_words_}); }

  // Owner.
  bool pop(std::uint64_t* words) { return words_.pop({words, entry_words_}) == entry_words_; }

  // Any thread.
  std::uint64_t size() const { return words_.size() / entry_words_; }
  std::uint64_t bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  const std::uint32_t entry_words_;
  spsc_ring<std::uint64_t> words_;
};

}  // namespace coua
