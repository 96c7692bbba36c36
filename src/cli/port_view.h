// SPDX-License-Identifier: Apache-2.0
//
// What `coua` shows of ports, and the words that it has for what the API numbers.
#pragma once

#include <string>
#include <utility>

#include "cli/output.h"
#include "coua/v1/port.pb.h"

namespace coua::cli {

inline constexpr std::pair<const char*, v1::MacLimitAction> mac_limit_actions[] = {
    {"forward", v1::MAC_LIMIT_ACTION_FORWARD},
    {"drop", v1::MAC_LIMIT_ACTION_DROP},
    {"shutdown", v1::MAC_LIMIT_ACTION_SHUTDOWN}};

inline constexpr std::pair<const char*, v1::StormAction> storm_actions[] = {
    {"drop", v1::STORM_ACTION_DROP}, {"shutdown", v1::STORM_ACTION_SHUTDOWN}};

// By the numbers of the API, whose 0 is none of them.
inline constexpr const char* bond_modes[] = {"", "static", "lacp", "backup"};
inline constexpr const char* lacp_rates[] = {"", "slow", "fast"};
inline constexpr const char* bond_hashes[] = {"", "l2", "l23", "l34"};

json port_json(const v1::Port& port);
/// A line for each.
std::string ports_text(const google::protobuf::RepeatedPtrField<v1::Port>& ports);
/// What a line has no room for: members of a bond, limits, sources of a mirror.
std::string port_details_text(const v1::Port& port);

}  // namespace coua::cli
