// SPDX-License-Identifier: Apache-2.0
#include "base/populate.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <thread>
#include <vector>

#include "base/cpu.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; the same on every architecture but alpha and parisc
#endif

namespace coua {
namespace {

constexpr unsigned max_threads = 16;  // zeroing pages is then bound by the memory's bandwidth
constexpr std::size_t chunk_bytes = std::size_t{64} << 20;

int populate_chunk(char* memory, std::size_t bytes, std::size_t page_bytes) {
  int code;
  do code = madvise(memory, bytes, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
  while (code == EINTR || code == EAGAIN);
  // EINVAL: the kernel does not know the advice.
  return code == EINVAL ? touch_pages(memory, bytes, page_bytes) : code;
}

}  // namespace

int touch_pages(void* memory, std::size_t bytes, std::size_t page_bytes) {
  // read() answers EFAULT where a store of ours would raise SIGBUS.
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (zero < 0) return errno;
  int failed = 0;
  for (std::size_t at = 0; at < bytes && failed == 0; at += page_bytes) {
    ssize_t got;
    do got = read(zero, static_cast<char*>(memory) + at, 1);
    while (got < 0 && errno == EINTR);
    if (got < 0) failed = errno;
  }
  close(zero);
  return failed;
}

int populate(void* memory, std::size_t bytes, std::size_t page_bytes, unsigned threads) {
  const std::size_t step = std::max(chunk_bytes, page_bytes);
  const std::size_t n_chunks = (bytes + step - 1) / step;
  if (threads == 0) threads = static_cast<unsigned>(allowed_cpus().size());
  threads =
      static_cast<unsigned>(std::min<std::size_t>({std::max(threads, 1U), max_threads, n_chunks}));

  // Relaxed: both only hand out numbers; join() orders all else.
  std::atomic<std::size_t> next{0};
  std::atomic<int> failed{0};
  const auto work = [&] {
    while (failed.load(std::memory_order_relaxed) == 0) {
      const std::size_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= n_chunks) return;
      const std::size_t start = chunk * step;
      const int code = populate_chunk(static_cast<char*>(memory) + start,
                                      std::min(step, bytes - start), page_bytes);
      if (code != 0) failed.store(code, std::memory_order_relaxed);
    }
  };
  std::vector<std::thread> others;
  try {
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
  } catch (const std::exception&) {
    // Fewer threads than asked for do the same work: there are no more, or no memory for them.
  }
  work();
  for (std::thread& other : others) other.join();
  return failed.load(std::memory_order_relaxed);
}

}  // namespace coua
