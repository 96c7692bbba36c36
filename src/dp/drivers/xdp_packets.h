// SPDX-License-Identifier: Apache-2.0
//
// Packets that the AF_XDP driver of DPDK 22.11 has in its rings, and does not give back when the
// port is closed.
//
// The rings are memory that the kernel shares with whoever owns the socket. So they can be looked
// into without the driver: they are mapped here once more as soon as they are there (those of a
// socket whose interface has gone can be mapped no more), and read after the driver has gone.
//
//            fill                     receive
//   driver ---------> kernel: copies ---------> driver, which hands the packet to a worker
//
//            transmit                 completion
//   driver ---------> kernel: sends  ---------> driver, which frees the packet
//
// Each ring counts what was ever put in and taken out. Once nobody sends and receives, the driver's
// own counts stand still, and the packets that did not come back are those of the four rings, and
// those that the kernel holds between two of them: `fill taken - receive put` that it took for a
// frame and then dropped that, which it keeps for the next one, and `transmit taken - completion
// put` that are being sent.
//
// What is read is the kernel's business with another program. Unless each entry is a packet that
// only the driver can have - one of the port's pool, named once, fresh where it waits for a frame -
// and the counts agree, nothing is given back, and the pool stays with the process. So it does
// where the device itself writes to packets (zero copy): nobody tells when it stops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

struct rte_mbuf;
struct rte_mempool;

namespace coua::dp {

/// Thread: the one that adds and removes ports.
class xdp_packets {
 public:
  /// When the driver has opened the port: of its sockets, with so many `descriptors` in their
  /// receive and transmit rings.
  xdp_packets(std::span<const int> sockets, unsigned descriptors);
  ~xdp_packets() { unmap(); }
  xdp_packets(const xdp_packets&) = delete;
  xdp_packets& operator=(const xdp_packets&) = delete;

  /// After the driver closed it: finds the packets, which are of `pool`, and unmaps the rings,
  /// which would keep the sockets.
  void find(rte_mempool* pool);
  /// After the sockets were closed: the kernel writes no more. Gives back what was found. Returns
  /// how many more the kernel had, which nobody can name, and which nobody has any more.
  unsigned give_back();

 private:
  struct ring {
    void* memory = nullptr;
    std::size_t bytes = 0;
    std::uint32_t* producer = nullptr;
    std::uint32_t* consumer = nullptr;
    const char* entries = nullptr;
    unsigned mask = 0;
  };
  struct socket_rings {
    ring receive, transmit, fill, completion;
  };
  using packets = std::vector<rte_mbuf*>;

  bool map(int socket, unsigned descriptors, socket_rings& to);
  static bool add(const ring& from, std::size_t entry_bytes, rte_mempool* pool, packets& to);
  bool add_those_of(const socket_rings& rings, rte_mempool* pool);
  bool plausible(rte_mempool* pool) const;
  void unmap();

  std::vector<socket_rings> sockets_;
  packets waiting_;  // for frames: in the fill and receive rings
  packets sent_;     // or to be sent: in the transmit and completion rings
  unsigned held_ = 0;
};

}  // namespace coua::dp
