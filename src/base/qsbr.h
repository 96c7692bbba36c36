// SPDX-License-Identifier: Apache-2.0
//
// Quiescent-state-based reclamation. Readers follow pointers to shared data without a lock; a
// writer that has unlinked an object may free it only when every reader that could still hold it
// has said that it holds nothing any more. That moment is the end of a grace period.
//
//   writer                          reader (once per burst)
//   ------                          -----------------------
//   root = new_plan                 quiescent()           "I hold nothing from before"
//   token = domain.start()          plan = root ... use it
//   ... other work ...              quiescent()
//   if (domain.poll(token)) free
//
// One counter, the epoch, grows with each start(). Each reader has a word on a cache line of its
// own: 0 while it is offline, else the epoch that it saw at its latest quiescent state. The token
// is the new epoch, and it has passed when no word lies in [1, token). So one grace period answers
// everything that was unlinked before its start, and polling it again costs one load.
//
// Nobody ever blocks here. An idle, parked or blocking reader goes offline, so a grace period does
// not wait for it; a writer polls between other work. The cost for a reader is one load per burst,
// and one store when the epoch has changed.
//
// Memory order. Let U be the writer's unlinking store (release or stronger), and A the reader's
// later accesses. Either A must see U, or the writer must wait until A is over.
//
//   1. start() adds to the epoch after U (its release half); a reader that loads the new epoch in
//      quiescent() or online() (acquire) sees U in all that follows. What it then stores says so.
//   2. quiescent() and offline() store with release after all accesses that the reader made, and
//      poll() loads with acquire: those accesses are over before the writer frees.
//   3. Coming online is the hard case: poll() may read the word just before the reader stores it.
//      Four accesses are therefore seq_cst: the reader stores its word (a), then loads the epoch
//      (b); the writer adds to the epoch (c), then poll() loads the word (d). In their single
//      order either a is before d, and the writer sees the reader and waits, or c, d, a, b, and
//      the reader's load sees the new epoch and with it U, by rule 1. No fence is needed, which
//      ThreadSanitizer could not follow.
//   4. poll() remembers the highest epoch that has passed. Another thread that reads it (acquire)
//      inherits rule 2 from the thread that found out (release).
//   5. The number of words that poll() looks at is raised by a reader's registration before (a),
//      and loaded before (d), both seq_cst: the argument of rule 3 covers it.
//
// Limits: 256 readers at a time. The epoch has 64 bits and does not wrap.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "base/cache_line.h"
#include "base/check.h"
#include "base/result.h"

namespace coua {

/// The readers of one set of shared data. Outlives them and its tokens.
class qsbr {
 public:
  static constexpr unsigned max_readers = 256;
  using token = std::uint64_t;
  class reader;

  qsbr() = default;
  qsbr(const qsbr&) = delete;
  qsbr& operator=(const qsbr&) = delete;

  /// A new reader, offline. Errors: no_room. Any thread.
  result<reader> register_reader();

  /// Starts a grace period, after the caller has unlinked what it wants to free. Any thread.
  token start() noexcept {
    return epoch_.fetch_add(1, std::memory_order_seq_cst) + 1;  // rules 1 and 3 (c)
  }

  /// True once no reader can hold anything that was unlinked before start(). Never blocks. The
  /// caller got the token from start() itself or from a thread that handed it over properly. Any
  /// thread.
  bool poll(token passed) noexcept;

 private:
  struct alignas(cache_line_bytes) slot {
    std::atomic<std::uint64_t> seen{0};  // 0: offline
    std::atomic<bool> taken{false};
  };

  alignas(cache_line_bytes) std::atomic<std::uint64_t> epoch_{1};
  // What only writers touch stays off the line that every reader loads.
  alignas(cache_line_bytes) std::atomic<std::uint64_t> passed_{1};
  std::atomic<unsigned> n_slots_{0};  // those at and after it were never taken
  std::array<slot, max_readers> slots_;
};

/// A thread's place among the readers. Used by one thread at a time; unregisters when destroyed.
class qsbr::reader {
 public:
  reader() = default;
  reader(reader&& other) noexcept
      : domain_(std::exchange(other.domain_, nullptr)), slot_(other.slot_) {}
  reader& operator=(reader&& other) noexcept;
  ~reader();

  /// The caller holds nothing of the shared data. Online readers only.
  void quiescent() noexcept {
    const std::uint64_t epoch = domain_->epoch_.load(std::memory_order_acquire);  // rule 1
    // Relaxed: nobody else writes it. Unchanged, it says already what would be stored.
    if (slot_->seen.load(std::memory_order_relaxed) != epoch) {
      slot_->seen.store(epoch, std::memory_order_release);  // rule 2
    }
  }

  /// A grace period has begun since the latest quiescent state, so quiescent() would tell the
  /// writer something. A reader that keeps pointers from round to round lets go of them first, and
  /// only then. Online readers only.
  bool is_awaited() const noexcept {
    return slot_->seen.load(std::memory_order_relaxed) !=
           domain_->epoch_.load(std::memory_order_acquire);
  }

  /// Until online(), grace periods do not wait for this reader, and it must not touch the data.
  void offline() noexcept { slot_->seen.store(0, std::memory_order_release); }  // rule 2

  /// From here on the shared data may be read. Costs a full barrier on x86: not per burst.
  void online() noexcept {
    const std::uint64_t before = domain_->epoch_.load(std::memory_order_acquire);  // rule 1
    slot_->seen.store(before, std::memory_order_seq_cst);                          // rule 3 (a)
    const std::uint64_t epoch = domain_->epoch_.load(std::memory_order_seq_cst);   // rule 3 (b)
    // Nothing was read since, so the newer epoch holds as well and ends a grace period sooner.
    if (epoch != before) slot_->seen.store(epoch, std::memory_order_release);  // rule 2
  }

  bool is_online() const noexcept { return slot_->seen.load(std::memory_order_relaxed) != 0; }
  explicit operator bool() const noexcept { return domain_ != nullptr; }

 private:
  friend class qsbr;
  reader(qsbr* domain, slot* taken) : domain_(domain), slot_(taken) {}

  qsbr* domain_ = nullptr;
  slot* slot_ = nullptr;
};

}  // namespace coua
