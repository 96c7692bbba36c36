// SPDX-License-Identifier: Apache-2.0
//
// A switch without packets, for tests of what stands above it: maps in memory, and the same answers
// to the same mistakes as the real one.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dp/switch.h"

namespace coua::ctl {

class fake_switch : public dp::l2_switch {
 public:
  /// The next add_port of this name fails with `e`.
  void fail_port(const std::string& name, error e) {
    failing_.insert_or_assign(name, std::move(e));
  }
  /// From now on no bridge of this name comes.
  void fail_bridge(const std::string& name, error e) {
    failing_bridges_.insert_or_assign(name, std::move(e));
  }
  /// From now on reopen_port and restore_port fail with these, where they are given.
  void fail_reopen(std::optional<error> e) { reopen_error_ = std::move(e); }
  void fail_restore(std::optional<error> e) { restore_error_ = std::move(e); }
  /// The link of the port does not say its speed, or will not when it is added: shares of it are
  /// refused.
  void forget_speed(const std::string& name) {
    const std::lock_guard hold(mutex_);
    without_speed_.insert(name);
    if (const auto port = find(name); port != ports_.end()) port->link_mbps = 0;
  }
  /// fib_insert answers "no room" from this many entries on.
  void set_capacity(std::uint64_t entries) { capacity_ = entries; }
  /// Called before each part of a dump.
  void on_dump_part(std::function<void()> hook) { on_dump_part_ = std::move(hook); }
  /// What the counters of every port grow by at each reading.
  void set_traffic(std::uint64_t packets) { traffic_ = packets; }

  /// Ports have no link until they were looked at so often.
  void link_after(unsigned looks) { looks_without_link_ = looks; }

  std::string describe() const override { return "a fake switch in memory"; }

  result<void> add_bridge(const dp::bridge_config& config) override {
    const std::lock_guard hold(mutex_);
    if (const auto found = failing_bridges_.find(config.name); found != failing_bridges_.end())
      return tl::unexpected(found->second);
    if (has_bridge(config.name))
      return fail(errc::exists, "bridge " + config.name, "is there already");
    if (bridges_.size() == dp::bridges_max)
      return fail(errc::no_room, "bridge " + config.name, "there are 16 bridges already");
    bridges_.push_back(config);
    return {};
  }
  result<void> remove_bridge(const std::string& name) override {
    const std::lock_guard hold(mutex_);
    if (!has_bridge(name)) return no_bridge(name);
    if (std::ranges::any_of(ports_, [&](const auto& p) { return p.config.bridge == name; }))
      return fail(errc::busy, "bridge " + name, "it has ports");
    if (bridges_.size() == 1) return fail(errc::busy, "bridge " + name, "is the only one");
    std::erase_if(bridges_, [&](const auto& b) { return b.name == name; });
    return {};
  }
  std::vector<dp::bridge_config> bridges() const override {
    const std::lock_guard hold(mutex_);
    return bridges_;
  }
  dp::pipeline_owner* pipeline(const std::string&) override { return nullptr; }
  void set_standalone(const std::string&, bool) override {}

  result<unsigned> add_port(const dp::port_config& config) override {
    return open_port(config, false);
  }
  result<unsigned> open_port(const dp::port_config& config, bool is_restored) {
    const std::lock_guard hold(mutex_);
    if (const auto found = failing_.find(config.name); found != failing_.end())
      return tl::unexpected(found->second);
    if (find(config.name) != ports_.end())
      return fail(errc::exists, "port " + config.name, "is there already");
    const std::string bridge = named(config.bridge);
    if (!has_bridge(bridge)) return no_bridge(bridge);
    if (config.local && std::ranges::any_of(ports_, [&](const auto& p) {
          return p.config.local && p.config.bridge == bridge;
        }))
      return fail(errc::exists, "port " + config.name + ": local", "the bridge has a local port");
    if (!is_restored && without_speed_.contains(config.name))
      if (auto known = check_storm(config); !known) return tl::unexpected(known.error());
    unsigned number = 0;
    while (std::ranges::any_of(ports_, [&](const auto& p) { return p.number == number; })) number++;
    dp::port_status status{};
    status.number = number;
    status.serial = ++last_serial_;
    status.config = config;
    status.config.bridge = bridge;
    status.driver = config.bond.any() ? "bond" : driver_of(config.devargs);
    status.members = members_of(config);
    for (int i = 0; i < 6; i++)
      status.mac[i] = i == 0 ? 2 : i == 5 ? static_cast<std::uint8_t>(number) : 0;
    status.numa_node = -1;
    status.link_up = true;
    status.link_mbps = without_speed_.contains(config.name) ? 0 : 10'000;
    status.rx_queues = status.tx_queues = 1;
    ports_.push_back(status);
    return number;
  }

