// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/kernel_interface.h"

#include <dirent.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace coua::dp {
namespace {

/// The number of an open file by which this process has the TAP interface of that name; -1: none.
int file_of_tap(const std::string& name) {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return -1;
  int found = -1;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    char target[32];
    const ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target);
    if (length <= 0 || std::string_view(target, static_cast<std::size_t>(length)) != "/dev/net/tun")
      continue;
    const int number = std::atoi(entry->d_name);
    ifreq request{};
    if (ioctl(number, TUNGETIFF, &request) != 0 || name != request.ifr_name) continue;
    found = number;
    break;
  }
  closedir(folder);
  return found;
}

/// Wherever it is. Where no file of it was found nobody knows.
bool is_tap_alive(int file) {
  if (file < 0) return true;
  pollfd asked{file, 0, 0};
  return poll(&asked, 1, 0) == 0 || (asked.revents & (POLLERR | POLLNVAL)) == 0;
}

}  // namespace

kernel_interface kernel_interface::of(const std::string& driver, unsigned index) {
  kernel_interface found;
  if (driver == "net_af_packet" || driver == "net_af_xdp") found.index_ = index;
  char name[IF_NAMESIZE];
  if (driver != "net_tap" || if_indextoname(index, name) == nullptr) return found;
  found.index_ = index;
  found.tap_ = name;
  found.tap_file_ = file_of_tap(name);
  return found;
}

kernel_interface::state kernel_interface::look() const {
  const int asker = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (asker < 0) return state::hidden;  // nothing can be said
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(index_);
  int failed = ioctl(asker, SIOCGIFNAME, &request);
  const bool is_here = failed == 0 && (tap_.empty() || tap_ == request.ifr_name);
  if (is_here) failed = ioctl(asker, SIOCGIFFLAGS, &request);
  close(asker);
  if (!is_here) return !tap_.empty() && is_tap_alive(tap_file_) ? state::hidden : state::gone;
  // It was renamed or went in this moment: the next look says which.
  if (failed != 0) return state::down;
  constexpr int working = IFF_UP | IFF_RUNNING;
  return (request.ifr_flags & working) == working ? state::up : state::down;
}

}  // namespace coua::dp
