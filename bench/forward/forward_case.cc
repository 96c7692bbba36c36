// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/forward_case.h"

#include "base/size.h"
#include "bench/fib/fib_writer.h"
#include "bench/forward/table_loop.h"
#include "bench/forward/testpmd.h"
#include "bench/harness/churn_pairs.h"
#include "dp/bench_hooks.h"

namespace coua::bench {
namespace {

constexpr unsigned switch_value_bits = 10;
constexpr std::size_t updates_per_command = 64;

/// Writes to the FIB of the running switch, through the thread that owns it.
class switch_writer final : public fib_writer {
 public:
  switch_writer(dp::l2_switch& device, record_of record)
      : fib_writer(std::move(record)), device_(device) {}

 private:
  std::size_t erase(std::span<const std::uint64_t> keys) override {
    return dp::fib_remove(device_, keys);
  }
  std::size_t insert(std::span<const coua_fib_record> records) override {
    return dp::fib_store(device_, records);
  }

  dp::l2_switch& device_;
};

}  // namespace

forward_case::forward_case(const forward_options& options, const l2_traffic& traffic,
                           unsigned serial, std::string packets)
    : options_(options),
      traffic_(traffic),
      packets_(std::move(packets)),
      ports_(plan_ports(traffic, packets_, serial, options.workers, options.mbuf_bytes)) {}

result<void> forward_case::prepare(const packet_memory& memory, progress& shown) {
  shown.step("writing " + format_count(traffic_.flows) + " packets");
  if (result<void> done = write_packets(traffic_, packets_); !done) return done;
  shown.step("loading " + format_count(traffic_.rules) + " addresses");
  auto bed = test_bed::create(traffic_, ports_, options_, memory);
  if (!bed) return tl::unexpected(bed.error());
  bed_ = std::move(*bed);
  entrants_.push_back({&bed_->switching(), {}, bed_->bytes_per_entry()});
  entrants_.push_back({&bed_->raw(), {}, 0});
  if (!options_.testpmd) return {};
  shown.step("starting testpmd");
  auto other = testpmd::start(ports_, options_.workers, options_.burst, memory.huge_pages);
  if (!other) return tl::unexpected(other.error());
  entrants_.push_back({other->get(), {}, 0});
  others_.push_back(std::move(*other));
  return {};
}

result<void> forward_case::add_table(const std::string& prefix, std::unique_ptr<lookup_table> table,
                                     crew& threads, progress& shown) {
  shown.step("loading " + format_count(traffic_.rules) + " addresses into " + table->name());
  const population people{traffic_.rules, switch_value_bits, traffic_.vlan};
  if (result<void> done = table->load(people); !done) return done;
  const double bytes = static_cast<double>(table->bytes()) / static_cast<double>(traffic_.rules);
  for (std::unique_ptr<lookup>& how : table->lookups()) {
    others_.push_back(std::make_unique<table_loop>(prefix + how->name(), ports_.in, ports_.out,
                                                   traffic_.vlan, options_.burst, threads, *how,
                                                   table->code().miss));
    entrants_.push_back({others_.back().get(), {}, bytes});
    lookups_.push_back(std::move(how));
  }
  tables_.push_back(std::move(table));
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
  const std::uint32_t port = bed_->out_port();
  const std::uint64_t vlan = std::uint64_t{traffic_.vlan} << 48;
  switch_writer target(bed_->device(), [port, vlan](std::uint64_t index) -> coua_fib_record {
    return {vlan | l2_address(index), port, 1, 0, 0};
  });
  bed_->set_churning(true);
  const result<churn_pairs> pairs = [&] {
    churn writer(target, traffic_.rules, static_cast<double>(per_second), updates_per_command);
    const double seconds = pair_seconds(options_.run);
    return run_churn_pairs(
        writer, options_.pairs, "coua", [&](unsigned) { shown.step("coua with updates"); },
        [&] { return bed_->switching().run(seconds); });
  }();
  if (!pairs) return tl::unexpected(pairs.error());
  bed_->set_churning(false);
  row out = make_row("coua", per_second, pairs->rate().median, pairs->rate().spread);
  out.bytes_per_entry = bed_->bytes_per_entry();
  out.more = pairs->fields();
  return out;
}

double forward_case::rate_of(const std::string& name) const {
  for (const entrant& each : entrants_) {
    if (each.who->name() == name) return median(each.rates);
  }
  return 0;
}

row forward_case::make_row(const std::string& name, std::uint64_t updates, double mops,
                           double spread) const {
  row out;
  out.name = name;
  out.params = {{"case", "l2"},
                {"rules", traffic_.rules},
                {"flows", traffic_.flows},
                {"sources", traffic_.sources},
                {"size", traffic_.size},
                {"workers", options_.workers},
                {"burst", options_.burst},
                {"mbuf_bytes", ports_.buffer_bytes},
                {"updates", updates}};
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
    made.more["gbps"] = rate.median * traffic_.size * 8 / 1000;
    if (other > 0) made.more["ratio_to_testpmd"] = rate.median / other;
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace coua::bench
