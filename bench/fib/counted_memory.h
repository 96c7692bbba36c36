// SPDX-License-Identifier: Apache-2.0
//
// Memory for the compared tables: counted, and on the same page size as ours. Large blocks have an
// arena of their own; small ones (nodes) are cut from arenas and kept in free lists by size, as
// malloc would do, but without its header of 8 bytes and more per node.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <unordered_map>
#include <vector>

#include "base/arena.h"

namespace coua::bench {

class counted_memory {
 public:
  explicit counted_memory(page_kind pages) : pages_(pages) {}

  /// Never null: throws std::bad_alloc, as the allocator of a container must.
  void* take(std::size_t bytes);
  void give_back(void* memory, std::size_t bytes) noexcept;

  std::uint64_t bytes() const { return bytes_; }
  /// The largest block and where it lies: the slot array of an open-addressing table.
  const arena* largest() const;
  page_kind got() const { return got_; }

 private:
  static constexpr std::size_t granule = 16;
  static constexpr std::size_t largest_small = 2048;
  struct free_block {
    free_block* next;
  };
  void* cut(std::size_t bytes);

  page_kind pages_;
  page_kind got_ = page_kind::kib4;
  std::uint64_t bytes_ = 0;
  std::array<free_block*, largest_small / granule + 1> free_{};
  std::vector<arena> slabs_;
  char* slab_at_ = nullptr;
  std::size_t slab_left_ = 0;
  std::unordered_map<void*, arena> blocks_;
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
};

/// The standard allocator over it.
template <typename T>
class counted_allocator {
 public:
  using value_type = T;
  template <typename U>
  struct rebind {
    using other = counted_allocator<U>;
  };
  // For libraries that still ask for the members of C++98.
  using pointer = T*;
  using const_pointer = const T*;
  using reference = T&;
  using const_reference = const T&;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;

  explicit counted_allocator(counted_memory* memory) : memory_(memory) {}
  template <typename U>
  counted_allocator(const counted_allocator<U>& other) : memory_(other.memory()) {}

  T* allocate(std::size_t n) { return static_cast<T*>(memory_->take(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) noexcept { memory_->give_back(memory, n * sizeof(T)); }
  std::size_t max_size() const { return std::size_t{1} << 46; }
  T* address(T& object) const { return &object; }
  const T* address(const T& object) const { return &object; }
  counted_memory* memory() const { return memory_; }
  friend bool operator==(const counted_allocator& a, const counted_allocator& b) {
    return a.memory_ == b.memory_;
  }

 private:
  counted_memory* memory_;
};

}  // namespace coua::bench
