// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/crew.h"

#include <algorithm>

#include "base/check.h"
#include "base/cpu.h"

namespace coua::bench {

result<std::unique_ptr<crew>> crew::create(unsigned threads) {
  const std::vector<unsigned> cpus = allowed_cpus();
  if (threads < 1 || threads > cpus.size()) {
    return fail(
        errc::invalid, "--threads " + std::to_string(threads),
        "must be 1 to " + std::to_string(cpus.size()) + ", the CPUs that this process may use");
  }
  std::unique_ptr<crew> made(new crew);
  std::atomic<unsigned> ready = 0;
  std::vector<result<void>> pinned(threads);
  for (unsigned i = 0; i < threads; ++i) {
    const unsigned cpu = cpus[(i + 1) % cpus.size()];
    made->threads_.emplace_back([&, i, cpu, self = made.get()] {
      pinned[i] = pin_this_thread(cpu);
      name_this_thread("bench-" + std::to_string(i));
      ready.fetch_add(1);
      self->work(i);
    });
  }
  while (ready.load() < threads) std::this_thread::yield();
  for (const result<void>& each : pinned) {
    if (!each) return tl::unexpected(each.error());
  }
  return made;
}

result<std::unique_ptr<crew>> crew::create_for(const std::vector<std::uint64_t>& threads) {
  return create(static_cast<unsigned>(*std::max_element(threads.begin(), threads.end())));
}

crew::~crew() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& each : threads_) each.join();
}

void crew::run(unsigned threads, const std::function<void(unsigned)>& task) {
  COUA_CHECK(threads >= 1 && threads <= size());
  std::unique_lock lock(mutex_);
  task_ = &task;
  active_ = running_ = threads;
  at_start_.store(0);
  ++generation_;
  wake_.notify_all();
  finished_.wait(lock, [&] { return running_ == 0; });
}

void crew::work(unsigned thread) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    if (thread >= active_) continue;
    const auto& task = *task_;
    const unsigned together = active_;
    lock.unlock();
    at_start_.fetch_add(1);
    while (at_start_.load() < together) {
    }
    task(thread);
    lock.lock();
    if (--running_ == 0) finished_.notify_all();
  }
}

unsigned writer_cpu() { return allowed_cpus().front(); }

}  // namespace coua::bench
