// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/pipeline_bed.h"

#include <algorithm>
#include <vector>

#include "dp/pipeline/pipeline_owner.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr std::size_t bundle_rules = 4096;
constexpr std::uint64_t rules_max = std::uint64_t{1} << 24;

/// Writes the spare rules of a case, a bundle for each call.
class rule_writer final : public churned {
 public:
  rule_writer(dp::pipeline_owner& owner, const use_case& of) : owner_(owner), case_(of) {}

  std::size_t erase(std::uint64_t first, std::size_t count) override {
    return apply(first, count, rule_command::remove_strict);
  }
  std::size_t insert(std::uint64_t first, std::size_t count) override {
    return apply(first, count, rule_command::add);
  }

 private:
  /// Returns how many rules came or went.
  std::size_t apply(std::uint64_t first, std::size_t count, rule_command command) {
    bundle_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      rule_mod one = case_.spare_rule(first + i);
      one.command = command;
      bundle_.emplace_back(std::move(one));
    }
    const auto done = owner_.apply(bundle_);
    return done ? done->size() : 0;
  }

  dp::pipeline_owner& owner_;
  const use_case& case_;
  std::vector<operation> bundle_;
};

}  // namespace

result<std::unique_ptr<pipeline_bed>> pipeline_bed::create(const use_case& of,
                                                           const port_plan& ports,
                                                           const forward_options& options,
                                                           const packet_memory& memory) {
  std::unique_ptr<pipeline_bed> made(new pipeline_bed(of));
  dp::switch_config config;
  config.fib_entries = 1;  // nobody asks it
  config.bridges[0].pipeline.start = dp::first_rules::none;
  config.bridges[0].pipeline.rules_max = rules_max;
  auto device = bench_switch::create(config, ports, options, memory);
  if (!device) return tl::unexpected(device.error());
  made->switch_ = std::move(*device);
  if (result<void> done = made->add_ports(ports); !done) return tl::unexpected(done.error());
  if (result<void> done = made->load_rules(); !done) return tl::unexpected(done.error());
  made->switching_ = made->switch_->make_mover(worker_mode::switching);
  made->raw_ = made->switch_->make_mover(worker_mode::raw);
  return made;
}

result<void> pipeline_bed::add_ports(const port_plan& ports) {
  const port_no source = case_.flow(0).in_port;
  std::vector<std::string> sinks = {ports.out};
  sinks.insert(sinks.end(), ports.more.begin(), ports.more.end());
  auto sink = sinks.begin();
  for (port_no number = 1; number <= case_.n_ports(); ++number) {
    dp::port_config port;
    port.name = "p" + std::to_string(number);
    port.mtu = static_cast<unsigned>(std::max<std::size_t>(68, case_.sent_bytes() + 4));
    if (number != source) port.devargs = *sink++;
    const auto got = number == source ? switch_->add_source(port, ports) : switch_->add_port(port);
    if (!got) return tl::unexpected(got.error());
    if (dp::bridge_port(*got, false) != number) {
      return fail(errc::io, port.name, "is port " + std::to_string(dp::bridge_port(*got, false)));
    }
  }
  return {};
}

result<void> pipeline_bed::load_rules() {
  std::vector<operation> bundle;
  result<void> done;
  const auto apply = [&] {
    const auto applied = switch_->device().pipeline({})->apply(bundle);
    if (!applied) done = tl::unexpected(to_error(applied.error()));
    bundle.clear();
  };
  case_.each_rule([&](rule_mod each) {
    if (!done) return;
    bundle.emplace_back(std::move(each));
    if (bundle.size() == bundle_rules) apply();
  });
  if (done) apply();
  return done;
}

result<std::unique_ptr<churned>> pipeline_bed::make_writer() {
  auto made = std::make_unique<rule_writer>(*switch_->device().pipeline({}), case_);
  if (made->insert(0, spare_rules) != spare_rules) {
    return fail(errc::no_room, "coua", "no room for rules to spare");
  }
  return made;
}

}  // namespace coua::bench
