// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/forward_command.h"

#include <algorithm>
#include <filesystem>

#include "base/size.h"
#include "base/system_memory.h"
#include "bench/forward/forward_figures.h"
#include "bench/forward/l2_forward_case.h"
#include "bench/forward/ovs_switch.h"
#include "bench/forward/pipeline_forward_case.h"
#include "bench/forward/testpmd.h"
#include "bench/harness/scratch_folder.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t most_default_flows = 1'000'000;
constexpr std::uint64_t eal_spare_mib = 64;
constexpr std::uint64_t page_mib = 2;

using case_list = std::vector<std::unique_ptr<forward_case>>;

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
    for (case_list& group : *groups) {
      if (result<void> done = run_group(group); !done) return done;
      group.clear();
    }
    return {};
  }

 private:
  result<std::unique_ptr<forward_case>> make_case(std::uint64_t rules, std::uint64_t flows,
                                                  unsigned size, unsigned serial) const {
    const std::string place = files_.path() + "/" + std::to_string(serial);
    if (options_.which.name == l2_traffic::case_name) {
      const l2_traffic traffic{rules, flows, options_.sources, size, 1};
      if (result<void> good = check_traffic(traffic); !good) return tl::unexpected(good.error());
      return std::make_unique<l2_forward_case>(options_, traffic, serial, place + ".pcap",
                                               crew_.get());
    }
    case_params params = options_.which;
    params.rules = rules;
    params.flows = flows;
    params.size = size;
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
    std::uint64_t used = 0, packets = 0;
    unsigned serial = 0;
    for (const std::uint64_t rules : options_.rules) {
      for (const std::uint64_t flows : flows_for(rules)) {
        for (const std::uint64_t size : options_.sizes) {
          auto one = make_case(rules, flows, static_cast<unsigned>(size), serial);
          if (!one) return tl::unexpected(one.error());
          std::unique_ptr<forward_case> made = std::move(*one);
          ++serial;
          const std::uint64_t need = made->ports().memory_mib * (options_.testpmd ? 2 : 1) +
                                     made->table_mib() + 256 +
                                     options_.ovs.size() * ovs_switch::memory_mib(made->ports());
          if (used + need > budget && !groups.back().empty()) {
            groups.emplace_back();
            used = packets = 0;
          }
          used += need;
          packets += made->ports().memory_mib;
          memory_.mib = std::max(memory_.mib, packets + eal_spare_mib);
          groups.back().push_back(std::move(made));
        }
      }
    }
    choose_pages(groups);
    return groups;
  }

  /// Huge pages for all processes of every group, or for none: else the rows could not be compared.
  void choose_pages(const std::vector<case_list>& groups) {
    std::uint64_t others = 0;
    for (const case_list& group : groups) {
      std::uint64_t of_group = 0;
      for (const auto& each : group) {
        if (options_.testpmd) of_group += testpmd::memory_mib(each->ports()) + page_mib;
        of_group += options_.ovs.size() * (ovs_switch::pool_mib(each->ports()) + page_mib);
      }
      others = std::max(others, of_group);
    }
    const huge_page_pool pool = read_huge_page_pool(page_mib << 20, -1);
    const std::uint64_t need = memory_.mib + others;
    memory_.huge_pages = pool.exists && pool.free * page_mib >= need;
    out_.params["packet_pages"] = memory_.huge_pages ? "2M" : "4K";
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
    return {};
  }

  const forward_options& options_;
  const scratch_folder& files_;
  report& out_;
  progress progress_;
  packet_memory memory_;
  std::unique_ptr<crew> crew_;  // for the bare forwarders of a figure
};

}  // namespace

result<report> run_forward(const forward_options& options) {
  report out;
  out.bench = "forward";
  out.params = {{"repetitions", options.run.repetitions},
                {"seconds", options.run.seconds},
                {"pairs", options.pairs}};
  if (options.figure != 0) out.params["figure"] = options.figure;
  if (options.table != 0) out.params["table"] = options.table;
  if (options.table == 3) return run_memory_table(options, std::move(out));
  result<std::unique_ptr<scratch_folder>> files = scratch_folder::create();
  if (!files) return tl::unexpected(files.error());
  forward_run run(options, **files, out);
  if (result<void> done = run.run(); !done) return tl::unexpected(done.error());
  return out;
}

}  // namespace coua::bench