  result<void> remove_port(const std::string& name) override {
    const std::lock_guard hold(mutex_);
    const auto port = find(name);
    if (port == ports_.end()) return no_port(name);
    std::erase_if(fib_, [&](const auto& e) { return e.second.port == port->number; });
    ports_.erase(port);
    return {};
  }

  result<void> update_port(const dp::port_config& config) override {
    {
      const std::lock_guard hold(mutex_);
      const auto port = find(config.name);
      const bool is_asked = port != ports_.end() && port->config.storm != config.storm;
      if (is_asked && port->link_mbps == 0)
        if (auto known = check_storm(config); !known) return known;
    }
    return change_port(config);
  }
  /// Of update_port() what a restored port goes through, too.
  result<void> change_port(const dp::port_config& config) {
    const std::lock_guard hold(mutex_);
    const auto port = find(config.name);
    if (port == ports_.end()) return no_port(config.name);
    if (port->config.devargs != config.devargs || port->config.bond.any() != config.bond.any())
      return fail(errc::unsupported, "port " + config.name, "devargs cannot change while it runs");
    if (port->config.local != config.local)
      return fail(errc::unsupported, "port " + config.name, "local cannot change while it runs");
    const std::string bridge = named(config.bridge);
    if (port->config.bridge != bridge)
      return fail(errc::unsupported, "port " + config.name, "bridge cannot change while it runs");
    port->config = config;
    port->config.bridge = bridge;
    port->members = members_of(config);
    if (!config.enabled) port->shut_down.clear();
    port->recovers_in_s = port->shut_down.empty() ? 0 : config.recover_s;
    return {};
  }

  result<void> reopen_port(const std::string& name) override {
    const std::lock_guard hold(mutex_);
    if (reopen_error_) return tl::unexpected(*reopen_error_);
    const auto port = find(name);
    if (port == ports_.end()) return no_port(name);
    port->shut_down.clear();
    port->recovers_in_s = 0;
    return {};
  }
  result<void> restore_port(const dp::port_status& was) override {
    if (restore_error_) return tl::unexpected(*restore_error_);
    const auto& all = fake_switch::ports();
    const bool is_there =
        std::ranges::any_of(all, [&](const auto& p) { return p.config.name == was.config.name; });
    if (is_there) {
      if (auto done = change_port(was.config); !done) return done;
    } else if (auto added = open_port(was.config, true); !added) {
      return tl::unexpected(added.error());
    }
    const std::lock_guard hold(mutex_);
    const auto port = find(was.config.name);
    port->shut_down = was.config.enabled ? was.shut_down : "";
    port->shut_ns = was.shut_ns;
    port->recovers_in_s = port->shut_down.empty() ? 0 : was.config.recover_s;
    return {};
  }
  /// As if the port had brought too many addresses.
  void shut_port(const std::string& name) {
    const std::lock_guard hold(mutex_);
    const auto port = find(name);
    port->shut_down = "mac_limit";
    port->recovers_in_s = port->config.recover_s;
  }

  std::vector<dp::port_status> ports() const override {
    const std::lock_guard hold(mutex_);
    auto out = ports_;
    const bool has_links = looks_without_link_ == 0;
    if (!has_links) looks_without_link_--;
    for (auto& port : out) {
      port.link_up = port.link_up && has_links;
      port.learned = static_cast<std::uint64_t>(std::ranges::count_if(fib_, [&](const auto& e) {
        return e.second.port == port.number && !e.second.is_static;
      }));
    }
    return out;
  }

