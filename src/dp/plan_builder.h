// SPDX-License-Identifier: Apache-2.0
//
// Builds a plan (plan.h) from the ports that exist. A receive queue goes to the least busy worker
// of its port's NUMA node; where that node has no worker, to the least busy of all.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dp/plan.h"
#include "dp/switch.h"

namespace coua::dp {

class port;

/// What the members of a bond do.
struct bond_view {
  member_set collecting = 0, sending = 0;
  member_set lost = 0;
  bool lacp = false;
  bool operator==(const bond_view&) const = default;
};

struct port_view {
  unsigned number = 0;
  unsigned bridge = 0;  // number
  const port* device = nullptr;
  bool link_up = false;
  bool lost = false;               // the device went away: it is neither polled nor sent to
  bool shut = false;               // by the switch: as if it were not enabled
  storm_buckets* storm = nullptr;  // of the number; needed where the port has limits
  unsigned last_mbps = 0;          // of the link, when it last had one; 0: not known
  bond_view bond = {};             // where it is one
};

struct worker_place {
  unsigned core = 0;
  int numa_node = 0;
};

struct bridge_view {
  unsigned number = 0;
  const vlan_domains* domains = nullptr;  // of all VLANs that its ports carry
  std::vector<worker_bridge*> of_worker;  // by number
};

std::unique_ptr<plan> build_plan(std::span<const port_view> ports,
                                 std::span<const worker_place> workers,
                                 std::span<const bridge_view> bridges);

/// Takes the queues out of `built` that another worker polls in `before`. False: there are none.
bool leave_out_moving(plan& built, const plan& before);

/// Workers that poll a port of this node (-1: of no node).
unsigned workers_for_node(int node, std::span<const worker_place> workers);

/// The worker that polls the next receive queue of a port of this node. `plans` has what each of
/// the workers polls already.
std::size_t worker_for_queue(int node, std::span<const worker_place> workers,
                             std::span<const worker_plan> plans);

}  // namespace coua::dp
