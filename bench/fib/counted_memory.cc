// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/counted_memory.h"

#include <algorithm>

#include "bench/harness/options.h"

namespace coua::bench {
namespace {

constexpr std::size_t first_slab = std::size_t{2} << 20;
constexpr std::size_t largest_slab = std::size_t{64} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

class locked {
 public:
  explicit locked(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~locked() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

}  // namespace

void* counted_memory::take(std::size_t bytes) {
  const locked guard(lock_);
  bytes = round_up(std::max<std::size_t>(bytes, 1), granule);
  if (bytes > largest_small) {
    result<arena> made = allocate(bytes, pages_);
    if (!made) throw std::bad_alloc();
    void* const memory = made->data();
    got_ = made->pages();
    bytes_ += bytes;
    blocks_.emplace(memory, std::move(*made));
    return memory;
  }
  free_block*& list = free_[bytes / granule];
  void* const memory = list != nullptr ? list : cut(bytes);
  if (list != nullptr) list = list->next;
  bytes_ += bytes;
  return memory;
}

void* counted_memory::cut(std::size_t bytes) {
  if (slab_left_ < bytes) {
    const std::size_t size =
        std::min(first_slab << std::min<std::size_t>(slabs_.size(), 5), largest_slab);
    result<arena> made = allocate(size, pages_);
    if (!made) throw std::bad_alloc();
    slab_at_ = static_cast<char*>(made->data());
    slab_left_ = size;
    slabs_.push_back(std::move(*made));
  }
  void* const memory = slab_at_;
  slab_at_ += bytes;
  slab_left_ -= bytes;
  return memory;
}

void counted_memory::give_back(void* memory, std::size_t bytes) noexcept {
  const locked guard(lock_);
  bytes = round_up(std::max<std::size_t>(bytes, 1), granule);
  bytes_ -= bytes;
  if (bytes > largest_small) {
    blocks_.erase(memory);
    return;
  }
  auto* const block = static_cast<free_block*>(memory);
  block->next = free_[bytes / granule];
  free_[bytes / granule] = block;
}

const arena* counted_memory::largest() const {
  const arena* best = nullptr;
  for (const auto& [memory, block] : blocks_) {
    if (best == nullptr || block.bytes() > best->bytes()) best = &block;
  }
  return best;
}

}  // namespace coua::bench
