// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/l2_forward_case.h"

#include "base/size.h"
#include "bench/fib/fib_writer.h"
#include "bench/forward/forward_figures.h"
#include "bench/forward/table_loop.h"
#include "dp/bench_hooks.h"

namespace coua::bench {
namespace {

constexpr unsigned switch_value_bits = 10;
constexpr std::uint64_t fib_bytes_per_rule = 9;

}  // namespace

/// Writes to the FIB of the running switch, through the thread that owns it.
class l2_forward_case::switch_writer final : public fib_writer {
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

l2_forward_case::l2_forward_case(const forward_options& options, const l2_traffic& traffic,
                                 unsigned serial, std::string packets, crew* figure)
    : forward_case(options,
                   plan_ports({packets, traffic.flows, frame_bytes(traffic)}, serial, options)),
      traffic_(traffic),
      packets_(std::move(packets)),
      figure_(figure) {}

l2_forward_case::~l2_forward_case() = default;

std::uint64_t l2_forward_case::table_mib() const {
  return traffic_.rules * fib_bytes_per_rule / (1 << 20);
}

result<void> l2_forward_case::prepare(const packet_memory& memory, progress& shown) {
  shown.step("writing " + format_count(traffic_.flows) + " packets");
  if (result<void> done = write_packets(traffic_, packets_); !done) return done;
  shown.step("loading " + format_count(traffic_.rules) + " addresses");
  auto bed = l2_bed::create(traffic_, ports(), options(), memory);
  if (!bed) return tl::unexpected(bed.error());
  bed_ = std::move(*bed);
  add(bed_->switching(), bed_->bytes_per_entry());
  add(bed_->raw());
  if (result<void> done = add_testpmd(memory, shown); !done) return done;
  return figure_ == nullptr ? result<void>() : add_figure_tables(options(), *this, *figure_, shown);
}

result<void> l2_forward_case::add_table(const std::string& prefix,
                                        std::unique_ptr<lookup_table> table, crew& threads,
                                        progress& shown) {
  shown.step("loading " + format_count(traffic_.rules) + " addresses into " + table->name());
  const population people{traffic_.rules, switch_value_bits, traffic_.vlan};
  if (result<void> done = table->load(people); !done) return done;
  const double bytes = static_cast<double>(table->bytes()) / static_cast<double>(traffic_.rules);
  for (std::unique_ptr<lookup>& how : table->lookups()) {
    add(std::make_unique<table_loop>(prefix + how->name(), ports().in, ports().out, traffic_.vlan,
                                     options().burst, threads, *how, table->code().miss),
        bytes);
    lookups_.push_back(std::move(how));
  }
  tables_.push_back(std::move(table));
  return {};
}

result<churned*> l2_forward_case::updated() {
  const std::uint32_t port = bed_->out_port();
  const std::uint64_t vlan = std::uint64_t{traffic_.vlan} << 48;
  writer_ = std::make_unique<switch_writer>(bed_->device(),
                                            [port, vlan](std::uint64_t index) -> coua_fib_record {
                                              return {vlan | l2_address(index), port, 1, 0, 0};
                                            });
  return writer_.get();
}

json l2_forward_case::params() const {
  return {{"case", l2_traffic::case_name},
          {"rules", traffic_.rules},
          {"flows", traffic_.flows},
          {"sources", traffic_.sources},
          {"size", traffic_.size}};
}

}  // namespace coua::bench
