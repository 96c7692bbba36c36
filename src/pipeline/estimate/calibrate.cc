// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/calibrate.h"

#include <algorithm>
#include <array>

#include "base/cpu.h"
#include "pipeline/estimate/line_probe.h"
#include "pipeline/estimate/pipeline_probe.h"
#include "pipeline/estimate/probe_rules.h"

namespace coua::pipeline {
namespace {

/// Times that all pipelines are measured, one after the other: what disturbs the machine for a
/// millisecond then spoils none of them.
constexpr unsigned n_passes = 3;

/// Where the system does not say. No processor that runs this has less.
constexpr std::size_t least_first_level = 16 << 10;

double least_of(const std::vector<double>& rounds) {
  return *std::min_element(rounds.begin(), rounds.end());
}
double middle_of(std::vector<double> rounds) {
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(rounds.begin(), middle, rounds.end());
  return *middle;
}

/// What the small pipelines take.
class small_costs {
 public:
  explicit small_costs(pipeline_probe& by) {
    std::array<pipeline_probe::rounds, n_small_pipelines> all;
    for (unsigned pass = 0; pass < n_passes; ++pass) {
      for (std::size_t i = 0; i < n_small_pipelines; ++i) {
        const auto which = static_cast<small_pipeline>(i);
        by.measure(rules_of(which), is_tagged(which), all[i]);
      }
    }
    double least = 0, middle = 0;
    for (std::size_t i = 0; i < n_small_pipelines; ++i) {
      costs_[i] = {least_of(all[i].alike), least_of(all[i].mixed)};
      least += costs_[i].upper;
      middle += middle_of(all[i].mixed);
    }
    disturbance_ = middle / least;
  }

  cycle_range of(small_pipeline which) const { return costs_[static_cast<std::size_t>(which)]; }
  /// What one takes more than another one.
  cycle_range more(small_pipeline which, small_pipeline than) const {
    return difference(of(which), of(than));
  }
  static cycle_range difference(const cycle_range& all, const cycle_range& part) {
    return {std::max(all.lower - part.lower, 0.0), std::max(all.upper - part.upper, 0.0)};
  }
  /// How much longer than its best round the middle one takes.
  double disturbance() const { return disturbance_; }

 private:
  std::array<cycle_range, n_small_pipelines> costs_;
  double disturbance_ = 1;
};

cycle_range part_of(const cycle_range& of, double by) { return {of.lower * by, of.upper * by}; }

void set_look_ups(const small_costs& costs, calibration& out) {
  using enum small_pipeline;
  out.of(atom::all_packets) = costs.more(two_tables, whole);
  out.of(atom::direct) = costs.more(direct_8, whole);
  out.of(atom::direct_rows) = costs.more(direct_16, direct_8);
  out.of(atom::direct_word) = part_of(costs.more(direct_wide, direct_8), 1.0 / 4);
  out.of(atom::exact) = costs.more(exact, whole);
  out.of(atom::exact_word) = part_of(costs.more(exact_wide, exact), 1.0 / 3);
  out.of(atom::lpm) = costs.more(lpm, whole);
  out.of(atom::lpm_group) = costs.more(lpm_group, lpm);
  out.of(atom::classifier) = costs.more(masks_4, whole);
  // Packets that are alike find their subtable at once.
  out.of(atom::classifier_mask) = {0, costs.more(masks_16, masks_4).upper / 12};
}

/// Packets of a burst that go different ways. Those that are alike do not.
void set_ways(const small_costs& costs, calibration& out) {
  using enum small_pipeline;
  const auto beyond = [](const cycle_range& all, const cycle_range& part) {
    return std::max(all.upper - part.upper, 0.0);
  };
  const cycle_range direct = costs.more(eight_direct, two_tables);
  out.of(atom::call) = {0, beyond(direct, out.of(atom::direct)) / 7};
  const cycle_range exact_ones = costs.more(eight_exact, small_pipeline::exact);
  out.of(atom::apart) = {0, beyond(exact_ones, out.of(atom::direct))};
  // Of the eight lists one is there anyway; and half of a dozen ops is not for being different.
  const double shapes = costs.more(eight_shapes, one_shape).upper / 7;
  out.of(atom::shape) = {0, std::max(shapes - out.of(atom::note).upper / 2, 0.0)};
}

void set_ops(const small_costs& costs, calibration& out) {
  using enum small_pipeline;
  out.of(atom::output) = costs.more(whole, dropped);
  out.of(atom::copy) = small_costs::difference(costs.more(copy, whole), out.of(atom::output));
  out.of(atom::set_mac) = costs.more(set_mac, ip);
  out.of(atom::set_ip) = costs.more(set_ip, ip);
  out.of(atom::set_field) = costs.more(set_field, ip);
  out.of(atom::decrement) = costs.more(decrement, ip);
  out.of(atom::push) = costs.more(push, whole);
  out.of(atom::pop) = costs.more(pop, tagged);
  out.of(atom::note) = costs.more(note, whole);
  out.of(atom::write_set) = costs.more(write_set, whole);
  out.of(atom::group) = costs.more(group, whole);
  out.of(atom::meter) = costs.more(meter, whole);
}

}  // namespace

result<calibration> calibrate() {
  calibration made;
  const std::size_t caches[] = {std::max(data_cache_bytes(1), least_first_level),
                                data_cache_bytes(2), data_cache_bytes(3)};
  auto levels = measure_levels(caches);
  if (!levels) return tl::unexpected(std::move(levels.error()));
  made.levels = std::move(*levels);
  auto by = pipeline_probe::create();
  if (!by) return tl::unexpected(std::move(by.error()));
  const small_costs costs(**by);
  using enum small_pipeline;
  set_ops(costs, made);
  set_look_ups(costs, made);
  set_ways(costs, made);
  made.of(atom::parse_network) = costs.more(network, link);
  made.of(atom::parse_transport) = costs.more(whole, network);
  made.of(atom::packet) = small_costs::difference(
      small_costs::difference(costs.of(link), made.of(atom::output)), made.of(atom::all_packets));
  for (cycle_range& each : made.atoms) {
    each.upper = std::max(each.upper, each.lower) * costs.disturbance();
  }
  return made;
}

const result<calibration>& machine_calibration() {
  static const result<calibration> measured = calibrate();
  return measured;
}

}  // namespace coua::pipeline