  result<std::vector<dp::counter>> port_counters(const std::string& name) const override {
    const std::lock_guard hold(mutex_);
    if (std::ranges::none_of(ports_, [&](const auto& p) { return p.config.name == name; }))
      return no_port(name);
    const std::uint64_t n = readings_ += traffic_;
    return std::vector<dp::counter>{{"rx_packets", n},    {"rx_bytes", 64 * n}, {"tx_packets", n},
                                    {"tx_bytes", 64 * n}, {"drop_tx_full", 0},  {"drop_runt", 0}};
  }

  std::vector<dp::vlan_status> vlans() const override {
    const std::lock_guard hold(mutex_);
    using place = std::pair<std::string, std::uint16_t>;
    std::map<place, dp::vlan_status> out;
    for (const auto& port : ports_) {
      for (const std::uint16_t vlan : dp::vlans_of(port.config)) {
        auto& status = out[{port.config.bridge, vlan}];
        status.bridge = port.config.bridge;
        status.vlan = vlan;
        status.counters = {{"flooded_packets", 0}};
        (vlan == port.config.native_vlan ? status.untagged : status.tagged).push_back(port.number);
      }
    }
    for (const auto& [key, entry] : fib_) {
      const auto vlan = out.find({key.first, entry.vlan});
      if (vlan != out.end() && !entry.is_static) vlan->second.learned++;
    }
    std::vector<dp::vlan_status> list;
    for (auto& [where, status] : out) list.push_back(status);
    return list;
  }

  dp::switch_pulse pulse() const override { return {{100}, 1, 0}; }
  std::vector<dp::worker_status> workers() const override {
    dp::worker_status worker{};
    worker.number = 0;
    worker.core = 1;
    for (const auto& port : ports()) worker.queues.push_back(port.config.name + ":0");
    worker.cycles_per_packet = 42.5;
    worker.busy = 0.25;
    worker.burst_histogram.assign(33, 0);
    worker.burst_histogram[32] = 7;
    worker.counters = {{"polls", 100}};
    return {worker};
  }

  std::vector<dp::counter> totals() const override {
    return {{"rx_packets", 1000}, {"tx_packets", 900}, {"drop_tx_full", 100}, {"drop_runt", 0}};
  }

  dp::fib_status fib() const override {
    const std::lock_guard hold(mutex_);
    dp::fib_status status{};
    status.entries = fib_.size();
    status.slots = capacity_;
    status.buckets = status.buckets_asked = 128;
    status.statics = static_cast<std::uint64_t>(
        std::ranges::count_if(fib_, [](const auto& e) { return e.second.is_static; }));
    status.bytes = 8192;
    status.added = fib_.size();
    status.path_length = {5, 1, 0, 0, 0, 0, 0, 0, 0};
    status.layout = "wide8";
    status.memory = "8.0 KiB on 4 KiB pages";
    status.simd = "generic";
    status.ageing_s = ageing_s_;
    status.value_bits = 10;
    return status;
  }

  result<void> set_ageing(unsigned seconds) override {
    const std::lock_guard hold(mutex_);
    ageing_s_ = seconds;
    return {};
  }

  result<std::uint64_t> fib_insert(std::span<const dp::fib_entry> entries) override {
    const std::lock_guard hold(mutex_);
    for (std::size_t i = 0; i < entries.size(); i++) {
      auto entry = entries[i];
      const auto port =
          std::ranges::find_if(ports_, [&](const auto& p) { return p.number == entry.port; });
      if (port == ports_.end() || (entry.port_serial != 0 && entry.port_serial != port->serial))
        return fail(errc::not_found, "FIB", "no such port number");
      entry.port_serial = port->serial;
      const auto place = key(port->config.bridge, entry.vlan, entry.mac);
      if (fib_.size() >= capacity_ && !fib_.contains(place))
        return fail(errc::no_room, "FIB", "entry " + std::to_string(i) + " found no room");
      fib_[place] = entry;
    }
    return entries.size();
  }

