// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/ovs.h"

#include <openvswitch/vlog.h>

#include <mutex>

namespace coua::ofp {

void silence_library() {
  static std::once_flag once;
  std::call_once(once, [] { vlog_set_levels(nullptr, VLF_ANY_DESTINATION, VLL_OFF); });
}

ovs_port_map::ovs_port_map(const port_names& names) {
  ofputil_port_map_init(&map_);
  for (const auto& [number, name] : names.all()) {
    if (const auto port = to_ovs_port(number)) ofputil_port_map_put(&map_, *port, name.c_str());
  }
}

pipeline::of_result<ofp_port_t> to_ovs_port(pipeline::port_no port) {
  if (port >= ovs_ports_end && port < from_ovs_port(ovs_ports_end)) {
    return pipeline::refuse(pipeline::of_error::bad_action_out_port, "port " + std::to_string(port),
                            "ports have numbers up to " + std::to_string(ovs_ports_end - 1));
  }
  return ofp_port_t{port & 0xffff};
}

}  // namespace coua::ofp
