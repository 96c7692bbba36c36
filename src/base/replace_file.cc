// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace coua {
namespace {

errc code_of(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return errc::no_room;
    case EACCES:
    case EPERM:
    case EROFS: return errc::denied;
    case ENOENT:
    case ENOTDIR: return errc::not_found;
    default: return errc::io;
  }
}

/// Makes a new file and writes six letters to the end of its name. As mkostemp(), whose files have
/// the mode 0600: what the umask leaves of another one only the kernel can say without changing the
/// umask for all threads. -1 with errno set.
int make_file(std::string& name, mode_t mode) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz012345";
  constexpr int tries = 100;  // a name is taken about once in 2^30
  for (int i = 0; i < tries; ++i) {
    unsigned char drawn[6];
    if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn) return -1;
    char* letter = name.data() + name.size() - sizeof drawn;
    for (const unsigned char byte : drawn) *letter++ = letters[byte % letters.size()];
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

/// A file that is removed again unless it was kept.
class file_beside {
 public:
  /// Its mode is `mode` without the umask.
  file_beside(const std::string& path, mode_t mode)
      : name_(path + ".XXXXXX"), fd_(make_file(name_, mode)) {}
  ~file_beside() {
    if (fd_ < 0) return;
    close(fd_);
    if (!kept_) unlink(name_.c_str());
  }
  file_beside(const file_beside&) = delete;
  file_beside& operator=(const file_beside&) = delete;

  // Each is false with errno set.
  bool made() const { return fd_ >= 0; }
  bool fill(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = write(fd_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  bool belong_as(const struct stat& old) {
    struct stat now {};
    if (fstat(fd_, &now) != 0) return false;
    const bool same_owner = now.st_uid == old.st_uid && now.st_gid == old.st_gid;
    return same_owner || fchown(fd_, old.st_uid, old.st_gid) == 0;
  }
  bool set_mode(mode_t mode) { return fchmod(fd_, mode) == 0; }
  bool sync() { return fsync(fd_) == 0; }
  bool move_to(const std::string& path) {
    kept_ = rename(name_.c_str(), path.c_str()) == 0;
    return kept_;
  }

 private:
  std::string name_;
  int fd_;
  bool kept_ = false;
};

/// The rename itself survives a crash only when the directory was brought to the disk, too. Where
/// that cannot be done the file is whole all the same.
void sync_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

}  // namespace

result<void> replace_file(const std::string& path, std::string_view text, file_mode mode) {
  const auto failed = [&](const char* what) {
    const int number = errno;
    return fail(code_of(number), path, std::string(what) + ": " + std::strerror(number));
  };
  std::string target = path;
  struct stat old {};
  const bool is_there = stat(path.c_str(), &old) == 0;
  if (!is_there && errno != ENOENT) return failed("cannot be looked at");
  struct stat link {};
  if (!is_there && lstat(path.c_str(), &link) == 0)
    return fail(errc::invalid, path, "is a link to a file that is not there");
  if (is_there && !S_ISREG(old.st_mode)) return fail(errc::invalid, path, "is not a regular file");
  if (is_there) {
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (!real) return failed("cannot be looked at");
    target = real.get();
  }
  constexpr mode_t owner_alone = 0600;
  const bool is_secret = mode == file_mode::owner_alone;
  file_beside fresh(target, is_there || is_secret ? owner_alone : 0666);
  if (!fresh.made()) return failed("no file can be made beside it");
  if (!fresh.fill(text)) return failed("cannot be written, and is as it was");
  // The owner first: changing it may clear bits of the mode.
  bool set = !is_there || fresh.belong_as(old);
  if (is_secret) {
    set = set && fresh.set_mode(owner_alone);
  } else if (is_there) {
    set = set && fresh.set_mode(old.st_mode & 07777);
  }
  if (!set) return failed("its owner or mode cannot be set, so it is as it was");
  if (!fresh.sync()) return failed("cannot be brought to the disk, and is as it was");
  if (!fresh.move_to(target)) return failed("cannot be replaced, and is as it was");
  sync_directory(target);
  return {};
}

}  // namespace coua
