// SPDX-License-Identifier: Apache-2.0
//
// Messages between the library's form and ours. Only sources of this folder include it.
#pragma once

// First: the library's headers below need what it includes.
#include "ctl/ofp/ovs.h"
// clang-format off
#include <openvswitch/ofp-bundle.h>
#include <openvswitch/ofp-connection.h>
#include <openvswitch/ofp-monitor.h>
#include <openvswitch/ofp-msgs.h>
#include <openvswitch/ofp-packet.h>
#include <openvswitch/ofp-queue.h>
#include <openvswitch/ofp-switch.h>
#include <openvswitch/ofp-table.h>
// clang-format on

#include "ctl/ofp/message.h"

namespace coua::ofp {

inline const ofp_header* to_library(message_view one) {
  return reinterpret_cast<const ofp_header*>(one.data());
}

/// The bytes of a message that the library made; it is freed.
inline message take(ofpbuf* made) {
  ofpmsg_update_length(made);
  const auto* bytes = static_cast<const std::uint8_t*>(made->data);
  message taken(bytes, bytes + made->size);
  ofpbuf_delete(made);
  return taken;
}

}  // namespace coua::ofp
