// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/pipeline/case_frames.h"
#include "bench/pipeline/compiled_case.h"

namespace coua::bench {

/// Sends the packets of a case through its compiled pipeline: bursts of frames that lie in buffers,
/// as a driver leaves them. The pipeline changes frames, so each is copied into its buffer before
/// every run; copy_chunk() does that alone.
class case_replay {
 public:
  /// `batch` 1 to executor::burst_max. All must outlive it. Errors: no_memory.
  static result<std::unique_ptr<case_replay>> create(compiled_case& through,
                                                     const case_frames& frames, unsigned batch);

  /// Returns the ports that the packets left by, added up.
  std::uint64_t run_chunk(std::size_t chunk, pipeline::time_ns now) noexcept;
  /// The same without the pipeline: of the ports that they came from.
  std::uint64_t copy_chunk(std::size_t chunk) noexcept;

  /// Runs each flow once, and compares what leaves and where with what the case says. Errors: io.
  result<void> check(const use_case& of);

 private:
  case_replay(compiled_case& through, const case_frames& frames, unsigned batch, arena buffers);
  void copy(const std::uint32_t* flows, unsigned n) noexcept;

  pipeline::executor& worker_;
  const case_frames& frames_;
  const unsigned batch_;
  arena buffers_;
  std::size_t buffer_bytes_ = 0;
  pipeline::executor::arrival burst_[pipeline::executor::burst_max];
};

}  // namespace coua::bench
