// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/forward_command.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>

#include "base/cpu.h"
#include "base/size.h"
#include "base/system_memory.h"
#include "bench/forward/case_setup.h"
#include "bench/forward/cold_start.h"
#include "bench/forward/forward_figures.h"
#include "bench/forward/l2_forward_case.h"
#include "bench/forward/latency.h"
#include "bench/forward/ovs_process.h"
#include "bench/forward/pipeline_forward_case.h"
#include "bench/forward/testpmd.h"
#include "bench/harness/scratch_folder.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t most_default_flows = 1'000'000;

using case_list = std::vector<std::unique_ptr<forward_case>>;

/// Of rows that differ in their flows only: what a packet costs, over what it costs with the flows
/// that are cheapest.
void compare_costs(std::span<row> rows) {
  const auto key_of = [](const row& one) {
    json key = one.params;
    key.erase("flows");
    return key.dump();
  };
  std::map<std::string, std::vector<double>> costs;
  for (const row& each : rows) {
    if (each.more.contains("cost_ns")) costs[key_of(each)].push_back(each.more["cost_ns"]);
  }
  for (row& each : rows) {
    if (!each.more.contains("cost_ns")) continue;
    const std::vector<double>& all = costs.at(key_of(each));
    const double best = *std::min_element(all.begin(), all.end());
    if (all.size() < 2 || best <= 0) continue;
    each.more["ratio_to_best_cost"] = each.more["cost_ns"].get<double>() / best;
  }
}

class forward_run {
 public:
  forward_run(const forward_options& options, const scratch_folder& files, report& out)
      : options_(options), files_(files), out_(out), progress_("forward") {}

  result<void> run() {
    if (figure_needs_tables(options_.figure)) {
      result<std::unique_ptr<crew>> threads = crew::create(1);
      if (!threads) return tl::unexpected(threads.error());
      crew_ = std::move(*threads);
    }
    result<std::vector<case_list>> groups = plan();
    if (!groups) return tl::unexpected(groups.error());
    if (groups->size() > 1) {
      out_.notes.push_back(
          "The cases do not fit into memory together: " + std::to_string(groups->size()) +
          " groups of them ran after one another, without ratios between groups");
    }
    for (case_list& group : *groups) {
      if (result<void> done = run_group(group); !done) return done;
      group.clear();
    }
    return {};
  }

 private:
  result<std::unique_ptr<forward_case>> make_case(std::uint64_t rules, std::uint64_t flows,
                                                  unsigned size, std::optional<unsigned> attack,
                                                  unsigned serial) const {
    const std::string place = files_.path() + "/" + std::to_string(serial);
    if (options_.which.name == l2_traffic::case_name) {
      const l2_traffic traffic{rules, flows, options_.sources, size, 1, options_.run.seed};
      if (result<void> good = check_traffic(traffic); !good) return tl::unexpected(good.error());
      return std::make_unique<l2_forward_case>(options_, traffic, serial, place + ".pcap",
                                               crew_.get());
    }
    case_params params = options_.which;
    params.rules = rules;
    params.flows = flows;
    params.size = size;
    params.attack = attack;
    params.seed = options_.run.seed;
    auto of = make_use_case(params);
    if (!of) return tl::unexpected(of.error());
    std::error_code trouble;
    std::filesystem::create_directory(place, trouble);
    if (trouble) return fail(errc::io, place, trouble.message());
    return std::make_unique<pipeline_forward_case>(options_, std::move(*of), serial, place);
  }

  std::vector<std::uint64_t> flows_for(std::uint64_t rules) const {
    if (options_.flows.empty()) return {std::min(rules, most_default_flows)};
    return options_.flows;
  }

  /// Cases side by side as far as memory goes, so that they share each moment.
  result<std::vector<case_list>> plan() {
    std::vector<case_list> groups(1);
    const std::uint64_t budget = available_memory(-1) / (1 << 20) / 10 * 7;
    unsigned serial = 0;
    for (const std::uint64_t rules : options_.rules) {
      for (const std::uint64_t flows : flows_for(rules)) {
        for (const std::uint64_t size : options_.sizes) {
          for (const std::optional<unsigned> attack : attacks()) {
            auto one = make_case(rules, flows, static_cast<unsigned>(size), attack, serial++);
            if (!one) return tl::unexpected(one.error());
            put(std::move(*one), groups, budget);
          }
        }
      }
    }
    choose_pages(groups);
    return groups;
  }

  std::vector<std::optional<unsigned>> attacks() const {
    if (options_.attacks.empty()) return {std::nullopt};
    return {options_.attacks.begin(), options_.attacks.end()};
  }

  /// Into the last group, or a new one where it is full.
  void put(std::unique_ptr<forward_case> made, std::vector<case_list>& groups,
           std::uint64_t budget) {
    const std::uint64_t programs = options_.testpmd ? 2 : 1;
    const std::uint64_t need = (made->ports().memory_mib + made->ports().frames_mib) * programs +
                               made->table_mib() + 256 +
                               options_.ovs.size() * ovs_process::memory_mib(made->ports());
    if (group_mib_ + need > budget && !groups.back().empty()) {
      groups.emplace_back();
      group_mib_ = group_packets_mib_ = 0;
    }
    group_mib_ += need;
    group_packets_mib_ += made->ports().memory_mib;
    memory_.mib = std::max(memory_.mib, group_packets_mib_ + eal_spare_mib);
    groups.back().push_back(std::move(made));
  }

