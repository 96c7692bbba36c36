// SPDX-License-Identifier: Apache-2.0
//
// What a thread waits for, in place of the library's loop. That one allocates for each descriptor,
// reads the clock six times, asks the system how busy the thread was, and waits for a pipe of its
// signal handlers besides: together as much as the decoder takes for a flow_mod.
//
// The linker leads all calls here (--wrap, see meson.build), those of the library's connections as
// well as ours. Nothing else in the library needs what its loop did: it has no log here, no clock
// that tests set, and nothing in these connections is freed by its RCU. A signal that one of its
// handlers took is acted upon when the wait ends.
//
// Who asks, waits for the answer and asks again, as ovs-ofctl does for each rule, has often asked
// again when its answer has been written: on the CPU of this thread it ran meanwhile. So behind a
// round in which something came the wait is left out, and the next round looks at the connections
// at once: a question to the system less (0.8 of 13 us for a rule and its barrier). Where nothing
// came then, as where each has a CPU of its own, some rounds wait as ever.
#include <poll.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <vector>

#include <openvswitch/poll-loop.h>
#include "ctl/ofp/arrivals.h"

// Of the library's headers, which are C only; the others the linker makes.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
long long int time_msec();
void fatal_signal_run();
void __wrap_poll_fd_wait_at(int fd, short int events, const char* where);
void __wrap_poll_timer_wait_at(long long int msec, const char* where);
void __wrap_poll_timer_wait_until_at(long long int msec, const char* where);
void __wrap_poll_immediate_wake_at(const char* where);
void __wrap_poll_block();
}
// NOLINTEND(readability-identifier-naming)

namespace coua::ofp {
namespace {

constexpr long long never = LLONG_MAX;

/// By one thread, until its next poll_block().
struct awaited {
  std::vector<pollfd> descriptors;
  long long until = never;    // of the library's clock, in ms
  long long at_most = never;  // ms
};
thread_local awaited now_awaited;

constexpr unsigned rounds_that_wait = 16;

class outlook {
 public:
  void note_arrival() { came_ = true; }
  /// At the end of a round: whether the next one looks without a wait.
  bool leaves_wait_out() {
    if (left_out_ && !came_) n_to_wait_ = rounds_that_wait;
    left_out_ = came_ && n_to_wait_ == 0;
    came_ = false;
    if (!left_out_ && n_to_wait_ > 0) --n_to_wait_;
    return left_out_;
  }

 private:
  bool came_ = false;      // something, in this round
  bool left_out_ = false;  // the wait before it
  unsigned n_to_wait_ = 0;
};
thread_local outlook now_expected;

int ms_left(const awaited& of) {
  long long left = of.at_most;
  if (left > 0 && of.until != never) left = std::min(left, of.until - time_msec());
  if (left == never) return -1;
  return static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
}

}  // namespace

void note_arrival() noexcept { now_expected.note_arrival(); }

}  // namespace coua::ofp

void __wrap_poll_fd_wait_at(int fd, short int events, const char* /*where*/) {
  coua::ofp::now_awaited.descriptors.push_back({fd, events, 0});
}

void __wrap_poll_timer_wait_at(long long int msec, const char* /*where*/) {
  long long& at_most = coua::ofp::now_awaited.at_most;
  at_most = std::min(at_most, msec);
}

void __wrap_poll_timer_wait_until_at(long long int msec, const char* /*where*/) {
  long long& until = coua::ofp::now_awaited.until;
  until = std::min(until, msec);
}

void __wrap_poll_immediate_wake_at(const char* /*where*/) { coua::ofp::now_awaited.at_most = 0; }

void __wrap_poll_block() {
  coua::ofp::awaited& now = coua::ofp::now_awaited;
  // Where it fails, as where a signal comes, the caller looks again.
  if (!coua::ofp::now_expected.leaves_wait_out())
    (void)poll(now.descriptors.data(), now.descriptors.size(), coua::ofp::ms_left(now));
  now.descriptors.clear();
  now.until = now.at_most = coua::ofp::never;
  fatal_signal_run();
}
