// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/case_frames.h"

#include <algorithm>

namespace coua::bench {
namespace {

/// A quarter of a million: too long for a branch predictor to learn.
constexpr std::size_t least_packets = 64 * case_frames::chunk_packets;
static_assert(std::size_t{1} << 18 == least_packets);

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

result<std::unique_ptr<case_frames>> case_frames::create(const use_case& of) {
  std::unique_ptr<case_frames> made(new case_frames);
  const std::uint64_t flows = of.params().flows;
  made->frame_bytes_ = of.sent_bytes();
  made->kept_bytes_ = std::min(round_up(made->frame_bytes_, 64), kept_bytes_max);
  result<arena> memory = arena::create(flows * made->kept_bytes_);
  if (!memory) return tl::unexpected(memory.error());
  made->memory_ = std::move(*memory);

  std::vector<std::uint8_t> out_ports;
  std::vector<std::uint8_t> frame(made->frame_bytes_);
  for (std::uint64_t i = 0; i < flows; ++i) {
    const case_flow one = of.flow(i);
    write_frame(one.sent, frame);
    std::copy_n(frame.data(), std::min(made->kept_bytes_, frame.size()),
                static_cast<std::uint8_t*>(made->memory_.data()) + i * made->kept_bytes_);
    made->in_ports_.push_back(static_cast<std::uint8_t>(one.in_port));
    out_ports.push_back(static_cast<std::uint8_t>(one.out_port));
  }
  const std::size_t packets = round_up(std::max<std::size_t>(flows, least_packets), chunk_packets);
  made->order_ = draw_order(flows, packets, of.params().seed);
  for (std::size_t at = 0; at < packets; at += chunk_packets) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < chunk_packets; ++i) sum += out_ports[made->order_[at + i]];
    made->expected_.push_back(sum);
  }
  made->order_.insert(made->order_.end(), made->order_.begin(),
                      made->order_.begin() + chunk_packets);
  return made;
}

}  // namespace coua::bench
