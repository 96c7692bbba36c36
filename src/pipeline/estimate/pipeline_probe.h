// SPDX-License-Identifier: Apache-2.0
//
// What small pipelines cost a packet, as the executor runs them: the source of all atoms of the
// model (calibrate.h). One bridge and one executor, which get other rules for each measurement.
//
// Packets are of 64 kinds, whose addresses tell them apart; all that rules of a few hundred bytes
// touch stays in the first-level cache. Bursts are full. The clock runs while the executor does.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/estimate/calibration.h"

namespace coua::pipeline {

class pipeline_probe {
 public:
  static constexpr unsigned n_kinds = 64;
  /// Ports 1 to n; packets come in by the first one.
  static constexpr port_no in_port = 1, out_port = 2, other_port = 3;

  // Fields of packets of a kind.
  static constexpr std::uint64_t eth_dst(unsigned kind) { return 0x0200'0000'1000 + kind; }
  static constexpr std::uint64_t eth_src(unsigned kind) { return 0x0200'0000'2000 + kind; }
  /// In a /8 of its own.
  static constexpr std::uint32_t ip_src(unsigned kind) { return (kind + 1) << 24 | 1; }
  /// In a /16 of its own, of one /8.
  static constexpr std::uint32_t ip_dst(unsigned kind) { return 0x0a00'0001 | kind << 16; }
  static constexpr std::uint16_t tcp_src = 1024, tcp_dst = 80;

  /// Small classifiers are measured.
  static constexpr compiler_params compiled_with{.limits = no_mixed_tables};

  /// Errors: no_memory.
  static result<std::unique_ptr<pipeline_probe>> create();

  /// What packets of one kind take, and packets of all kinds in a random order, in rounds of some
  /// bursts.
  struct rounds {
    std::vector<double> alike, mixed;  // cycles of a packet
  };
  /// Some more of both. The rules must be right.
  void measure(std::span<const operation> rules, bool tagged, rounds& out);
  /// Packets of the last burst that went nowhere.
  unsigned n_dropped() const { return worker_->n_dropped(); }

 private:
  class copies final : public packet_copier {
   public:
    bool copy(const owned_packet& from, owned_packet& to) noexcept override;
    void give_back(const owned_packet&) noexcept override { --n_; }
    void clear() { n_ = 0; }

   private:
    static constexpr unsigned most = 2 * executor::burst_max, bytes = 256;
    alignas(64) std::uint8_t memory_[most][bytes];
    unsigned n_ = 0;
  };

  pipeline_probe();
  void write_frames(bool tagged);
  /// Of a packet, in each of some bursts.
  double run_bursts(bool alike) noexcept;

  copies copies_;
  std::unique_ptr<running_bridge> bridge_;
  std::unique_ptr<executor> worker_;
  std::uint64_t clock_cycles_ = 0;  // of two looks at the clock
  std::uint64_t state_ = 1;
  static constexpr std::size_t headroom = 128, frame_bytes = 64, buffer_bytes = 256;
  alignas(64) std::uint8_t frames_[n_kinds][frame_bytes] = {};
  alignas(64) std::uint8_t buffers_[executor::burst_max][buffer_bytes] = {};
};

}  // namespace coua::pipeline
