// SPDX-License-Identifier: Apache-2.0
//
// Address space in one piece whose memory comes later, part by part, and then at once: a shortage
// is an error of the part that was asked for, and not the end of the process when somebody touches
// it, as with reserved_array.h. A region takes up to four mappings, of which a process has 65,530
// (vm.max_map_count).
#pragma once

#include <cstddef>
#include <utility>

#include "base/result.h"

namespace coua {

/// One thread makes parts real; whoever learns of them from it may use them. Movable, not copyable.
class reserved_region {
 public:
  reserved_region() = default;
  /// `bytes` of address space from a multiple of 2 MiB on; none (size() 0) where the system has
  /// none to give (ulimit -v), and with a sanitizer above 64 MiB.
  explicit reserved_region(std::size_t bytes) noexcept;
  reserved_region(reserved_region&& other) noexcept { swap(other); }
  reserved_region& operator=(reserved_region&& other) noexcept {
    swap(other);
    return *this;
  }
  ~reserved_region();

  char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

  /// Zeroed memory for `bytes` from `at` on, multiples of 4 KiB: transparent huge pages where they
  /// fill some, and the kernel has them. Errors: no_memory, and then the part may be asked for
  /// again.
  result<void> make_real(std::size_t at, std::size_t bytes);

 private:
  void swap(reserved_region& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace coua
