// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/link.h"

#include <openvswitch/poll-loop.h>
#include <openvswitch/rconn.h>
#include <openvswitch/vconn.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/socket_place.h"
#include "ctl/ofp/ovs.h"
#include "ctl/ofp/tls.h"

namespace coua::ofp {
namespace {

constexpr std::uint32_t only_1_3 = 1U << OFP13_VERSION;
// Network control, as for routing protocols.
constexpr std::uint8_t dscp = 48;
/// Until a listener in trouble tries again.
constexpr unsigned trouble_ms = 100;

std::string message_of(int error) { return error == EOF ? "end of file" : std::strerror(error); }

/// The library takes away whatever is at the path of a socket, a file as well.
result<void> check_place(const std::string& target) {
  constexpr std::string_view kind = "punix:";
  if (!target.starts_with(kind)) return {};
  return check_socket_place(target.substr(kind.size()), target);
}

}  // namespace

std::string check_active_target(const std::string& target) {
  silence_library();
  return vconn_verify_name(target.c_str()) == 0
             ? ""
             : "is none of tcp:HOST:PORT, ssl:HOST:PORT, unix:PATH";
}

std::string check_passive_target(const std::string& target) {
  silence_library();
  return pvconn_verify_name(target.c_str()) == 0
             ? ""
             : "is none of ptcp:PORT[:ADDRESS], pssl:PORT[:ADDRESS], punix:PATH";
}

std::unique_ptr<link> link::to(const std::string& target, const link_settings& settings) {
  silence_library();
  ::rconn* made = rconn_create(static_cast<int>(settings.probe_s),
                               static_cast<int>(settings.backoff_max_s), dscp, only_1_3);
  rconn_connect(made, target.c_str(), target.c_str());
  return std::unique_ptr<link>(new link(made, target, settings.probe_s));
}

link::~link() { rconn_destroy(rconn_); }

void link::run() {
  (void)take_tls_trouble();  // of others in this thread
  rconn_run(rconn_);
  unsent_ = rconn_count_txqlen(rconn_);
  note_tls_trouble();
}

/// An attempt or a connection, which may end.
bool link::is_under_way() const {
  return rconn_is_connected(rconn_) || std::string_view(rconn_get_state(rconn_)) == "CONNECTING";
}

/// After each call by which one may have ended. Its trouble is told until the next one ends,
/// however well that begins.
void link::note_tls_trouble() {
  const bool was_under_way = std::exchange(under_way_, is_under_way());
  std::string found = take_tls_trouble();
  if (!found.empty() || (was_under_way && !under_way_)) tls_trouble_ = std::move(found);
}

void link::wait(bool for_messages) {
  if (!for_messages) probe(false);
  rconn_run_wait(rconn_);
  if (for_messages) rconn_recv_wait(rconn_);
}

void link::probe(bool on) {
  if (on == std::exchange(probes_, on)) return;
  rconn_set_probe_interval(rconn_, on ? static_cast<int>(probe_s_) : 0);
}

bool link::is_connected() const { return rconn_is_connected(rconn_); }
unsigned link::connection() const { return rconn_get_connection_seqno(rconn_); }
std::string link::trouble() const {
  const int error = rconn_get_last_error(rconn_);
  // Only the library's log would say more than "Protocol error" or "Input/output error".
  if ((error == EPROTO || error == EIO) && !tls_trouble_.empty()) return "TLS: " + tls_trouble_;
  return error == 0 ? "" : message_of(error);
}
bool link::is_alive() const { return rconn_is_alive(rconn_); }

void link::disconnect() { rconn_reconnect(rconn_); }

std::optional<message> link::receive() {
  ofpbuf* one = rconn_recv(rconn_);
  probe(true);  // what it says now counts
  note_tls_trouble();
  if (one == nullptr) return std::nullopt;
  const auto* bytes = static_cast<const std::uint8_t*>(one->data);
  message made(bytes, bytes + one->size);
  ofpbuf_delete(one);
  return made;
}

void link::send(message_view one) {
  rconn_send(rconn_, ofpbuf_clone_data(one.data(), one.size()), nullptr);
  unsent_ = rconn_count_txqlen(rconn_);
  note_tls_trouble();
}

result<std::unique_ptr<listener>> listener::on(const std::string& target) {
  silence_library();
  if (auto free = check_place(target); !free) return tl::unexpected(std::move(free.error()));
  ::pvconn* made = nullptr;
  if (const int error = pvconn_open(target.c_str(), only_1_3, dscp, &made); error != 0) {
    return fail(errc::io, target, message_of(error));
  }
  return std::unique_ptr<listener>(new listener(made, target));
}

listener::~listener() { pvconn_close(pvconn_); }

std::unique_ptr<link> listener::accept(const link_settings& settings) {
  ::vconn* peer = nullptr;
  const int error = pvconn_accept(pvconn_, &peer);
  const bool could = error == 0 || error == EAGAIN || error == ECONNABORTED;
  trouble_ = could ? "" : message_of(error);
  if (error != 0) return nullptr;
  ::rconn* made = rconn_create(static_cast<int>(settings.probe_s), 0, dscp, only_1_3);
  const std::string name = vconn_get_name(peer);
  rconn_connect_unreliably(made, peer, name.c_str());
  return std::unique_ptr<link>(new link(made, name, settings.probe_s));
}

void listener::wait() {
  if (!trouble_.empty()) return poll_timer_wait(trouble_ms);
  pvconn_wait(pvconn_);
}

result<std::unique_ptr<poller>> poller::create() {
  const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) return fail(errc::io, "eventfd", std::strerror(errno));
  return std::unique_ptr<poller>(new poller(event));
}

poller::~poller() { close(event_); }

void poller::wake() {
  const std::uint64_t one = 1;
  (void)!write(event_, &one, sizeof one);
  // After what it speaks of: else block() could read too early, and be woken again and again.
  woken_.store(true, std::memory_order_release);
}

void poller::block(unsigned at_most_ms) {
  poll_fd_wait(event_, POLLIN);
  poll_timer_wait(at_most_ms);
  poll_block();
  // Mostly it was a message.
  if (!woken_.exchange(false, std::memory_order_acquire)) return;
  std::uint64_t count;
  (void)!read(event_, &count, sizeof count);
}

}  // namespace coua::ofp
