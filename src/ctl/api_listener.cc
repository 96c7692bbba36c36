// SPDX-License-Identifier: Apache-2.0
#include "ctl/api_listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/cpu.h"
#include "base/log.h"
#include "base/start_thread.h"

namespace coua::ctl {
namespace {

// Descriptors come back when somebody closes some; nothing tells of it.
constexpr int starved_ms = 100;
// Before it looks whether it is to stop, however many come.
constexpr unsigned accepted_at_once = 64;
// A client that tries again and again is not to fill the log.
constexpr std::chrono::seconds between_warnings{10};

tl::unexpected<error> cannot_listen(const std::string& path) {
  return fail(errc::io, path, std::string("cannot listen there: ") + std::strerror(errno));
}

/// 0: no socket.
std::uint64_t cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t bytes = sizeof cookie;
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) == 0 ? cookie : 0;
}

std::string client_of(int fd) {
  ucred of{};
  socklen_t bytes = sizeof of;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &of, &bytes) != 0 || of.pid <= 0) return "a client";
  return "process " + std::to_string(of.pid);
}

}  // namespace

result<std::unique_ptr<api_listener>> api_listener::create(const std::string& path,
                                                           std::size_t connections_max,
                                                           std::function<void(int)> take) {
  std::unique_ptr<api_listener> made(new api_listener(path, connections_max, std::move(take)));
  if (auto opened = made->open(); !opened) return tl::unexpected(std::move(opened.error()));
  auto thread = start_thread("API", [listener = made.get()] { listener->run(); });
  if (!thread) return tl::unexpected(std::move(thread.error()));
  made->thread_ = std::move(*thread);
  return made;
}

result<void> api_listener::open() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  stop_ = eventfd(0, EFD_CLOEXEC);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (stop_ < 0 || socket_ < 0) return cannot_listen(path_);
  // Nobody else may connect before the mode of the socket is set.
  const mode_t before = umask(0177);
  const int bound = bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int reason = errno;
  umask(before);
  errno = reason;
  if (bound != 0) return cannot_listen(path_);
  if (geteuid() == 0) chmod(path_.c_str(), 0660);
  if (listen(socket_, SOMAXCONN) != 0) return cannot_listen(path_);
  return {};
}

api_listener::~api_listener() {
  stop();
  if (stop_ >= 0) close(stop_);
}

void api_listener::stop() {
  const std::uint64_t one = 1;
  if (thread_.joinable()) {
    static_cast<void>(!::write(stop_, &one, sizeof one));
    thread_.join();
  }
  if (socket_ >= 0) close(std::exchange(socket_, -1));
}

void api_listener::break_connections() const {
  for (const auto& [fd, cookie] : cookies_)
    if (cookie_of(fd) == cookie) shutdown(fd, SHUT_RDWR);
}

void api_listener::run() {
  name_this_thread("api-listen");
  while (wait(!starved_, starved_ ? starved_ms : -1)) accept_some();
}

/// False: it is to stop.
bool api_listener::wait(bool for_clients, int timeout_ms) const {
  // poll() passes over a negative one.
  pollfd both[2] = {{stop_, POLLIN, 0}, {for_clients ? socket_ : -1, POLLIN, 0}};
  while (poll(both, 2, timeout_ms) < 0 && errno == EINTR) {
  }
  return both[0].revents == 0;
}

void api_listener::accept_some() {
  for (unsigned i = 0; i < accepted_at_once; ++i) {
    const int fd = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    starved_ = fd < 0 && errno != EAGAIN;
    if (starved_) warn(std::string("cannot take a client yet: ") + std::strerror(errno));
    if (fd < 0) return;
    if (!has_room()) {
      refuse(fd);
      continue;
    }
    cookies_[fd] = cookie_of(fd);
    take_(fd);
  }
}

bool api_listener::has_room() {
  if (cookies_.size() < connections_max_) return true;
  std::erase_if(cookies_, [](const auto& each) { return cookie_of(each.first) != each.second; });
  return cookies_.size() < connections_max_;
}

void api_listener::refuse(int fd) {
  warn("refused " + client_of(fd) + ": there are " + std::to_string(connections_max_) +
       " connections, and no more are taken");
  close(fd);
}

void api_listener::warn(const std::string& what) {
  const auto now = clock::now();
  if (now < next_warning_) return;
  next_warning_ = now + between_warnings;
  log_warning("API: %s", what.c_str());
}

}  // namespace coua::ctl
