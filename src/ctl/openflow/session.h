// SPDX-License-Identifier: Apache-2.0
//
// One connection of a controller: a thread that does what it asks, between two queues.
//
//   coua-openflow --inbox--> coua-of: conversation --calls, waits--> coua-flows, workers
//        ^                        |
//        '---------outbox---------'
//
// So neither a long dump nor a large bundle keeps others from being served, and the thread of the
// connections only moves messages. Both queues have bounds: of a controller that sends faster than
// the switch works no more is read from its socket, and one that does not read its answers gets no
// further ones. What is told without being asked for is dropped then, except that rules and ports
// went, which would leave a controller with a wrong picture: for those there is more room, and who
// lets that overflow is disconnected.
//
// From one thread to another and back costs several times what a flow_mod does. So the thread of
// the connections does brief messages itself, with the turn of the pipeline's owner, as long as
// neither that nor the session's thread has anything to do; but not what has a large table built
// anew.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <thread>

#include "ctl/openflow/conversation.h"

namespace coua::openflow {

/// What waits in the queues of a connection.
struct session_limits {
  std::size_t inbox_bytes = std::size_t{1} << 20;
  std::size_t outbox_bytes = std::size_t{4} << 20;   // answers
  std::size_t dropped_above = std::size_t{1} << 20;  // packet-ins: when this much waits
  std::size_t events_bytes = std::size_t{64} << 20;  // flow-removed, port-status
};

class session {
 public:
  /// `wake` is called from the thread when there is something to send.
  session(bridge_view& bridge, std::function<void()> wake, audience who = audience::controller,
          const session_limits& limits = {});
  /// abandon(), and waits for the thread.
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// What is told without being asked for. False: there was no room. Any thread.
  enum class importance { droppable, needed };
  bool tell(ofp::message one, importance how);

  // The thread of the connections.
  bool takes_more() const { return !closed_ && inbox_bytes_ < limits_.inbox_bytes; }
  void put(ofp::message one);
  /// Does it at once. False: it is for put(), since somebody has to be waited for.
  bool do_at_once(ofp::message& one);
  /// Answers what was done at once. To be called before anything is waited for.
  void finish_at_once();
  /// The next message to send.
  std::optional<ofp::message> next();
  /// There was no room for what it needs to know: it must be disconnected.
  bool is_overrun() const { return overrun_; }
  /// The controller is gone. Of what it has asked the changes are done; answers are not kept.
  void close();
  /// Nothing is done any more but what is under way.
  void abandon();
  /// The thread has ended: destroying waits for nothing.
  bool is_over() const;

  const conversation& about() const { return conversation_; }

 private:
  void serve();
  bool send(ofp::message one);
  bool begin_at_once();
  /// Whether it is still to be done.
  bool is_wanted(ofp::message_view one) const;

  bridge_view& bridge_;
  const std::function<void()> wake_;
  const session_limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable come_, gone_;  // a message into the inbox; out of the outbox
  std::deque<ofp::message> inbox_, outbox_;
  std::size_t outbox_bytes_ = 0;
  // Set under the mutex, and read without it: who finds less room than there is, is woken.
  std::atomic<std::size_t> inbox_bytes_{0};
  std::atomic<bool> closed_{false}, abandoned_{false}, overrun_{false};
  bool serving_ = false;     // the thread, what was in the inbox
  bool unfinished_ = false;  // the thread has to finish what was taken at once
  bool at_once_ = false;     // the conversation is the other thread's; changes while nobody serves
  bool over_ = false;
  conversation conversation_;
  std::thread thread_;
};

}  // namespace coua::openflow
