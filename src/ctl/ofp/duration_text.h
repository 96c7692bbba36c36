// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvswitch/ofp-print.h>

#include "ctl/ofp/ovs.h"
#include "pipeline/model/rule.h"

namespace coua::ofp {

/// "3.250s", as the library writes it.
inline std::string duration_text(pipeline::time_ns from, pipeline::time_ns now) {
  const pipeline::time_ns age = now > from ? now - from : 0;
  ovs_text text;
  ofp_print_duration(text.get(), static_cast<unsigned>(age / pipeline::ns_per_s),
                     static_cast<unsigned>(age % pipeline::ns_per_s));
  return std::string(text.view());
}

}  // namespace coua::ofp
