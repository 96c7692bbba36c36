// SPDX-License-Identifier: Apache-2.0
//
// What DPDK's text for a device says: its name, then `,key=value` as often as one likes.
#pragma once

#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

namespace coua::dp {

/// The value of `key=`; empty where there is none.
inline std::string text_in(const std::string& devargs, const std::string& key) {
  const std::size_t at = devargs.find("," + key + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return devargs.substr(begin, devargs.find(',', begin) - begin);
}

/// The same as a number; `otherwise` where there is none.
inline unsigned number_in(const std::string& devargs, const std::string& key, unsigned otherwise) {
  const std::string text = text_in(devargs, key);
  return text.empty() ? otherwise : static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 0));
}

/// The interfaces of the kernel that a device is to stand on, by their names. Of net_vhost `iface=`
/// is a socket, and of a name with % the kernel makes one that is new.
inline std::set<std::string> interfaces_in(const std::string& devargs) {
  std::set<std::string> names;
  std::istringstream in(devargs);
  for (std::string one; std::getline(in, one, ',');) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = one.substr(0, equals), name = one.substr(equals + 1);
    const bool is_known =
        key == "iface" || key == "rx_iface" || key == "rx_iface_in" || key == "tx_iface";
    if (is_known && !name.empty() && name.find_first_of("/%") == std::string::npos)
      names.insert(name);
  }
  return names;
}

}  // namespace coua::dp
