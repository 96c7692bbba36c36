// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/populate.h"
#include "base/size.h"
#include "base/system_memory.h"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

namespace coua {
namespace {

constexpr std::size_t kib4_bytes = std::size_t{4} << 10;
constexpr std::size_t mib2_bytes = std::size_t{2} << 20;
constexpr std::size_t gib1_bytes = std::size_t{1} << 30;
constexpr std::size_t large_bytes = std::size_t{16} << 20;  // of 2 M entries at load 0.95
constexpr std::size_t max_bytes = std::size_t{1} << 46;     // half of x86-64's user address space

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

bool is_hugetlb(page_kind kind) { return kind == page_kind::gib1 || kind == page_kind::mib2; }

/// The unit that a mapping's length is rounded up to. A transparent mapping may end in small pages.
std::size_t page_bytes(page_kind kind) {
  if (kind == page_kind::gib1) return gib1_bytes;
  return kind == page_kind::mib2 ? mib2_bytes : kib4_bytes;
}

/// Whether automatic choice may use this kind: see the table in the header.
bool worthwhile(page_kind kind, std::size_t bytes) {
  if (kind == page_kind::transparent) {
    return bytes >= mib2_bytes && transparent_huge_pages_allowed();
  }
  return !is_hugetlb(kind) || rounding_pays(bytes, page_bytes(kind));
}

std::string where(page_kind kind, std::size_t bytes) {
  return "memory: " + format_bytes(bytes) + " (" + std::to_string(bytes) + " bytes) on " +
         to_string(kind);
}

struct request {
  std::size_t bytes;
  page_kind kind;
  int node;
  unsigned threads;
  bool populate;
};

/// A mapping under construction: unmapped unless released.
struct mapping {
  char* data = nullptr;
  std::size_t bytes = 0;
  mapping() = default;
  mapping(mapping&& other) noexcept
      : data(std::exchange(other.data, nullptr)), bytes(other.bytes) {}
  mapping& operator=(mapping&&) = delete;
  ~mapping() {
    if (data != nullptr) munmap(data, bytes);
  }
};

tl::unexpected<error> huge_page_shortage(const request& asked, int code) {
  const std::size_t page = page_bytes(asked.kind);
  const std::uint64_t need = round_up(asked.bytes, page) / page;
  const huge_page_pool pool = read_huge_page_pool(page, asked.node);
  const std::string place = where(asked.kind, asked.bytes);
  if (!pool.exists) return fail(errc::unsupported, place, "the kernel has no pages of this size");
  if (need <= pool.free) {
    return fail(errc::no_memory, place,
                std::string("the kernel refuses them although ") + std::to_string(pool.free) +
                    " pages are free (" + std::strerror(code) +
                    "): look at hugetlb limits of the control group (hugetlb.*.max)");
  }
  return fail(
      errc::no_memory, place,
      "needs " + std::to_string(need) + " pages, " + std::to_string(pool.free) +
          " are free; to get them: " + huge_page_command(page, asked.node, need - pool.free) +
          (page == gib1_bytes ? " (or at boot: hugepagesz=1G hugepages=N)" : ""));
}

tl::unexpected<error> memory_shortage(const request& asked, const std::string& reason) {
  return fail(errc::no_memory, where(asked.kind, asked.bytes),
              reason + "; ask for less, or free memory" +
                  (asked.node >= 0 ? " of node " + std::to_string(asked.node) : ""));
}

/// mmap of the kind's pages, aligned to 2 MiB where they may become huge.
result<mapping> map_pages(const request& asked) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | (asked.populate ? 0 : MAP_NORESERVE);
  if (asked.kind == page_kind::gib1) flags |= MAP_HUGETLB | 30 << MAP_HUGE_SHIFT;  // log2 of 1 GiB
  if (asked.kind == page_kind::mib2) flags |= MAP_HUGETLB | 21 << MAP_HUGE_SHIFT;  // log2 of 2 MiB
  const std::size_t bytes = round_up(asked.bytes, page_bytes(asked.kind));
  const std::size_t slack = asked.kind == page_kind::transparent ? mib2_bytes : 0;

