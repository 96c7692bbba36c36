// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/fib_dump.h"

namespace coua::ctl {
namespace {

constexpr int batch_entries = 8192;  // about 80 KiB on the wire
constexpr std::uint64_t static_bit = std::uint64_t{1} << 60;

}  // namespace

fib_dump::stream* fib_dump::start(api_core& core, stream_slots& slots,
                                  grpc::CallbackServerContext* context,
                                  const v1::ShowFibRequest& request) {
  // The request lives only as long as the call that starts the dump.
  return stream::start(core, slots, context, "fib show", [&core, asked = request](stream& out) {
    return fib_dump(core, asked, out).walk();
  });
}

result<void> fib_dump::walk() {
  const auto filter = to_filter(core_.sw, request_.filter());
  if (!filter) return tl::unexpected(filter.error());
  if (auto there = core_.check_bridge(filter->bridge); !there) return there;
  ports_ = core_.sw.ports();
  if (!filter->vlan || !filter->mac)
    return core_.sw.fib_dump(
        *filter, [this](std::span<const dp::fib_entry> entries) { return add(entries); });
  // One entry of a bridge needs no walk.
  for (const dp::bridge_config& each : core_.sw.bridges()) {
    if (!filter->bridge.empty() && filter->bridge != each.name) continue;
    const auto entry = core_.sw.fib_find(each.name, *filter->vlan, *filter->mac);
    if (!entry && entry.error().code != errc::not_found) return tl::unexpected(entry.error());
    if (entry && filter->port.value_or(entry->port) == entry->port &&
        filter->is_static.value_or(entry->is_static) == entry->is_static)
      add(std::span(&*entry, 1));
  }
  return {};
}

// False ends the walk.
bool fib_dump::add(std::span<const dp::fib_entry> entries) {
  for (const auto& entry : entries) {
    if (request_.limit() != 0 && sent_ == request_.limit()) return false;
    out_.filling().add_keys(std::uint64_t{entry.vlan} << 48 | entry.mac |
                            (entry.is_static ? static_bit : 0));
    out_.filling().add_ports(index_of({entry.port, entry.port_serial}));
    out_.filling().add_ages_s(entry.age_s);
    sent_++;
    if (out_.filling().keys_size() == batch_entries && !out_.send()) return false;
  }
  return !core_.stopping;
}

std::uint32_t fib_dump::index_of(port_id port) {
  if (port.number >= index_by_port_.size()) index_by_port_.resize(port.number + 1);
  auto& [known, index] = index_by_port_[port.number];
  if (known == port) return index;
  if (find_port(ports_, port) == nullptr) ports_ = core_.sw.ports();  // added since
  const auto* found = find_port(ports_, port);
  out_.filling().add_port_names(found != nullptr ? found->config.name
                                                 : "#" + std::to_string(port.number));
  known = port;
  return index = names_++;
}

}  // namespace coua::ctl
