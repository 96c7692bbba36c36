// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/liveness.h"

#include <algorithm>

namespace coua::pipeline {

bool is_live(const bridge& in, const bucket& one) {
  if (!one.is_watched()) return true;
  const port* watched = in.find_port(one.watch_port);
  if (watched != nullptr && watched->live) return true;
  const group_entry* group = in.find_group(one.watch_group);
  return group != nullptr && is_live(in, *group->group);
}

bool is_live(const bridge& in, const group& one) {
  return std::any_of(one.buckets.begin(), one.buckets.end(),
                     [&](const bucket& each) { return is_live(in, each); });
}

}  // namespace coua::pipeline