  void* const memory = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) {
    if (is_hugetlb(asked.kind)) return huge_page_shortage(asked, errno);
    return memory_shortage(asked, std::string("mmap: ") + std::strerror(errno) +
                                      " (see also vm.overcommit_memory and ulimit -v)");
  }
  mapping mapped;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t head = slack == 0 ? 0 : round_up(start, mib2_bytes) - start;
  mapped.data = static_cast<char*>(memory) + head;
  mapped.bytes = bytes;
  if (head > 0) munmap(memory, head);
  if (slack > head) munmap(mapped.data + bytes, slack - head);

  if (asked.kind == page_kind::transparent) {
    if (madvise(mapped.data, bytes, MADV_HUGEPAGE) != 0) {
      return fail(errc::unsupported, where(asked.kind, asked.bytes),
                  std::string("madvise: ") + std::strerror(errno));
    }
  } else if (asked.kind == page_kind::kib4) {
    // Small pages stay small where the system makes everything huge; a kernel that knows no huge
    // pages answers EINVAL, which is as good.
    madvise(mapped.data, bytes, MADV_NOHUGEPAGE);
  }
  return mapped;
}

long set_policy(const mapping& mapped, int mode, unsigned node) {
  constexpr unsigned bits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> mask(node / bits + 1);
  mask[node / bits] = 1UL << node % bits;
  // The kernel takes one off the number of bits that it is told.
  return syscall(SYS_mbind, mapped.data, mapped.bytes, mode, mask.data(), mask.size() * bits + 1,
                 0);
}

/// Binds to the node that was asked for, or else prefers the creating thread's node: the threads
/// that populate may run on others.
result<void> place(const request& asked, const mapping& mapped) {
  const bool one_node = numa_nodes_online() == 1;
  if (asked.node < 0) {
    unsigned cpu = 0, node = 0;
    int mode = MPOL_DEFAULT;
    const bool own_policy =
        syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) != 0 || mode != MPOL_DEFAULT;
    // Only a preference: without it the memory is as good, but further away.
    if (!one_node && !own_policy && syscall(SYS_getcpu, &cpu, &node, nullptr) == 0) {
      set_policy(mapped, MPOL_PREFERRED, node);
    }
    return {};
  }
  if (set_policy(mapped, MPOL_BIND, static_cast<unsigned>(asked.node)) == 0) return {};
  // Kernels without NUMA and containers that forbid mbind: with one node it is bound anyway.
  const int code = errno;
  if (one_node && (code == ENOSYS || code == EPERM)) return {};
  const std::string hint =
      code == EPERM ? " (containers need CAP_SYS_NICE for it; numa_node -1 does without)" : "";
  return fail(code == EPERM ? errc::denied : errc::io, where(asked.kind, asked.bytes),
              "mbind to node " + std::to_string(asked.node) + ": " + std::strerror(code) + hint);
}

/// One attempt with one kind of pages.
result<mapping> attempt(const request& asked) {
  if (asked.kind == page_kind::transparent && !transparent_huge_pages_allowed()) {
    return fail(errc::unsupported, where(asked.kind, asked.bytes),
                "they are switched off; to allow them: "
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  }
  if (asked.populate && !is_hugetlb(asked.kind)) {
    // The kernel grants mappings that it cannot back, and kills someone once they are touched.
    const std::uint64_t available = available_memory(asked.node);
    if (asked.bytes > available) {
      return memory_shortage(asked, "only " + format_bytes(available) + " are available");
    }
  }
  result<mapping> mapped = map_pages(asked);
  if (!mapped) return mapped;
  if (result<void> placed = place(asked, *mapped); !placed) return tl::unexpected(placed.error());
  if (!asked.populate) return mapped;
  const int code = populate(mapped->data, mapped->bytes, page_bytes(asked.kind), asked.threads);
  if (code == 0) return mapped;
  if (is_hugetlb(asked.kind)) return huge_page_shortage(asked, code);
  return memory_shortage(asked, std::string("populating: ") + std::strerror(code));
}

}  // namespace

bool rounding_pays(std::size_t bytes, std::size_t page) {
  const std::size_t waste = round_up(bytes, page) - bytes;
  if (bytes < large_bytes) return waste <= page / 2;
  // 8.6 / (8 / 0.95) is 1 + 1/47; the fixed part is for what a table takes beside its slots.
  return waste <= bytes / 48 - (std::size_t{32} << 10);
}

