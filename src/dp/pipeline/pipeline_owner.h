// SPDX-License-Identifier: Apache-2.0
//
// The thread `coua-flows`, one for each bridge of the switch (`coua-flows-1` and so on from the
// second on). It owns the OpenFlow side of the bridge: the model, which knows the ports of that
// bridge only, and the compiler that keeps the plan of the workers
// (pipeline/compiler/running_bridge.h).
//
//   API, controllers --operations--> coua-flows --versions--> workers (dp/pipeline/run_burst.cc)
//   tables ----------ports---------->    |      <--counts-----
//                                        |      <--packet-ins- (dp/pipeline/packet_in_ring.h)
//                                        |      <--learned---- (dp/pipeline/learn_out.h)
//                                        |--> sink of packet-ins
//                                        '--packet-outs------> worker 0 (dp/pipeline/packet_out.h)
//
// It is not the thread `tables`: a bundle of a million rules takes seconds, and learning must go on
// meanwhile. Neither waits for the other.
//
// Its ports have the numbers that port_numbers.h says.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "dp/owner_thread.h"
#include "dp/pipeline/grace_gate.h"
#include "dp/pipeline/learn_out.h"
#include "dp/pipeline/packet_in_ring.h"
#include "dp/pipeline/packet_out.h"
#include "dp/pipeline/port_numbers.h"
#include "dp/plan.h"
#include "dp/switch.h"
#include "pipeline/compiler/running_bridge.h"
#include "pipeline/datapath/executor.h"

namespace coua::dp {

class pipeline_owner {
 public:
  /// A bridge with the first rules of the configuration and no port.
  /// Errors: invalid, no_memory.
  static result<std::unique_ptr<pipeline_owner>> create(const pipeline_config& config,
                                                        unsigned n_workers);
  ~pipeline_owner();
  pipeline_owner(const pipeline_owner&) = delete;
  pipeline_owner& operator=(const pipeline_owner&) = delete;

  /// What a worker runs; before start(), and it must be destroyed before the owner.
  result<std::unique_ptr<pipeline::executor>> make_executor(unsigned worker,
                                                            pipeline::packet_copier& copier);
  /// Of each worker.
  struct worker_ends {
    std::vector<packet_in_ring*> packet_ins;
    std::vector<learn_out*> learned;
  };
  /// What workers say is taken out of these rings every millisecond, packet-outs go to that one.
  /// The thread has this name, and runs on these CPUs.
  result<void> start(const std::string& thread, worker_ends from, packet_out_ring& packet_outs,
                     std::span<const unsigned> cpus);
  /// Ends the thread. What comes later is not done.
  void stop() { thread_.reset(); }
  /// After stop().
  packet_pool take_pool() { return packet_outs_->take_pool(); }

  // Any thread, once it is started.
  /// All of them, or none (pipeline/model/bridge.h). Waits for the thread.
  pipeline::of_result<pipeline::change_list> apply(std::span<const pipeline::operation> bundle);
  /// One after the other, each by itself.
  std::vector<pipeline::of_result<pipeline::change_list>> apply_each(
      std::span<const pipeline::operation> operations);
  /// Each of these would be done in a moment, and not by building a large table anew.
  bool is_quick(std::span<const pipeline::operation> operations);
  /// Waits until every worker runs what was applied before the call. Callers that wait at the same
  /// time share a grace period; when nothing was applied since the last one, there is none.
  void settle();
  /// The same for so long at most. False: they do not yet.
  bool settle_within(std::chrono::microseconds most);
  /// Takes the turn of the thread while it rests (owner_thread::try_turn).
  bool try_turn() { return thread_->try_turn(); }
  void end_turn() { thread_->end_turn(); }
  /// Who is told of every change from now on, whoever asked for it, time-outs and ports too; empty:
  /// nobody. It is called in the thread, or in one that has its turn, and must not wait.
  using change_sink = std::function<void(const pipeline::change_list&)>;
  void set_change_sink(change_sink sink);
  /// Has the actions done; returns when they are, but for what the worker does. Errors: those of
  /// actions; bad_request_bad_port, bad_request_bad_len.
  pipeline::of_result<void> send(const packet_out& one);
  /// Who gets packet-ins from now on; empty: nobody. Not called any more once this has returned
  /// with another one.
  void set_sink(packet_in_sink sink);
  /// Runs `f()` in the thread.
  template <class F>
  auto call(F&& f) {
    return thread_->call(std::forward<F>(f));
  }
  /// Runs `f(bridge)` in the thread, after all that was counted until now was taken over.
  template <class F>
  auto read(F&& f) {
    return call([&] {
      bridge_->collect(now());
      return f(std::as_const(*bridge_));
    });
  }
  /// The same with the counts as they are: for the later pieces of a long reading.
  template <class F>
  auto read_on(F&& f) {
    return call([&] { return f(std::as_const(*bridge_)); });
  }
  /// The clock of rules, groups and meters.
  static pipeline::time_ns now();
  /// Of all workers since the start, by pipeline_drop.
  std::vector<counter> drops() const;
  /// Of all workers since the start.
  pipeline::burst_times times() const;

  /// Ports of the switch to which NORMAL forwards nothing. Any thread.
  port_set no_fwd() const {
    return bridge_->compiler().published().no_fwd.load(std::memory_order_acquire);
  }

  struct known_port {
    pipeline::port port;
    pipeline::time_ns added = 0;
  };
  std::vector<known_port> ports();
  /// What a controller may set of a port. Errors: port_mod_bad_port.
  pipeline::of_result<void> change_port(pipeline::port_no number,
                                        const std::function<void(pipeline::port&)>& change);
  /// They never change.
  const pipeline::bridge_params& params() const { return bridge_->model().params(); }

  /// A port came or changed; went. What a controller set of it stays. They do not wait.
  void set_port(const pipeline::port& one);
  void remove_port(pipeline::port_no number);

 private:
  pipeline_owner(std::unique_ptr<pipeline::running_bridge> bridge, unsigned n_workers)
      : n_workers_(n_workers),
        bridge_(std::move(bridge)),
        settled_(bridge_->compiler().published()) {}
  bool housekeeping();
  pipeline::of_result<pipeline::change_list> apply_here(
      std::span<const pipeline::operation> bundle);
  void tell(const pipeline::change_list& done) const;
  void take_learned();
  /// The rule of it, or it is counted why there is none.
  void add_learned(const pipeline::learned_values& one, std::vector<pipeline::operation>& to);
  void learn(std::span<const pipeline::operation> rules);

  const unsigned n_workers_;
  const std::unique_ptr<pipeline::running_bridge> bridge_;
  std::map<pipeline::port_no, pipeline::time_ns> ports_added_;
  grace_gate settled_;
  change_sink change_sink_;
  worker_ends from_;
  // Rules that were not left behind: no rule learns so any more, the values make no match, the
  // bridge has no room.
  std::atomic<std::uint64_t> n_learn_gone_{0}, n_learn_no_match_{0}, n_learn_refused_{0};
  std::unique_ptr<packet_out_sender> packet_outs_;
  packet_in_sink sink_;  // of the thread
  pipeline::time_ns next_expiry_ = 0;
  std::unique_ptr<owner_thread> thread_;
};

}  // namespace coua::dp
