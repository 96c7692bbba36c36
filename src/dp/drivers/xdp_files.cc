// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/xdp_files.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>

namespace coua::dp {
namespace {

/// -1: it is no socket.
int family_of(int number) {
  int family = -1;
  socklen_t bytes = sizeof family;
  getsockopt(number, SOL_SOCKET, SO_DOMAIN, &family, &bytes);
  return family;
}

bool is_xdp(int number) {
  if (const int family = family_of(number); family >= 0) return family == AF_XDP;
  char target[64];
  const std::string link = "/proc/self/fd/" + std::to_string(number);
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length <= 0) return false;
  const std::string_view text(target, static_cast<std::size_t>(length));
  return text == "anon_inode:bpf-map" || text == "anon_inode:bpf-prog";
}

}  // namespace

std::vector<xdp_files::file> xdp_files::open_now() {
  std::vector<file> files;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return files;
  while (const dirent* entry = readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    struct stat status {};
    if (entry->d_name[0] != '.' && is_xdp(number) && fstat(number, &status) == 0)
      files.push_back({number, status.st_ino});
  }
  closedir(folder);
  return files;
}

void xdp_files::begin() {
  before_ = open_now();
  begun_ = true;
}

void xdp_files::end() {
  opened_.clear();
  for (const file& each : open_now())
    if (std::ranges::find(before_, each) == before_.end()) opened_.push_back(each);
  ended_ = true;
}

std::vector<int> xdp_files::sockets() {
  if (begun_ && !ended_) end();  // the port was not opened to its end, and no other one since
  std::vector<int> numbers;
  for (const file& each : opened_)
    if (family_of(each.number) == AF_XDP) numbers.push_back(each.number);
  return numbers;
}

void xdp_files::close_by(const std::function<void()>& driver) {
  if (!begun_) return driver();
  if (!ended_) end();  // the port was not opened to its end, and no other one since
  const std::vector<file> there = open_now();
  driver();
  const auto is_in = [](const std::vector<file>& some, const file& one) {
    return std::ranges::find(some, one) != some.end();
  };
  for (const file& each : open_now())
    if (is_in(opened_, each) || !is_in(there, each)) close(each.number);
  opened_.clear();
}

}  // namespace coua::dp
