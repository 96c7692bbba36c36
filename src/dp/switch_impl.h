// SPDX-License-Identifier: Apache-2.0
//
// l2_switch put together: ports, plan, workers, FIB owner. All state belongs to the thread
// `tables`; public functions post to it.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dp/capture/tap.h"
#include "dp/eal.h"
#include "dp/l2/domain_map.h"
#include "dp/learn/fib_owner.h"
#include "dp/owner_thread.h"
#include "dp/plan_builder.h"
#include "dp/port.h"
#include "dp/switch.h"
#include "dp/switch_bridge.h"
#include "dp/worker.h"

namespace coua::dp {

/// "2 MiB pages"
const char* pages_text(coua_fib_pages pages);

/// The thread `tables` works no longer than about this at one job, so that no other waits for long.
inline constexpr std::uint64_t stretch_ns = 4'000'000;

class switch_impl final : public l2_switch {
 public:
  switch_impl(eal_info eal, const switch_config& config);
  ~switch_impl() override;
  /// Creates the FIB and starts the threads.
  result<void> start();

  result<void> add_bridge(const bridge_config& config) override;
  result<void> remove_bridge(const std::string& name) override;
  std::vector<bridge_config> bridges() const override;
  pipeline_owner* pipeline(const std::string& bridge) override;
  void set_standalone(const std::string& bridge, bool on) override;
  std::string describe() const override;
  result<unsigned> add_port(const port_config& config) override;
  result<void> remove_port(const std::string& name) override;
  result<void> update_port(const port_config& config) override;
  result<void> reopen_port(const std::string& name) override;
  result<void> restore_port(const port_status& was) override;
  std::vector<port_status> ports() const override;
  result<std::vector<counter>> port_counters(const std::string& name) const override;
  std::vector<vlan_status> vlans() const override;
  std::vector<worker_status> workers() const override;
  switch_pulse pulse() const override;
  std::vector<counter> totals() const override;
  fib_status fib() const override;
  result<void> set_ageing(unsigned seconds) override;
  result<std::uint64_t> fib_insert(std::span<const fib_entry> entries) override;
  result<void> fib_erase(const std::string& bridge, std::uint16_t vlan, std::uint64_t mac) override;
  result<std::uint64_t> fib_flush(const fib_filter& filter) override;
  result<fib_entry> fib_find(const std::string& bridge, std::uint16_t vlan,
                             std::uint64_t mac) const override;
  result<void> fib_dump(const fib_filter& filter,
                        const std::function<bool(std::span<const fib_entry>)>& sink) const override;

  result<l2_verdict> trace_l2(unsigned port, std::span<const std::uint8_t> frame) const override;
  result<std::unique_ptr<capture>> start_capture(const capture_spec& spec) override;

  /// bench_hooks.h
  void set_raw_io(bool on) { shared_.raw_io.store(on, std::memory_order_relaxed); }
  void set_paused(bool on);
  std::size_t fib_store(std::span<const coua_fib_record> records);
  std::size_t fib_remove(std::span<const std::uint64_t> keys);
  unsigned packets_in_use() const;

 private:
  using flush_ptr = std::shared_ptr<fib_owner::flush_job>;
  struct port_slot {
    std::unique_ptr<port> device;     // null: free, once `flush` is over
    switch_bridge* bridge = nullptr;  // of the device
    bool local = false;               // the LOCAL of that bridge
    link_state link;
    unsigned last_mbps = 0;            // of the link, when it last had one; 0: not known
    std::unique_ptr<bond_state> bond;  // where the port is one
    flush_ptr flush;
    std::vector<std::uint64_t> baseline;  // what the number's counters showed when it was given
    // By what the switch has shut it down, as if it were not enabled; empty: it has not.
    std::string shut_by;
    std::uint64_t shut_ns = 0;     // when
    std::uint64_t shut_downs = 0;  // how often
    std::uint64_t recoveries = 0;  // how often it came back because its recover_s were over
    std::array<std::uint64_t, n_storm_kinds> storm_drops{};  // when they were looked at last
    bool discards = false;                                   // what came in while it was
    std::uint64_t discarded = 0;                             //   so many frames
    bool learns = false;
    std::uint64_t learns_since = 0;  // cycles()
    unsigned serial = 0;             // of the port that has the number, or had it last
    bool is_shut() const { return !shut_by.empty(); }
  };
  struct rates {
    std::uint64_t packets = 0, busy = 0, idle = 0;  // at the last sample
    double cycles_per_packet = 0;
    double busy_share = 0;
  };

