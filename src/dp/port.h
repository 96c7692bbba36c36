// SPDX-License-Identifier: Apache-2.0
//
// One DPDK device with its queues and its packet pool; or a bond: several of them, its members,
// each a port of its own that only the bond knows (port_bond.cc). Control threads only; the workers
// know nothing but device and queue numbers (plan.h).
//
// Life: probe (DPDK creates the device from its devargs) -> configure, queues, start -> ... ->
// stop, close, remove. The pool goes last: its packets may still sit in the transmit queues of
// other devices, so it is handed out when the port closes and freed once all its packets are back.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dp/bond/bond_state.h"
#include "dp/drivers/held_interfaces.h"
#include "dp/drivers/kernel_interface.h"
#include "dp/drivers/xdp_files.h"
#include "dp/drivers/xdp_packets.h"
#include "dp/packet_pool.h"
#include "dp/plan_builder.h"
#include "dp/switch.h"
#include "dp/tx_lock.h"

struct rte_eth_dev_info;

namespace coua::dp {

struct port_limits {
  std::span<const worker_place> places;  // workers: those of the port's node poll it
  unsigned workers_all = 1;              // all of them send
  unsigned burst = 64;
  // Gives the pool that all ports of a NUMA node share; empty: the port makes its own, of a size
  // computed from its queues.
  std::function<result<packet_pool*>(int numa_node, unsigned room)> shared_pool;
  unsigned mbuf_bytes = 0;         // 0: fits the MTU
  std::uint64_t devices_used = 0;  // bit set of DPDK port ids that belong to other ports
};

/// Of a port or a bridge: 1 to 32 of [A-Za-z0-9_.-], not - first.
bool valid_name(const std::string& name);

/// Of the same names; or to none.
void add_counters(std::vector<counter>& sum, const std::vector<counter>& more);

class port {
 public:
  /// Checks everything that can be checked without the device: name, MTU, VLANs.
  static result<void> validate(const port_config& config);

  /// Probes, configures and starts the device. On failure nothing is left behind. Errors name the
  /// port and carry the driver's reason.
  static result<std::unique_ptr<port>> open(const port_config& config, const port_limits& limits);
  ~port() { close(); }
  port(const port&) = delete;
  port& operator=(const port&) = delete;

  const port_config& config() const { return config_; }
  /// Applies what can change while the port runs. Nothing is changed on failure.
  result<void> update(const port_config& config);

  /// What the other end of the cable sees. A driver that cannot is no error.
  result<void> set_link(bool up);
  /// Frees what came in while no worker polled the port, and says how many frames that were. None
  /// may poll it now.
  std::uint64_t discard_received();

  using member_list = std::vector<std::unique_ptr<port>>;
  /// Of a bond: its members, in the order of its configuration; of any other port: none.
  const member_list& members() const { return members_; }
  /// For a bond whose members are to be those of `config`: the ones that come, opened and by nobody
  /// used; null in place of each that stays. Nothing is changed.
  result<member_list> open_members(const port_config& config, const port_limits& limits) const;
  /// The bond has these members from now on, in the order of `to`; `coming` is what open_members()
  /// gave. Returns those that leave: still open, since workers may use them.
  member_list change_members(const std::vector<std::string>& to, member_list coming);
  std::vector<mac_bytes> macs() const;  // of the members
  std::uint64_t bond_seed() const { return bond_seed_; }

  std::uint16_t device() const { return device_; }
  /// Bit set of the DPDK port ids that belong to it.
  std::uint64_t devices() const;
  unsigned rx_queues() const { return rx_queues_; }
  unsigned tx_queues() const { return tx_queues_; }
  /// The transmit queue of a worker, with its lock if it is shared.
  tx_queue tx_queue_of(unsigned worker) const;
  bool tx_shared() const;
  int numa_node() const { return numa_node_; }
  /// Bytes of a frame with two tags that fills the MTU.
  unsigned longest_frame() const;
  const std::string& driver() const { return driver_; }
  const std::uint8_t* mac() const { return mac_; }
  bool strips_tags() const;
  /// Of a device; what a bond's is, its state says (bond/bond_state.h). One that is lost stays so.
  link_state link();
  /// What the device counts itself: rx_missed, rx_errors, rx_no_mbuf, tx_errors. Of a bond: its
  /// members, those that left included.
  std::vector<counter> device_counters() const;
  /// What the device counts as received and sent.
  std::pair<std::uint64_t, std::uint64_t> packets() const;
  /// Closes the port, and gives its pools, to be freed when they are full again (packet_pool.h);
  /// empty ones when it uses a shared one. No worker may use the port any more.
  void take_pools(std::vector<packet_pool>& to);
  /// What its queues receive into.
  rte_mempool* receive_pool() const { return packets_; }
  unsigned packets_in_use() const;

 private:
  port() = default;
  static result<std::unique_ptr<port>> open_device(const port_config& config,
                                                   const port_limits& limits, bool is_member);
  // port_bond.cc
  static result<void> validate_bond(const port_config& config);
  static result<std::unique_ptr<port>> open_bond(const port_config& config,
                                                 const port_limits& limits);
  static port_config member_config(const port_config& bond, const std::string& devargs);
  result<void> each_member(const std::function<result<void>(port&)>& change,
                           const std::function<void(port&)>& undo);
  result<void> update_bond(const port_config& config);
  void take_after_members();
  member_list::const_iterator member_named(const std::string& devargs) const;
  void close();  // stops, closes and removes the device; no worker may use it any more
  result<void> open_steps(const port_limits& limits);
  result<void> probe(const port_limits& limits);
  result<void> configure(const port_limits& limits);
  result<void> setup_pool(const port_limits& limits);
  result<void> setup_queues(const port_limits& limits);
  result<void> setup_rx_queue(std::uint16_t queue, unsigned node);
  result<void> start();
  result<void> check_interface(const rte_eth_dev_info& info) const;
  result<void> check_mtu(unsigned mtu, const rte_eth_dev_info& info) const;
  bool is_xdp() const { return driver_ == "net_af_xdp"; }
  unsigned longest_received() const;
  result<void> set_mtu(unsigned mtu);
  result<void> set_promiscuous(bool on);
  tl::unexpected<error> failed(const std::string& step, int code) const;
  tl::unexpected<error> probe_failed(const std::string& name, int code) const;
  std::string where() const {
    return "port " + config_.name + (is_member_ ? ": member " + config_.devargs : "");
  }

  port_config config_;
  bool is_member_ = false;
  member_list members_;
  std::vector<counter> counters_of_left_;  // members
  std::uint64_t bond_seed_ = 0;
  std::uint16_t device_ = 0;
  bool probed_ = false;
  bool started_ = false;
  unsigned rx_queues_ = 0;
  unsigned tx_queues_ = 0;
  int numa_node_ = -1;
  std::string driver_;
  kernel_interface interface_;
  std::uint8_t mac_[6] = {};
  std::uint16_t rx_descriptors_ = 0, tx_descriptors_ = 0;
  unsigned mbuf_bytes_ = 0;
  packet_pool pool_;
  rte_mempool* packets_ = nullptr;  // what the queues receive into
  xdp_files xdp_files_;
  std::unique_ptr<xdp_packets> xdp_packets_;
  held_interfaces interfaces_;
  std::vector<std::unique_ptr<tx_lock>> locks_;
  std::atomic<bool> lost_{false};  // set by DPDK's interrupt thread, too
};

}  // namespace coua::dp
