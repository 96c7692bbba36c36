// SPDX-License-Identifier: Apache-2.0
//
// The switch as Prometheus reads it: what `coua` shows, under the same names (docs/metrics.md).
//
//   coua_port_rx_packets_total{port="p0"}    "rx_packets" of `coua stats`, port p0
//   coua_worker_rounds_total{worker="0"}     "rounds" of `coua worker -j`
//   coua_vlan_flooded_total{bridge="br0",vlan="10"}   "flooded" of `coua vlan show 10`
//   coua_fib_entries                         "entries" of `coua fib stats`
//   coua_meter_band_packets_total{...}       "packets" of a band in `coua meter dump -j`
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <chrono>
#include <string>
#include <vector>

#include "dp/switch.h"

namespace coua::ctl {

class running_bridges;

class switch_metrics final : public prometheus::Collectable {
 public:
  /// Both must outlive it.
  switch_metrics(const dp::l2_switch& sw, const running_bridges& bridges, std::string version);

  /// Everything, read now. Any thread; waits for the owner of the tables, at most as long as `coua
  /// stats` does, and for those of the controllers, two seconds a bridge at most. Reads no rule
  /// one by one, and of groups and meters a bounded number: its time depends on bridges, ports,
  /// VLANs and workers alone.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const dp::l2_switch& switch_;
  const running_bridges& bridges_;
  const std::string version_;
  const double started_s_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
};

}  // namespace coua::ctl
