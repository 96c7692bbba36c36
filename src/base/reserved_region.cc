// SPDX-License-Identifier: Apache-2.0
#include "base/reserved_region.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/populate.h"
#include "base/sanitizer.h"
#include "base/size.h"
#include "base/system_memory.h"

namespace coua {
namespace {

// The shadow of a GiB takes longer than most tests.
constexpr std::size_t most_bytes = std::size_t{1} << (COUA_HAS_SHADOW ? 26 : 47);

constexpr std::size_t small_page = std::size_t{4} << 10;
constexpr std::size_t huge_page = std::size_t{2} << 20;

tl::unexpected<error> shortage(std::size_t bytes, const std::string& reason) {
  return fail(errc::no_memory, "memory: " + format_bytes(bytes), reason);
}

}  // namespace

reserved_region::reserved_region(std::size_t bytes) noexcept {
  if (bytes == 0 || bytes > most_bytes) return;
  const std::size_t asked = bytes + huge_page;
  void* const memory =
      mmap(nullptr, asked, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  mapped_ = memory;
  mapped_bytes_ = asked;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  data_ = static_cast<char*>(memory) + (huge_page - start % huge_page) % huge_page;
  size_ = bytes;
}

reserved_region::~reserved_region() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

result<void> reserved_region::make_real(std::size_t at, std::size_t bytes) {
  COUA_CHECK(at % small_page == 0 && bytes % small_page == 0 && bytes <= size_ &&
             at <= size_ - bytes);
  const std::uint64_t available = available_memory();
  if (bytes > available) {
    return shortage(bytes, "only " + format_bytes(available) + " are available; free memory");
  }
  char* const part = data_ + at;
  if (mprotect(part, bytes, PROT_READ | PROT_WRITE) != 0) {
    return shortage(bytes, std::string("mprotect: ") + std::strerror(errno) +
                               "; free memory (see also vm.max_map_count, vm.overcommit_memory)");
  }
  const bool is_huge = bytes >= huge_page && transparent_huge_pages_allowed();
  (void)madvise(part, bytes, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // hints
  if (const int code = populate(part, bytes, small_page, 1); code != 0) {
    // Nothing of it stays.
    (void)madvise(part, bytes, MADV_DONTNEED);
    (void)mprotect(part, bytes, PROT_NONE);
    return shortage(bytes, std::string("populating: ") + std::strerror(code) + "; free memory");
  }
  return {};
}

}  // namespace coua
