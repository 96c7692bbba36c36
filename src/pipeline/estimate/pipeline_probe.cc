// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/pipeline_probe.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/clock.h"
#include "net/ethernet.h"
#include "net/headers.h"
#include "net/ip_protocol.h"
#include "net/wire.h"

namespace coua::pipeline {
namespace {

constexpr unsigned bursts_of_round = 16;  // of a round
constexpr unsigned rounds_of_each = 2;    // of each order

std::vector<operation> remove_everything() {
  rule_mod rules;
  rules.command = rule_command::remove;
  rules.table = table_all;
  group_mod groups{mod_command::remove, {}};
  groups.what.id = group_all;
  meter_mod meters{mod_command::remove, {}};
  meters.what.id = meter_all;
  return {rules, groups, meters};
}

}  // namespace

bool pipeline_probe::copies::copy(const owned_packet& from, owned_packet& to) noexcept {
  if (n_ == most) return false;
  to = from;
  to.buffer.bytes = memory_[n_++] + headroom;
  std::memcpy(to.buffer.bytes, from.buffer.bytes, from.buffer.length);
  return true;
}

pipeline_probe::pipeline_probe() {
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint64_t start = cycles();
    least = std::min(least, cycles() - start);
  }
  clock_cycles_ = least;
}

result<std::unique_ptr<pipeline_probe>> pipeline_probe::create() {
  std::unique_ptr<pipeline_probe> made(new pipeline_probe);
  bridge_params small;
  small.rules_max = 1024;
  auto bridge = running_bridge::create(small, compiled_with);
  if (!bridge) return tl::unexpected(std::move(bridge.error()));
  made->bridge_ = std::move(*bridge);
  for (port_no number = in_port; number <= other_port; ++number) {
    port one;
    one.number = number;
    COUA_CHECK(made->bridge_->apply(port_mod{mod_command::add, one}, 0).has_value());
  }
  pipeline_compiler& compiler = made->bridge_->compiler();
  auto worker = executor::create(compiler.published(), 0, compiler.counts(0), made->copies_);
  if (!worker) return tl::unexpected(std::move(worker.error()));
  made->worker_ = std::move(*worker);
  return made;
}

void pipeline_probe::write_frames(bool tagged) {
  namespace ip = net::wire::ipv4;
  namespace tcp = net::wire::tcp;
  for (unsigned kind = 0; kind < n_kinds; ++kind) {
    std::uint8_t* at = frames_[kind];
    std::memset(at, 0, frame_bytes);
    net::store_mac(at, eth_dst(kind));
    net::store_mac(at + 6, eth_src(kind));
    at += net::ethertype_offset;
    if (tagged) {
      net::store_be16(at, net::ethertype_vlan);
      net::store_be16(at + 2, 1);
      at += net::vlan_tag_bytes;
    }
    net::store_be16(at, net::ethertype_ipv4);
    at += 2;
    at[0] = 0x45;  // version 4, and five words
    net::store_be16(at + ip::total_length, ip::header_bytes + tcp::header_bytes);
    at[ip::ttl] = 64;
    at[ip::protocol] = net::ip_proto_tcp;
    net::store_be32(at + ip::source, ip_src(kind));
    net::store_be32(at + ip::destination, ip_dst(kind));
    at += ip::header_bytes;
    net::store_be16(at, tcp_src);
    net::store_be16(at + 2, tcp_dst);
  }
}

double pipeline_probe::run_bursts(bool alike) noexcept {
  executor::arrival burst[executor::burst_max];
  std::uint64_t took = 0, sum = 0;
  for (unsigned b = 0; b < bursts_of_round; ++b) {
    for (unsigned i = 0; i < executor::burst_max; ++i) {
      state_ = state_ * 6364136223846793005 + 1442695040888963407;
      const unsigned kind = alike ? 0 : static_cast<unsigned>(state_ >> 32) % n_kinds;
      std::uint8_t* const at = buffers_[i] + headroom;
      std::memcpy(at, frames_[kind], frame_bytes);
      burst[i] = {{{at, 60, 60, headroom}, at}, in_port};
    }
    copies_.clear();
    const std::uint64_t start = cycles();
    worker_->run(burst, executor::when_asked);
    worker_->each_delivery([&](port_no to, const owned_packet&) { sum += to; },
                           [&](const delivery& one, const owned_packet&) { sum += one.port; });
    took += cycles() - start - clock_cycles_;
  }
  // The sum is what keeps the compiler from leaving its loop out.
  return static_cast<double>(took + (sum == ~std::uint64_t{0} ? 1 : 0)) /
         (bursts_of_round * executor::burst_max);
}

void pipeline_probe::measure(std::span<const operation> rules, bool tagged, rounds& out) {
  write_frames(tagged);
  COUA_CHECK(bridge_->apply(remove_everything(), 0).has_value());
  COUA_CHECK(bridge_->apply(rules, 0).has_value());
  worker_->rest();
  (void)bridge_->reclaim();
  for (const bool alike : {true, false}) {
    (void)run_bursts(alike);
    for (unsigned i = 0; i < rounds_of_each; ++i) {
      (alike ? out.alike : out.mixed).push_back(run_bursts(alike));
    }
  }
}

}  // namespace coua::pipeline
