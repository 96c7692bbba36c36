// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace coua {

/// Runs work(0) to work(threads - 1), one of them in this thread; returns when all are done. Where
/// the system has fewer threads, this one does the work of those that are missing. What is thrown
/// in one of them is thrown here in the end; of several, the first.
template <class Work>
void in_parallel(unsigned threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto run = [&](unsigned i) noexcept {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard hold(mutex);
      if (thrown == nullptr) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    unsigned n_started = 1;
    try {
      for (; n_started < threads; ++n_started) {
        others.emplace_back([&run, i = n_started] { run(i); });
      }
    } catch (const std::system_error&) {
    }
    run(0);
    for (unsigned i = n_started; i < threads; ++i) run(i);
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace coua
