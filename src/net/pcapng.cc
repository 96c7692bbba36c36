// SPDX-License-Identifier: Apache-2.0
#include "net/pcapng.h"

#include <algorithm>

namespace coua::net {
namespace {

enum block_type : std::uint32_t {
  section_header = 0x0A0D0D0A,
  interface_description = 1,
  interface_statistics = 5,
  enhanced_packet = 6,
};
enum option_code : std::uint16_t {
  end_of_options = 0,
  comment = 1,
  section_application = 4,
  interface_name = 2,
  interface_time_resolution = 9,
  interface_filter = 11,
  packet_flags = 2,
  statistics_start = 2,
  statistics_end = 3,
  statistics_received = 4,
  statistics_dropped = 5,
  statistics_accepted = 6,
  statistics_delivered = 8,
};
constexpr std::uint32_t byte_order = 0x1A2B3C4D;
constexpr std::uint16_t link_type_ethernet = 1;
constexpr char nanoseconds = 9;  // ten to the minus that
constexpr char filter_is_text = 0;
constexpr std::size_t option_max = 65'532;  // its length has 16 bits, its padding included

/// A block under construction: its length is written when it ends.
class block {
 public:
  block(std::string& out, block_type type) : out_(out), begin_(out.size()) {
    put32(type);
    put32(0);
  }
  ~block() {
    const auto length = static_cast<std::uint32_t>(out_.size() - begin_ + 4);
    put32(length);
    for (unsigned i = 0; i < 4; ++i)
      out_[begin_ + 4 + i] = static_cast<char>(length >> (8 * i) & 0xFF);
  }
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  void put16(std::uint16_t value) { put(value, 2); }
  void put32(std::uint32_t value) { put(value, 4); }
  /// As pcapng has times, and the unknown length of a section: the upper half first.
  void put_halves(std::uint64_t value) {
    put32(static_cast<std::uint32_t>(value >> 32));
    put32(static_cast<std::uint32_t>(value));
  }
  void put_padded(const char* bytes, std::size_t n) {
    out_.append(bytes, n);
    out_.append((4 - n % 4) % 4, '\0');
  }
  void option(option_code code, std::string value) {
    if (value.size() > option_max) value.resize(option_max);
    put16(code);
    put16(static_cast<std::uint16_t>(value.size()));
    put_padded(value.data(), value.size());
  }
  void option32(option_code code, std::uint32_t value) {
    put16(code);
    put16(4);
    put32(value);
  }
  void option64(option_code code, std::uint64_t value) {
    put16(code);
    put16(8);
    put(value, 8);
  }
  void option_time(option_code code, std::uint64_t ns) {
    put16(code);
    put16(8);
    put_halves(ns);
  }
  void end_options() { put32(end_of_options); }

 private:
  void put(std::uint64_t value, unsigned n) {
    for (unsigned i = 0; i < n; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  std::string& out_;
  const std::size_t begin_;
};

}  // namespace

void pcapng_writer::begin(const std::string& application) {
  block made(out_, section_header);
  made.put32(byte_order);
  made.put16(1);  // version 1.0
  made.put16(0);
  made.put_halves(UINT64_MAX);  // of a length that is not known yet
  made.option(section_application, application);
  made.end_options();
}

void pcapng_writer::add_interface(const std::string& name, const std::string& filter) {
  block made(out_, interface_description);
  made.put16(link_type_ethernet);
  made.put16(0);
  made.put32(snap_);
  made.option(interface_name, name);
  made.option(interface_time_resolution, std::string(1, nanoseconds));
  if (!filter.empty()) made.option(interface_filter, std::string(1, filter_is_text) + filter);
  made.end_options();
}

void pcapng_writer::add(const pcapng_packet& packet) {
  block made(out_, enhanced_packet);
  made.put32(packet.interface);
  made.put_halves(packet.time_ns);
  made.put32(static_cast<std::uint32_t>(packet.bytes.size()));
  made.put32(packet.length);
  made.put_padded(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
  const bool has_direction = packet.direction != pcapng_direction::unknown;
  if (has_direction) made.option32(packet_flags, packet.direction == pcapng_direction::in ? 1 : 2);
  if (!packet.comment.empty()) made.option(comment, packet.comment);
  if (has_direction || !packet.comment.empty()) made.end_options();
}

void pcapng_writer::add_statistics(std::uint32_t interface, const pcapng_statistics& of) {
  block made(out_, interface_statistics);
  made.put32(interface);
  made.put_halves(of.end_ns);
  made.option_time(statistics_start, of.start_ns);
  made.option_time(statistics_end, of.end_ns);
  made.option64(statistics_received, of.received);
  made.option64(statistics_dropped, of.dropped);
  made.option64(statistics_accepted, of.accepted);
  made.option64(statistics_delivered, of.delivered);
  made.end_options();
}

}  // namespace coua::net