  result<void> fib_erase(const std::string& bridge, std::uint16_t vlan,
                         std::uint64_t mac) override {
    const std::lock_guard hold(mutex_);
    if (fib_.erase(key(named(bridge), vlan, mac)) == 0)
      return fail(errc::not_found, "FIB", "no such entry");
    return {};
  }

  result<std::uint64_t> fib_flush(const dp::fib_filter& filter) override {
    const std::lock_guard hold(mutex_);
    const bool statics = filter.is_static.value_or(false);
    if (filter.port && std::ranges::none_of(ports_, [&](const auto& p) {
          return p.number == *filter.port &&
                 (filter.port_serial == 0 || filter.port_serial == p.serial);
        }))
      return fail(errc::not_found, "FIB", "no such port number");
    return std::erase_if(fib_, [&](const auto& e) {
      return matches_place(filter, e) && statics == e.second.is_static;
    });
  }

  result<dp::fib_entry> fib_find(const std::string& bridge, std::uint16_t vlan,
                                 std::uint64_t mac) const override {
    const std::lock_guard hold(mutex_);
    const auto found = fib_.find(key(named(bridge), vlan, mac));
    if (found == fib_.end()) return fail(errc::not_found, "FIB", "no such entry");
    return found->second;
  }

  /// What captures bring; asked for in turns until it is empty.
  using packets = std::vector<dp::captured_packet>;
  void on_capture(std::function<packets(const dp::capture_spec&)> what) { on_capture_ = what; }
  unsigned captures() const { return *captures_; }

  result<std::unique_ptr<dp::capture>> start_capture(const dp::capture_spec& spec) override {
    if (!on_capture_) return fail(errc::no_room, "capture", "none here");
    return std::make_unique<fake_capture>(spec, on_capture_, captures_);
  }

  result<dp::l2_verdict> trace_l2(unsigned, std::span<const std::uint8_t>) const override {
    return dp::l2_verdict{"flooded", 1, {}, ""};
  }

  result<void> fib_dump(
      const dp::fib_filter& filter,
      const std::function<bool(std::span<const dp::fib_entry>)>& sink) const override {
    // In parts, so that the table may change in between.
    fib_key next;
    for (bool more = true; more;) {
      if (on_dump_part_) on_dump_part_();
      std::vector<dp::fib_entry> part;
      {
        const std::lock_guard hold(mutex_);
        auto at = fib_.lower_bound(next);
        for (; at != fib_.end() && part.size() < 1000; ++at)
          if (matches(filter, *at)) part.push_back(at->second);
        more = at != fib_.end();
        if (more) next = at->first;
      }
      if (!part.empty() && !sink(part)) break;
    }
    return {};
  }

 private:
  /// Of a port whose link does not say its speed.
  static result<void> check_storm(const dp::port_config& config) {
    const std::pair<const char*, const flood_limit*> kinds[] = {
        {"broadcast", &config.storm.broadcast},
        {"multicast", &config.storm.multicast},
        {"unknown_unicast", &config.storm.unknown_unicast}};
    for (const auto& [field, limit] : kinds)
      if (limit->unit == flood_limit::units::percent)
        return fail(errc::unsupported, "port " + config.name + ": storm." + field,
                    "a share of what is not known: the link does not say how fast it is");
    return {};
  }
  static std::string driver_of(const std::string& devargs) {
    return devargs.substr(0, devargs.find_first_of("0123456789,"));
  }
  static std::vector<dp::member_status> members_of(const dp::port_config& config) {
    std::vector<dp::member_status> all;
    for (const std::string& each : config.bond.members) {
      dp::member_status member{};
      member.devargs = each;
      member.driver = driver_of(each);
      member.link_up = member.active = true;
      member.link_mbps = 10'000;
      member.state = "active";
      all.push_back(member);
    }
    return all;
  }
  class fake_capture final : public dp::capture {
   public:
    fake_capture(dp::capture_spec spec, std::function<packets(const dp::capture_spec&)> what,
                 std::shared_ptr<std::atomic<unsigned>> running)
        : spec_(std::move(spec)), what_(std::move(what)), running_(std::move(running)) {
      ++*running_;
    }
    ~fake_capture() override { --*running_; }
    std::size_t read(const std::function<bool(const dp::captured_packet&)>& sink) override {
      if (left_.empty() && !stopped_) left_ = what_(spec_);
      std::size_t n = 0;
      for (bool more = true; more && n < left_.size();) more = sink(left_[n++]);
      left_.erase(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(n));
      sum_ += n;
      return n;
    }
    void stop() override { stopped_ = true; }
    bool is_complete() const override { return spec_.count != 0 && sum_ >= spec_.count; }
    std::vector<std::string> interfaces() const override { return {"p0", "p1", "(controller)"}; }
    dp::capture_counts counts(std::uint32_t interface) const override {
      return {interface == 0 ? sum_ + 5 : 0, interface == 0 ? sum_ : 0, interface == 0 ? 3u : 0};
    }