const char* to_string(page_kind kind) {
  switch (kind) {
    case page_kind::automatic: return "pages of any size";
    case page_kind::gib1: return "1 GiB pages";
    case page_kind::mib2: return "2 MiB pages";
    case page_kind::transparent: return "transparent huge pages";
    case page_kind::kib4: return "4 KiB pages";
    case page_kind::caller: return "the caller's memory";
  }
  return "unknown";
}

result<arena> arena::create_from_caller(std::size_t bytes, const arena_params& params,
                                        std::size_t alignment) {
  const std::string place = where(page_kind::caller, bytes);
  if (params.allocate == nullptr || params.release == nullptr) {
    return fail(errc::invalid, place, "needs both allocate and release");
  }
  arena made;
  made.data_ = params.allocate(params.context, bytes, alignment);
  if (made.data_ == nullptr) return fail(errc::no_memory, place, "the caller's allocator has none");
  made.bytes_ = made.mapped_ = bytes;
  made.pages_ = page_kind::caller;
  made.release_ = params.release;
  made.context_ = params.context;
  if (reinterpret_cast<std::uintptr_t>(made.data_) % alignment != 0) {
    return fail(errc::invalid, place,
                "the caller's allocator ignored the alignment of " + std::to_string(alignment));
  }
  return made;
}

result<arena> arena::create(std::size_t bytes, const arena_params& params, std::size_t alignment) {
  const std::string place = where(params.pages, bytes);
  if (bytes == 0 || bytes > max_bytes) {
    return fail(errc::invalid, place, "must be 1 byte to " + format_bytes(max_bytes));
  }
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kib4_bytes) {
    return fail(errc::invalid, place,
                "alignment " + std::to_string(alignment) + " is not a power of two up to 4096");
  }
  if (params.allocate != nullptr || params.release != nullptr ||
      params.pages == page_kind::caller) {
    return create_from_caller(bytes, params, alignment);
  }
  if (params.numa_node < -1 || (params.numa_node >= 0 && !numa_node_exists(params.numa_node))) {
    return fail(errc::not_found, place,
                "NUMA node " + std::to_string(params.numa_node) + " does not exist (" +
                    std::to_string(numa_nodes_online()) + " online)");
  }

  const auto from_system = [&](page_kind kind) {
    return attempt({bytes, kind, params.numa_node, params.populate_threads, params.populate});
  };
  page_kind got = params.pages;
  if (got == page_kind::automatic) {
    got = page_kind::kib4;
    // A sparse mapping takes the smallest pages: with others each touch would cost a huge one.
    static constexpr std::array order{page_kind::gib1, page_kind::mib2, page_kind::transparent};
    for (const page_kind kind : order) {
      if (!params.populate || !worthwhile(kind, bytes)) continue;
      if (result<mapping> mapped = from_system(kind)) {
        return adopt(std::exchange(mapped->data, nullptr), bytes, mapped->bytes, kind, params);
      }
    }
  }
  result<mapping> mapped = from_system(got);
  if (!mapped) return tl::unexpected(mapped.error());
  return adopt(std::exchange(mapped->data, nullptr), bytes, mapped->bytes, got, params);
}

arena arena::of_mapping(void* data, std::size_t bytes, std::size_t mapped) {
  return adopt(data, bytes, mapped, page_kind::kib4, {});
}

arena arena::adopt(void* data, std::size_t bytes, std::size_t mapped, page_kind kind,
                   const arena_params& params) {
  arena made;
  made.data_ = data;
  made.bytes_ = bytes;
  made.mapped_ = mapped;
  made.pages_ = kind;
  made.numa_node_ = params.numa_node;
  return made;
}

arena& arena::operator=(arena&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(pages_, other.pages_);
  std::swap(numa_node_, other.numa_node_);
  std::swap(release_, other.release_);
  std::swap(context_, other.context_);
  return *this;
}

arena::~arena() {
  if (data_ == nullptr) return;
  if (release_ != nullptr) {
    release_(context_, data_, mapped_);
  } else {
    munmap(data_, mapped_);
  }
}

std::string arena::describe() const {
  if (data_ == nullptr) return "no memory";
  std::string text =
      format_bytes(mapped_) + (pages_ == page_kind::caller ? " of " : " on ") + to_string(pages_);
  if (numa_node_ >= 0) text += ", node " + std::to_string(numa_node_);
  return text;
}

}  // namespace coua
