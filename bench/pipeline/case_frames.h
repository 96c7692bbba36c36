// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/arena.h"
#include "bench/cases/use_case.h"

namespace coua::bench {

/// The packets of a case, ready to be copied into buffers: of each flow the first bytes of a frame,
/// and the order in which flows come.
class case_frames {
 public:
  /// No action of a case looks further into a frame, or changes more of it: only these bytes are
  /// kept, and copied.
  static constexpr std::size_t kept_bytes_max = 128;
  /// Packets between two looks at the clock.
  static constexpr std::size_t chunk_packets = 4096;

  /// Of flows in a random order. Errors: no_memory.
  static result<std::unique_ptr<case_frames>> create(const use_case& of);

  std::size_t frame_bytes() const { return frame_bytes_; }
  /// A multiple of 64; a shorter frame is followed by anything.
  std::size_t kept_bytes() const { return kept_bytes_; }
  std::size_t chunks() const { return expected_.size(); }
  /// The flows of a chunk, and chunk_packets more that are what comes next.
  const std::uint32_t* chunk(std::size_t i) const { return order_.data() + i * chunk_packets; }
  /// The ports that they leave by, added up.
  std::uint64_t expected(std::size_t i) const { return expected_[i]; }

  const std::uint8_t* bytes(std::uint32_t flow) const {
    return static_cast<const std::uint8_t*>(memory_.data()) + flow * kept_bytes_;
  }
  pipeline::port_no in_port(std::uint32_t flow) const { return in_ports_[flow]; }

 private:
  case_frames() = default;

  std::size_t frame_bytes_ = 0, kept_bytes_ = 0;
  arena memory_;
  std::vector<std::uint8_t> in_ports_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> expected_;
};

}  // namespace coua::bench
