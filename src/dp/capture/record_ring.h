// SPDX-License-Identifier: Apache-2.0
//
// Records of any length on their way from one thread to one other, in a bounded piece of memory.
//
//   tail (consumer)                     head (published)    staged (producer)
//     v                                   v                   v
//   | size | record ...  | size | record  | size | record     .  .  .  .  | 0 | unused |
//
// A record is in one piece: where the rest of the memory is too short for it, a size of 0 says that
// the next one is at the beginning. The producer may reserve several records and fill them in
// before it publishes them together.
//
// Memory order, as in base/spsc_ring.h: head is stored with release after the records were written
// and loaded with acquire before they are read; tail likewise in the other direction.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/cache_line.h"
#include "base/check.h"

namespace coua::dp {

class record_ring {
  static constexpr std::size_t align = 8;

 public:
  /// Rounded up to a power of two. The memory is touched here, so that no page fault is left for
  /// the producer.
  explicit record_ring(std::size_t bytes)
      : mask_(std::bit_ceil(bytes) - 1), memory_(std::make_unique<std::uint64_t[]>(words())) {
    COUA_CHECK(bytes >= 2 * align);
  }

  /// Room for a record, aligned to 8 bytes; null: full. Producer only.
  std::uint8_t* reserve(std::size_t bytes) noexcept {
    const std::size_t size = align + (bytes + align - 1) / align * align;
    const std::size_t to_end = capacity() - (staged_ & mask_);
    const std::size_t skip = size > to_end ? to_end : 0;
    if (staged_ + skip + size - tail_copy_ > capacity()) {
      tail_copy_ = tail_.load(std::memory_order_acquire);
      if (staged_ + skip + size - tail_copy_ > capacity()) return nullptr;
    }
    if (skip != 0) {
      put_size(staged_, 0);
      staged_ += skip;
    }
    put_size(staged_, size);
    std::uint8_t* const room = at(staged_) + align;
    staged_ += size;
    return room;
  }

  /// Makes all that was reserved the consumer's. Producer only.
  void publish() noexcept { head_.store(staged_, std::memory_order_release); }

  /// Takes back what was reserved since publish(). Producer only.
  void forget() noexcept { staged_ = head_.load(std::memory_order_relaxed); }  // own

  /// The oldest record; null: there is none. Consumer only.
  const std::uint8_t* front() noexcept {
    const std::size_t head = head_.load(std::memory_order_acquire);
    std::size_t tail = tail_.load(std::memory_order_relaxed);  // own
    if (tail == head) return nullptr;
    if (size_at(tail) == 0) {
      tail += capacity() - (tail & mask_);
      tail_.store(tail, std::memory_order_release);
      // A skip is never published alone.
    }
    return at(tail) + align;
  }

  /// Gives the memory of front() back. Consumer only.
  void pop() noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    tail_.store(tail + size_at(tail), std::memory_order_release);
  }

  std::size_t capacity() const noexcept { return mask_ + 1; }

 private:
  std::size_t words() const noexcept { return capacity() / align; }
  std::uint8_t* at(std::size_t position) const noexcept {
    return reinterpret_cast<std::uint8_t*>(memory_.get()) + (position & mask_);
  }
  void put_size(std::size_t position, std::uint64_t size) noexcept {
    std::memcpy(at(position), &size, sizeof size);
  }
  std::size_t size_at(std::size_t position) const noexcept {
    std::uint64_t size;
    std::memcpy(&size, at(position), sizeof size);
    return size;
  }

  const std::size_t mask_;
  const std::unique_ptr<std::uint64_t[]> memory_;
  alignas(cache_line_bytes) std::atomic<std::size_t> head_{0};  // written by the producer
  std::size_t staged_ = 0;                                      // of the producer
  std::size_t tail_copy_ = 0;                                   //
  alignas(cache_line_bytes) std::atomic<std::size_t> tail_{0};  // written by the consumer
};

}  // namespace coua::dp
