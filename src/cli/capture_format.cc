// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_format.h"

#include <chrono>
#include <ctime>

#include "cli/output.h"
#include "net/mac.h"
#include "net/pcapng.h"

namespace coua::cli {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

std::uint64_t wall_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

class pcapng_format final : public capture_format {
 public:
  pcapng_format(std::uint32_t snap, std::string filter) : snap_(snap), filter_(std::move(filter)) {}
  void begin(std::string& out) override {
    start_ns_ = wall_ns();
    net::pcapng_writer(out, snap_).begin("coua " COUA_VERSION);
  }
  void add_port(std::string& out, const std::string& name) override {
    net::pcapng_writer(out, snap_).add_interface(name, filter_);
  }
  void add(std::string& out, const capture_frame& frame) override {
    net::pcapng_packet packet;
    packet.interface = frame.interface;
    packet.time_ns = frame.time_ns;
    packet.length = frame.length;
    packet.bytes = frame.bytes;
    packet.direction = frame.is_outbound ? net::pcapng_direction::out : net::pcapng_direction::in;
    packet.comment = frame.drop;
    net::pcapng_writer(out, snap_).add(packet);
  }
  void end(std::string& out, std::span<const capture_total> totals) override {
    for (std::uint32_t i = 0; i < totals.size(); ++i) {
      net::pcapng_statistics of;
      of.start_ns = start_ns_;
      of.end_ns = wall_ns();
      of.received = totals[i].seen;
      of.accepted = totals[i].captured + totals[i].lost;
      of.dropped = totals[i].lost;
      of.delivered = totals[i].written;
      net::pcapng_writer(out, snap_).add_statistics(i, of);
    }
  }

 private:
  const std::uint32_t snap_;
  const std::string filter_;
  std::uint64_t start_ns_ = 0;
};

std::uint64_t mac_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint64_t mac = 0;
  for (std::size_t i = 0; i < 6; ++i) mac = mac << 8 | bytes[at + i];
  return mac;
}

/// "02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff  ARP"
std::string headers_text(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 14) return "";
  std::size_t at = 12;
  const auto type_at = [&] { return bytes[at] << 8 | bytes[at + 1]; };
  while ((type_at() == 0x8100 || type_at() == 0x88A8) && at + 6 <= bytes.size()) at += 4;
  char type[16];
  std::snprintf(type, sizeof type, "0x%04x", type_at());
  const char* const name = type_at() == 0x0800   ? "IPv4"
                           : type_at() == 0x86DD ? "IPv6"
                           : type_at() == 0x0806 ? "ARP"
                                                 : type;
  return net::format_mac(mac_at(bytes, 6)) + " > " + net::format_mac(mac_at(bytes, 0)) + "  " +
         name;
}

class line_format final : public capture_format {
 public:
  void begin(std::string&) override {}
  void add_port(std::string&, const std::string&) override {}
  void add(std::string& out, const capture_frame& frame) override {
    const auto seconds = static_cast<std::time_t>(frame.time_ns / ns_per_s);
    std::tm local{};
    localtime_r(&seconds, &local);
    char text[160];
    std::snprintf(text, sizeof text, "%02d:%02d:%02d.%09u  %-8.*s %-3s  VLAN %-4u %5u bytes  ",
                  local.tm_hour, local.tm_min, local.tm_sec,
                  static_cast<unsigned>(frame.time_ns % ns_per_s),
                  static_cast<int>(frame.port.size()), frame.port.data(),
                  frame.is_outbound ? "out" : "in", frame.vlan, frame.length);
    out += text;
    out += headers_text(frame.bytes);
    if (!frame.drop.empty()) (out += "  ") += frame.drop;
    out += '\n';
  }
  void end(std::string&, std::span<const capture_total>) override {}
};

