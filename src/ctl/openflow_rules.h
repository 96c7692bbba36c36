// SPDX-License-Identifier: Apache-2.0
//
// What the file may say about controllers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace coua::ctl {

// Empty: good; else the reason.
/// "tcp:10.0.0.1:6653", "ssl:[fd00::1]:6653", "unix:/run/x.sock". Addresses, no names.
std::string check_controller(const std::string& target);
/// "ptcp:6653", "ptcp:6653:127.0.0.1", "pssl:6653:[::1]", "punix:/run/x.sock".
std::string check_listener(const std::string& target);
/// 1 to 31 printable characters.
std::string check_table_name(const std::string& name);
/// `before`: the tables that have names.
std::string check_new_table_name(const std::string& name,
                                 const std::map<std::uint8_t, std::string>& before);

bool needs_tls(const std::string& target);

/// Without "/./", "//" and "/..": of what is one socket, one text.
std::string normal_path(const std::string& path);
/// Of a listener "punix:PATH", as normal_path() writes it; nothing: it is of another kind.
std::optional<std::string> socket_of(const std::string& listener);
/// "br1.mgmt" beside the API's socket: with OVS_RUNDIR set to its directory, ovs-ofctl finds br1.
std::string management_socket(const std::string& bridge, const std::string& api_socket);

/// "0x00000000000000a1", "a1", "00:00:00:00:00:00:00:a1". Not 0.
std::optional<std::uint64_t> parse_datapath_id(const std::string& text);
/// "00:00:00:00:00:00:00:a1"
std::string format_datapath_id(std::uint64_t id);
/// Of a bridge that has no port with an address. The same at each start, another one for each name.
std::uint64_t datapath_id_of(const std::string& bridge);

}  // namespace coua::ctl
