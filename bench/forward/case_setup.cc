// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/case_setup.h"

#include "bench/cases/case_json.h"
#include "bench/forward/ovs_process.h"
#include "bench/traffic/case_files.h"

namespace coua::bench {

port_plan plan_case(const use_case& of, const std::string& folder, unsigned serial,
                    const forward_options& options) {
  const packet_source source = {packets_path(folder, of.flow(0).in_port), of.params().flows,
                                static_cast<unsigned>(of.sent_bytes())};
  port_plan made = plan_ports(source, serial, options);
  for (unsigned i = 2; i < of.n_ports(); ++i) {
    made.more.push_back("net_null" + std::to_string(serial) + "x" + std::to_string(i) +
                        ",no-rx=1,copy=0");
  }
  return made;
}

packet_memory choose_memory(std::uint64_t mib, std::uint64_t others_mib) {
  return choose_memory(read_huge_page_pool(page_mib << 20, -1), mib, others_mib);
}

packet_memory choose_memory(const huge_page_pool& pool, std::uint64_t mib,
                            std::uint64_t others_mib) {
  const std::uint64_t wanted = (mib + others_mib + page_mib - 1) / page_mib;
  packet_memory made = {mib, pool.exists && pool.free >= wanted};
  if (!made.huge_pages && pool.total != 0) {
    made.why_small = "Packets are on 4 KiB pages: those of all programs take " +
                     std::to_string(wanted) + " huge pages, of which " + std::to_string(pool.free) +
                     " are free";
  }
  return made;
}

result<case_setup> case_setup::create(const forward_options& options, std::uint64_t more_mib) {
  case_setup made;
  auto files = scratch_folder::create();
  if (!files) return tl::unexpected(files.error());
  made.files = std::move(*files);
  case_params params = options.which;
  params.rules = options.rules.front();
  params.flows = options.flows.front();
  params.size = static_cast<unsigned>(options.sizes.front());
  params.seed = options.run.seed;
  auto of = make_use_case(params);
  if (!of) return tl::unexpected(of.error());
  made.of = std::move(*of);
  const std::string& folder = made.files->path();
  made.ports = plan_case(*made.of, folder, 0, options);
  made.memory = choose_memory(made.ports.memory_mib + eal_spare_mib + more_mib,
                              options.ovs.size() * (ovs_process::pool_mib(made.ports) + page_mib));
  if (!options.ovs.empty()) {
    made.rules = folder + "/rules.txt";
    if (auto done = write_rules(*made.of, made.rules); !done) return tl::unexpected(done.error());
  }
  return made;
}

report case_setup::start_report(const char* measure, const forward_options& options) const {
  report made = {"forward",
                 {{"measure", measure},
                  {"repetitions", options.run.repetitions},
                  {"seconds", options.run.seconds},
                  {"packet_pages", memory.huge_pages ? "2M" : "4K"}},
                 {}};
  if (!memory.why_small.empty()) made.notes.push_back(memory.why_small);
  return made;
}

json case_setup::params(const forward_options& options) const {
  json out = to_json(of->params());
  out["workers"] = options.workers;
  out["burst"] = options.burst;
  out["mbuf_bytes"] = ports.buffer_bytes;
  return out;
}

}  // namespace coua::bench
