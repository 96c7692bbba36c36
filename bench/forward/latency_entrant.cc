// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/latency_entrant.h"

#include <numeric>

#include "bench/harness/peer_field.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

constexpr double most_lost = 1e-3;  // more, and the times are those of the packets that got through
constexpr double least_refused = 0.01;  // less, and not the switch was the limit of a flood

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double mean_of(const std::vector<float>& us) {
  return std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size());
}

}  // namespace

bool latency_entrant::add(const paced_source::flood_result& peak, double mops,
                          const paced_result& seen) {
  peak_.push_back(peak.mops);
  peak_refused_.push_back(peak.refused);
  offered_.push_back(mops);
  received_mops_.push_back(
      seen.seconds > 0 ? static_cast<double>(seen.received) / seen.seconds / 1e6 : 0);
  sent_ += seen.sent;
  received_ += seen.received;
  late_ += seen.late;
  not_sent_ += seen.refused + seen.skipped;
  const std::size_t n = seen.us.size();
  if (n == 0) {
    ++empty_windows_;
    return false;
  }
  const auto at = [&](double share) {
    return double{seen.us[static_cast<std::size_t>(share * static_cast<double>(n - 1))]};
  };
  mean_.push_back(mean_of(seen.us));
  p99_.push_back(at(0.99));
  p999_.push_back(at(0.999));
  for (const float each : seen.us) times_.add(double{each});
  return true;
}

void latency_entrant::add_raw(const paced_result& seen) {
  if (!seen.us.empty()) raw_mean_.push_back(mean_of(seen.us));
}

double latency_entrant::mean_us() const { return median(mean_); }

std::optional<double> latency_entrant::datapath_us() const {
  if (mean_.empty() || raw_mean_.empty()) return std::nullopt;
  return mean_us() - median(raw_mean_);
}

row latency_entrant::make_row(const json& params, const std::vector<latency_entrant>& peers) const {
  row made;
  made.name = name_;
  made.params = params;
  made.set_rate(median(received_mops_));
  const summary mean = summarise(mean_);
  made.spread = mean.spread;
  // One that comes back twice, or after a window, is none too few.
  const double lost = sent_ > received_ ? share_of(sent_ - received_, sent_) : 0;
  made.more = {{"mean_us", mean.median},
               {"p50_us", times_.at(0.5)},
               {"p99_us", times_.at(0.99)},
               {"p999_us", times_.at(0.999)},
               {"longest_us", times_.longest()},
               {"window_p99_us", median(p99_)},
               {"window_p999_us", median(p999_)},
               {"offered_mops", median(offered_)},
               {"peak_mops", median(peak_)},
               {"peak_refused", median(peak_refused_)},
               {"peak_of", median(peak_refused_) < least_refused ? "source" : "switch"},
               {"lost", lost},
               {"late", share_of(late_, received_)},
               {"not_sent", share_of(not_sent_, sent_ + not_sent_)}};
  if (lost > most_lost) made.more["lossy"] = true;
  if (empty_windows_ != 0) made.more["empty_windows"] = empty_windows_;
  const std::optional<double> datapath = datapath_us();
  if (datapath) {
    made.more["raw_io_us"] = median(raw_mean_);
    made.more["datapath_us"] = *datapath;
  }
  for (const latency_entrant& peer : peers) {
    if (peer.mean_us() > 0) {
      made.more[peer_field("mean_ratio_to", peer.name_)] = mean.median / peer.mean_us();
    }
    if (const std::optional<double> its = peer.datapath_us(); datapath && its.value_or(0) > 0) {
      made.more[peer_field("datapath_ratio_to", peer.name_)] = *datapath / *its;
    }
  }
  return made;
}

}  // namespace coua::bench
