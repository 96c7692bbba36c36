// SPDX-License-Identifier: Apache-2.0
#include "ctl/listen_address.h"

#include <arpa/inet.h>

#include <charconv>
#include <system_error>

#include "base/default_socket.h"

namespace coua::ctl {

bool is_tcp_port(std::string_view text) {
  unsigned value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  return wrong == std::errc() && end == text.data() + text.size() && value <= 65'535;
}

bool is_ip_address(std::string_view text) {
  const bool v6 = text.size() > 2 && text.front() == '[' && text.back() == ']';
  const std::string plain(v6 ? text.substr(1, text.size() - 2) : text);
  in6_addr into;
  return inet_pton(v6 ? AF_INET6 : AF_INET, plain.c_str(), &into) == 1;
}

std::string check_listen_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view all = text;
  if (colon == std::string::npos || !is_ip_address(all.substr(0, colon)) ||
      !is_tcp_port(all.substr(colon + 1)))
    return "is not ADDRESS:PORT, such as 127.0.0.1:9107";
  if (all.front() == '[')
    return "is an IPv6 address, which the library that answers there (civetweb) does not take as "
           "Debian builds it; take an IPv4 one";
  return "";
}

std::string check_socket(const std::string& path) {
  if (path.empty() || path[0] != '/') return "is not an absolute path";
  if (path.size() > socket_path_max)
    return "has " + std::to_string(path.size()) + " bytes, a socket's path at most " +
           std::to_string(socket_path_max);
  if (path.find('\0') != std::string::npos) return "has a zero byte";
  if (path.back() == '/') return "is a directory";
  return {};
}

}  // namespace coua::ctl
