// SPDX-License-Identifier: Apache-2.0
//
// What a burst comes to: packets and copies of them, each with where it goes.
#pragma once

#include <array>
#include <cstdint>

#include "net/packet.h"
#include "pipeline/model/field.h"
#include "pipeline/model/packet_in_reason.h"
#include "pipeline/model/port.h"

namespace coua::pipeline {

/// A packet, and the thing that its buffer belongs to (an mbuf).
struct owned_packet {
  net::packet buffer;
  void* owner = nullptr;
};

struct delivery {
  enum class kind : std::uint8_t { port, normal, controller };

  /// What is sent, where the packet itself went on afterwards or was changed; else not set, and it
  /// is the packet (executor::each_delivery).
  owned_packet copy;
  port_no port = 0;  // of kind::port
  port_no in_port = 0;
  std::uint32_t queue = 0;
  std::uint32_t next = 0;  // of the same packet; 0: the last one
  kind to = kind::port;
  // Of kind::controller; others leave here what was here.
  packet_in_reason reason = packet_in_reason::action;
  std::uint8_t table = 0;
  std::uint64_t cookie = 0, metadata = 0, tunnel_id = 0;
  std::array<std::uint32_t, n_registers> reg{};
};

/// Where copies come from.
class packet_copier {
 public:
  virtual ~packet_copier() = default;
  /// A packet with the same bytes and at least as much headroom, in a buffer of its own. False:
  /// there is no memory.
  virtual bool copy(const owned_packet& from, owned_packet& to) noexcept = 0;
  /// A copy that went nowhere.
  virtual void give_back(const owned_packet& copy) noexcept = 0;
};

}  // namespace coua::pipeline
