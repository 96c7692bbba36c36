// SPDX-License-Identifier: Apache-2.0
//
// How long something has been there, as the library's structures and texts have it.
#pragma once

#include <openvswitch/ofp-print.h>

#include "ctl/ofp/ovs.h"
#include "pipeline/model/rule.h"

namespace coua::ofp {

/// Of a structure with duration_sec and duration_nsec. What lies ahead has lasted for no time.
template <class Stats>
void set_duration(Stats& of, pipeline::time_ns from, pipeline::time_ns now) {
  const pipeline::time_ns age = now > from ? now - from : 0;
  of.duration_sec = static_cast<std::uint32_t>(age / pipeline::ns_per_s);
  of.duration_nsec = static_cast<std::uint32_t>(age % pipeline::ns_per_s);
}

/// "3.250s", as the library writes it.
inline std::string duration_text(pipeline::time_ns from, pipeline::time_ns now) {
  struct {
    std::uint32_t duration_sec, duration_nsec;
  } age;
  set_duration(age, from, now);
  ovs_text text;
  ofp_print_duration(text.get(), age.duration_sec, age.duration_nsec);
  return std::string(text.view());
}

}  // namespace coua::ofp
