// SPDX-License-Identifier: Apache-2.0
#include "dp/port.h"

#include <net/if.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pci.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "dp/drivers/devargs.h"
#include "dp/drivers/memif_listeners.h"
#include "dp/drivers/probed_device.h"
#include "dp/eal.h"

namespace coua::dp {
namespace {

using namespace std::chrono_literals;

// Between two looks whether the kernel has given up the queue of the port that was there before.
constexpr auto first_pause = 10ms, longest_pause = 100ms;

constexpr unsigned header_bytes = RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN;
constexpr unsigned mtu_min = 68, mtu_max = 9600;
constexpr unsigned descriptors_default = 1024;
// A packet counts its room, headroom included, in 16 bits.
constexpr unsigned frame_max = UINT16_MAX - RTE_PKTMBUF_HEADROOM;

// Devices whose receive queues exist, and receive, whether or not they are asked for: all of them
// must be polled. Their number comes from the devargs.
constexpr std::array fixed_queue_drivers{"net_af_packet", "net_af_xdp", "net_pcap", "net_ring",
                                         "net_vhost"};
// Devices that want as many transmit as receive queues.
constexpr std::array paired_queue_drivers{"net_tap"};
// Devices whose other end must have as many queues, and cannot tell: frames on a queue that it
// lacks are lost. One queue is what both have when nobody said otherwise.
constexpr std::array agreed_queue_drivers{"net_memif"};
// Devices that spread a long frame over several packets without being asked, and do not say that
// they can.
constexpr std::array spreading_drivers{"net_memif", "net_pcap", "net_vhost"};
// Devices that want room in each packet for a header of their own, before the frame.
constexpr std::array virtio_drivers{"net_virtio", "net_virtio_user"};
constexpr unsigned virtio_header_bytes = 12;

template <std::size_t N>
bool any_of(const std::array<const char*, N>& list, std::string_view driver) {
  return std::find(list.begin(), list.end(), driver) != list.end();
}

int on_removed(std::uint16_t, rte_eth_event_type, void* lost, void*) {
  static_cast<std::atomic<bool>*>(lost)->store(true, std::memory_order_relaxed);
  return 0;
}

/// The largest MTU that the device takes, as DPDK itself computes it.
unsigned largest_mtu(const rte_eth_dev_info& info) {
  const bool told = info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu;
  const unsigned overhead =
      told ? info.max_rx_pktlen - info.max_mtu : RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  return std::min<unsigned>(info.max_mtu, info.max_rx_pktlen - overhead);
}

result<void> validate_vlans(const port_config& config, const std::string& where) {
  const auto bad = [](std::uint16_t vlan) { return vlan < 1 || vlan > 4094; };
  const bool trunk = config.mode == vlan_mode::trunk;
  if (bad(config.native_vlan) && !(trunk && config.native_vlan == 0))
    return fail(errc::invalid, where,
                "native VLAN " + std::to_string(config.native_vlan) + " is not in 1 to 4094");
  if (!trunk) return {};
  for (const std::uint16_t vlan : config.tagged) {
    if (bad(vlan))
      return fail(errc::invalid, where,
                  "tagged VLAN " + std::to_string(vlan) + " is not in 1 to 4094");
    if (vlan == config.native_vlan)
      return fail(errc::invalid, where,
                  "VLAN " + std::to_string(vlan) + " is both native (untagged) and tagged");
  }
  return {};
}

}  // namespace

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() <= 32 && name.front() != '-' &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") ==
             std::string::npos;
}

void add_counters(std::vector<counter>& sum, const std::vector<counter>& more) {
  if (sum.empty()) {
    sum = more;
  } else {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i].value += more[i].value;
  }
}

tl::unexpected<error> port::failed(const std::string& step, int code) const {
  const int number = code < 0 ? -code : code;
  return fail(number == ENOMEM                      ? errc::no_memory
              : number == EPERM || number == EACCES ? errc::denied
                                                    : errc::io,
              where(), step + ": " + eal_call::reason(rte_strerror(number)));
}

