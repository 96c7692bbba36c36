// SPDX-License-Identifier: Apache-2.0
#include "net/pcap_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace coua::net {
namespace {

constexpr std::uint32_t magic_us = 0xa1b2c3d4, magic_ns = 0xa1b23c4d, magic_ng = 0x0a0d0d0a;
constexpr std::uint16_t version_major = 2, version_minor = 4;
constexpr std::uint32_t link_ethernet = 1;
constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

using file_header = std::array<std::uint8_t, 24>;
using record_header = std::array<std::uint8_t, pcap_record_bytes>;

void store_le(std::uint8_t* bytes, std::uint32_t value, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint32_t load_le(const std::uint8_t* bytes, std::size_t n) {
  std::uint32_t value = 0;
  for (std::size_t i = n; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

std::uint32_t ns_per_tick(pcap_time time) { return time == pcap_time::ns ? 1 : 1000; }

result<file_handle> open_file(const std::string& path, const char* mode) {
  file_handle file(std::fopen(path.c_str(), mode));
  if (!file) {
    const int code = errno;
    return fail(code == ENOENT ? errc::not_found : errc::io, path, std::strerror(code));
  }
  std::setvbuf(file.get(), nullptr, _IOFBF, buffer_bytes);
  return file;
}

std::string text(std::uint32_t number) { return std::to_string(number); }

}  // namespace

// --- writer
// ---------------------------------------------------------------------------------------

result<pcap_writer> pcap_writer::create(const std::string& path, const pcap_params& params) {
  if (params.snaplen == 0 || params.snaplen > pcap_snaplen_max) {
    return fail(errc::invalid, path,
                "snaplen " + text(params.snaplen) + " is not 1 to " + text(pcap_snaplen_max));
  }
  result<file_handle> file = open_file(path, "wbe");
  if (!file) return tl::unexpected(file.error());
  file_header header{};
  store_le(header.data(), params.time == pcap_time::ns ? magic_ns : magic_us, 4);
  store_le(header.data() + 4, version_major, 2);
  store_le(header.data() + 6, version_minor, 2);
  store_le(header.data() + 16, params.snaplen, 4);
  store_le(header.data() + 20, link_ethernet, 4);
  if (std::fwrite(header.data(), header.size(), 1, file->get()) != 1) {
    return fail(errc::io, path, std::strerror(errno));
  }
  return pcap_writer(path, params, std::move(*file));
}

std::string pcap_writer::place() const {
  return path_ + ": record " + std::to_string(records_ + 1);
}

result<void> pcap_writer::write(std::uint64_t time_ns, std::span<const std::uint8_t> frame) {
  if (!file_) return fail(errc::invalid, place(), "the file is closed");
  if (time_ns / ns_per_s > UINT32_MAX) return fail(errc::invalid, place(), "the time is past 2106");
  if (frame.size() > UINT32_MAX) return fail(errc::invalid, place(), "the frame is past 4 GiB");
  const std::size_t stored = std::min<std::size_t>(frame.size(), params_.snaplen);
  record_header header;
  store_le(header.data(), static_cast<std::uint32_t>(time_ns / ns_per_s), 4);
  store_le(header.data() + 4,
           static_cast<std::uint32_t>(time_ns % ns_per_s) / ns_per_tick(params_.time), 4);
  store_le(header.data() + 8, static_cast<std::uint32_t>(stored), 4);
  store_le(header.data() + 12, static_cast<std::uint32_t>(frame.size()), 4);
  if (std::fwrite(header.data(), header.size(), 1, file_.get()) != 1 ||
      (stored > 0 && std::fwrite(frame.data(), stored, 1, file_.get()) != 1)) {
    return fail(errc::io, place(), std::strerror(errno));
  }
  ++records_;
  return {};
}

result<void> pcap_writer::close() {
  if (!file_) return {};
  if (std::fclose(file_.release()) != 0) return fail(errc::io, path_, std::strerror(errno));
  return {};
}

// --- reader
// ---------------------------------------------------------------------------------------

result<pcap_reader> pcap_reader::open(const std::string& path) {
  result<file_handle> file = open_file(path, "rbe");
  if (!file) return tl::unexpected(file.error());
  pcap_reader reader(path, std::move(*file));
  if (result<void> header = reader.read_header(); !header) return tl::unexpected(header.error());
  return reader;
}

result<void> pcap_reader::read_header() {
  file_header header;
  const std::size_t got = std::fread(header.data(), 1, header.size(), file_.get());
  if (std::ferror(file_.get()) != 0) return fail(errc::io, path_, std::strerror(errno));
  const std::uint32_t magic = got >= 4 ? load_le(header.data(), 4) : 0;
  if (magic == magic_ng) {
    return fail(errc::unsupported, path_, "is a pcapng file; convert it: editcap -F pcap FROM TO");
  }
  if (magic == __builtin_bswap32(magic_us) || magic == __builtin_bswap32(magic_ns)) {
    return fail(errc::unsupported, path_, "is a big-endian packet file");
  }
  if (magic != magic_us && magic != magic_ns) {
    return fail(errc::invalid, path_, "is not a packet file (pcap)");
  }
  if (got < header.size()) {
    return fail(errc::invalid, path_, "ends within the file header");
  }
  const std::uint32_t major = load_le(header.data() + 4, 2), minor = load_le(header.data() + 6, 2);
  if (major != version_major || minor != version_minor) {
    return fail(errc::unsupported, path_,
                "has version " + text(major) + "." + text(minor) + ", not 2.4");
  }
  params_.time = magic == magic_ns ? pcap_time::ns : pcap_time::us;
  params_.snaplen = load_le(header.data() + 16, 4);
  if (params_.snaplen == 0 || params_.snaplen > pcap_snaplen_max) {
    return fail(errc::invalid, path_,
                "has snaplen " + text(params_.snaplen) + ", not 1 to " + text(pcap_snaplen_max));
  }
  if (const std::uint32_t link = load_le(header.data() + 20, 4); link != link_ethernet) {
    return fail(errc::unsupported, path_, "has link type " + text(link) + ", not 1 (Ethernet)");
  }
  frame_.resize(params_.snaplen);
  return {};
}

std::string pcap_reader::place() const {
  return path_ + ": record " + std::to_string(records_ + 1);
}

result<std::optional<pcap_record>> pcap_reader::next() {
  record_header header;
  const std::size_t got = std::fread(header.data(), 1, header.size(), file_.get());
  if (std::ferror(file_.get()) != 0) return fail(errc::io, place(), std::strerror(errno));
  if (got == 0) return std::nullopt;
  if (got < header.size()) return fail(errc::invalid, place(), "ends within its header");
  const std::uint32_t fraction = load_le(header.data() + 4, 4);
  const std::uint32_t stored = load_le(header.data() + 8, 4);
  pcap_record record;
  record.wire_bytes = load_le(header.data() + 12, 4);
  if (fraction >= ns_per_s / ns_per_tick(params_.time)) {
    return fail(errc::invalid, place(),
                "has " + text(fraction) + (params_.time == pcap_time::ns ? " ns" : " us") +
                    " after the second");
  }
  if (stored > params_.snaplen) {
    return fail(
        errc::invalid, place(),
        "stores " + text(stored) + " bytes, over the file's snaplen of " + text(params_.snaplen));
  }
  if (stored > record.wire_bytes) {
    return fail(errc::invalid, place(),
                "stores " + text(stored) + " bytes of a frame of " + text(record.wire_bytes));
  }
  if (std::fread(frame_.data(), 1, stored, file_.get()) != stored) {
    if (std::ferror(file_.get()) != 0) return fail(errc::io, place(), std::strerror(errno));
    return fail(errc::invalid, place(), "ends within its frame");
  }
  record.time_ns =
      load_le(header.data(), 4) * ns_per_s + std::uint64_t{fraction} * ns_per_tick(params_.time);
  record.frame = std::span(frame_).first(stored);
  ++records_;
  return record;
}

}  // namespace coua::net
