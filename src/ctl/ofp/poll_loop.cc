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
#include <poll.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <vector>

#include <openvswitch/poll-loop.h>

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

int ms_left(const awaited& of) {
  long long left = of.at_most;
  if (left > 0 && of.until != never) left = std::min(left, of.until - time_msec());
  if (left == never) return -1;
  return static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
}

}  // namespace
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
  (void)poll(now.descriptors.data(), now.descriptors.size(), coua::ofp::ms_left(now));
  now.descriptors.clear();
  now.until = now.at_most = coua::ofp::never;
  fatal_signal_run();
}