  class running_capture;
  /// While it is there, the thread `tables` may be in a driver for as long as that takes.
  class driver_time {
   public:
    explicit driver_time(std::atomic<std::uint64_t>& since);
    ~driver_time() { since_.store(outer_, std::memory_order_relaxed); }
    driver_time(const driver_time&) = delete;
    driver_time& operator=(const driver_time&) = delete;

   private:
    std::atomic<std::uint64_t>& since_;
    const std::uint64_t outer_;
  };

  // switch.cc; all of these in the thread `tables`
  bool housekeeping();
  bool drain();
  void sample_rates();
  void publish();
  void hand_over(std::unique_ptr<plan> next);
  void wait_for_workers();
  /// That a port was shut down, and when.
  struct shut_state {
    std::string by;  // empty: it was not
    std::uint64_t ns = 0;
  };
  // switch_bridges.cc
  /// An empty name is that of the first. Null: there is none. Any thread; but in `tables` the
  /// bridge stays.
  switch_bridge* find_bridge(const std::string& name) const;
  switch_bridge* find_bridge_locked(const std::string& name) const;
  static tl::unexpected<error> no_bridge(const std::string& name);
  unsigned free_bridge_number() const;
  bool is_first(const switch_bridge& bridge) const { return &bridge == bridges_.front().get(); }
  result<void> take_domains(const switch_bridge& bridge, std::span<const std::uint16_t> vlans,
                            std::bitset<n_domains>& kept);
  result<void> take_domains(const switch_bridge& bridge, const port_config& config);
  // switch_ports.cc
  /// `again`: it comes back as it was, and nothing of it is asked for anew. Null: it is new.
  result<unsigned> add_port_here(port_config config, const shut_state* again);
  result<flush_ptr> remove_port_here(const std::string& name);
  result<void> update_port_here(port_config config, const shut_state* again);
  result<void> reopen_port_here(const std::string& name);
  // switch_shut.cc
  void shut_violators();
  void shut_stormy();
  void shut_port(unsigned number, const std::string& by, const std::string& what);
  void recover_ports();
  void keep_shut(unsigned number, const shut_state& again);
  void note_storm_drops(unsigned number);
  void note_share_drops(unsigned number);
  void refresh_speed(unsigned number);
  static std::uint64_t recovers_at_ns(const port_slot& slot);
  static std::vector<counter> shut_counters(const port_slot& slot);
  static void discard_received(port_slot& slot);
  port_limits limits_of_ports();
  void close(std::unique_ptr<port> leaving);
  /// After its state or its configuration: what others know of a port.
  void tell_all(unsigned number);
  const port* local_of(const switch_bridge& bridge) const;
  result<unsigned> free_number() const;
  int number_of(const std::string& name) const;
  result<packet_pool*> shared_pool(int numa_node, unsigned room);
  void set_rules(unsigned number);
  void tell_pipeline(unsigned number);
  void watch_links();
  void link_changed(unsigned number, const link_state& now);
  port_set note_speeds();
  void fill_storms(port_set ports);
  void flush(const flush_filter& filter, const std::string& port);
  void bury_pools();
  std::uint64_t port_sum(unsigned number, std::size_t id) const;
  static std::vector<counter> own_counters(const port_slot& slot, const port& device);
  void keep_counters(const port_slot& slot, const port& leaving);
  std::uint64_t domain_sum(std::uint16_t domain, std::size_t id) const;
  // switch_bonds.cc
  link_state look_at_link(unsigned number);
  void watch_bonds();
  void drain_slow();
  result<port::member_list> update_device(unsigned number, const port_config& config);
  port::member_list change_members(unsigned number, const std::vector<std::string>& to,
                                   port::member_list coming);
  void bond_changed(unsigned number, const std::vector<std::string>& states, const bond_view& view);
  lacp::send_function sender_of(unsigned number);
  void send_slow(unsigned number, unsigned member, const slow_frame& frame);
  rte_mbuf* packet_of(unsigned number, unsigned member, const slow_frame& frame) const;
  void say_farewells(unsigned number);
  void keep_farewell(unsigned number, unsigned member);
  void keep_farewells(unsigned number);
  void say_kept_farewells();
  std::optional<std::pair<unsigned, unsigned>> member_of(std::uint16_t device) const;
  static std::vector<member_status> members_of(const port_slot& slot);
  // switch_capture.cc
  void show_captures(plan& next);
  std::uint32_t interface_of(const std::string& port);
  // switch_fib.cc
  struct store_result {
    std::size_t stored;
    bool refused;  // the next one found no room
  };
  // Both store for a stretch: perhaps fewer than all.
  store_result store_here(std::span<const coua_fib_record> records);
  result<std::uint64_t> insert_here(std::span<const fib_entry> entries, std::uint64_t first);
  fib_entry entry_of(const coua_fib_record& record) const;
  bool matches(const fib_filter& filter, const coua_fib_record& record) const;
  std::bitset<n_domains> domains_of(const fib_filter& filter) const;
  bool is_port(unsigned number, unsigned serial) const;
  std::uint64_t wait_for(const flush_ptr& job) const;

