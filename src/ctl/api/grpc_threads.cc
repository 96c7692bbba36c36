// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/grpc_threads.h"

#include <grpc/grpc.h>
#include <grpc/support/cpu.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace coua::ctl {
namespace {

// All of them run at once where there are threads enough.
constexpr std::chrono::seconds patience{10};

class waiting_work {
 public:
  /// Each waits for open().
  void add() {
    piece& one = pieces_.emplace_back(this);
    const grpc_completion_queue_attributes kind{GRPC_CQ_CURRENT_VERSION, GRPC_CQ_CALLBACK,
                                                GRPC_CQ_NON_POLLING, &one};
    one.queue =
        grpc_completion_queue_create(grpc_completion_queue_factory_lookup(&kind), &kind, nullptr);
    grpc_completion_queue_shutdown(one.queue);
  }
  /// True: all were done.
  bool open() {
    std::unique_lock hold(mutex_);
    open_ = true;
    changed_.notify_all();
    return changed_.wait_for(hold, patience, [this] { return n_done_ == pieces_.size(); });
  }
  void destroy_queues() {
    for (const piece& each : pieces_) grpc_completion_queue_destroy(each.queue);
  }

 private:
  struct piece : grpc_completion_queue_functor {
    explicit piece(waiting_work* owner)
        : grpc_completion_queue_functor{.functor_run = &run,
                                        .inlineable = 0,
                                        .internal_success = 0,
                                        .internal_next = nullptr},
          of(owner) {}
    static void run(grpc_completion_queue_functor* self, int /*ok*/) {
      static_cast<piece*>(self)->of->wait();
    }
    waiting_work* const of;
    grpc_completion_queue* queue = nullptr;
  };

  void wait() {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [this] { return open_; });
    ++n_done_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<piece> pieces_;  // of one thread; they stay where they are
  std::size_t n_done_ = 0;
  bool open_ = false;
};

bool make_all() {
  auto* work = new waiting_work;
  // gRPC chooses a thread by a hash: with four for each, three come to the last one, too.
  for (unsigned i = 0; i < 4 * 2 * gpr_cpu_num_cores(); ++i) work->add();
  if (!work->open()) return false;  // what was given to nobody may not go away
  work->destroy_queues();
  delete work;
  return true;
}

}  // namespace

result<void> make_grpc_threads() {
  static const bool made = make_all();
  if (made) return {};
  return fail(errc::no_room, "API",
              "the system gives gRPC no threads; raise the limit of tasks (TasksMax of the unit, "
              "pids.max, ulimit -u)");
}

}  // namespace coua::ctl
