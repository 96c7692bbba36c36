// SPDX-License-Identifier: Apache-2.0
#include "dp/capture/tap.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace coua::dp {
namespace {

constexpr std::string_view drop_prefix = "drop_";

bool is_drop(std::size_t id) {
  return std::string_view(port_counter::name(id)).starts_with(drop_prefix);
}

/// The bit of the counter with this name, which may lack its prefix; "any": all. 0: no such name.
std::uint64_t drop_bits(const std::string& name) {
  std::uint64_t bits = 0;
  for (std::size_t id = 0; id < port_counter::count; ++id) {
    const std::string_view full = port_counter::name(id);
    if (is_drop(id) && (name == "any" || full == name || full.substr(drop_prefix.size()) == name))
      bits |= std::uint64_t{1} << id;
  }
  return bits;
}
static_assert(port_counter::count <= 64, "a set of reasons is one word");

std::string drop_names() {
  std::string names = "any";
  for (std::size_t id = 0; id < port_counter::count; ++id)
    if (is_drop(id)) names += std::string(", ") + (port_counter::name(id) + drop_prefix.size());
  return names;
}

}  // namespace

struct tap::record {
  std::uint64_t time_ns;
  std::uint32_t interface;
  std::uint32_t length;
  std::uint32_t stored;
  std::uint16_t vlan;
  capture_direction direction;
  std::uint8_t fate;  // port_counter::id; not_dropped; nothing: void
  static constexpr std::uint8_t nothing = 255;
  std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this + 1); }
  const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(this + 1); }
};

result<std::shared_ptr<tap>> tap::create(const capture_spec& spec, unsigned n_workers) {
  std::shared_ptr<tap> made(new tap(spec));
  capture_spec& of = made->spec_;
  if (!of.in && !of.out) return fail(errc::invalid, "direction", "neither in nor out");
  if (of.snap == 0) of.snap = capture_snap_max;
  if (of.snap > capture_snap_max)
    return fail(errc::invalid, "snap", std::to_string(of.snap) + " is more than 65535 bytes");
  if (of.buffer_bytes == 0) of.buffer_bytes = capture_buffer;
  if (of.buffer_bytes < capture_buffer_min || of.buffer_bytes > capture_buffer_max)
    return fail(errc::invalid, "buffer",
                std::to_string(of.buffer_bytes) + " is not from 256 KiB to 256 MiB");
  for (const auto& [first, last] : of.vlans) {
    if (first < 1 || last < first || last >= n_vlans - 1)
      return fail(
          errc::invalid, "vlans",
          std::to_string(first) + "-" + std::to_string(last) + " is not a range within 1 to 4094");
    for (unsigned vlan = first; vlan <= last; ++vlan) made->vlans_.set(vlan);
  }
  if (of.vlans.empty()) made->vlans_.set();
  for (const std::string& name : of.drops) {
    const std::uint64_t bits = drop_bits(name);
    if (bits == 0) return fail(errc::invalid, "drops", "'" + name + "' is none of " + drop_names());
    made->drops_ |= bits;
  }
  auto filter = packet_filter::compile(of.filter);
  if (!filter) return tl::unexpected(filter.error());
  made->filter_ = std::move(*filter);
  try {
    for (unsigned w = 0; w < n_workers; ++w)
      made->rings_.push_back(std::make_unique<record_ring>(of.buffer_bytes));
    made->counts_ = std::make_unique<counters>(n_workers, capture_interfaces_max * n_counters);
  } catch (const std::bad_alloc&) {
    return fail(errc::no_memory, "buffer",
                "no memory for " + std::to_string(of.buffer_bytes) + " bytes per worker");
  }
  return made;
}

void tap::count(unsigned worker, std::uint32_t interface, counter what) noexcept {
  counts_->of(worker).add(interface * n_counters + what);
}

tap::staged tap::stage(unsigned worker, const capture_event& event,
                       const frame_view& frame) noexcept {
  staged one;
  one.interface = event.interface;
  if (!vlans_.test(event.vlan) || !filter_.matches(frame.bytes, frame.stored, frame.length))
    return one;
  const std::uint32_t stored = std::min(frame.stored, spec_.snap);
  auto* room = rings_[worker]->reserve(sizeof(record) + stored);
  one.how = room != nullptr ? staged::stored : staged::full;
  if (room == nullptr) return one;
  one.copy = new (room) record{event.time_ns, event.interface, frame.length,   stored,
                               event.vlan,    event.direction, record::nothing};
  std::memcpy(one.copy->bytes(), frame.bytes, stored);
  return one;
}

bool tap::settle(unsigned worker, const staged& one, port_counter::id fate) noexcept {
  if (!wants(fate) || is_complete()) return false;
  count(worker, one.interface, seen);
  if (one.how == staged::full) count(worker, one.interface, lost);
  if (one.how != staged::stored) return false;
  if (spec_.count != 0 && taken_.fetch_add(1, std::memory_order_relaxed) >= spec_.count)
    return false;
  one.copy->fate = static_cast<std::uint8_t>(fate);
  count(worker, one.interface, captured);
  return true;
}

void tap::offer(unsigned worker, const capture_event& event, const frame_view& frame,
                port_counter::id fate) noexcept {
  if (!wants(fate) || is_complete()) return;
  if (settle(worker, stage(worker, event, frame), fate))
    publish(worker);
  else
    forget(worker);
}

/// Of all rings; null: there is none. Void records go on the way.
const tap::record* tap::oldest(std::size_t& ring) {
  const record* found = nullptr;
  for (std::size_t r = 0; r < rings_.size(); ++r) {
    const record* first = nullptr;
    while ((first = reinterpret_cast<const record*>(rings_[r]->front())) != nullptr &&
           first->fate == record::nothing)
      rings_[r]->pop();
    if (first == nullptr || (found != nullptr && first->time_ns >= found->time_ns)) continue;
    found = first;
    ring = r;
  }
  return found;
}

std::size_t tap::read(const std::function<bool(const captured_packet&)>& sink) {
  std::size_t n = 0;
  std::size_t ring = 0;
  while (const record* one = oldest(ring)) {
    captured_packet packet;
    packet.time_ns = one->time_ns;
    packet.interface = one->interface;
    packet.length = one->length;
    packet.vlan = one->vlan;
    packet.direction = one->direction;
    packet.drop = one->fate == not_dropped ? nullptr : port_counter::name(one->fate);
    packet.bytes = {one->bytes(), one->stored};
    const bool more = sink(packet);
    rings_[ring]->pop();
    ++n;
    if (!more) break;
  }
  return n;
}

capture_counts tap::counts(std::uint32_t interface) const {
  if (interface >= capture_interfaces_max) return {};
  const std::size_t first = std::size_t{interface} * n_counters;
  return {counts_->sum(first + seen), counts_->sum(first + captured), counts_->sum(first + lost)};
}

port_set tapped_ports(const tap_set& taps, capture_direction direction) {
  constexpr port_counter::id by_driver[] = {port_counter::drop_tx_full,
                                            port_counter::drop_tx_too_long};
  port_set ports = 0;
  for (const placed_tap& each : taps.all) {
    bool wanted = each.what->wants(not_dropped);
    if (direction == capture_direction::out)
      for (const port_counter::id fate : by_driver) wanted |= each.what->wants(fate);
    if (wanted && each.what->wants(direction)) ports |= each.ports;
  }
  return ports;
}

}  // namespace coua::dp
