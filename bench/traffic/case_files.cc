// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/case_files.h"

#include <cerrno>
#include <cstring>
#include <vector>

#include "bench/traffic/frame_gap.h"
#ifdef COUA_BENCH_OPENFLOW
#include "ctl/ofp/flow_text.h"
#endif
#include "net/pcap_file.h"

namespace coua::bench {
namespace {

using pipeline::port_no;

#ifdef COUA_BENCH_OPENFLOW
std::string line_of(pipeline::rule_mod&& from) {
  pipeline::rule one;
  one.table = from.table;
  one.priority = from.priority;
  one.match = std::move(from.match);
  one.instructions = std::move(from.instructions);
  return ofp::print_rule(one) + "\n";
}
#endif

}  // namespace

#ifdef COUA_BENCH_OPENFLOW
result<std::uint64_t> write_rules(const use_case& of, const std::string& path) {
  const net::file_handle file(std::fopen(path.c_str(), "we"));
  if (file == nullptr) return fail(errc::io, path, std::strerror(errno));
  std::uint64_t n = 0;
  int trouble = 0;
  of.each_rule([&](pipeline::rule_mod each) {
    if (trouble != 0) return;
    const std::string line = line_of(std::move(each));
    if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size()) trouble = errno;
    ++n;
  });
  if (trouble == 0 && std::fflush(file.get()) != 0) trouble = errno;
  if (trouble != 0) return fail(errc::io, path, std::strerror(trouble));
  return n;
}
#else
result<std::uint64_t> write_rules(const use_case&, const std::string& path) {
  return fail(errc::unsupported, path, "this build has no libopenvswitch, which prints rules");
}
#endif

std::string packets_path(const std::string& folder, port_no port) {
  return folder + "/traffic-" + std::to_string(port) + ".pcap";
}

result<std::map<port_no, std::uint64_t>> write_case_packets(const use_case& of,
                                                            std::uint64_t packets,
                                                            const std::string& folder) {
  std::map<port_no, net::pcap_writer> files;
  std::vector<std::uint8_t> frame(of.sent_bytes());
  std::uint64_t time_ns = 0;
  for (const std::uint32_t i : draw_order(of.params().flows, packets, of.params().seed)) {
    const case_flow flow = of.flow(i);
    auto at = files.find(flow.in_port);
    if (at == files.end()) {
      auto made = net::pcap_writer::create(packets_path(folder, flow.in_port));
      if (!made) return tl::unexpected(made.error());
      at = files.emplace(flow.in_port, std::move(*made)).first;
    }
    write_frame(flow.sent, frame);
    if (result<void> done = at->second.write(time_ns, frame); !done) {
      return tl::unexpected(done.error());
    }
    time_ns += frame_gap_ns;
  }
  std::map<port_no, std::uint64_t> written;
  for (auto& [port, file] : files) {
    written[port] = file.records();
    if (result<void> done = file.close(); !done) return tl::unexpected(done.error());
  }
  return written;
}

}  // namespace coua::bench
