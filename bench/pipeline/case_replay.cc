// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/case_replay.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace coua::bench {
namespace {

using pipeline::delivery;
using pipeline::executor;
using pipeline::owned_packet;
using pipeline::port_no;

constexpr std::uint32_t headroom = 128;  // as in DPDK's buffers

/// As far as a frame is kept.
std::size_t bytes_of_buffer(const case_frames& frames) {
  return headroom + (frames.frame_bytes() + 63) / 64 * 64;
}

}  // namespace

result<std::unique_ptr<case_replay>> case_replay::create(compiled_case& through,
                                                         const case_frames& frames,
                                                         unsigned batch) {
  result<arena> buffers = arena::create(bytes_of_buffer(frames) * executor::burst_max);
  if (!buffers) return tl::unexpected(buffers.error());
  return std::unique_ptr<case_replay>(new case_replay(through, frames, batch, std::move(*buffers)));
}

case_replay::case_replay(compiled_case& through, const case_frames& frames, unsigned batch,
                         arena buffers)
    : worker_(through.worker()),
      frames_(frames),
      batch_(batch),
      buffers_(std::move(buffers)),
      buffer_bytes_(bytes_of_buffer(frames)) {}

void case_replay::copy(const std::uint32_t* flows, unsigned n) noexcept {
  const auto length = static_cast<std::uint32_t>(frames_.frame_bytes());
  const bool is_long = frames_.kept_bytes() > 64;
  auto* at = static_cast<std::uint8_t*>(buffers_.data()) + headroom;
  for (unsigned i = 0; i < n; ++i, at += buffer_bytes_) {
    const std::uint8_t* const frame = frames_.bytes(flows[i]);
    std::memcpy(at, frame, 64);
    if (is_long) std::memcpy(at + 64, frame + 64, 64);
    __builtin_prefetch(frames_.bytes(flows[i + executor::burst_max]));
    burst_[i] = {{{at, length, length, headroom}, at}, frames_.in_port(flows[i])};
  }
}

std::uint64_t case_replay::run_chunk(std::size_t chunk, pipeline::time_ns now) noexcept {
  const std::uint32_t* const flows = frames_.chunk(chunk);
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < case_frames::chunk_packets; at += batch_) {
    const auto n =
        static_cast<unsigned>(std::min<std::size_t>(batch_, case_frames::chunk_packets - at));
    copy(flows + at, n);
    worker_.run({burst_, n}, now);
    worker_.each_delivery([&sum](port_no to, const owned_packet&) { sum += to; },
                          [&sum](const delivery& one, const owned_packet&) { sum += one.port; });
  }
  return sum;
}

std::uint64_t case_replay::copy_chunk(std::size_t chunk) noexcept {
  const std::uint32_t* const flows = frames_.chunk(chunk);
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < case_frames::chunk_packets; at += batch_) {
    const auto n =
        static_cast<unsigned>(std::min<std::size_t>(batch_, case_frames::chunk_packets - at));
    copy(flows + at, n);
    for (unsigned i = 0; i < n; ++i) sum += burst_[i].in_port;
  }
  return sum;
}

result<void> case_replay::check(const use_case& of) {
  const std::uint64_t n_flows = of.params().flows;
  // What comes next is only fetched.
  std::uint32_t flows[2 * executor::burst_max] = {};
  std::vector<std::uint8_t> expected;
  for (std::uint64_t at = 0; at < n_flows; at += batch_) {
    const auto n = static_cast<unsigned>(std::min<std::uint64_t>(batch_, n_flows - at));
    std::iota(flows, flows + n, static_cast<std::uint32_t>(at));
    copy(flows, n);
    worker_.run({burst_, n}, 0);
    unsigned done = 0;
    bool right = true;
    worker_.each_delivery([&](const delivery& one, const owned_packet& what) {
      const case_flow flow = of.flow(at + done++);
      expected.resize(of.expected_bytes(flow));
      write_frame(flow.expected, expected);
      right = right && one.to == delivery::kind::port && one.port == flow.out_port &&
              std::equal(expected.begin(), expected.end(), what.buffer.bytes,
                         what.buffer.bytes + what.buffer.length);
    });
    if (!right || done != n) {
      return fail(errc::io, of.params().name,
                  "wrong packets came out for flows " + std::to_string(at) + " to " +
                      std::to_string(at + n - 1));
    }
  }
  return {};
}

}  // namespace coua::bench
