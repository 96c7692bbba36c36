// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/session.h"

#include "base/cpu.h"

namespace coua::openflow {

session::session(bridge_view& bridge, std::function<void()> wake, audience who,
                 const session_limits& limits)
    : wake_(std::move(wake)),
      limits_(limits),
      conversation_(
          bridge, [this](ofp::message one) { return send(std::move(one)); }, who),
      thread_([this] { serve(); }) {}

session::~session() {
  close();
  thread_.join();
}

bool session::takes_more() const {
  const std::lock_guard hold(mutex_);
  return !closed_ && inbox_bytes_ < limits_.inbox_bytes;
}

void session::put(ofp::message one) {
  {
    const std::lock_guard hold(mutex_);
    if (closed_) return;
    inbox_bytes_ += one.size();
    inbox_.push_back(std::move(one));
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

bool session::is_overrun() const {
  const std::lock_guard hold(mutex_);
  return overrun_;
}

bool session::is_over() const {
  const std::lock_guard hold(mutex_);
  return over_;
}

/// Of the thread: waits for room.
bool session::send(ofp::message one) {
  {
    std::unique_lock hold(mutex_);
    gone_.wait(hold, [&] { return closed_ || outbox_bytes_ < limits_.outbox_bytes; });
    if (closed_) return false;
    outbox_bytes_ += one.size();
    outbox_.push_back(std::move(one));
  }
  wake_();
  return true;
}

void session::serve() {
  name_this_thread("coua-of");
  for (;;) {
    std::deque<ofp::message> taken;
    bool more = false;
    {
      std::unique_lock hold(mutex_);
      come_.wait(hold, [&] { return closed_ || !inbox_.empty(); });
      if (inbox_.empty()) break;
      std::swap(taken, inbox_);
      more = inbox_bytes_ >= limits_.inbox_bytes;
      inbox_bytes_ = 0;
    }
    if (more) wake_();  // there is room again
    for (ofp::message& one : taken) conversation_.take(std::move(one));
    conversation_.flush();
  }
  const std::lock_guard hold(mutex_);
  over_ = true;
}

}  // namespace coua::openflow
