// SPDX-License-Identifier: Apache-2.0
#include "cli/interruption.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/check.h"

namespace coua::cli {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGPIPE};
std::atomic<int> wake_fd{-1};
std::atomic<int> last_signal{0};
std::atomic<int> nowhere_fd{-1}, pager_fd{-1};  // the first takes the place of the second
// What was begun before a stop is written to its end, if who reads it still does.
constexpr int patience_ms = 1000;

void on_signal(int number) {
  const int saved = errno;
  if (number != 0) last_signal.store(number, std::memory_order_relaxed);
  // Here, and not in the thread: the call that writes returns from this with EINTR, and the next
  // one must not wait for the pager again.
  const int nowhere = nowhere_fd.load(std::memory_order_relaxed);
  if (number != 0 && nowhere >= 0) dup2(nowhere, pager_fd.load(std::memory_order_relaxed));
  const char byte = 0;
  const int fd = wake_fd.load(std::memory_order_relaxed);
  if (fd >= 0) static_cast<void>(!::write(fd, &byte, 1));
  errno = saved;
}

bool is_ready(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace

interruption::interruption(std::function<void()> stop, int to_pager) : stop_(std::move(stop)) {
  COUA_CHECK(pipe2(wake_, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(changed_, O_CLOEXEC) == 0);
  wake_fd = wake_[1];
  last_signal = 0;
  pager_fd = to_pager;
  nowhere_fd = to_pager >= 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction action {};
    action.sa_handler = signals[i] == SIGPIPE ? SIG_IGN : on_signal;
    const bool once = signals[i] == SIGTERM || (signals[i] == SIGINT && to_pager < 0);
    action.sa_flags = once ? static_cast<int>(SA_RESETHAND) : 0;
    sigaction(signals[i], &action, &before_[i]);
  }
  thread_ = std::thread([this] { run(); });
}

interruption::~interruption() {
  const int end = -1;
  static_cast<void>(!::write(changed_[1], &end, sizeof end));
  thread_.join();
  for (std::size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before_[i], nullptr);
  wake_fd = -1;
  const int nowhere = nowhere_fd.exchange(-1);
  if (nowhere >= 0) close(nowhere);
  for (const int fd : {wake_[0], wake_[1], changed_[0], changed_[1]}) close(fd);
}

void interruption::watch(int fd) {
  struct stat of {};
  if (fstat(fd, &of) == 0 && (S_ISFIFO(of.st_mode) || S_ISSOCK(of.st_mode)))
    static_cast<void>(!::write(changed_[1], &fd, sizeof fd));
}

bool interruption::is_stopped() const { return is_ready(wake_[0]); }

int interruption::signal() const { return last_signal.load(std::memory_order_relaxed); }

int interruption::take_last() { return last_signal.exchange(0, std::memory_order_relaxed); }

bool interruption::wait(std::chrono::milliseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!is_stopped()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd one{wake_[0], POLLIN, 0};
    poll(&one, 1, static_cast<int>(left.count()));
  }
  return true;
}

void interruption::run() {
  // poll() passes over a negative one. Without events it tells errors only.
  pollfd all[3] = {{wake_[0], POLLIN, 0}, {changed_[0], POLLIN, 0}, {-1, 0, 0}};
  bool told = false;
  while (true) {
    if (poll(all, 3, -1) < 0) continue;
    if (all[1].revents != 0) {
      int fd = -1;
      if (read(changed_[0], &fd, sizeof fd) != sizeof fd || fd < 0) return;
      all[2].fd = fd;
    }
    if (told || (all[0].revents == 0 && (all[2].fd < 0 || all[2].revents == 0))) continue;
    told = true;
    on_signal(0);  // who writes sees it, too
    all[0].fd = all[2].fd = -1;
    stop_();
  }
}

bool interruption::wait_for_room(int fd) const {
  pollfd both[2] = {{fd, POLLOUT, 0}, {wake_[0], POLLIN, 0}};
  while (poll(both, 2, -1) < 0 && errno == EINTR) {
  }
  if (both[0].revents != 0) return true;
  return poll(both, 1, patience_ms) > 0;
}

result<bool> interruption::write(int fd, const char* name, std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_for_room(fd)) return false;
    // A pipe that has room has it for this much: the call does not block.
    const std::size_t n = std::min<std::size_t>(bytes.size(), PIPE_BUF);
    const ssize_t written = ::write(fd, bytes.data(), n);
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR && errno != EAGAIN) {
      return fail(errc::io, name, std::strerror(errno));
    }
  }
  return true;
}

}  // namespace coua::cli
