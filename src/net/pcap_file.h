// SPDX-License-Identifier: Apache-2.0
//
// Packet files in the classic pcap format, little-endian, Ethernet: what tcpdump and DPDK's
// net_pcap read and write.
//
//   file header, 24 bytes    magic, version 2.4, zone 0, accuracy 0, snaplen, link type 1
//   each record, 16 bytes    seconds, fraction (us or ns, as the magic says), bytes stored,
//                            bytes on the wire; then the stored bytes
//
// The seconds have 32 bits: times from 1970 to 2106.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace coua::net {

inline constexpr std::uint32_t pcap_snaplen_max = 262'144;  // as in libpcap; more is a broken file

inline constexpr std::size_t pcap_record_bytes = 16;  // before each frame

enum class pcap_time { us, ns };

struct pcap_params {
  pcap_time time = pcap_time::us;
  std::uint32_t snaplen = 65'535;  // longer frames are cut; 1 to pcap_snaplen_max
};

struct file_closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, file_closer>;

/// Writes a packet file. Used by one thread at a time.
class pcap_writer {
 public:
  /// Creates the file, or empties the one that is there. Errors: invalid, io; they name the file.
  static result<pcap_writer> create(const std::string& path, const pcap_params& params = {});

  /// Appends a frame that was seen `time_ns` after 1970. Errors: invalid (the time does not fit),
  /// io; they name file and record.
  result<void> write(std::uint64_t time_ns, std::span<const std::uint8_t> frame);

  /// Writes out what is buffered; a failure of write() before is not told again. Without it the
  /// destructor tries, and nobody hears of a full disk.
  result<void> close();

  std::uint64_t records() const { return records_; }

 private:
  pcap_writer(std::string path, const pcap_params& params, file_handle file)
      : path_(std::move(path)), params_(params), file_(std::move(file)) {}
  std::string place() const;

  std::string path_;
  pcap_params params_;
  file_handle file_;
  std::uint64_t records_ = 0;
};

struct pcap_record {
  std::uint64_t time_ns = 0;
  std::uint32_t wire_bytes = 0;         // of the frame before it was cut, >= frame.size()
  std::span<const std::uint8_t> frame;  // valid until the next call of next()
};

/// Reads a packet file. Used by one thread at a time.
class pcap_reader {
 public:
  /// Errors: not_found, io, invalid (not a packet file, or damaged), unsupported (another version,
  /// byte order or link type); they name the file.
  static result<pcap_reader> open(const std::string& path);

  /// The next record, or nothing at the end of the file. Errors: io, invalid; they name the file
  /// and the record, counted from 1. After an error there is no way on.
  result<std::optional<pcap_record>> next();

  pcap_params params() const { return params_; }
  std::uint64_t records() const { return records_; }  // read so far

 private:
  pcap_reader(std::string path, file_handle file)
      : path_(std::move(path)), file_(std::move(file)) {}
  result<void> read_header();
  std::string place() const;

  std::string path_;
  pcap_params params_;
  file_handle file_;
  std::vector<std::uint8_t> frame_;
  std::uint64_t records_ = 0;
};

}  // namespace coua::net
