// SPDX-License-Identifier: Apache-2.0
//
// An array that grows while readers look into it: what is there never moves. It is a row of blocks,
// each a quarter of what was there at the latest power of two, so that at most a fifth of the
// memory waits to be used, and the block of an index takes no search:
//
//   x = index + First     First = 1024:  x  1024  1280  1536  1792  2048      2560      3072 ...
//                                           |  0  |  1  |  2  |  3  |    4    |    5    |
//   the highest bit of x says which four blocks, the two bits behind it which of them, the others
//   the place in it. Kept of a block is where element x = 0 would be: so x is added as it is.
//
// Of an array that is to be large the first `Near` elements lie in one piece, in address space that
// is reserved for them: their places take an addition. Without the address space all are found by
// blocks.
//
// A reader has an index from a word that the writer stored (release) after the array had grown, and
// that it loaded with acquire: so it sees the block's address. Elements start as zeros.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/arena.h"
#include "base/check.h"
#include "base/reserved_region.h"
#include "base/result.h"

namespace coua {

/// One thread grows it. `First` elements, a power of two from 4 on, are what it grows by four times
/// before blocks become larger. A fourth of them are whole pages if any are near.
template <class Element, std::size_t First, std::size_t Near = 0>
class growing_array {
 public:
  static_assert(std::has_single_bit(First) && First >= 4);
  static_assert(Near == 0 || (std::has_single_bit(Near + First) && Near >= First));
  static_assert(Near == 0 || First / 4 * sizeof(Element) % 4096 == 0);
  static_assert(std::is_trivially_copyable_v<Element> && std::is_trivially_destructible_v<Element>);
  static constexpr std::size_t max_size = (std::size_t{1} << 32) - First;

  growing_array() = default;
  /// The first ones in one piece, or not.
  explicit growing_array(bool has_near) noexcept
      : region_(has_near ? (Near + First) * sizeof(Element) : 0),
        near_size_(region_.size() == 0 ? 0 : Near),
        near_(region_.size() == 0 ? nullptr : reinterpret_cast<Element*>(region_.data()) + First) {}

  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Those of the first near_size() elements, in one piece; the size never changes.
  Element* near() const noexcept { return near_; }
  std::size_t near_size() const noexcept { return near_size_; }

  [[gnu::always_inline]] Element& operator[](std::size_t index) const noexcept {
    if constexpr (Near != 0) {
      if (index < near_size_) [[likely]]
        return near_[index];
    }
    const std::size_t x = index + First;
    const int shift = std::bit_width(x) - 3;
    const std::size_t block = static_cast<std::size_t>(shift - first_shift) * 4 + (x >> shift) - 4;
    return *reinterpret_cast<Element*>(starts_[block] + x * sizeof(Element));
  }

  /// Errors: no_memory; at max_size no_room.
  result<void> grow() {
    if (size_ == max_size) return fail(errc::no_room, "", "an array has 2^32 elements at most");
    const std::size_t n = std::bit_floor(size_ + First) / 4;
    if (size_ < near_size_) return grow_near(n);
    auto made = arena::create(n * sizeof(Element));
    if (!made) return tl::unexpected(std::move(made.error()));
    memory_[n_blocks_] = std::move(*made);
    add(memory_[n_blocks_].data(), n, memory_[n_blocks_].bytes_mapped());
    return {};
  }

 private:
  static constexpr int first_shift = std::bit_width(First) - 3;
  static constexpr std::size_t max_blocks = (32 - (first_shift + 2)) * 4;

  result<void> grow_near(std::size_t n) {
    const std::size_t bytes = n * sizeof(Element);
    if (auto made = region_.make_real((size_ + First) * sizeof(Element), bytes); !made) return made;
    add(near_ + size_, n, bytes);
    return {};
  }

  void add(void* block, std::size_t n, std::size_t n_bytes) noexcept {
    starts_[n_blocks_++] =
        reinterpret_cast<std::uintptr_t>(block) - (size_ + First) * sizeof(Element);
    bytes_ += n_bytes;
    size_ += n;
  }

  reserved_region region_;  // from x = 0 on: so blocks begin at multiples of their size
  std::size_t near_size_ = 0;
  Element* near_ = nullptr;
  std::uintptr_t starts_[max_blocks] = {};
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  std::size_t n_blocks_ = 0;
  arena memory_[max_blocks];
};

}  // namespace coua