   private:
    const dp::capture_spec spec_;
    const std::function<packets(const dp::capture_spec&)> what_;
    const std::shared_ptr<std::atomic<unsigned>> running_;
    packets left_;
    std::uint64_t sum_ = 0;
    bool stopped_ = false;
  };

  using fib_key = std::pair<std::string, std::uint64_t>;  // bridge; VLAN and address
  using fib_map = std::map<fib_key, dp::fib_entry>;
  static fib_key key(const std::string& bridge, std::uint16_t vlan, std::uint64_t mac) {
    return {bridge, std::uint64_t{vlan} << 48 | mac};
  }
  static bool matches_place(const dp::fib_filter& filter, const fib_map::value_type& one) {
    const dp::fib_entry& entry = one.second;
    return (filter.bridge.empty() || filter.bridge == one.first.first) &&
           filter.vlan.value_or(entry.vlan) == entry.vlan &&
           filter.port.value_or(entry.port) == entry.port &&
           filter.mac.value_or(entry.mac) == entry.mac;
  }
  static bool matches(const dp::fib_filter& filter, const fib_map::value_type& one) {
    const dp::fib_entry& entry = one.second;
    return matches_place(filter, one) &&
           (filter.port_serial == 0 || filter.port_serial == entry.port_serial) &&
           filter.is_static.value_or(entry.is_static) == entry.is_static;
  }
  static tl::unexpected<error> no_bridge(const std::string& name) {
    return fail(errc::not_found, "bridge " + name, "no such bridge");
  }
  bool has_bridge(const std::string& name) const {
    return std::ranges::any_of(bridges_, [&](const auto& b) { return b.name == name; });
  }
  /// An empty one is that of the first bridge.
  std::string named(const std::string& bridge) const {
    return bridge.empty() ? bridges_.front().name : bridge;
  }
  static tl::unexpected<error> no_port(const std::string& name) {
    return fail(errc::not_found, "port " + name, "no such port");
  }
  std::vector<dp::port_status>::iterator find(const std::string& name) {
    return std::ranges::find_if(ports_, [&](const auto& p) { return p.config.name == name; });
  }

  mutable std::mutex mutex_;
  std::vector<dp::port_status> ports_;
  std::vector<dp::bridge_config> bridges_ = {dp::bridge_config{}};
  fib_map fib_;
  std::map<std::string, error> failing_, failing_bridges_;
  std::set<std::string> without_speed_;
  std::optional<error> reopen_error_, restore_error_;
  std::function<void()> on_dump_part_;
  std::function<packets(const dp::capture_spec&)> on_capture_;
  std::shared_ptr<std::atomic<unsigned>> captures_ = std::make_shared<std::atomic<unsigned>>(0);
  unsigned last_serial_ = 0;
  mutable std::uint64_t readings_ = 0;
  std::uint64_t traffic_ = 0;
  mutable unsigned looks_without_link_ = 0;
  std::uint64_t capacity_ = 1 << 24;
  unsigned ageing_s_ = 300;
};

}  // namespace coua::ctl