tl::unexpected<error> port::probe_failed(const std::string& name, int code) const {
  auto e = failed("cannot probe " + config_.devargs, code);
  // Of a driver's name, DPDK says only that it cannot be parsed.
  if (e.value().what.find("failed to parse device") != std::string::npos)
    e.value().what += "; DPDK here has no driver for '" + name + "'";
  if (rte_pci_addr address;
      rte_eal_has_pci() == 0 && rte_pci_addr_parse(name.c_str(), &address) == 0)
    e.value().what +=
        "; couad started without the PCI bus: it needs 'dpdk.pci: on' in its file, and a restart";
  e.value().what += "; at log level debug couad shows all that DPDK says";
  return e;
}

result<void> port::validate(const port_config& config) {
  const std::string where = "port " + config.name;
  if (!valid_name(config.name))
    return fail(errc::invalid, where,
                "a port's name has 1 to 32 of A-Z a-z 0-9 _ . -, and not - first");
  if (config.bond.any()) {
    if (auto valid = validate_bond(config); !valid) return valid;
  } else if (config.devargs.empty()) {
    return fail(errc::invalid, where, "devargs are missing");
  }
  if (config.mtu < mtu_min || config.mtu > mtu_max)
    return fail(errc::invalid, where + ": mtu",
                std::to_string(config.mtu) + " is not in 68 to 9600");
  for (const unsigned n :
       {config.rx_queues, config.tx_queues, config.rx_descriptors, config.tx_descriptors})
    if (n > UINT16_MAX) return fail(errc::invalid, where, "queues and descriptors end at 65,535");
  if (config.local && config.mirror.any())
    return fail(errc::invalid, where, "a mirror port cannot be local: it receives nothing");
  return validate_vlans(config, where);
}

result<std::unique_ptr<port>> port::open(const port_config& config, const port_limits& limits) {
  if (auto valid = validate(config); !valid) return tl::unexpected(valid.error());
  return config.bond.any() ? open_bond(config, limits) : open_device(config, limits, false);
}

/// A queue that the port before may still have is waited for. One that is taken for another reason
/// is refused at once: whoever waits here is the thread that owns the tables.
result<std::unique_ptr<port>> port::open_device(const port_config& config,
                                                const port_limits& limits, bool is_member) {
  for (auto pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
    std::unique_ptr<port> opened(new port);
    opened->config_ = config;
    opened->is_member_ = is_member;
    const eal_call call;
    const result<void> done = opened->open_steps(limits);
    if (done) return opened;
    if (done.error().code != errc::busy || !opened->interfaces_.was_left_lately())
      return tl::unexpected(done.error());
    if (pause == first_pause)
      log_info("%s: its queue is still that of the port that went: it waits",
               opened->where().c_str());
    opened.reset();
    std::this_thread::sleep_for(pause);
  }
}

/// The destructor undoes the steps that were taken.
result<void> port::open_steps(const port_limits& limits) {
  if (auto taken = held_interfaces::take(config_.devargs, where()))
    interfaces_ = std::move(*taken);
  else
    return tl::unexpected(taken.error());
  if (auto done = probe(limits); !done) return done;
  if (auto done = configure(limits); !done) return done;
  if (is_xdp()) xdp_files_.begin();
  if (auto done = setup_queues(limits); !done) return done;
  if (auto done = start(); !done) return done;
  if (!is_xdp()) return {};
  xdp_files_.end();
  xdp_packets_ = std::make_unique<xdp_packets>(xdp_files_.sockets(), rx_descriptors_);
  return {};
}

