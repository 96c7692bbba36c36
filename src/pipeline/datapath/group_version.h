// SPDX-License-Identifier: Apache-2.0
//
// A group as it is from one version on: with another liveness of what its buckets watch, it is
// another one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/keyed_hash.h"
#include "pipeline/datapath/op.h"
#include "pipeline/datapath/versions.h"
#include "pipeline/model/group.h"
#include "pipeline/semantics/select_map.h"

namespace coua::pipeline {

struct group_version {
  static constexpr std::size_t none = ~std::size_t{0};

  version_no from = 0;
  const group_version* previous = nullptr;
  group_type type = group_type::all;
  std::uint32_t counters = 0;         // of the group, whatever its version
  std::uint32_t bucket_counters = 0;  // of the first bucket; those of the others follow
  std::size_t first_live = none;      // of fast failover
  std::vector<op_list> buckets;
  select_map map;  // of select
  keyed_hash hash;
};

}  // namespace coua::pipeline
