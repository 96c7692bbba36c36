// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace coua::ctl {

/// A decimal number from 0 to 65535.
bool is_tcp_port(std::string_view text);

/// An IPv4 address, or an IPv6 one in brackets.
bool is_ip_address(std::string_view text);

/// What is wrong with "ADDRESS:PORT", where HTTP is answered: an IPv4 address, and a port from 0 to
/// 65535, 0 for any that is free. Empty: nothing.
std::string check_listen_address(const std::string& text);

/// What is wrong with the path of a Unix socket that is made. Empty: nothing.
std::string check_socket(const std::string& path);

}  // namespace coua::ctl
