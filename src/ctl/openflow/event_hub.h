// SPDX-License-Identifier: Apache-2.0
//
// What controllers are told without asking: packets, rules and ports that went or changed.
//
//   coua-flows --events--> queue --> coua-of-events: messages --> outbox of each session
//
// The owner of the pipeline only puts events into the queue. The thread here makes messages of
// them, for every controller whose role and masks want them.
//
// Packets that find the queue, or a controller's outbox, full are dropped and counted. News of
// rules and ports is not dropped: a controller would have a wrong picture of the switch. Who does
// not read it is disconnected (session.h).
//
// Thread rules: the events are of one thread at a time, add() and remove() of any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <set>
#include <thread>
#include <variant>
#include <vector>

#include "ctl/openflow/session.h"

namespace coua::openflow {

/// Packets that wait to be made messages of.
inline constexpr std::size_t waiting_packets_max = 4096;

class event_hub {
 public:
  /// `wake` is called when there is something to send. Listens to `control`, until it is destroyed.
  event_hub(ctl::pipeline_control& control, std::function<void()> wake);
  ~event_hub();
  event_hub(const event_hub&) = delete;
  event_hub& operator=(const event_hub&) = delete;

  void add(session& one);
  /// Afterwards it is not told of anything.
  void remove(session& one);
  /// Packets that found no room, since the last call.
  std::uint64_t take_dropped() { return dropped_.exchange(0, std::memory_order_relaxed); }
  bool has_dropped() const { return dropped_.load(std::memory_order_relaxed) != 0; }

 private:
  struct rule_went {
    pipeline::rule_ptr rule;
    pipeline::rule_state last;
    pipeline::removal_reason why;
    pipeline::time_ns when;
  };
  struct port_moved {
    pipeline::port_no number;
    ofp::port_event what;
  };
  using event = std::variant<dp::packet_in, rule_went, port_moved>;

  void note(const dp::packet_in& one);
  void note(const pipeline::change_list& done);
  void run();
  void tell(const dp::packet_in& one);
  void tell(const rule_went& one);
  void tell(const port_moved& one);

  ctl::pipeline_control& control_;
  const std::function<void()> wake_;
  std::mutex queue_mutex_;
  std::condition_variable come_;
  std::vector<event> queue_;
  std::size_t n_packets_ = 0;
  bool stop_ = false;
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex sessions_mutex_;
  std::set<session*> sessions_;
  std::vector<ofp::port_facts> ports_;  // of the thread: as they were told last
  std::thread thread_;
};

}  // namespace coua::openflow
