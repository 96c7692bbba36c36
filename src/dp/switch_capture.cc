// SPDX-License-Identifier: Apache-2.0
//
// Captures of the switch: which there are, and on which ports. A plan shows them to the workers, so
// one begins and ends as any change of the configuration does: after the plan without it is
// published, no worker is in it.
#include <algorithm>

#include "dp/capture/tap.h"
#include "dp/switch_impl.h"

namespace coua::dp {
namespace {

constexpr const char* controller_name = "(controller)";
constexpr const char* others_name = "(others)";

}  // namespace

/// What a reader holds.
class switch_impl::running_capture final : public capture {
 public:
  running_capture(switch_impl& of, std::shared_ptr<tap> what) : of_(of), what_(std::move(what)) {}
  ~running_capture() override { stop(); }
  running_capture(const running_capture&) = delete;
  running_capture& operator=(const running_capture&) = delete;

  void stop() override {
    if (stopped_) return;
    stopped_ = true;
    of_.tables_->call([this] {
      names_ = of_.interfaces_;
      std::erase(of_.captures_, what_);
      if (of_.captures_.empty()) of_.interfaces_.clear();
      of_.publish();
    });
  }
  std::size_t read(const std::function<bool(const captured_packet&)>& sink) override {
    return what_->read(sink);
  }
  bool is_complete() const override { return what_->is_complete(); }
  std::vector<std::string> interfaces() const override {
    if (stopped_) return names_;
    return of_.tables_->call([this] { return of_.interfaces_; });
  }
  capture_counts counts(std::uint32_t interface) const override { return what_->counts(interface); }

 private:
  switch_impl& of_;
  const std::shared_ptr<tap> what_;
  bool stopped_ = false;
  std::vector<std::string> names_;  // when it was stopped
};

result<std::unique_ptr<capture>> switch_impl::start_capture(const capture_spec& spec) {
  // Here, not in the thread `tables`: it may take long.
  auto made = tap::create(spec, static_cast<unsigned>(workers_.size()));
  if (!made) return tl::unexpected(made.error());
  auto begun = tables_->call([&]() -> result<void> {
    if (captures_.size() >= captures_max)
      return fail(errc::no_room, "capture",
                  std::to_string(captures_max) + " captures run already; end one of them");
    for (const std::string& name : spec.ports)
      if (number_of(name) < 0)
        return fail(errc::not_found, "port " + name, "there is no such port");
    captures_.push_back(*made);
    publish();
    return {};
  });
  if (!begun) return tl::unexpected(begun.error());
  return std::make_unique<running_capture>(*this, std::move(*made));
}

std::uint32_t switch_impl::interface_of(const std::string& port) {
  const auto found = std::find(interfaces_.begin(), interfaces_.end(), port);
  if (found != interfaces_.end()) return static_cast<std::uint32_t>(found - interfaces_.begin());
  if (interfaces_.size() < capture_interfaces_max - 1)
    interfaces_.push_back(port);
  else if (interfaces_.size() < capture_interfaces_max)
    interfaces_.emplace_back(others_name);
  return static_cast<std::uint32_t>(interfaces_.size() - 1);
}

/// Ports go by their names: a port that is added again under its name is captured again.
void switch_impl::show_captures(plan& next) {
  if (captures_.empty()) return;
  auto taps = std::make_shared<tap_set>();
  for (const auto& what : captures_) {
    placed_tap placed{what, 0, what->spec().ports.empty()};
    if (placed.others) placed.ports = ~port_set{0};
    for (const std::string& name : what->spec().ports) {
      const int number = number_of(name);
      if (number >= 0) placed.ports |= port_bit(static_cast<unsigned>(number));
    }
    taps->drops |= what->wants_drops();
    taps->all.push_back(std::move(placed));
  }
  for (unsigned number = 0; number < max_ports; ++number)
    if (slots_[number].device)
      taps->interfaces[number] = interface_of(slots_[number].device->config().name);
  for (unsigned bridge = 0; bridge < bridges_max; ++bridge)
    taps->interfaces[controller_port(bridge)] = interface_of(controller_name);
  const port_set in = tapped_ports(*taps, capture_direction::in);
  const port_set out = tapped_ports(*taps, capture_direction::out);
  for (worker_plan& each : next.workers) {
    for (rx_queue& queue : each.rx)
      if ((in & port_bit(queue.port)) != 0) queue.detours |= detour_tap;
    for (unsigned number = 0; number < max_ports; ++number)
      if ((out & port_bit(number)) != 0) each.tx[number].detours |= detour_tap;
  }
  next.drops_tapped = taps->drops;
  next.taps = std::move(taps);
}

}  // namespace coua::dp
