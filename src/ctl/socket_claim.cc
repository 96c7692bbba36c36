// SPDX-License-Identifier: Apache-2.0
#include "ctl/socket_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/default_socket.h"
#include "base/socket_place.h"

namespace coua::ctl {
namespace {

tl::unexpected<error> system_error(const std::string& path, const char* doing) {
  const errc code = errno == EACCES || errno == EPERM || errno == EROFS ? errc::denied : errc::io;
  return fail(code, path, std::string(doing) + ": " + std::strerror(errno));
}

result<void> make_directory(const std::string& path, const std::string& setting) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return {};
  const std::string directory = path.substr(0, slash);
  if (mkdir(directory.c_str(), geteuid() == 0 ? 0750 : 0700) == 0) return {};
  if (errno != EEXIST) return system_error(directory, "cannot make the socket's directory");
  // Below /tmp, another user may have made it first, and could put a socket of theirs there.
  struct stat status {};
  const bool known = stat(directory.c_str(), &status) == 0;
  if (known && geteuid() != 0 && status.st_uid != geteuid() && status.st_uid != 0)
    return fail(errc::denied, directory,
                "the socket's directory belongs to another user (" + std::to_string(status.st_uid) +
                    "); give another " + setting);
  return {};
}

// A lock file that was unlinked between open and lock guards nothing.
bool is_still_there(int fd, const std::string& path) {
  struct stat opened {
  }, named{};
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

std::string holder(int fd) {
  char text[16] = {};
  const ssize_t n = pread(fd, text, sizeof text - 1, 0);
  return n > 0 ? "process " + std::string(text, std::strcspn(text, "\n")) : "another process";
}

result<int> lock(const std::string& path, const std::string& lock_path,
                 const std::string& setting) {
  while (true) {
    const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return system_error(lock_path, "cannot be opened");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const std::string who = holder(fd);
      close(fd);
      return fail(errc::busy, path,
                  "couad runs there already (" + who + "); stop it, or give another " + setting);
    }
    if (is_still_there(fd, lock_path)) return fd;
    close(fd);
  }
}

// Someone who does not know the lock may listen there.
result<void> clear_path(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  if (auto free = check_socket_place(path, path); !free) return free;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error(path, "cannot be probed");
  const bool answers = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  if (answers) return fail(errc::busy, path, "another program listens there");
  if (unlink(path.c_str()) != 0) return system_error(path, "cannot remove the stale socket");
  return {};
}

}  // namespace

result<socket_claim> socket_claim::take(const std::string& path, const std::string& setting) {
  if (path.empty() || path.size() > socket_path_max)
    return fail(errc::invalid, path,
                "a socket's path has 1 to " + std::to_string(socket_path_max) + " bytes");
  if (auto made = make_directory(path, setting); !made)
    return tl::unexpected(std::move(made.error()));
  const auto fd = lock(path, path + ".lock", setting);
  if (!fd) return tl::unexpected(fd.error());
  socket_claim claim(path, *fd);
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(*fd, 0) != 0 ||
      pwrite(*fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return system_error(path + ".lock", "cannot be written");
  if (auto clear = clear_path(path); !clear) {
    claim.path_.clear();  // what is there belongs to someone else
    unlink((path + ".lock").c_str());
    return tl::unexpected(std::move(clear.error()));
  }
  return claim;
}

socket_claim::socket_claim(socket_claim&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

socket_claim::~socket_claim() {
  if (lock_ < 0) return;
  if (!path_.empty()) {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }
  close(lock_);
}

}  // namespace coua::ctl