class json_format final : public capture_format {
 public:
  void begin(std::string& out) override { out += "{\n  \"packets\": ["; }
  void add_port(std::string&, const std::string& name) override { ports_.push_back(name); }
  void add(std::string& out, const capture_frame& frame) override {
    constexpr const char* digits = "0123456789abcdef";
    std::string hex;
    for (const std::uint8_t byte : frame.bytes) (hex += digits[byte >> 4]) += digits[byte & 15];
    json one = {{"time_ns", frame.time_ns},
                {"port", frame.port},
                {"direction", frame.is_outbound ? "out" : "in"},
                {"vlan", frame.vlan},
                {"length", frame.length},
                {"bytes", hex}};
    if (!frame.drop.empty()) one["drop"] = frame.drop;
    out += (n_++ > 0 ? ",\n    " : "\n    ") + one.dump();
  }
  void end(std::string& out, std::span<const capture_total> totals) override {
    json ports = json::object();
    capture_total sum;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      ports[ports_[i]] = {
          {"seen", totals[i].seen}, {"captured", totals[i].written}, {"lost", totals[i].lost}};
      sum.written += totals[i].written;
      sum.lost += totals[i].lost;
    }
    out += (n_ > 0 ? "\n  ],\n  " : "],\n  ");
    out += "\"captured\": " + std::to_string(sum.written) +
           ",\n  \"lost\": " + std::to_string(sum.lost) + ",\n  \"ports\": " + ports.dump() +
           "\n}\n";
  }

 private:
  std::vector<std::string> ports_;
  std::uint64_t n_ = 0;
};

tl::unexpected<error> nonsense(const char* what) {
  return fail(errc::io, "couad", std::string("sent a batch ") + what);
}

}  // namespace

std::unique_ptr<capture_format> make_pcapng(std::uint32_t snap, const std::string& filter) {
  return std::make_unique<pcapng_format>(snap, filter);
}
std::unique_ptr<capture_format> make_lines() { return std::make_unique<line_format>(); }
std::unique_ptr<capture_format> make_json() { return std::make_unique<json_format>(); }

result<void> capture_reader::read(const v1::CaptureBatch& batch, std::string& out) {
  for (const std::string& name : batch.interface_names()) {
    ports_.push_back(name);
    format_.add_port(out, name);
  }
  totals_.resize(ports_.size());
  for (const std::string& name : batch.drop_names()) drops_.push_back(name);
  const int n = batch.times_ns_size();
  const bool has_drops = batch.drops_size() != 0;
  if (batch.interfaces_size() != n || batch.vlans_size() != n || batch.lengths_size() != n ||
      batch.sizes_size() != n || batch.outbound_size() != n ||
      (has_drops && batch.drops_size() != n))
    return nonsense("whose columns differ in length");
  std::span<const std::uint8_t> left(reinterpret_cast<const std::uint8_t*>(batch.data().data()),
                                     batch.data().size());
  for (int i = 0; i < n; ++i) {
    const std::uint32_t interface = batch.interfaces(i);
    const std::uint32_t drop = has_drops ? batch.drops(i) : 0;
    if (interface >= ports_.size()) return nonsense("with a port that has no name");
    if (drop > drops_.size()) return nonsense("with a reason that has no name");
    if (batch.sizes(i) > left.size()) return nonsense("whose data is too short");
    capture_frame frame;
    frame.time_ns = batch.times_ns(i);
    frame.interface = interface;
    frame.port = ports_[interface];
    frame.vlan = batch.vlans(i);
    frame.length = batch.lengths(i);
    frame.is_outbound = batch.outbound(i);
    if (drop != 0) frame.drop = drops_[drop - 1];
    frame.bytes = left.first(batch.sizes(i));
    left = left.subspan(batch.sizes(i));
    format_.add(out, frame);
    ++totals_[interface].written;
  }
  if (batch.counts_size() > static_cast<int>(totals_.size()))
    return nonsense("with counts of a port that has no name");
  for (int i = 0; i < batch.counts_size(); ++i) {
    capture_total& of = totals_[static_cast<std::size_t>(i)];
    of.seen = batch.counts(i).seen();
    of.captured = batch.counts(i).captured();
    of.lost = batch.counts(i).lost();
  }
  return {};
}

capture_total capture_reader::sum() const {
  capture_total sum;
  for (const capture_total& each : totals_) {
    sum.seen += each.seen;
    sum.captured += each.captured;
    sum.lost += each.lost;
    sum.written += each.written;
  }
  return sum;
}

}  // namespace coua::cli
