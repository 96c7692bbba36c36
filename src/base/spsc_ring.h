// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue from one thread to one other. Both indices run freely and are masked on access;
// head - tail is the number of elements.
//
//        tail (consumer)          head (producer)
//          v                        v
//   | . . | x | x | x | x | x | x |  .  .  . |
//
// Each side keeps a copy of the other's index and loads the real one only when the copy says that
// the ring is full (or empty), so that the lines with the indices do not travel with every element.
//
// Memory order: the producer stores head with release after it wrote the elements, the consumer
// loads head with acquire before it reads them. The consumer stores tail with release after it
// read them, the producer loads tail with acquire before it writes over them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "base/cache_line.h"
#include "base/check.h"

namespace coua {

template <typename T>
  requires std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>
class spsc_ring {
 public:
  /// Room for `capacity` elements, rounded up to a power of two; 1 to 2^32.
  explicit spsc_ring(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1),
        elements_(std::make_unique_for_overwrite<T[]>(mask_ + 1)) {
    COUA_CHECK(capacity > 0 && capacity <= std::size_t{1} << 32);
  }
  spsc_ring(const spsc_ring&) = delete;
  spsc_ring& operator=(const spsc_ring&) = delete;

  std::size_t capacity() const noexcept { return mask_ + 1; }

  /// False when the ring is full. Producer only.
  bool push(const T& element) noexcept { return push(std::span(&element, 1)) == 1; }

  /// Appends as many of the first elements as fit; returns how many. Producer only.
  std::size_t push(std::span<const T> elements) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);  // own
    std::size_t room = capacity() - (head - tail_copy_);
    if (room < elements.size()) {
      tail_copy_ = tail_.load(std::memory_order_acquire);
      room = capacity() - (head - tail_copy_);
    }
    const std::size_t n = std::min(room, elements.size());
    for (std::size_t i = 0; i < n; ++i) elements_[(head + i) & mask_] = elements[i];
    if (n > 0) head_.store(head + n, std::memory_order_release);
    return n;
  }

  /// False when the ring is empty. Consumer only.
  bool pop(T& element) noexcept { return pop(std::span(&element, 1)) == 1; }

  /// Takes the oldest elements, as many as there are room and elements; returns how many. Consumer
  /// only.
  std::size_t pop(std::span<T> elements) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);  // own
    std::size_t there = head_copy_ - tail;
    if (there < elements.size()) {
      head_copy_ = head_.load(std::memory_order_acquire);
      there = head_copy_ - tail;
    }
    const std::size_t n = std::min(there, elements.size());
    for (std::size_t i = 0; i < n; ++i) elements[i] = elements_[(tail + i) & mask_];
    if (n > 0) tail_.store(tail + n, std::memory_order_release);
    return n;
  }

  /// Elements in the ring: exact for either side while the other rests, else a moment's view, 0 to
  /// capacity(). Any thread.
  std::size_t size() const noexcept {
    // Tail first: head can only have grown since, so the difference is never negative.
    const std::size_t tail = tail_.load(std::memory_order_acquire);
    const std::size_t head = head_.load(std::memory_order_acquire);
    return std::min(head - tail, capacity());
  }
  bool empty() const noexcept { return size() == 0; }

 private:
  const std::size_t mask_;
  const std::unique_ptr<T[]> elements_;
  alignas(cache_line_bytes) std::atomic<std::size_t> head_{0};  // written by the producer
  std::size_t tail_copy_ = 0;                                   // of the producer
  alignas(cache_line_bytes) std::atomic<std::size_t> tail_{0};  // written by the consumer
  std::size_t head_copy_ = 0;                                   // of the consumer
};

}  // namespace coua
