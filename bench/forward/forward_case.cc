// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/forward_case.h"

#include <algorithm>

#include "bench/forward/testpmd.h"
#include "bench/harness/peer_field.h"

namespace coua::bench {
namespace {

constexpr std::size_t updates_per_command = 64;

}  // namespace

void forward_case::add(std::unique_ptr<mover> one, double bytes_per_entry) {
  add(*one, bytes_per_entry);
  movers_.push_back(std::move(one));
}

result<void> forward_case::add_testpmd(const packet_memory& memory, progress& shown) {
  if (!options_.testpmd) return {};
  shown.step("starting testpmd");
  auto other = testpmd::start(ports_, options_.workers, options_.burst, memory.huge_pages);
  if (!other) return tl::unexpected(other.error());
  add(std::move(*other));
  return {};
}

result<void> forward_case::run_round(unsigned first, progress& shown) {
  for (std::size_t i = 0; i < entrants_.size(); ++i) {
    entrant& each = entrants_[(first + i) % entrants_.size()];
    shown.step(each.who->name());
    const result<double> rate = each.who->run(options_.run.seconds);
    if (!rate) return tl::unexpected(rate.error());
    each.rates.push_back(*rate);
  }
  return {};
}

result<row> forward_case::run_updates(std::uint64_t per_second, progress& shown) {
  const result<churned*> target = updated();
  if (!target) return tl::unexpected(target.error());
  set_churning(true);
  const result<churn_pairs> pairs = [&] {
    churn writer(**target, updated_entries(), static_cast<double>(per_second), updates_per_command);
    const double seconds = pair_seconds(options_.run);
    return run_churn_pairs(
        writer, options_.pairs, "coua", [&](unsigned) { shown.step("coua with updates"); },
        [&] { return switching().run(seconds); });
  }();
  if (!pairs) return tl::unexpected(pairs.error());
  set_churning(false);
  row out = make_row("coua", per_second, pairs->rate().median, pairs->rate().spread);
  for (const entrant& each : entrants_) {
    if (each.who->name() == "coua" && each.bytes_per_entry > 0) {
      out.bytes_per_entry = each.bytes_per_entry;
    }
  }
  out.more = pairs->fields();
  return out;
}

bool forward_case::differs_in_rules(const forward_case& other) const {
  json mine = params(), others = other.params();
  if (mine.at("rules") == others.at("rules")) return false;
  mine.erase("rules");
  others.erase("rules");
  return mine == others;
}

result<void> forward_case::compare_with(forward_case& first, progress& shown) {
  std::vector<double> own, of_first;
  for (unsigned pair = 0; pair < options_.pairs; ++pair) {
    shown.step("coua beside its first case");
    for (const bool mine : {pair % 2 == 0, pair % 2 != 0}) {
      forward_case& each = mine ? *this : first;
      const result<double> rate = each.switching().run(pair_seconds(options_.run));
      if (!rate) return tl::unexpected(rate.error());
      (mine ? own : of_first).push_back(*rate);
    }
  }
  const summary ratio = paired_ratio(own, of_first);
  to_first_ = {{"ratio_to_first", ratio.median},
               {"ratio_spread", or_null(ratio.spread)},
               {"first_mops", median(of_first)},
               {"pairs", own.size()}};
  return {};
}

std::vector<double> forward_case::rates_of(const std::string& name) const {
  for (const entrant& each : entrants_) {
    if (each.who->name() == name) return each.rates;
  }
  return {};
}

void forward_case::add_cost(row& to) const {
  const double ns_by_mops = 1000 * options_.workers;  // of a packet, on its worker
  const std::vector<double> rates = rates_of("coua"), raw = rates_of("raw-io");
  std::vector<double> costs;
  for (std::size_t round = 0; round < std::min(rates.size(), raw.size()); ++round) {
    if (rates[round] <= 0 || raw[round] <= 0) continue;
    costs.push_back(ns_by_mops / rates[round] - ns_by_mops / raw[round]);
  }
  if (costs.empty()) return;
  const summary ns = summarise(costs);
  to.more["cost_ns"] = ns.median;
  to.put("cost_spread", ns.spread);
  if (const double other = rate_of("testpmd-mac"); other > 0) {
    to.more["testpmd_ns"] = ns_by_mops / other;
  }
}

row forward_case::make_row(const std::string& name, std::uint64_t updates, double mops,
                           std::optional<double> spread) const {
  row out;
  out.name = name;
  out.params = params();
  out.params["workers"] = options_.workers;
  out.params["burst"] = options_.burst;
  out.params["mbuf_bytes"] = ports_.buffer_bytes;
  out.params["updates"] = updates;
  out.set_rate(mops, options_.workers);
  if (const double raw = rate_of("raw-io"); raw > 0) out.set_limit(raw);
  out.spread = spread;
  return out;
}

std::vector<row> forward_case::rows() const {
  std::vector<row> out;
  const double other = rate_of("testpmd-mac");
  for (const entrant& each : entrants_) {
    const summary rate = summarise(each.rates);
    row made = make_row(each.who->name(), 0, rate.median, rate.spread);
    if (each.bytes_per_entry > 0) made.bytes_per_entry = each.bytes_per_entry;
    made.more["gbps"] = rate.median * frame_size() * 8 / 1000;
    if (other > 0) made.more["ratio_to_testpmd"] = rate.median / other;
    for (const char* const peer : {"ovs", "ovs/smc", "ovs/none"}) {
      const double ovs = rate_of(peer);
      if (ovs > 0) made.more[peer_field("ratio_to", peer)] = rate.median / ovs;
    }
    if (made.name == "coua") add_cost(made);
    if (made.name == "coua" && !to_first_.is_null()) made.more.update(to_first_);
    made.more.update(each.who->more());
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace coua::bench
