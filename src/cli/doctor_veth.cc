// SPDX-License-Identifier: Apache-2.0
//
// The ends of virtual cables. /sys may show another namespace than the one of this process, so the
// interfaces themselves are asked.
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <thread>

#include "cli/doctor.h"
#include "cli/doctor_links.h"

namespace coua::cli {
namespace {

namespace files = std::filesystem;

struct found_end {
  std::string name, space;
  int space_id = here;  // of the namespace that it is in
  unsigned number = 0;
  far_end peer;
  bool checksums = false;
};

/// Questions about network interfaces of the namespace that it is made in.
class ethtool {
 public:
  ethtool() : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  ~ethtool() {
    if (socket_ >= 0) close(socket_);
  }
  ethtool(const ethtool&) = delete;
  ethtool& operator=(const ethtool&) = delete;

  bool is_veth(const std::string& interface) {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    return ask(interface, &info) && std::strcmp(info.driver, "veth") == 0;
  }
  bool makes_checksums(const std::string& interface) {
    ethtool_value value{ETHTOOL_GTXCSUM, 0};
    return ask(interface, &value) && value.data != 0;
  }

 private:
  bool ask(const std::string& interface, void* question) {
    ifreq request{};
    if (interface.size() >= sizeof request.ifr_name) return false;
    std::memcpy(request.ifr_name, interface.c_str(), interface.size());
    request.ifr_data = static_cast<char*>(question);
    return ioctl(socket_, SIOCETHTOOL, &request) == 0;
  }

  int socket_;
};

void look_around(const std::string& space, int space_id, std::vector<found_end>& to) {
  ethtool asked;
  link_questions links;
  struct if_nameindex* all = if_nameindex();
  for (auto* each = all; each != nullptr && each->if_index != 0; ++each) {
    const std::string name = each->if_name;
    if (!asked.is_veth(name)) continue;
    const auto peer = links.other_end(each->if_index);
    if (peer)
      to.push_back({name, space, space_id, each->if_index, *peer, asked.makes_checksums(name)});
  }
  if (all != nullptr) if_freenameindex(all);
}

/// Those that `ip netns` knows by name. A thread of its own visits them, as this one stays.
void look_elsewhere(std::vector<found_end>& to) {
  link_questions links;
  std::error_code none;
  for (const auto& each : files::directory_iterator("/run/netns", none)) {
    const int fd = open(each.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    // Without an id, no cable leads there from here.
    if (const auto id = links.id_of_namespace(fd)) {
      std::thread([&] {
        if (setns(fd, CLONE_NEWNET) == 0) look_around(each.path().filename(), *id, to);
      }).join();
    }
    close(fd);
  }
}

}  // namespace

std::vector<veth_end> examine_veths(const std::vector<std::string>& ports) {
  std::vector<found_end> all;
  look_around("", here, all);
  if (all.empty()) return {};
  look_elsewhere(all);
  std::vector<veth_end> made;
  const auto is_port = [&](const found_end& end) {
    return end.space_id == here && std::ranges::find(ports, end.name) != ports.end();
  };
  for (const found_end& near : all) {
    if (near.space_id != here) continue;
    const auto far = std::ranges::find_if(all, [&](const found_end& end) {
      return end.space_id == near.peer.space_id && end.number == near.peer.number;
    });
    const bool has_peer = far != all.end();
    // A port of couad sends ready packets; what matters is what comes to it.
    if (!is_port(near)) {
      made.push_back(
          {.name = near.name, .checksums = near.checksums, .to_couad = has_peer && is_port(*far)});
    } else if (!has_peer) {
      made.push_back({.name = near.name, .has_peer = false});
    }
    if (has_peer && far->space_id != here) {
      made.push_back({.name = far->name,
                      .space = far->space,
                      .checksums = far->checksums,
                      .to_couad = is_port(near)});
    }
  }
  return made;
}

}  // namespace coua::cli
