// SPDX-License-Identifier: Apache-2.0
//
// A switch forwards fragments as they are. The driver net_af_packet of DPDK 22.11 asks the kernel
// to put IPv4 datagrams together before it hands them over (PACKET_FANOUT_FLAG_DEFRAG), whatever
// its devargs say: what is longer than the ring's frames is then cut, and the rest longer than the
// MTU of the port that it leaves by. The driver is a shared object, so the function by which it
// asks is defined here, before that of the C library, and takes this one flag out.
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

extern "C" [[gnu::visibility("default")]] int setsockopt(int fd, int level, int name,
                                                         const void* value,
                                                         socklen_t size) noexcept {
  std::uint32_t fanout = 0;
  if (level == SOL_PACKET && name == PACKET_FANOUT && size == sizeof fanout) {
    std::memcpy(&fanout, value, sizeof fanout);
    fanout &= ~(std::uint32_t{PACKET_FANOUT_FLAG_DEFRAG} << 16);
    value = &fanout;
  }
  return static_cast<int>(syscall(SYS_setsockopt, fd, level, name, value, size));
}
