// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/capture_stream.h"

#include <algorithm>
#include <cmath>

namespace coua::ctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t batch_bytes = std::size_t{256} << 10;
constexpr int batch_packets = 4096;
// How long a frame may wait for the client when there is nothing else to send.
constexpr milliseconds poll_every{5};
// The client shows them, and its file ends with the last ones.
constexpr milliseconds counts_every{250};
constexpr double seconds_max = 1e9;

result<dp::capture_spec> to_spec(const v1::CaptureRequest& request) {
  dp::capture_spec spec;
  spec.ports = {request.ports().begin(), request.ports().end()};
  if (!v1::CaptureRequest::Direction_IsValid(request.direction()))
    return fail(errc::invalid, "direction",
                std::to_string(request.direction()) + " is not a direction");
  spec.in = request.direction() != v1::CaptureRequest::DIRECTION_OUT;
  spec.out = request.direction() != v1::CaptureRequest::DIRECTION_IN;
  for (const v1::VlanRange& range : request.vlans()) {
    const std::uint32_t last = range.last() == 0 ? range.first() : range.last();
    if (range.first() < 1 || last < range.first() || last > 4094)
      return fail(errc::invalid, "vlans",
                  std::to_string(range.first()) + "-" + std::to_string(last) +
                      " is not a range within 1 to 4094");
    spec.vlans.emplace_back(range.first(), last);
  }
  spec.drops = {request.drops().begin(), request.drops().end()};
  spec.filter = request.filter();
  spec.snap = request.snap();
  spec.count = request.count();
  spec.buffer_bytes = request.buffer_bytes();
  if (!std::isfinite(request.seconds()) || request.seconds() < 0 || request.seconds() > seconds_max)
    return fail(errc::invalid, "seconds", "is not from 0 to 1000000000");
  return spec;
}

}  // namespace

capture_stream::stream* capture_stream::start(api_core& core, stream_slots& slots,
                                              running_captures& all,
                                              grpc::CallbackServerContext* context,
                                              const v1::CaptureRequest& request) {
  // The request lives only as long as the call that starts the capture.
  return stream::start(core, slots, context, "capture",
                       [&core, &all, asked = request](stream& out) {
                         return capture_stream(core, all, asked, out).run();
                       });
}

result<void> capture_stream::run() {
  const auto spec = to_spec(request_);
  if (!spec) return tl::unexpected(spec.error());
  auto begun = core_.sw.start_capture(*spec);
  if (!begun) return tl::unexpected(begun.error());
  from_ = std::move(*begun);
  out_.filling().set_id(place_.id());
  announce();
  add_counts();
  if (!out_.send()) return {};
  const auto now = steady_clock::now();
  const bool is_timed = request_.seconds() > 0;
  const auto end = now + std::chrono::duration_cast<steady_clock::duration>(
                             std::chrono::duration<double>(request_.seconds()));
  auto next_counts = now + counts_every;
  while (true) {
    const bool is_over =
        place_.is_ended() || from_->is_complete() || (is_timed && steady_clock::now() >= end);
    if (is_over) from_->stop();
    bool full = fill();
    for (; full && is_over; full = fill())
      if (!out_.send()) return {};
    const bool counts_due = steady_clock::now() >= next_counts;
    if (counts_due || is_over) {
      add_counts();
      next_counts = steady_clock::now() + counts_every;
    }
    if (is_over) return {};
    const bool idle = out_.filling().lengths_size() == 0;
    if ((!idle || counts_due) && !out_.send()) return {};
    if (idle && !out_.rest(poll_every)) return {};
  }
}

/// With what is there. True: the batch is full, there may be more.
bool capture_stream::fill() {
  bool full = false;
  from_->read([&](const dp::captured_packet& packet) {
    add(packet);
    full = out_.filling().data().size() >= batch_bytes ||
           out_.filling().lengths_size() >= batch_packets;
    return !full;
  });
  return full;
}

void capture_stream::add(const dp::captured_packet& packet) {
  const std::uint32_t interface = interface_of(packet.interface);
  v1::CaptureBatch& batch = out_.filling();
  batch.add_times_ns(packet.time_ns);
  batch.add_interfaces(interface);
  batch.add_vlans(packet.vlan);
  batch.add_lengths(packet.length);
  batch.add_sizes(static_cast<std::uint32_t>(packet.bytes.size()));
  batch.add_outbound(packet.direction == dp::capture_direction::out);
  // A capture is of dropped frames or of others.
  if (!request_.drops().empty()) {
    batch.add_drops(packet.drop != nullptr ? drop_of(packet.drop) : 0);
  }
  batch.mutable_data()->append(reinterpret_cast<const char*>(packet.bytes.data()),
                               packet.bytes.size());
}

std::uint32_t capture_stream::drop_of(const char* name) {
  const auto [at, is_new] = drops_.try_emplace(name, static_cast<std::uint32_t>(drops_.size() + 1));
  if (is_new) out_.filling().add_drop_names(name);
  return at->second;
}

/// The index in the client's list, which has it then.
std::uint32_t capture_stream::interface_of(std::uint32_t port) {
  const auto known = std::ranges::find(announced_, port);
  if (known == announced_.end()) {
    const auto names = from_->interfaces();
    out_.filling().add_interface_names(port < names.size() ? names[port] : "(unknown)");
    announced_.push_back(port);
    return static_cast<std::uint32_t>(announced_.size() - 1);
  }
  return static_cast<std::uint32_t>(known - announced_.begin());
}

/// The ports that the capture is of, so that a file without frames tells of them, too.
void capture_stream::announce() {
  const auto names = from_->interfaces();
  for (std::uint32_t port = 0; port < names.size(); ++port) {
    const bool is_asked =
        request_.ports().empty()
            ? !names[port].starts_with('(')  // no port, but what has none
            : std::ranges::find(request_.ports(), names[port]) != request_.ports().end();
    if (is_asked) interface_of(port);
  }
}

void capture_stream::add_counts() {
  for (const std::uint32_t port : announced_) {
    const dp::capture_counts of = from_->counts(port);
    v1::CaptureCounts* to = out_.filling().add_counts();
    to->set_seen(of.seen);
    to->set_captured(of.captured);
    to->set_lost(of.lost);
  }
}

}  // namespace coua::ctl
