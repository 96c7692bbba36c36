// SPDX-License-Identifier: Apache-2.0
//
// Connections of the library, read ahead. Its vconn asks a socket twice for each message, for the
// header and for as many bytes as that tells, and once more to see that nothing follows. Here a
// socket is asked for all that it has, and what vconn wants is taken from there: one system call
// for a flow_mod and its barrier instead of four, and one for some hundred messages of a bundle.
//
// The linker leads the library's calls of its own streams here (--wrap, see meson.build), so that
// TCP, TLS and Unix sockets are read alike. A read that fills less than it could has emptied the
// socket: the next question is answered with EAGAIN without asking. Who waits then is woken by what
// has come since, as poll() tells what is there and not what is new.
//
// A stream belongs to one thread, from its first message to its end.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include <openvswitch/poll-loop.h>
#include "ctl/ofp/arrivals.h"
#include "ctl/ofp/ovs.h"

// The linker makes these names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct stream;
int __real_stream_recv(stream* of, void* to, std::size_t n);
void __real_stream_recv_wait(stream* of);
void __real_stream_close(stream* of);
int __wrap_stream_recv(stream* of, void* to, std::size_t n);
void __wrap_stream_recv_wait(stream* of);
void __wrap_stream_close(stream* of);
}
// NOLINTEND(readability-identifier-naming)

namespace coua::ofp {
namespace {

// The longest message, so that none needs more than two reads.
constexpr std::size_t ahead_bytes = 64 * 1024;

struct bytes_ahead {
  std::size_t at = 0, end = 0;
  bool emptied = false;  // the socket, by the last read
  std::unique_ptr<std::uint8_t[]> bytes{new std::uint8_t[ahead_bytes]};

  bool none() const { return at == end; }

  /// As stream_recv(): how many bytes came, 0 at the end, or an error below 0.
  int fill(stream* from) {
    if (std::exchange(emptied, false)) return -EAGAIN;
    const int n = __real_stream_recv(from, bytes.get(), ahead_bytes);
    if (n <= 0) return n;
    note_arrival();
    at = 0;
    end = static_cast<std::size_t>(n);
    emptied = end < ahead_bytes;
    return n;
  }

  int take(void* to, std::size_t n) {
    const std::size_t taken = std::min(n, end - at);
    std::memcpy(to, &bytes[at], taken);
    at += taken;
    return static_cast<int>(taken);
  }
};

thread_local std::unordered_map<const stream*, bytes_ahead> streams;

}  // namespace
}  // namespace coua::ofp

int __wrap_stream_recv(stream* of, void* to, std::size_t n) {
  auto& ahead = coua::ofp::streams[of];
  if (ahead.none()) {
    if (const int read = ahead.fill(of); read <= 0) return read;
  }
  return ahead.take(to, n);
}

void __wrap_stream_recv_wait(stream* of) {
  auto& ahead = coua::ofp::streams[of];
  if (!ahead.none()) return poll_immediate_wake();
  ahead.emptied = false;
  __real_stream_recv_wait(of);
}

void __wrap_stream_close(stream* of) {
  coua::ofp::streams.erase(of);
  __real_stream_close(of);
}
