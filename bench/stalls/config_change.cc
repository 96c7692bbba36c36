// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls/config_change.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bench/traffic/l2_traffic.h"
#include "ctl/bridge_control.h"
#include "ctl/config.h"
#include "ctl/running_config.h"

namespace coua::bench {
namespace {

ctl::config started() {
  ctl::config made;
  made.bridges[0].rules.given = true;
  return made;
}

/// Of those that are there, by their names.
dp::port_config& port_of(ctl::config& of, const std::string& name) {
  return *std::ranges::find(of.ports, name, &dp::port_config::name);
}

/// A bridge without controllers.
class bare_bridge final : public ctl::served_bridge {
 public:
  bare_bridge(dp::l2_switch& sw, const std::string& name, ctl::running_config& config)
      : control_(sw, name, *sw.pipeline(name), config) {}
  ctl::pipeline_control& pipeline() override { return control_; }
  ctl::controller_list& controllers() override { return nobody_; }
  result<void> open(const ctl::openflow_config&) override { return {}; }
  void close() override {}
  ctl::openflow_place place_of(const ctl::openflow_config&) const override { return {}; }
  ctl::openflow_place place() const override { return {}; }

 private:
  ctl::bridge_control control_;
  ctl::no_controllers nobody_;
};

}  // namespace

class config_change::running {
 public:
  explicit running(dp::l2_switch& sw) : bridges_(sw), config_(sw, bridges_, started()) {
    bridges_.make_by(
        [&](const std::string& name) { return std::make_unique<bare_bridge>(sw, name, config_); });
    bridges_.take(started().bridges[0]);
  }

  result<void> look(const stalls_ports& ports, std::uint64_t first, const stalls_options& options) {
    auto now = config_.now();
    if (!now) return tl::unexpected(now.error());
    before_ = *now;
    after_ = std::move(*now);
    after_.tables.ageing_s = 600;
    change_ports(ports);
    for (std::uint64_t i = 0; i < options.batch; ++i)
      after_.statics.push_back({3, l2_address(first + i), ports.bystander.name});
    for (std::uint64_t i = 0; i < options.rules; ++i)
      after_.bridges[0].rules.flows.push_back("priority=" + std::to_string(1 + i % 1000) +
                                              ",metadata=" + std::to_string(1 + i) +
                                              ",actions=drop");
    after_.bridges[0].rules.groups = {"group_id=2,type=select,bucket=output:" +
                                      ports.bystander.name + ",bucket=output:" + ports.bond.name};
    after_.bridges[0].rules.meters = {"meter=2,pktps,band=type=drop,rate=1000"};
    return {};
  }

  result<void> apply(bool other) {
    const auto done = config_.apply(other ? after_ : before_);
    if (!done) return tl::unexpected(done.error());
    return {};
  }

 private:
  void change_ports(const stalls_ports& ports) {
    port_of(after_, ports.in.name).mac_limit = 1'000'000;
    port_of(after_, ports.bystander.name).native_vlan = 9;
    dp::port_config& bond = port_of(after_, ports.bond.name);
    bond.bond.members.front() = "net_null993,no-rx=1";
    bond.bond.hash = dp::bond_hash::l2;
    dp::port_config span = ports.bystander;
    span.name = "span";
    span.devargs = "net_null992,no-rx=1";
    span.mirror.received = {ports.in.name};
    after_.ports.push_back(std::move(span));
  }

  ctl::running_bridges bridges_;
  ctl::running_config config_;
  ctl::config before_, after_;
};

config_change::config_change(std::unique_ptr<running> of) : running_(std::move(of)) {}
config_change::~config_change() = default;

result<std::unique_ptr<config_change>> config_change::create(dp::l2_switch& sw,
                                                             const stalls_ports& ports,
                                                             std::uint64_t first,
                                                             const stalls_options& options) {
  auto of = std::make_unique<running>(sw);
  if (auto looked = of->look(ports, first, options); !looked) return tl::unexpected(looked.error());
  return std::unique_ptr<config_change>(new config_change(std::move(of)));
}

result<void> config_change::go() { return running_->apply(true); }
result<void> config_change::back() { return running_->apply(false); }

}  // namespace coua::bench
