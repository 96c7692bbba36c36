// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/fib_dump.h"

#include <thread>

#include "base/cpu.h"

namespace coua::ctl {
namespace {

constexpr int batch_entries = 8192;  // about 80 KiB on the wire
constexpr std::uint64_t static_bit = std::uint64_t{1} << 60;

}  // namespace

grpc::ServerWriteReactor<v1::FibBatch>* fib_dump::start(api_core& core, stream_slots& slots,
                                                        grpc::CallbackServerContext* context,
                                                        const v1::ShowFibRequest& request) {
  auto* dump = new fib_dump(core, context, request);
  if (!slots.take()) {
    dump->Finish(to_status(
        *context, {errc::no_room, "fib show", "too many dumps run at the same time; try again"}));
    return dump;
  }
  std::thread([dump, &slots] {
    dump->run();  // gRPC may have deleted the dump when this returns
    slots.give_back();
  }).detach();
  return dump;
}

void fib_dump::run() {
  name_this_thread("fib-dump");
  result<void> done = walk();
  if (done && filling_.keys_size() > 0) send();
  wait_until_sent();
  if (done && core_.stopping) done = fail(errc::unavailable, "fib show", "the daemon is stopping");
  if (stalled_)
    Finish({grpc::StatusCode::DEADLINE_EXCEEDED, "fib show: the client read nothing for too long"});
  else
    Finish(done ? grpc::Status::OK : to_status(*context_, done.error()));
}

result<void> fib_dump::walk() {
  const auto filter = to_filter(core_.sw, request_.filter());
  if (!filter) return tl::unexpected(filter.error());
  ports_ = core_.sw.ports();
  if (!filter->vlan || !filter->mac)
    return core_.sw.fib_dump(
        *filter, [this](std::span<const dp::fib_entry> entries) { return add(entries); });
  // One entry needs no walk.
  const auto entry = core_.sw.fib_find(*filter->vlan, *filter->mac);
  if (!entry)
    return entry.error().code == errc::not_found ? result<void>{} : tl::unexpected(entry.error());
  if (filter->port.value_or(entry->port) == entry->port &&
      filter->is_static.value_or(entry->is_static) == entry->is_static)
    add(std::span(&*entry, 1));
  return {};
}

// False ends the walk.
bool fib_dump::add(std::span<const dp::fib_entry> entries) {
  for (const auto& entry : entries) {
    if (request_.limit() != 0 && sent_ == request_.limit()) return false;
    filling_.add_keys(std::uint64_t{entry.vlan} << 48 | entry.mac |
                      (entry.is_static ? static_bit : 0));
    filling_.add_ports(index_of({entry.port, entry.port_serial}));
    filling_.add_ages_s(entry.age_s);
    sent_++;
    if (filling_.keys_size() == batch_entries && !send()) return false;
  }
  return !core_.stopping;
}

std::uint32_t fib_dump::index_of(port_id port) {
  if (port.number >= index_by_port_.size()) index_by_port_.resize(port.number + 1);
  auto& [known, index] = index_by_port_[port.number];
  if (known == port) return index;
  if (find_port(ports_, port) == nullptr) ports_ = core_.sw.ports();  // added since
  const auto* found = find_port(ports_, port);
  filling_.add_port_names(found != nullptr ? found->config.name
                                           : "#" + std::to_string(port.number));
  known = port;
  return index = names_++;
}

bool fib_dump::send() {
  if (!wait_until_sent()) return false;
  flying_.Swap(&filling_);
  filling_.Clear();
  {
    const std::lock_guard hold(mutex_);
    writing_ = true;
  }
  StartWrite(&flying_);
  return true;
}

// True when the next batch may be written.
bool fib_dump::wait_until_sent() {
  std::unique_lock hold(mutex_);
  const bool free =
      changed_.wait_for(hold, core_.params.stall, [this] { return !writing_ || broken_; });
  stalled_ = stalled_ || !free;
  return free && !broken_ && !stalled_;
}

void fib_dump::OnWriteDone(bool ok) {
  const std::lock_guard hold(mutex_);
  writing_ = false;
  broken_ = broken_ || !ok;
  changed_.notify_all();
}

void fib_dump::OnCancel() {
  const std::lock_guard hold(mutex_);
  broken_ = true;
  changed_.notify_all();
}

}  // namespace coua::ctl