result<void> port::probe(const port_limits& limits) {
  const std::string name = config_.devargs.substr(0, config_.devargs.find(','));
  const bool there = rte_eth_dev_get_port_by_name(name.c_str(), &device_) == 0;
  // A device that exists already, made by the embedding program or by EAL arguments, is taken over
  // when it is named without arguments.
  const bool ours = there && (limits.devices_used >> device_ & 1) != 0;
  if (ours || (there && name != config_.devargs))
    return fail(errc::exists, where(), "the device " + name + " is in use");
  if (!there) {
    const eal_call step;
    const memif_watch watch;
    if (const int error = rte_dev_probe(config_.devargs.c_str()); error != 0) {
      close_left_memif_listeners();
      return probe_failed(name, error);
    }
    const std::optional<std::uint16_t> found = find_probed(config_.devargs);
    if (!found) {
      remove_probed(config_.devargs);
      return fail(errc::unsupported, where(), config_.devargs + " is no network device");
    }
    // Under another spelling: what follows would take it from the port that has it.
    if ((limits.devices_used >> *found & 1) != 0)
      return fail(errc::exists, where(), "the device " + name + " is in use");
    device_ = *found;
  }
  probed_ = true;
  rte_eth_dev_callback_register(device_, RTE_ETH_EVENT_INTR_RMV, on_removed, &lost_);
  rte_ether_addr address{};
  rte_eth_macaddr_get(device_, &address);
  std::memcpy(mac_, address.addr_bytes, sizeof mac_);
  numa_node_ = rte_eth_dev_socket_id(device_);
  return {};
}

