// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"

namespace coua::bench {

/// Threads, each pinned to its own CPU for life, that all run the same task at the same moment.
/// Thread 0 takes the second allowed CPU and so on, the first CPU comes last: that is where the
/// kernel, the writer and everything else of the machine run.
class crew {
 public:
  /// `threads` 1 to the number of CPUs that the process may use. Errors: invalid, io.
  static result<std::unique_ptr<crew>> create(unsigned threads);
  /// For the largest of these numbers of threads.
  static result<std::unique_ptr<crew>> create_for(const std::vector<std::uint64_t>& threads);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  /// Runs task(0) ... task(threads - 1), one per thread, started together; returns when all are
  /// done. `threads` at most size().
  void run(unsigned threads, const std::function<void(unsigned)>& task);
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

 private:
  crew() = default;
  void work(unsigned thread);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  const std::function<void(unsigned)>* task_ = nullptr;
  unsigned active_ = 0;   // threads that take part in this task
  unsigned running_ = 0;  // of them not yet done
  std::uint64_t generation_ = 0;
  std::atomic<unsigned> at_start_ = 0;
  bool stop_ = false;
};

/// The CPU for everything beside the readers: the first one that the process may use.
unsigned writer_cpu();

}  // namespace coua::bench
