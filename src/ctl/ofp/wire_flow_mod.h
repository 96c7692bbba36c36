// SPDX-License-Identifier: Apache-2.0
//
// Where things stand in a flow_mod, and the numbers of what stands in its lists and in those of
// other messages (OpenFlow 1.3, sections 7.2 and 7.3.4). Only sources of this folder include it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coua::ofp {

namespace flow_mod_at {
inline constexpr std::size_t cookie = 8, cookie_mask = 16, table = 24, command = 25,
                             idle_timeout = 26, hard_timeout = 28, priority = 30, buffer = 32,
                             out_port = 36, out_group = 40, flags = 44, match = 48;
}  // namespace flow_mod_at

inline constexpr std::uint32_t no_buffer_id = 0xffff'ffff;
inline constexpr std::uint16_t match_oxm = 1;
inline constexpr std::uint32_t header_has_mask = 0x100;  // that of a field
inline constexpr std::uint16_t instruction_goto_table = 1, instruction_write = 3,
                               instruction_apply = 4;
inline constexpr std::uint16_t action_output = 0, action_push_vlan = 17, action_push_mpls = 19,
                               action_group = 22, action_dec_nw_ttl = 24, action_set_field = 25,
                               action_experimenter = 0xffff;

}  // namespace coua::ofp
