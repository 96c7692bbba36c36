// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/link.h"

#include <openvswitch/poll-loop.h>
#include <openvswitch/rconn.h>
#include <openvswitch/vconn.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ctl/ofp/ovs.h"

// Of the library's header for TLS, which is C only.
extern "C" {
bool stream_ssl_is_configured(void);
void stream_ssl_set_key_and_cert(const char* private_key_file, const char* certificate_file);
void stream_ssl_set_ca_cert_file(const char* file_name, bool bootstrap);
}

namespace coua::ofp {
namespace {

constexpr std::uint32_t only_1_3 = 1U << OFP13_VERSION;
// Network control, as for routing protocols.
constexpr std::uint8_t dscp = 48;

std::string message_of(int error) { return error == EOF ? "end of file" : std::strerror(error); }

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
             : "is none of ptcp:PORT:ADDRESS, pssl:PORT:ADDRESS, punix:PATH";
}

result<void> use_tls(const std::string& key, const std::string& certificate,
                     const std::string& authority) {
  silence_library();
  const std::pair<const char*, const std::string&> files[] = {
      {"key", key}, {"certificate", certificate}, {"authority", authority}};
  for (const auto& [field, file] : files) {
    if (access(file.c_str(), R_OK) != 0)
      return fail(errc::io, std::string(field) + ": " + file, std::strerror(errno));
  }
  stream_ssl_set_key_and_cert(key.c_str(), certificate.c_str());
  stream_ssl_set_ca_cert_file(authority.c_str(), false);
  return {};
}

std::unique_ptr<link> link::to(const std::string& target, const link_settings& settings) {
  silence_library();
  ::rconn* made = rconn_create(static_cast<int>(settings.probe_s),
                               static_cast<int>(settings.backoff_max_s), dscp, only_1_3);
  rconn_connect(made, target.c_str(), target.c_str());
  return std::unique_ptr<link>(new link(made, target));
}

link::~link() { rconn_destroy(rconn_); }

void link::run() { rconn_run(rconn_); }

void link::wait(bool for_messages) {
  rconn_run_wait(rconn_);
  if (for_messages) rconn_recv_wait(rconn_);
}

bool link::is_connected() const { return rconn_is_connected(rconn_); }
unsigned link::connection() const { return rconn_get_connection_seqno(rconn_); }
std::string link::trouble() const {
  const int error = rconn_get_last_error(rconn_);
  return error == 0 ? "" : message_of(error);
}
bool link::is_alive() const { return rconn_is_alive(rconn_); }
unsigned link::unsent() const { return rconn_count_txqlen(rconn_); }

void link::disconnect() { rconn_reconnect(rconn_); }

std::optional<message> link::receive() {
  ofpbuf* one = rconn_recv(rconn_);
  if (one == nullptr) return std::nullopt;
  const auto* bytes = static_cast<const std::uint8_t*>(one->data);
  message made(bytes, bytes + one->size);
  ofpbuf_delete(one);
  return made;
}

void link::send(message_view one) {
  rconn_send(rconn_, ofpbuf_clone_data(one.data(), one.size()), nullptr);
}

result<std::unique_ptr<listener>> listener::on(const std::string& target) {
  silence_library();
  ::pvconn* made = nullptr;
  if (const int error = pvconn_open(target.c_str(), only_1_3, dscp, &made); error != 0) {
    return fail(errc::io, target, message_of(error));
  }
  return std::unique_ptr<listener>(new listener(made, target));
}

listener::~listener() { pvconn_close(pvconn_); }

std::unique_ptr<link> listener::accept(const link_settings& settings) {
  ::vconn* peer = nullptr;
  if (pvconn_accept(pvconn_, &peer) != 0) return nullptr;
  ::rconn* made = rconn_create(static_cast<int>(settings.probe_s), 0, dscp, only_1_3);
  const std::string name = vconn_get_name(peer);
  rconn_connect_unreliably(made, peer, name.c_str());
  return std::unique_ptr<link>(new link(made, name));
}

void listener::wait() { pvconn_wait(pvconn_); }

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
