// SPDX-License-Identifier: Apache-2.0
#include "cli/port_waiting.h"

#include <algorithm>
#include <string>

namespace coua::cli {
namespace {

bool is_still_down(const v1::Port& port) { return port.spec().enabled() && !is_up(port); }

}  // namespace

bool is_up(const v1::Port& port) {
  return port.link_up() && port.spec().enabled() && !port.lost() && port.shut_down().empty() &&
         std::ranges::all_of(port.members(), [](const v1::BondMember& each) {
           return each.active() || each.state() == "standby";
         });
}

result<void> wait_for_port(const session& s, v1::Port& port) {
  if (!s.call.has("wait")) return {};
  v1::GetPortRequest request;
  request.set_name(port.spec().name());
  return look_until(s, "it is not up", [&]() -> result<bool> {
    auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::GetPort, request);
    if (!got) return tl::unexpected(got.error());
    port = std::move(*got->mutable_port());
    return !is_still_down(port);
  });
}

result<v1::ListPortsResponse> list_ports(const session& s) {
  v1::ListPortsResponse now;
  const auto all_are_up = [&]() -> result<bool> {
    auto got =
        s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::ListPorts, v1::ListPortsRequest());
    if (!got) return tl::unexpected(got.error());
    now = std::move(*got);
    return std::ranges::none_of(now.ports(), is_still_down);
  };
  if (auto looked = look_until(s, "not all ports are up", all_are_up); !looked)
    return tl::unexpected(looked.error());
  return now;
}

}  // namespace coua::cli
