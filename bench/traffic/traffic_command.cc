// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/traffic_command.h"

#include <filesystem>

#include "bench/cases/case_json.h"
#include "bench/traffic/case_files.h"

namespace coua::bench {
namespace {

void add_row(report& out, const char* name, const std::string& path, std::uint64_t count,
             json params = json::object()) {
  row& each = out.rows.emplace_back();
  each.name = name;
  each.params = std::move(params);
  each.more = {{"file", path}, {"count", count}};
}

result<report> write_case(const traffic_options& asked) {
  const auto of = make_use_case(asked.which);
  if (!of) return tl::unexpected(of.error());
  std::error_code trouble;
  std::filesystem::create_directories(asked.out, trouble);
  if (trouble) return fail(errc::io, asked.out, trouble.message());
  report out;
  out.bench = "traffic";
  const case_params& params = (*of)->params();
  out.params = to_json(params);
  out.params["seed"] = params.seed;
  const std::string rules_path = asked.out + "/rules.txt";
  const result<std::uint64_t> rules = write_rules(**of, rules_path);
  if (!rules) return tl::unexpected(rules.error());
  add_row(out, "rules", rules_path, *rules);
  const std::uint64_t packets = asked.packets != 0 ? asked.packets : params.flows;
  const auto written = write_case_packets(**of, packets, asked.out);
  if (!written) return tl::unexpected(written.error());
  for (const auto& [port, count] : *written) {
    add_row(out, "packets", packets_path(asked.out, port), count, {{"port", port}});
  }
  return out;
}

}  // namespace

result<report> run_traffic(const traffic_options& asked) {
  if (asked.which.name != l2_traffic::case_name) return write_case(asked);
  const l2_traffic& traffic = asked.traffic;
  if (asked.out.empty() && asked.addresses.empty()) {
    return fail(errc::invalid, "traffic", "name a file: --out FILE.pcap, --addresses FILE.txt");
  }
  if (result<void> good = check_traffic(traffic); !good) return tl::unexpected(good.error());
  report out;
  out.bench = "traffic";
  out.params = {{"case", l2_traffic::case_name}, {"rules", traffic.rules}, {"flows", traffic.flows},
                {"sources", traffic.sources},    {"size", traffic.size},   {"vlan", traffic.vlan},
                {"seed", traffic.seed}};
  if (!asked.out.empty()) {
    if (result<void> done = write_packets(traffic, asked.out); !done) {
      return tl::unexpected(done.error());
    }
    add_row(out, "packets", asked.out, traffic.flows);
  }
  if (!asked.addresses.empty()) {
    if (result<void> done = write_addresses(traffic, asked.port, asked.addresses); !done) {
      return tl::unexpected(done.error());
    }
    add_row(out, "addresses", asked.addresses, traffic.rules);
  }
  return out;
}

}  // namespace coua::bench
