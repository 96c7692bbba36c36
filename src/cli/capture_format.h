// SPDX-License-Identifier: Apache-2.0
//
// What a capture is written as: a pcapng file, a line per frame, or JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "coua/v1/capture.pb.h"

namespace coua::cli {

struct capture_frame {
  std::uint64_t time_ns = 0;
  std::uint32_t interface = 0;
  std::string_view port;
  unsigned vlan = 0;
  std::uint32_t length = 0;
  bool is_outbound = false;
  std::string_view drop;  // empty: none
  std::span<const std::uint8_t> bytes;
};

struct capture_total {
  std::uint64_t seen = 0, captured = 0, lost = 0;
  std::uint64_t written = 0;
};

/// Appends to a text.
class capture_format {
 public:
  virtual ~capture_format() = default;
  virtual void begin(std::string& out) = 0;
  virtual void add_port(std::string& out, const std::string& name) = 0;
  virtual void add(std::string& out, const capture_frame& frame) = 0;
  /// By port, in the order of add_port().
  virtual void end(std::string& out, std::span<const capture_total> totals) = 0;
};
std::unique_ptr<capture_format> make_pcapng(std::uint32_t snap, const std::string& filter);
std::unique_ptr<capture_format> make_lines();
std::unique_ptr<capture_format> make_json();

/// Takes the batches of a stream apart. Whatever a daemon sends ends in frames or in an error.
class capture_reader {
 public:
  explicit capture_reader(capture_format& format) : format_(format) {}
  result<void> read(const v1::CaptureBatch& batch, std::string& out);
  void end(std::string& out) { format_.end(out, totals_); }
  const std::vector<std::string>& ports() const { return ports_; }
  std::span<const capture_total> totals() const { return totals_; }
  capture_total sum() const;

 private:
  capture_format& format_;
  std::vector<std::string> ports_, drops_;
  std::vector<capture_total> totals_;
};

}  // namespace coua::cli
