// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <vector>

namespace coua::setsep {

/// Runs work(0) to work(threads - 1), one of them in this thread; returns when all are done.
template <class Work>
void in_parallel(unsigned threads, const Work& work) {
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&work, i] { work(i); });
  work(0);
}

}  // namespace coua::setsep
