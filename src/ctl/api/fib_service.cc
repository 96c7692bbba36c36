// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/fib_service.h"

#include "ctl/api/convert.h"
#include "ctl/api/fib_dump.h"
#include "ctl/api/fib_load.h"
#include "ctl/port_rules.h"
#include "ctl/ranges.h"

namespace coua::ctl {
namespace {

tl::unexpected<error> removed_meanwhile(const std::string& port) {
  return fail(errc::not_found, "port " + port, "was removed meanwhile");
}

}  // namespace

result<void> fib_service::add(const v1::AddFibEntryRequest& request,
                              v1::AddFibEntryResponse& response) {
  const auto vlan = to_vlan(request.vlan());
  if (!vlan) return tl::unexpected(vlan.error());
  const auto mac = to_fib_mac(request.mac());
  if (!mac) return tl::unexpected(mac.error());
  const auto port = to_port_id(core_.sw.ports(), request.port());
  if (!port) return tl::unexpected(port.error());
  const auto hold = core_.running.changing();
  const auto ports = core_.sw.ports();
  const dp::port_status* now = find_port(ports, *port);
  if (now == nullptr) return removed_meanwhile(request.port());
  if (std::string reason = check_fib_vlan(now->config, *vlan); !reason.empty())
    return fail(errc::invalid, "vlan", std::move(reason));
  const auto there = core_.sw.fib_find(now->config.bridge, *vlan, *mac);
  response.set_changed(!there || !there->is_static || there->port != port->number);
  if (!response.changed()) return {};
  const dp::fib_entry entry{*vlan, *mac, port->number, true, 0, port->serial};
  auto stored = core_.sw.fib_insert(std::span(&entry, 1));
  if (stored) return {};
  if (stored.error().code == errc::not_found) return removed_meanwhile(request.port());
  return tl::unexpected(std::move(stored.error()));
}

result<void> fib_service::remove(const v1::DeleteFibEntryRequest& request,
                                 v1::DeleteFibEntryResponse& response) {
  const auto vlan = to_vlan(request.vlan());
  if (!vlan) return tl::unexpected(vlan.error());
  const auto mac = to_mac(request.mac());
  if (!mac) return tl::unexpected(mac.error());
  const auto hold = core_.running.changing();
  const auto bridge = core_.bridges.find(request.bridge());
  if (!bridge) return tl::unexpected(bridge.error());
  auto erased = core_.sw.fib_erase(bridge->name, *vlan, *mac);
  response.set_changed(erased.has_value());
  if (!erased && erased.error().code != errc::not_found) return erased;
  return {};
}

result<void> fib_service::flush(const v1::FlushFibRequest& request,
                                v1::FlushFibResponse& response) {
  const auto filter = to_filter(core_.sw, request.filter());
  if (!filter) return tl::unexpected(filter.error());
  const auto hold = core_.running.changing();
  if (auto there = core_.check_bridge(filter->bridge); !there) return there;
  auto removed = core_.sw.fib_flush(*filter);
  if (!removed && filter->port && removed.error().code == errc::not_found)
    return removed_meanwhile(request.filter().port());
  if (!removed) return tl::unexpected(std::move(removed.error()));
  response.set_removed(*removed);
  return {};
}

result<void> fib_service::stats(v1::GetFibStatsResponse& response) {
  const dp::fib_status fib = core_.sw.fib();
  response.set_entries(fib.entries);
  response.set_slots(fib.slots);
  response.set_buckets(fib.buckets);
  response.set_buckets_asked(fib.buckets_asked);
  response.set_statics(fib.statics);
  response.set_in_secondary(fib.in_secondary);
  response.set_bytes(fib.bytes);
  response.set_added(fib.added);
  response.set_updated(fib.updated);
  response.set_erased(fib.erased);
  response.set_aged_out(fib.aged_out);
  response.set_refused(fib.refused);
  response.set_moves(fib.moves);
  response.set_retries(fib.retries);
  for (std::uint64_t n : fib.path_length) response.add_path_length(n);
  response.set_layout(fib.layout);
  response.set_memory(fib.memory);
  response.set_simd(fib.simd);
  response.set_ageing_s(fib.ageing_s);
  response.set_value_bits(fib.value_bits);
  response.set_reports(fib.reports);
  response.set_reports_dropped(fib.reports_dropped);
  response.set_reports_stale(fib.reports_stale);
  response.set_moved(fib.moved);
  response.set_flapping(fib.flapping);
  response.set_limited(fib.limited);
  return {};
}

result<void> fib_service::set_ageing(const v1::SetAgeingRequest& request,
                                     v1::SetAgeingResponse& response) {
  const unsigned seconds = request.seconds();
  if (seconds != 0 && (seconds < limits::ageing_min_s || seconds > limits::ageing_max_s))
    return fail(errc::invalid, "seconds",
                std::to_string(seconds) + " is neither 0 (never) nor from 6 to 1000000");
  const auto hold = core_.running.changing();
  const unsigned before = core_.sw.fib().ageing_s;
  response.set_before_s(before);
  response.set_changed(before != seconds);
  return response.changed() ? core_.sw.set_ageing(seconds) : result<void>{};
}

grpc::ServerWriteReactor<v1::FibBatch>* fib_service::ShowFib(grpc::CallbackServerContext* context,
                                                             const v1::ShowFibRequest* request) {
  return fib_dump::start(core_, dumps_, context, *request);
}

grpc::ServerUnaryReactor* fib_service::AddFibEntry(grpc::CallbackServerContext* context,
                                                   const v1::AddFibEntryRequest* request,
                                                   v1::AddFibEntryResponse* response) {
  return core_.run_change(context, [this, request, response] { return add(*request, *response); });
}

grpc::ServerUnaryReactor* fib_service::DeleteFibEntry(grpc::CallbackServerContext* context,
                                                      const v1::DeleteFibEntryRequest* request,
                                                      v1::DeleteFibEntryResponse* response) {
  return core_.run_change(context,
                          [this, request, response] { return remove(*request, *response); });
}

grpc::ServerUnaryReactor* fib_service::FlushFib(grpc::CallbackServerContext* context,
                                                const v1::FlushFibRequest* request,
                                                v1::FlushFibResponse* response) {
  return core_.run_change(context,
                          [this, request, response] { return flush(*request, *response); });
}

grpc::ServerReadReactor<v1::FibBatch>* fib_service::LoadFib(grpc::CallbackServerContext* context,
                                                            v1::LoadFibResponse* response) {
  return new fib_load(core_, context, response);
}

grpc::ServerUnaryReactor* fib_service::GetFibStats(grpc::CallbackServerContext* context,
                                                   const v1::GetFibStatsRequest*,
                                                   v1::GetFibStatsResponse* response) {
  return core_.run(context, [this, response] { return stats(*response); });
}

grpc::ServerUnaryReactor* fib_service::SetAgeing(grpc::CallbackServerContext* context,
                                                 const v1::SetAgeingRequest* request,
                                                 v1::SetAgeingResponse* response) {
  return core_.run_change(context,
                          [this, request, response] { return set_ageing(*request, *response); });
}

}  // namespace coua::ctl
