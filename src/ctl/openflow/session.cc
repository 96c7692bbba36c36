// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/session.h"

#include "base/cpu.h"

namespace coua::openflow {
namespace {

// For a worker a burst; one that shares its CPU needs longer, and others are not to wait for it.
constexpr std::chrono::microseconds workers_need_at_most(200);

}  // namespace

session::session(bridge_view& bridge, std::function<void()> wake, audience who,
                 const session_limits& limits)
    : bridge_(bridge),
      wake_(std::move(wake)),
      limits_(limits),
      conversation_(
          bridge, [this](ofp::message one) { return send(std::move(one)); }, who),
      thread_([this] { serve(); }) {}

session::~session() {
  abandon();
  thread_.join();
}

void session::put(ofp::message one) {
  finish_at_once();
  {
    const std::lock_guard hold(mutex_);
    if (closed_) return;
    inbox_bytes_ += one.size();
    inbox_.push_back(std::move(one));
  }
  come_.notify_one();
}

bool session::begin_at_once() {
  {
    const std::lock_guard hold(mutex_);
    if (closed_ || serving_ || unfinished_ || !inbox_.empty()) return false;
    if (outbox_bytes_ >= limits_.outbox_bytes) return false;
  }
  // Nobody but this thread puts something into the inbox, so the other one stays at rest.
  at_once_ = bridge_.control.try_turn();
  return at_once_;
}

bool session::do_at_once(ofp::message& one) {
  if (!at_once_ && !begin_at_once()) return false;
  if (!conversation_.is_brief(one)) return false;
  conversation_.take(std::move(one));
  return true;
}

void session::finish_at_once() {
  if (!at_once_) return;
  const bool quick = conversation_.changes_are_quick();
  if (quick) conversation_.do_changes();
  bridge_.control.end_turn();
  const bool answered = quick && conversation_.answer_within(workers_need_at_most);
  at_once_ = false;
  if (answered) return;
  {
    const std::lock_guard hold(mutex_);
    unfinished_ = true;
  }
  come_.notify_one();
}

std::optional<ofp::message> session::next() {
  std::optional<ofp::message> taken;
  {
    const std::lock_guard hold(mutex_);
    if (outbox_.empty()) return taken;
    taken = std::move(outbox_.front());
    outbox_.pop_front();
    outbox_bytes_ -= taken->size();
  }
  gone_.notify_one();
  return taken;
}

bool session::tell(ofp::message one, importance how) {
  const std::lock_guard hold(mutex_);
  const std::size_t room =
      how == importance::droppable ? limits_.dropped_above : limits_.events_bytes;
  if (closed_) return false;
  if (outbox_bytes_ + one.size() > room) {
    overrun_ = overrun_ || how == importance::needed;
    return false;
  }
  outbox_bytes_ += one.size();
  outbox_.push_back(std::move(one));
  return true;
}

void session::close() {
  {
    const std::lock_guard hold(mutex_);
    closed_ = true;
  }
  come_.notify_one();
  gone_.notify_one();
}

void session::abandon() {
  {
    const std::lock_guard hold(mutex_);
    abandoned_ = true;
  }
  close();
}

bool session::is_over() const {
  const std::lock_guard hold(mutex_);
  return over_;
}

/// Waits for room, but not in the thread that makes it: what is done at once is little.
bool session::send(ofp::message one) {
  {
    std::unique_lock hold(mutex_);
    gone_.wait(hold, [&] { return closed_ || at_once_ || outbox_bytes_ < limits_.outbox_bytes; });
    if (closed_) return false;
    outbox_bytes_ += one.size();
    outbox_.push_back(std::move(one));
  }
  if (!at_once_) wake_();
  return true;
}

bool session::is_wanted(ofp::message_view one) const {
  return !abandoned_ && (!closed_ || ofp::changes_switch(one));
}

void session::serve() {
  name_this_thread("coua-of");
  for (;;) {
    std::deque<ofp::message> taken;
    bool more = false;
    {
      std::unique_lock hold(mutex_);
      come_.wait(hold, [&] { return closed_ || unfinished_ || !inbox_.empty(); });
      if (inbox_.empty() && !unfinished_) break;
      serving_ = true;
      unfinished_ = false;
      std::swap(taken, inbox_);
      more = inbox_bytes_ >= limits_.inbox_bytes;
      inbox_bytes_ = 0;
    }
    if (more) wake_();  // there is room again
    for (ofp::message& one : taken) {
      if (is_wanted(one)) conversation_.take(std::move(one));
    }
    conversation_.flush();
    const std::lock_guard hold(mutex_);
    serving_ = false;
  }
  const std::lock_guard hold(mutex_);
  over_ = true;
}

}  // namespace coua::openflow
