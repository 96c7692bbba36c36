// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/ovs_switch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "bench/forward/ovs_daemon.h"
#include "bench/harness/cpu_time.h"

namespace coua::bench {
namespace {

constexpr double settle_seconds = 60;
constexpr double settle_flows = 10'000;  // that it learns in a second, at the least
constexpr auto glance = std::chrono::milliseconds(500);
constexpr std::uint64_t between_answers = 200'000;  // packets, of a tenth of a second

}  // namespace

std::string name_of(ovs_caches caches) {
  switch (caches) {
    case ovs_caches::exact_match: return "ovs";
    case ovs_caches::signature_match: return "ovs/smc";
    case ovs_caches::none: return "ovs/none";
  }
  return "ovs";
}

result<std::unique_ptr<ovs_switch>> ovs_switch::start(const use_case& of, const port_plan& ports,
                                                      const std::string& rules,
                                                      const std::string& folder, ovs_caches caches,
                                                      ovs_limits limits, unsigned workers,
                                                      bool huge_pages) {
  std::unique_ptr<ovs_switch> made(new ovs_switch(caches));
  auto process = ovs_process::start(ports, rules, folder, caches, limits, workers, huge_pages);
  if (!process) return tl::unexpected(process.error());
  made->process_ = std::move(*process);
  made->flows_ = of.params().flows;
  made->workers_ = workers;

  word_list devargs = {ports.out};
  devargs.insert(devargs.end(), ports.more.begin(), ports.more.end());
  auto sink = devargs.begin();
  const pipeline::port_no source = of.flow(0).in_port;
  std::vector<ovs_process::port> sinks;
  for (pipeline::port_no number = 1; number <= of.n_ports(); ++number) {
    const std::string name = "p" + std::to_string(number);
    if (number == source) {
      made->source_ = {name, number, ports.in, workers};
    } else {
      sinks.push_back({name, number, *sink++, 1});
    }
  }
  if (auto done = made->process_->add_ports(sinks); !done) return tl::unexpected(done.error());
  return made;
}

result<void> ovs_switch::add_source() {
  // It comes last: what it sends finds all ports.
  if (auto done = process_->add_ports({source_}); !done) return done;
  threads_ = process_->worker_threads();
  if (threads_.size() == workers_) return {};
  return fail(errc::io, ovs_product, "its workers are not found");
}

result<unsigned> ovs_switch::queues_to_send() const {
  const auto shown = process_->ask({"dpctl/show"});
  if (!shown) return tl::unexpected(shown.error());
  constexpr std::string_view label = "configured_tx_queues=";
  const std::size_t at = shown->find(": " + source_.name + " (dpdk");
  const std::size_t found = shown->find(label, at);
  if (at == std::string::npos || found == std::string::npos)
    return fail(errc::io, ovs_product, "does not say its queues");
  return static_cast<unsigned>(std::strtoul(shown->c_str() + found + label.size(), nullptr, 10));
}

std::uint64_t ovs_switch::cpu_ns() const {
  return foreign_cpu_ns(process_->program().process(), threads_);
}

result<void> ovs_switch::learn(const std::function<bool()>& pass) const {
  ovs_counts before;
  const double patience = settle_seconds + static_cast<double>(flows_) / settle_flows;
  for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(patience * 1e9);;) {
    const bool through = pass();
    // Where a look at all flows takes long, flows above the limit would be missed for ever.
    if (auto done = lift_limits(); !done) return done;
    const result<ovs_counts> now = counts();
    if (!now) return tl::unexpected(now.error());
    if (through && has_settled(before, *now)) return {};
    before = *now;
    if (now_ns() > end) {
      return fail(errc::io, ovs_product,
                  "still misses flows after " + std::to_string(static_cast<int>(patience)) + " s");
    }
  }
}

result<void> ovs_switch::settle() {
  const auto wait = [] {
    std::this_thread::sleep_for(glance);
    return true;
  };
  if (auto done = learn(wait); !done) return done;
  const auto megaflows = read_megaflows(*process_);
  if (!megaflows) return tl::unexpected(megaflows.error());
  megaflows_ = *megaflows;
  // It went on meanwhile: what it sent by then is no packet of the first window.
  const result<ovs_counts> now = counts();
  process_->program().pause();
  if (!now) return tl::unexpected(now.error());
  at_start_ = last_ = *now;
  cpu_ns_ = cpu_ns();
  return {};
}

/// From stop to stop. The packets between the question and the stop belong to the next window, of
/// this one as of the last one: so they cancel.
result<double> ovs_switch::run(double seconds) {
  process_->program().go_on();
  const auto lifted = lift_limits();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const result<ovs_counts> now = counts();
  process_->program().pause();
  if (!lifted) return tl::unexpected(lifted.error());
  if (!now) return tl::unexpected(now.error());
  // Since the start: the two are not asked for at the same moment.
  const std::uint64_t received = now->packets - at_start_.packets;
  const std::uint64_t left = now->sent - at_start_.sent;
  if (left + received / 50 + between_answers < received) {
    return fail(errc::io, ovs_product,
                "sent " + std::to_string(left) + " of " + std::to_string(received) + " packets");
  }
  const std::uint64_t cpu = cpu_ns();
  const double rate = 1e3 * static_cast<double>(threads_.size()) *
                      static_cast<double>(now->sent - last_.sent) /
                      static_cast<double>(std::max<std::uint64_t>(1, cpu - cpu_ns_));
  last_ = *now;
  cpu_ns_ = cpu;
  return rate;
}

json ovs_switch::more() const {
  const double packets = static_cast<double>(last_.packets - at_start_.packets);
  if (packets <= 0) return json::object();
  const auto share = [packets](std::uint64_t now, std::uint64_t before) {
    return static_cast<double>(now - before) / packets;
  };
  json made = {{"emc", share(last_.emc, at_start_.emc)},
               {"smc", share(last_.smc, at_start_.smc)},
               {"simple_match", share(last_.simple, at_start_.simple)},
               {"megaflow", share(last_.megaflow, at_start_.megaflow)},
               {"upcall", share(last_.misses(), at_start_.misses())},
               {"megaflows", megaflows_.entries},
               {"masks_asked", last_.masks_asked}};
  if (megaflows_.masks != 0) made["megaflow_masks"] = megaflows_.masks;
  return made;
}

}  // namespace coua::bench