result<void> port::configure(const port_limits& limits) {
  rte_eth_dev_info info{};
  if (const int error = rte_eth_dev_info_get(device_, &info); error != 0)
    return failed("cannot read the device's limits", error);
  driver_ = info.driver_name;
  interface_ = kernel_interface::of(driver_, info.if_index);
  if (auto stands = check_interface(info); !stands) return stands;
  if (info.max_rx_queues == 0 || info.max_tx_queues == 0)
    return fail(errc::unsupported, where(), "the device cannot both receive and send");
  const auto clamp = [](unsigned n, unsigned most) {
    return std::clamp(n, 1u, std::max(1u, most));
  };
  const bool fixed = any_of(fixed_queue_drivers, driver_);
  const bool agreed = any_of(agreed_queue_drivers, driver_);
  rx_queues_ = config_.rx_queues != 0 ? config_.rx_queues
               : fixed                ? info.max_rx_queues
               : agreed               ? 1
                        : clamp(workers_for_node(numa_node_, limits.places), info.max_rx_queues);
  tx_queues_ = config_.tx_queues != 0 ? config_.tx_queues
               : agreed               ? 1
                                      : clamp(limits.workers_all, info.max_tx_queues);
  if (config_.tx_queues == 0 && config_.rx_queues == 0 && any_of(paired_queue_drivers, driver_))
    rx_queues_ = tx_queues_ = std::max(rx_queues_, tx_queues_);
  if (rx_queues_ > info.max_rx_queues || tx_queues_ > info.max_tx_queues)
    return fail(errc::invalid, where(),
                "the device has " + std::to_string(info.max_rx_queues) + " receive and " +
                    std::to_string(info.max_tx_queues) + " transmit queues at most");

  rte_eth_conf conf{};
  constexpr std::uint64_t wanted = RTE_ETH_RSS_IP | RTE_ETH_RSS_L2_PAYLOAD;
  const std::uint64_t rss = info.flow_type_rss_offloads & wanted;
  if (rx_queues_ > 1 && rss != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = rss;
  }
  if (auto fits = check_mtu(config_.mtu, info); !fits) return fits;
  conf.rxmode.mtu = config_.mtu;
  conf.intr_conf.rmv = info.dev_flags != nullptr && (*info.dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
  if (longest_received() > frame_max)
    return fail(errc::invalid, where() + ": devargs",
                "size=" + std::to_string(longest_received()) + " is more than the " +
                    std::to_string(frame_max) + " bytes that a packet can hold");
  if (!is_xdp() && limits.mbuf_bytes != 0 && limits.mbuf_bytes < longest_received()) {
    if ((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0)
      conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
    else if (!any_of(spreading_drivers, driver_))
      return fail(errc::invalid, where() + ": memory.mbuf_bytes",
                  std::to_string(limits.mbuf_bytes) + " is less than the " +
                      std::to_string(longest_received()) + " bytes of a frame (MTU " +
                      std::to_string(config_.mtu) + "), and driver " + driver_ +
                      " does not spread one over several packets: raise it, or lower the port's "
                      "mtu");
  }
  if ((info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0)
    conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  const eal_call step;
  if (const int error = rte_eth_dev_configure(device_, static_cast<std::uint16_t>(rx_queues_),
                                              static_cast<std::uint16_t>(tx_queues_), &conf);
      error != 0)
    return failed("cannot configure", error);
  return {};
}

/// Where one argument is unknown, or is there twice, net_tap goes on as if there were none.
result<void> port::check_interface(const rte_eth_dev_info& info) const {
  const std::string wanted = text_in(config_.devargs, "iface");
  std::array<char, IF_NAMESIZE> found{};
  if (driver_ != "net_tap" || wanted.empty() || wanted.find('%') != std::string::npos ||
      if_indextoname(info.if_index, found.data()) == nullptr ||
      wanted.substr(0, IF_NAMESIZE - 1) == found.data())
    return {};
  return fail(errc::invalid, where() + ": devargs",
              config_.devargs + " made the interface " + found.data() + ", not " + wanted +
                  ": its driver takes iface, mac and remote, each once, and none where one of them "
                  "is wrong");
}

result<void> port::check_mtu(unsigned mtu, const rte_eth_dev_info& info) const {
  const unsigned most = largest_mtu(info);
  if (mtu >= info.min_mtu && mtu <= most) return {};
  return fail(errc::invalid, where() + ": mtu",
              std::to_string(mtu) + " is not in " + std::to_string(info.min_mtu) + " to " +
                  std::to_string(most) + ", which driver " + driver_ + " takes");
}

/// Bytes of the longest frame that may come in. net_null makes frames of one size, whatever the
/// MTU.
unsigned port::longest_received() const {
  if (driver_ != "net_null") return longest_frame();
  return number_in(config_.devargs, "no-rx", 0) != 0 ? 0 : number_in(config_.devargs, "size", 64);
}

result<void> port::setup_pool(const port_limits& limits) {
  const unsigned received = longest_received();
  const unsigned longest = std::max(longest_frame(), received);
  const unsigned in_front = any_of(virtio_drivers, driver_) ? virtio_header_bytes : 0;
  const unsigned room = longest + in_front + RTE_PKTMBUF_HEADROOM;
  const unsigned fitting =
      std::clamp<unsigned>(RTE_ALIGN(room, 64), RTE_MBUF_DEFAULT_BUF_SIZE, UINT16_MAX);
  mbuf_bytes_ = limits.mbuf_bytes != 0 ? limits.mbuf_bytes + RTE_PKTMBUF_HEADROOM : fitting;
  if (limits.shared_pool && !is_xdp()) {
    auto shared = limits.shared_pool(numa_node_, mbuf_bytes_);
    if (!shared) return tl::unexpected(shared.error());
    packets_ = (*shared)->get();
    mbuf_bytes_ = rte_pktmbuf_data_room_size(packets_);
    if (limits.mbuf_bytes != 0 || fitting <= mbuf_bytes_) return {};
    const bool by_mtu = longest_frame() >= received;
    return fail(errc::invalid, where() + (by_mtu ? ": mtu" : ": devargs"),
                (by_mtu ? std::to_string(config_.mtu) : "size=" + std::to_string(received)) +
                    " does not fit the node's packets of " + std::to_string(mbuf_bytes_) +
                    " bytes: set memory.mbuf_bytes");
  }
  // What can be out at a time: full receive and transmit rings, and per worker a pool cache (1.5
  // times 256), two bursts in hand and a transmit buffer per port, of which only few are full.
  // AF_XDP also fills a ring of 2,048 from which the kernel receives, and copies what it sends into
  // packets of its own port, which come back through a completion ring of 2,048.
  const unsigned driver_holds = is_xdp() ? rx_queues_ * 4096 : 0;
  const unsigned computed = rx_queues_ * rx_descriptors_ + tx_queues_ * tx_descriptors_ +
                            limits.workers_all * (384 + 8 * limits.burst) + 1024 + driver_holds;
  if (is_xdp()) mbuf_bytes_ = packet_pool::room_of_page();
  auto pool = is_xdp() ? packet_pool::create_of_pages(where(), computed, numa_node_)
                       : packet_pool::create(where(), computed, mbuf_bytes_, numa_node_);
  if (!pool) return tl::unexpected(pool.error());
  pool_ = std::move(*pool);
  packets_ = pool_.get();
  return {};
}

result<void> port::setup_rx_queue(std::uint16_t queue, unsigned node) {
  const unsigned in_use = pool_.in_use();
  errno = 0;
  const int code = rte_eth_rx_queue_setup(device_, queue, rx_descriptors_, node, nullptr, packets_);
  if (code == 0) return {};
  // The driver makes EINVAL of all that goes wrong.
  const bool is_taken = is_xdp() && errno == EBUSY;
  auto e = failed("cannot set up receive queue " + std::to_string(queue), code);
  if (is_taken) {
    e.value().code = errc::busy;
    e.value().what += "; another AF_XDP socket has this queue, or a program the interface";
  }
  // The driver of DPDK 22.11 takes packets before it asks the kernel for the queue, and forgets
  // them when that says no.
  if (is_xdp()) pool_.lose(pool_.in_use() - in_use);
  return e;
}

result<void> port::setup_queues(const port_limits& limits) {
  const auto or_default = [](unsigned n) {
    return static_cast<std::uint16_t>(n != 0 ? n : descriptors_default);
  };
  rx_descriptors_ = or_default(config_.rx_descriptors);
  tx_descriptors_ = or_default(config_.tx_descriptors);
  if (const int error =
          rte_eth_dev_adjust_nb_rx_tx_desc(device_, &rx_descriptors_, &tx_descriptors_);
      error != 0)
    return failed("cannot use that many descriptors", error);
  if (auto done = setup_pool(limits); !done) return done;
  const eal_call step;
  const unsigned node =
      numa_node_ < 0 ? static_cast<unsigned>(SOCKET_ID_ANY) : static_cast<unsigned>(numa_node_);
  for (unsigned q = 0; q < rx_queues_; ++q)
    if (auto done = setup_rx_queue(static_cast<std::uint16_t>(q), node); !done) return done;
  for (unsigned q = 0; q < tx_queues_; ++q)
    if (const int error = rte_eth_tx_queue_setup(device_, static_cast<std::uint16_t>(q),
                                                 tx_descriptors_, node, nullptr);
        error != 0) {
      auto e = failed("cannot set up transmit queue " + std::to_string(q), error);
      // net_tap has packets of its own, for each queue.
      if (e.value().what.find("mbuf pool") != std::string::npos)
        e.value().what += ": raise memory.packet_mib";
      return e;
    }
  if (tx_queues_ < limits.workers_all)
    for (unsigned q = 0; q < tx_queues_; ++q) locks_.push_back(std::make_unique<tx_lock>());
  return {};
}

result<void> port::start() {
  // Some virtual devices have a fixed MTU and say so: they carry what they carry.
  if (const int error = rte_eth_dev_set_mtu(device_, static_cast<std::uint16_t>(config_.mtu));
      error != 0 && error != -ENOTSUP)
    return failed("mtu: cannot set " + std::to_string(config_.mtu), error);
  const eal_call step;
  if (const int error = rte_eth_dev_start(device_); error != 0)
    return failed("cannot start", error);
  started_ = true;
  if (auto done = set_promiscuous(config_.promiscuous); !done) return done;
  // A member without promiscuous mode must hear LACP, which speaks to a group.
  if (is_member_) (void)rte_eth_allmulticast_enable(device_);
  return config_.enabled ? result<void>{} : set_link(false);
}

/// The plan keeps a disabled port out of forwarding whatever its driver can, so one that cannot is
/// no reason to refuse.
result<void> port::set_link(bool up) {
  if (!members_.empty())
    return each_member([&](port& member) { return member.set_link(up); },
                       [&](port& member) { (void)member.set_link(!up); });
  // Of a TAP that a host has, the host's; of what is gone, nobody's.
  if (interface_.any()) {
    const kernel_interface::state now = interface_.look();
    if (now == kernel_interface::state::hidden || now == kernel_interface::state::gone) return {};
  }
  const eal_call step;
  const int error = up ? rte_eth_dev_set_link_up(device_) : rte_eth_dev_set_link_down(device_);
  if (error == -ENOTSUP && !up)
    log_info("%s: driver %s cannot take the link down: the other end still sees it",
             where().c_str(), driver_.c_str());
  if (error == 0 || error == -ENOTSUP) return {};
  return failed(up ? "cannot bring the link up" : "cannot take the link down", error);
}

std::uint64_t port::discard_received() {
  std::uint64_t freed = 0;
  for (const auto& each : members_) freed += each->discard_received();
  if (!members_.empty() || lost_.load(std::memory_order_relaxed)) return freed;
  for (unsigned q = 0; q < rx_queues_; ++q) {
    // No more than what was there: a source that never ends must not hold this thread.
    for (unsigned left = std::max<unsigned>(rx_descriptors_, descriptors_default); left > 0;) {
      std::array<rte_mbuf*, 32> frames;
      const unsigned n = rte_eth_rx_burst(device_, static_cast<std::uint16_t>(q), frames.data(),
                                          static_cast<std::uint16_t>(frames.size()));
      if (n == 0) break;
      rte_pktmbuf_free_bulk(frames.data(), n);
      freed += n;
      left -= std::min(left, n);
    }
  }
  return freed;
}

result<void> port::set_promiscuous(bool on) {
  const eal_call step;
  const int error = on ? rte_eth_promiscuous_enable(device_) : rte_eth_promiscuous_disable(device_);
  // Virtual devices without the notion see all frames anyway.
  if (error != 0 && error != -ENOTSUP) return failed("cannot change promiscuous mode", error);
  return {};
}

/// Of a port that runs.
result<void> port::set_mtu(unsigned mtu) {
  if (mtu + header_bytes + RTE_PKTMBUF_HEADROOM > mbuf_bytes_)
    return fail(errc::unsupported, where() + ": mtu",
                std::to_string(mtu) + " does not fit this port's packets of " +
                    std::to_string(mbuf_bytes_) + " bytes: remove the port and add it again");
  const eal_call step;
  rte_eth_dev_info info{};
  if (const int error = rte_eth_dev_info_get(device_, &info); error != 0)
    return failed("cannot read the device's limits", error);
  if (auto fits = check_mtu(mtu, info); !fits) return fits;
  const int error = rte_eth_dev_set_mtu(device_, static_cast<std::uint16_t>(mtu));
  if (error == -ENOTSUP)
    return fail(errc::unsupported, where() + ": mtu",
                "driver " + driver_ + " cannot change it, so it stays at " +
                    std::to_string(config_.mtu) + ": remove the port and add it again");
  if (error != 0) return failed("mtu: cannot set " + std::to_string(mtu), error);
  return {};
}

result<void> port::update(const port_config& config) {
  const eal_call call;
  const port_config& old = config_;
  if (config.devargs != old.devargs || config.bond.members != old.bond.members ||
      config.rx_queues != old.rx_queues || config.tx_queues != old.tx_queues ||
      config.rx_descriptors != old.rx_descriptors || config.tx_descriptors != old.tx_descriptors ||
      config.local != old.local)
    return fail(
        errc::unsupported, where(),
        "devargs, queues and descriptors cannot change while the port exists, nor whether it is a "
        "bond or local: remove it and add it again");
  if (auto valid = validate(config); !valid) return valid;
  if (!members_.empty()) return update_bond(config);
  if (config.mtu != old.mtu)
    if (auto done = set_mtu(config.mtu); !done) return done;
  const auto undo_mtu = [&] {
    if (config.mtu != old.mtu) rte_eth_dev_set_mtu(device_, static_cast<std::uint16_t>(old.mtu));
  };
  if (config.promiscuous != old.promiscuous)
    if (auto done = set_promiscuous(config.promiscuous); !done) {
      undo_mtu();
      return done;
    }
  if (config.enabled != old.enabled)
    if (auto done = set_link(config.enabled); !done) {
      if (config.promiscuous != old.promiscuous) std::ignore = set_promiscuous(old.promiscuous);
      undo_mtu();
      return done;
    }
  config_ = config;
  return {};
}

tx_queue port::tx_queue_of(unsigned worker) const {
  const unsigned queue = worker % tx_queues_;
  return {device_, static_cast<std::uint16_t>(queue), false,
          locks_.empty() ? nullptr : locks_[queue].get()};
}

unsigned port::longest_frame() const { return config_.mtu + header_bytes; }

/// Where the device stands on an interface of the kernel, the kernel knows better than the driver
/// (kernel_interface.h). What a hidden one's link is cannot be seen from here: it works, as far as
/// anybody knows, so it counts as up.
link_state port::link() {
  link_state state;
  auto of_kernel = kernel_interface::state::up;
  if (interface_.any() && !lost_.load(std::memory_order_relaxed)) {
    of_kernel = interface_.look();
    if (of_kernel == kernel_interface::state::gone) lost_.store(true, std::memory_order_relaxed);
  }
  if (lost_.load(std::memory_order_relaxed) || rte_eth_dev_is_removed(device_) == 1) {
    state.lost = true;
    return state;
  }
  if (of_kernel == kernel_interface::state::hidden) {
    state.up = true;
    return state;
  }
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(device_, &link) != 0) return state;
  state.up = of_kernel == kernel_interface::state::up && link.link_status == RTE_ETH_LINK_UP;
  state.mbps = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
  return state;
}

std::pair<std::uint64_t, std::uint64_t> port::packets() const {
  rte_eth_stats stats{};
  if (rte_eth_stats_get(device_, &stats) != 0) return {};
  return {stats.ipackets, stats.opackets};
}

std::vector<counter> port::device_counters() const {
  if (!members_.empty()) {
    std::vector<counter> sum = counters_of_left_;
    for (const auto& each : members_) add_counters(sum, each->device_counters());
    return sum;
  }
  rte_eth_stats stats{};
  if (rte_eth_stats_get(device_, &stats) != 0) stats = {};
  // net_tap loses nothing that it took: its errors are frames that it left to the worker, each time
  // that it was offered them. They are sent later, or one of the port's own drops.
  return {{"rx_missed", stats.imissed},
          {"rx_errors", stats.ierrors},
          {"rx_no_mbuf", stats.rx_nombuf},
          {"tx_errors", driver_ == "net_tap" ? 0 : stats.oerrors}};
}

void port::close() {
  const eal_call call;
  if (std::exchange(started_, false)) rte_eth_dev_stop(device_);
  if (!std::exchange(probed_, false)) return;
  // What it refers to goes with this port, so one that runs is waited for.
  while (rte_eth_dev_callback_unregister(device_, RTE_ETH_EVENT_INTR_RMV, on_removed, &lost_) ==
         -EAGAIN)
    std::this_thread::yield();
  rte_eth_dev_info info{};
  const bool known = rte_eth_dev_info_get(device_, &info) == 0;
  const std::vector<int> sockets = xdp_files_.sockets();
  // Of a port that was not opened to its end.
  if (!xdp_packets_) xdp_packets_ = std::make_unique<xdp_packets>(sockets, rx_descriptors_);
  xdp_files_.close_by([this] {
    rte_eth_dev_close(device_);
    xdp_packets_->find(packets_);
  });
  if (!sockets.empty()) interfaces_.left_queue();
  const unsigned lost = xdp_packets_->give_back();
  if (pool_) pool_.lose(lost);
  close_left_memif_listeners();
  if (known && info.device != nullptr && rte_dev_remove(info.device) != 0)
    log_warning("%s: the device stays with DPDK: %s", where().c_str(),
                eal_call::reason("cannot be removed").c_str());
}

}  // namespace coua::dp
