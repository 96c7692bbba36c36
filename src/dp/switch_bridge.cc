// SPDX-License-Identifier: Apache-2.0
#include "dp/switch_bridge.h"

#include "base/clock.h"
#include "dp/port.h"

namespace coua::dp {
namespace {

// Time-outs of rules are in seconds.
constexpr double learn_again_s = 0.5;

}  // namespace

result<void> switch_bridge::validate(const bridge_config& config) {
  const auto bad = [&](const char* what) {
    return fail(errc::invalid, "bridge " + config.name, what);
  };
  if (!valid_name(config.name))
    return bad("a bridge's name has 1 to 32 of A-Z a-z 0-9 _ . -, and not - first");
  const pipeline_config& pipeline = config.pipeline;
  if (pipeline.rules_max < 1 || pipeline.rules_max > std::uint64_t{1} << 24)
    return bad("rules_max is not in 1 to 16,777,216");
  if (pipeline.packet_in_rate < 1 || pipeline.packet_in_rate > 1'000'000)
    return bad("packet_in_rate is not in 1 to 1,000,000");
  if (pipeline.packet_in_burst < 1 || pipeline.packet_in_burst > 65'536)
    return bad("packet_in_burst is not in 1 to 65,536");
  return {};
}

result<std::unique_ptr<switch_bridge>> switch_bridge::create(const bridge_config& config,
                                                             unsigned number, unsigned n_workers,
                                                             std::span<const unsigned> cpus) {
  std::unique_ptr<switch_bridge> made(new switch_bridge(config, number));
  auto pipeline = pipeline_owner::create(config.pipeline, n_workers);
  if (!pipeline) return tl::unexpected(std::move(pipeline.error()));
  made->pipeline_ = std::move(*pipeline);
  const auto learn_key = draw_hash_key();
  if (!learn_key) return tl::unexpected(learn_key.error());
  const double hz = cycles_hz();
  worker_bridge_params params;
  params.number = number;
  params.learn_again_cycles = static_cast<std::uint64_t>(learn_again_s * hz);
  params.learn_key = *learn_key;
  // Each worker has its share of the rate.
  params.packet_in_cycles =
      static_cast<std::uint64_t>(hz * n_workers / config.pipeline.packet_in_rate);
  params.packet_in_burst = config.pipeline.packet_in_burst / n_workers;
  pipeline_owner::worker_ends ends;
  for (unsigned w = 0; w < n_workers; ++w) {
    auto end = std::make_unique<worker_bridge>(params);
    auto runs = made->pipeline_->make_executor(w, end->copier);
    if (!runs) return tl::unexpected(std::move(runs.error()));
    end->executor = std::move(*runs);
    ends.packet_ins.push_back(&end->packet_ins);
    ends.learned.push_back(&end->learned);
    made->ends_.push_back(std::move(end));
  }
  made->ends_.front()->packet_outs = &made->packet_outs_;
  // Names of threads have 15 characters at most, those of bridges more.
  const std::string thread = number == 0 ? "coua-flows" : "coua-flows-" + std::to_string(number);
  auto started = made->pipeline_->start(thread, std::move(ends), made->packet_outs_, cpus);
  if (!started) return tl::unexpected(std::move(started.error()));
  return made;
}

switch_bridge::~switch_bridge() { stop(); }

void switch_bridge::stop() {
  if (pipeline_) pipeline_->stop();
  for (auto& each : ends_) drain_packets(each->packet_ins, {});
  drop_packets(packet_outs_);
}

void switch_bridge::set_standalone(bool on) {
  for (auto& each : ends_) each->standalone.store(on, std::memory_order_relaxed);
}

}  // namespace coua::dp