  const eal_info eal_;
  const switch_config config_;
  worker_shared shared_;
  std::vector<worker_place> places_;
  // Whoever adds or removes one holds it all the time; those who read the list only hold the other.
  std::mutex changing_bridges_;
  mutable std::mutex bridges_mutex_;
  // The oldest first. Only `tables` changes the list, and reads it without the lock. They outlive
  // the workers.
  std::vector<std::unique_ptr<switch_bridge>> bridges_;
  std::vector<std::unique_ptr<worker>> workers_;
  std::unique_ptr<fib_owner> owner_;
  domain_map domains_;
  // What the counters of a domain showed when its VLAN got it.
  std::vector<std::array<std::uint64_t, vlan_counter::count>> domain_baselines_ =
      std::vector<std::array<std::uint64_t, vlan_counter::count>>(n_domains);
  std::unique_ptr<plan> plan_;
  std::array<port_slot, max_ports> slots_;
  std::vector<counter> counters_of_removed_;     // ports, but for what workers counted
  std::array<storm_buckets, max_ports> storms_;  // by port number; the workers take from them
  std::vector<std::pair<std::uint16_t, rte_mbuf*>> farewells_;  // by device (switch_bonds.cc)
  std::vector<packet_pool> graveyard_;       // of what was removed, until their packets are back
  std::map<int, packet_pool> shared_pools_;  // by NUMA node
  std::vector<rates> rates_;
  std::vector<std::shared_ptr<tap>> captures_;
  std::vector<std::string> interfaces_;  // that captures show; kept while there are any
  // What came out of the learning rings, by time; what is before next_report_ is applied.
  std::vector<learn_report> drained_;
  std::size_t n_reports_ = 0;
  std::size_t next_report_ = 0;
  unsigned last_number_ = max_ports - 1;
  unsigned last_serial_ = 0;
  std::uint64_t next_watch_ns_ = 0;
  std::uint64_t next_bond_watch_ns_ = 0;
  std::uint64_t next_shut_watch_ns_ = 0;
  std::uint64_t next_sample_ns_ = 0;
  // For pulse(), which only compares them with what they were: relaxed.
  std::atomic<std::uint64_t> turns_{0};
  std::atomic<std::uint64_t> in_driver_since_ns_{0};  // now_ns(); 0: it is not
  // Created last in start() and ended first: its thread uses all of the above. Posting to it does
  // not change the switch, so const functions may.
  mutable std::unique_ptr<owner_thread> tables_;
};

}  // namespace coua::dp
