// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/pipeline_forward_case.h"

#include "base/size.h"
#include "bench/cases/case_json.h"
#include "bench/forward/case_setup.h"
#include "bench/forward/ovs_switch.h"
#include "bench/traffic/case_files.h"

namespace coua::bench {
namespace {

// In the model and in the datapath: what was measured of a gateway, whose rules have most actions.
constexpr std::uint64_t rule_bytes = 2500;

}  // namespace

pipeline_forward_case::pipeline_forward_case(const forward_options& options,
                                             std::unique_ptr<use_case> of, unsigned serial,
                                             std::string folder)
    : forward_case(options, plan_case(*of, folder, serial, options)),
      case_(std::move(of)),
      folder_(std::move(folder)) {}

std::uint64_t pipeline_forward_case::table_mib() const {
  const case_params& params = case_->params();
  return (params.rules * 2 + params.users * 20) * rule_bytes / (1 << 20);
}

result<void> pipeline_forward_case::prepare(const packet_memory& memory, progress& shown) {
  const std::uint64_t flows = case_->params().flows;
  shown.step("writing " + format_count(flows) + " packets");
  if (auto done = write_case_packets(*case_, flows, folder_); !done) {
    return tl::unexpected(done.error());
  }
  shown.step("adding the rules");
  auto bed = pipeline_bed::create(*case_, ports(), options(), memory);
  if (!bed) return tl::unexpected(bed.error());
  bed_ = std::move(*bed);
  add(bed_->switching());
  add(bed_->raw());
  if (auto done = add_testpmd(memory, shown); !done || options().ovs.empty()) return done;
  const std::string rules = folder_ + "/rules.txt";
  if (auto written = write_rules(*case_, rules); !written) return tl::unexpected(written.error());
  for (const ovs_caches caches : options().ovs) {
    shown.step("starting Open vSwitch");
    const std::string place = folder_ + "/ovs" + std::to_string(static_cast<int>(caches));
    auto ovs = ovs_switch::start(*case_, ports(), rules, place, caches, ovs_limits::lifted,
                                 options().workers, memory.huge_pages);
    if (!ovs) return tl::unexpected(ovs.error());
    if (auto done = (*ovs)->add_source(); !done) return done;
    if (auto done = (*ovs)->settle(); !done) return done;
    add(std::move(*ovs));
  }
  return {};
}

result<churned*> pipeline_forward_case::updated() {
  if (writer_ == nullptr) {
    auto made = bed_->make_writer();
    if (!made) return tl::unexpected(made.error());
    writer_ = std::move(*made);
  }
  return writer_.get();
}

json pipeline_forward_case::params() const { return to_json(case_->params()); }

}  // namespace coua::bench
