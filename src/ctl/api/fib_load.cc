// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/fib_load.h"

#include <bitset>

#include "ctl/port_rules.h"
#include "ctl/ranges.h"
#include "net/mac.h"

namespace coua::ctl {
namespace {

constexpr int batch_entries_max = 65536;
constexpr int port_names_max = 65536;
constexpr std::uint64_t mac_mask = (std::uint64_t{1} << 48) - 1;

}  // namespace

fib_load::fib_load(api_core& core, grpc::CallbackServerContext* context,
                   v1::LoadFibResponse* response)
    : core_(core), context_(context), response_(response) {
  StartRead(&batch_);
}

void fib_load::OnReadDone(bool ok) {
  if (!ok) {
    response_->set_stored(stored_);
    return Finish(grpc::Status::OK);
  }
  const bool posted = core_.changes.post([this] {
    auto stored = core_.stopping
                      ? result<void>(fail(errc::unavailable, "fib load", "the daemon is stopping"))
                      : store();
    if (stored) return StartRead(&batch_);
    error& e = stored.error();
    e.where = "fib load: batch " + std::to_string(batches_) + ": " + e.where;
    e.what += " (" + std::to_string(stored_) + " entries of the batches before it are stored)";
    Finish(to_status(*context_, e));
  });
  if (!posted) Finish(to_status(*context_, api_core::too_busy()));
}

result<void> fib_load::store() {
  if (auto named = take_names(); !named) return named;
  if (auto decoded = decode(); !decoded) return decoded;
  const auto hold = core_.running.changing();
  if (auto carried = check_vlans(); !carried) return carried;
  auto stored = core_.sw.fib_insert(entries_);
  if (!stored) return tl::unexpected(name_gone_port(std::move(stored.error())));
  stored_ += *stored;
  batches_++;
  return {};
}

/// Each port carries the VLANs of its entries. Those of ports that are gone, the switch refuses.
result<void> fib_load::check_vlans() const {
  const auto ports = core_.sw.ports();
  struct membership {
    const dp::port_status* port = nullptr;
    std::bitset<limits::vlan_max + 1> carried;
  };
  std::vector<membership> memberships;  // by number
  for (const dp::port_status& each : ports) {
    if (each.number >= memberships.size()) memberships.resize(each.number + 1);
    memberships[each.number].port = &each;
    for (const std::uint16_t vlan : dp::vlans_of(each.config))
      memberships[each.number].carried.set(vlan);
  }
  for (const dp::fib_entry& each : entries_) {
    if (each.port >= memberships.size()) continue;
    const auto& [port, carried] = memberships[each.port];
    if (port == nullptr || port->serial != each.port_serial || carried[each.vlan]) continue;
    return fail(errc::invalid,
                "entry " + std::to_string(each.vlan) + " " + net::format_mac(each.mac),
                check_fib_vlan(port->config, each.vlan));
  }
  return {};
}

/// The switch knows ports by number; the client by the names that it sent.
error fib_load::name_gone_port(error refusal) const {
  if (refusal.code != errc::not_found) return refusal;
  const auto now = core_.sw.ports();
  for (const std::uint32_t port : batch_.ports())
    if (find_port(now, ports_[port]) == nullptr)
      return {errc::not_found, "port " + names_[port], "was removed while the load ran"};
  return refusal;
}

result<void> fib_load::take_names() {
  if (batch_.port_names_size() == 0) return {};
  if (batch_.port_names_size() + static_cast<int>(ports_.size()) > port_names_max)
    return fail(errc::invalid, "port_names", "has more names than there can be ports");
  const auto ports = core_.sw.ports();
  for (const auto& name : batch_.port_names()) {
    const auto port = to_port_id(ports, name);
    if (!port) return tl::unexpected(port.error());
    ports_.push_back(*port);
    names_.push_back(name);
  }
  return {};
}

result<void> fib_load::decode() {
  const int n = batch_.keys_size();
  if (n > batch_entries_max)
    return fail(errc::invalid, "keys", "has more than " + std::to_string(batch_entries_max));
  if (batch_.ports_size() != n && batch_.ports_size() != 1)
    return fail(errc::invalid, "ports",
                "has " + std::to_string(batch_.ports_size()) + " elements for " +
                    std::to_string(n) + " keys");
  entries_.clear();
  entries_.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; i++) {
    const auto at = [i](const char* field) {
      return std::string(field) + "[" + std::to_string(i) + "]";
    };
    const std::uint64_t key = batch_.keys(i), mac = key & mac_mask;
    const auto vlan = static_cast<std::uint16_t>(key >> 48 & 0xfff);
    const std::uint32_t port = batch_.ports(batch_.ports_size() == 1 ? 0 : i);
    if (key >> 61 != 0) return fail(errc::invalid, at("keys"), "bits 61 to 63 are not 0");
    if (vlan < limits::vlan_min || vlan > limits::vlan_max)
      return fail(errc::invalid, at("keys"),
                  "VLAN " + std::to_string(vlan) + " is not from 1 to 4094");
    if (auto reason = check_fib_mac(mac); !reason.empty())
      return fail(errc::invalid, at("keys"), net::format_mac(mac) + " " + reason);
    if (port >= ports_.size())
      return fail(errc::invalid, at("ports"),
                  std::to_string(port) + " is beyond the " + std::to_string(ports_.size()) +
                      " port names of the stream");
    const port_id id = ports_[port];
    entries_.push_back({vlan, mac, id.number, (key >> 60 & 1) != 0, 0, id.serial});
  }
  return {};
}

}  // namespace coua::ctl
