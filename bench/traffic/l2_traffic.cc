// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/l2_traffic.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/cases/use_case.h"
#include "bench/harness/population.h"
#include "bench/traffic/frame_gap.h"
#include "net/ethernet.h"
#include "net/mac.h"
#include "net/pcap_file.h"

namespace coua::bench {
namespace {

constexpr unsigned check_sequence_bytes = 4;
constexpr unsigned least_size = 64, most_size = 1518;
constexpr std::size_t ip_bytes = 20;
constexpr std::uint64_t most_frames = std::uint64_t{1} << 32;  // their order is drawn in memory

void store_be32(std::uint8_t* bytes, std::uint32_t value) {
  net::store_be16(bytes, static_cast<std::uint16_t>(value >> 16));
  net::store_be16(bytes + 2, static_cast<std::uint16_t>(value));
}

std::uint16_t ip_checksum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < ip_bytes; i += 2) sum += net::load_be16(header + i);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// IPv4 and UDP, so that a NIC can spread the frames over its queues.
void make_payload(std::span<std::uint8_t> packet, std::uint64_t source, std::uint64_t target) {
  std::uint8_t* const ip = packet.data();
  ip[0] = 0x45;  // version 4, 20 bytes
  net::store_be16(ip + 2, static_cast<std::uint16_t>(packet.size()));
  ip[8] = 64;  // hops
  ip[9] = 17;  // UDP
  store_be32(ip + 12, 0x0a000000 | (static_cast<std::uint32_t>(source) & 0xffffff));
  store_be32(ip + 16, 0x0b000000 | (static_cast<std::uint32_t>(target) & 0xffffff));
  net::store_be16(ip + 10, ip_checksum(ip));
  std::uint8_t* const udp = ip + ip_bytes;
  net::store_be16(udp, static_cast<std::uint16_t>(1024 + (target >> 24) % 60000));
  net::store_be16(udp + 2, 9);  // discard
  net::store_be16(udp + 4, static_cast<std::uint16_t>(packet.size() - ip_bytes));
}

}  // namespace

std::uint64_t l2_address(std::uint64_t index) { return population::mac(index); }

result<void> check_traffic(const l2_traffic& asked) {
  if (asked.flows < 1 || asked.flows > asked.rules) {
    return fail(errc::invalid, "--flows " + std::to_string(asked.flows),
                "must be 1 to the number of rules, " + std::to_string(asked.rules));
  }
  if (asked.flows > most_frames) {
    return fail(errc::invalid, "--flows " + std::to_string(asked.flows), "must be at most 2^32");
  }
  if (asked.sources < 1) return fail(errc::invalid, "--sources 0", "must be at least 1");
  if (asked.size < least_size || asked.size > most_size) {
    return fail(errc::invalid, "--size " + std::to_string(asked.size), "must be 64 to 1518");
  }
  return {};
}

unsigned frame_bytes(const l2_traffic& asked) { return asked.size - check_sequence_bytes; }

void make_frame(const l2_traffic& asked, std::uint64_t index, std::span<std::uint8_t> frame) {
  // Evenly over all rules, whose places in the FIB are random.
  const auto rule =
      static_cast<std::uint64_t>(static_cast<unsigned __int128>(index) * asked.rules / asked.flows);
  const std::uint64_t source = index % asked.sources;
  std::memset(frame.data(), 0, frame.size());
  net::store_mac(frame.data(), l2_address(rule));
  net::store_mac(frame.data() + net::mac_bytes, l2_address(asked.rules + source));
  net::store_be16(frame.data() + net::ethertype_offset, net::ethertype_ipv4);
  make_payload(frame.subspan(net::ethernet_header_bytes), source, rule);
}

result<void> write_packets(const l2_traffic& asked, const std::string& path) {
  result<net::pcap_writer> file = net::pcap_writer::create(path);
  if (!file) return tl::unexpected(file.error());
  std::vector<std::uint8_t> frame(frame_bytes(asked));
  std::uint64_t time_ns = 0;
  for (const std::uint32_t i : draw_order(asked.flows, asked.flows, asked.seed)) {
    make_frame(asked, i, frame);
    if (result<void> done = file->write(time_ns, frame); !done) return done;
    time_ns += frame_gap_ns;
  }
  return file->close();
}

result<void> write_addresses(const l2_traffic& asked, const std::string& port,
                             const std::string& path) {
  const net::file_handle file(std::fopen(path.c_str(), "we"));
  const auto trouble = [&path] { return fail(errc::io, path, std::strerror(errno)); };
  if (file == nullptr) return trouble();
  const std::string before = std::to_string(asked.vlan) + " ", after = " " + port + "\n";
  for (std::uint64_t i = 0; i < asked.rules; ++i) {
    const std::string line = before + net::format_mac(l2_address(i)) + after;
    if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size()) return trouble();
  }
  if (std::fflush(file.get()) != 0) return trouble();
  return {};
}

}  // namespace coua::bench
