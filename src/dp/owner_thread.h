// SPDX-License-Identifier: Apache-2.0
//
// A thread that owns something, such as the FIB with the configuration of ports, or the OpenFlow
// pipeline. Others post commands to it and wait for the answer. Between commands it does its
// housekeeping (drain rings, age, watch links) in slices, so that no command waits for a long job.
//
// While it rests, another thread may take its turn: to post a command and wait costs two switches
// between threads, some ten microseconds where both share a CPU, which is more than most commands.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>

#include "base/result.h"

namespace coua::dp {

class owner_thread {
 public:
  /// `housekeeping` is called again and again; it returns true when it has more to do at once.
  /// Errors: no_room, when the system gives no thread.
  static result<std::unique_ptr<owner_thread>> create(std::string name,
                                                      std::function<bool()> housekeeping);
  ~owner_thread();  // runs the commands that are queued, then ends the thread
  owner_thread(const owner_thread&) = delete;
  owner_thread& operator=(const owner_thread&) = delete;

  /// Runs `f` in the thread and returns its answer. Any thread; in the thread itself, and for who
  /// has its turn, `f` runs at once.
  template <typename F>
  auto call(F&& f) -> std::invoke_result_t<F> {
    using answer = std::invoke_result_t<F>;
    const auto me = std::this_thread::get_id();
    if (me == thread_.get_id() || me == guest_.load(std::memory_order_relaxed)) return f();
    std::promise<answer> promise;
    std::future<answer> future = promise.get_future();
    post([&] {
      if constexpr (std::is_void_v<answer>) {
        f();
        promise.set_value();
      } else {
        promise.set_value(f());
      }
    });
    return future.get();
  }

  /// Runs it in the thread, after what was posted before; does not wait. Any thread.
  void post(std::function<void()> command);

  /// Takes the turn of the thread if it rests and nothing is posted: until end_turn() the caller
  /// owns what it owns. To be held for less than a millisecond, for which commands and housekeeping
  /// wait. Does not wait itself.
  bool try_turn();
  void end_turn();

 private:
  owner_thread(std::string name, std::function<bool()> housekeeping);
  void run();
  bool run_commands();

  const std::string name_;
  const std::function<bool()> housekeeping_;
  std::mutex turn_;  // held by who owns what the thread owns; before mutex_
  std::atomic<std::thread::id> guest_{};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> commands_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace coua::dp
