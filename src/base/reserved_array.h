// SPDX-License-Identifier: Apache-2.0
//
// An array whose elements never move and take memory only once they are touched: address space for
// the largest size is reserved at the start. For what grows under the eyes of lock-free readers.
// All bytes are zero at first. From 2 MiB on it takes transparent huge pages where the kernel has
// them. Memory that runs out ends the process, as with any memory that the kernel overcommits:
// elements must be small change beside the tables that they belong to.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "base/populate.h"
#include "base/result.h"

namespace coua {

template <typename T>
class reserved_array {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  reserved_array() = default;
  /// Errors: no_memory (address space).
  static result<reserved_array> create(std::size_t n_max) {
    reserved_array made;
    made.bytes_ = n_max * sizeof(T) + huge;
    made.mapped_ = mmap(nullptr, made.bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made.mapped_ == MAP_FAILED) {
      made.mapped_ = nullptr;
      return fail(errc::no_memory, "reserved array",
                  "no address space of " + std::to_string(made.bytes_) + " bytes");
    }
    made.data_ =
        reinterpret_cast<T*>(rounded(reinterpret_cast<std::uintptr_t>(made.mapped_), huge));
    made.n_max_ = n_max;
    (void)madvise(made.data_, n_max * sizeof(T), MADV_HUGEPAGE);  // a hint
    return made;
  }
  reserved_array(reserved_array&& other) noexcept { swap(other); }
  reserved_array& operator=(reserved_array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~reserved_array() {
    if (mapped_ != nullptr) munmap(mapped_, bytes_);
  }

  /// The first `n` elements, and what shares a huge page with the last of them, get their memory
  /// now: who writes to them first takes no page fault, which may be a clear of 2 MiB. Any thread,
  /// one at a time; others may use elements meanwhile. A hint.
  void make_real(std::size_t n) {
    const std::size_t bytes =
        std::min(rounded(n * sizeof(T), huge), rounded(n_max_ * sizeof(T), page));
    if (bytes <= real_) return;
    (void)populate(reinterpret_cast<char*>(data_) + real_, bytes - real_, page, 1);
    real_ = bytes;
  }

  T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T* data() const noexcept { return data_; }
  std::size_t max_size() const noexcept { return n_max_; }

 private:
  static constexpr std::size_t huge = std::size_t{2} << 20, page = 4096;
  static constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
  }
  void swap(reserved_array& other) noexcept {
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(n_max_, other.n_max_);
    std::swap(real_, other.real_);
  }

  void* mapped_ = nullptr;
  T* data_ = nullptr;
  std::size_t bytes_ = 0, n_max_ = 0;
  std::size_t real_ = 0;  // bytes from the first element on: make_real()
};

}  // namespace coua