  /// Huge pages for all processes of every group, or for none: else the rows could not be compared.
  void choose_pages(const std::vector<case_list>& groups) {
    std::uint64_t others = 0;
    for (const case_list& group : groups) {
      std::uint64_t of_group = 0;
      for (const auto& each : group) {
        if (options_.testpmd) of_group += testpmd::memory_mib(each->ports()) + page_mib;
        of_group += options_.ovs.size() * (ovs_process::pool_mib(each->ports()) + page_mib);
      }
      others = std::max(others, of_group);
    }
    memory_ = choose_memory(memory_.mib, others);
    out_.params["packet_pages"] = memory_.huge_pages ? "2M" : "4K";
    if (!memory_.why_small.empty()) out_.notes.push_back(memory_.why_small);
  }

  result<void> run_group(case_list& cases) {
    for (auto& each : cases) {
      if (result<void> ready = each->prepare(memory_, progress_); !ready) return ready;
    }
    for (unsigned round = 0; round < options_.run.repetitions; ++round) {
      for (auto& each : cases) {
        if (result<void> done = each->run_round(round, progress_); !done) return done;
      }
    }
    if (result<void> done = compare_sizes(cases); !done) return done;
    const std::size_t first = out_.rows.size();
    for (auto& each : cases) {
      for (row& made : each->rows()) {
        const bool is_switch = made.name == "coua";
        if (is_switch && std::find(options_.updates.begin(), options_.updates.end(), 0) ==
                             options_.updates.end()) {
          continue;
        }
        out_.rows.push_back(std::move(made));
      }
      for (const std::uint64_t rate : options_.updates) {
        if (rate == 0) continue;
        result<row> done = each->run_updates(rate, progress_);
        if (!done) return tl::unexpected(done.error());
        out_.rows.push_back(std::move(*done));
      }
    }
    compare_costs(std::span(out_.rows).subspan(first));
    return {};
  }

  /// What a larger FIB costs. The figures show rates by size as they are.
  result<void> compare_sizes(case_list& cases) {
    if (options_.which.name != l2_traffic::case_name || options_.figure != 0) return {};
    for (auto& each : cases) {
      const auto first = std::find_if(cases.begin(), cases.end(), [&](const auto& other) {
        return &other == &each || each->differs_in_rules(*other);
      });
      if (*first == each) continue;
      if (result<void> done = each->compare_with(**first, progress_); !done) return done;
    }
    return {};
  }

  const forward_options& options_;
  const scratch_folder& files_;
  report& out_;
  progress progress_;
  packet_memory memory_;
  std::uint64_t group_mib_ = 0, group_packets_mib_ = 0;  // of the last group
  std::unique_ptr<crew> crew_;                           // for the bare forwarders of a figure
};

/// With an attack: what is left for the packets that do not belong to it.
void compare_with_peace(report& out) {
  for (row& each : out.rows) {
    const auto flows = each.params["flows"].get<std::uint64_t>();
    const std::uint64_t attack = attacking_flows(flows, each.params["attack"].get<unsigned>());
    each.more["rest_mops"] =
        *each.mops * (1 - static_cast<double>(attack) / static_cast<double>(flows));
  }
  for (row& each : out.rows) {
    json peace = each.params;
    peace["attack"] = 0;
    for (const row& other : out.rows) {
      if (other.name != each.name || other.params != peace) continue;
      const auto rest = other.more["rest_mops"].get<double>();
      if (rest > 0) each.more["ratio_to_peace"] = each.more["rest_mops"].get<double>() / rest;
    }
  }
}

result<report> run_rates(const forward_options& options) {
  if (options.workers > 1 && figure_needs_tables(options.figure)) {
    return fail(errc::invalid, "--workers " + std::to_string(options.workers),
                "the bare forwarders of figures 8 and 9 have one thread");
  }
  report out = start_report("forward", options.run, options.pairs);
  out.params["feed"] = to_string(options.feed);
  if (options.figure != 0) out.params["figure"] = options.figure;
  if (options.table != 0) out.params["table"] = options.table;
  if (options.table == 3) return run_memory_table(options, std::move(out));
  result<std::unique_ptr<scratch_folder>> files = scratch_folder::create();
  if (!files) return tl::unexpected(files.error());
  forward_run run(options, **files, out);
  if (result<void> done = run.run(); !done) return tl::unexpected(done.error());
  if (!options.attacks.empty()) compare_with_peace(out);
  return out;
}

}  // namespace

result<report> run_forward(const forward_options& options) {
  if (const std::size_t cpus = allowed_cpus().size(); options.workers > cpus)
    return fail(errc::invalid, "--workers " + std::to_string(options.workers),
                "must be 1 to " + std::to_string(cpus) + ", the CPUs that this process may use");
  switch (options.measure) {
    case forward_measure::rate: return run_rates(options);
    case forward_measure::cold_start: return run_cold_start(options);
    case forward_measure::latency: return run_latency(options);
  }
  return run_rates(options);
}

}  // namespace coua::bench
