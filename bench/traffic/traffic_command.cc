// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/traffic_command.h"

namespace coua::bench {

result<report> run_traffic(const traffic_options& asked) {
  const l2_traffic& traffic = asked.traffic;
  if (asked.packets.empty() && asked.addresses.empty()) {
    return fail(errc::invalid, "traffic", "name a file: --out FILE.pcap, --addresses FILE.txt");
  }
  if (result<void> good = check_traffic(traffic); !good) return tl::unexpected(good.error());
  report out;
  out.bench = "traffic";
  out.params = {{"case", "l2"},           {"rules", traffic.rules},
                {"flows", traffic.flows}, {"sources", traffic.sources},
                {"size", traffic.size},   {"vlan", traffic.vlan}};
  const auto add = [&out](const char* name, const std::string& path, std::uint64_t count) {
    row each;
    each.name = name;
    each.more = {{"file", path}, {"count", count}};
    out.rows.push_back(each);
  };
  if (!asked.packets.empty()) {
    if (result<void> done = write_packets(traffic, asked.packets); !done) {
      return tl::unexpected(done.error());
    }
    add("packets", asked.packets, traffic.flows);
  }
  if (!asked.addresses.empty()) {
    if (result<void> done = write_addresses(traffic, asked.port, asked.addresses); !done) {
      return tl::unexpected(done.error());
    }
    add("addresses", asked.addresses, traffic.rules);
  }
  return out;
}

}  // namespace coua::bench
