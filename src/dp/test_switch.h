// SPDX-License-Identifier: Apache-2.0
//
// The whole switch, its threads included, with rings for ports: no privileges, no huge pages. And
// frames for it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dp/switch.h"
#include "dp/test_ring_port.h"

namespace coua::dp {

constexpr std::uint64_t host(unsigned n) { return 0x020000000000u + n; }
constexpr std::uint64_t broadcast = 0xFFFFFFFFFFFFu;

/// An untagged frame, or one with a tag of this control word.
frame_bytes make_frame(std::uint64_t to, std::uint64_t from, int control = -1, unsigned size = 60);
frame_bytes without_tag(frame_bytes frame);
frame_bytes with_tag(frame_bytes frame, unsigned control);

std::uint64_t value(const std::vector<counter>& counters, const std::string& name);

/// Waits long: only a failure costs the time, and a machine may be busy with other things.
template <typename Condition>
bool eventually(const Condition& condition, unsigned ms = 30'000) {
  for (unsigned i = 0; i < ms; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

class switch_test : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }
  void TearDown() override;
  void start(switch_config config);

  port_config config_of(const std::string& name);
  test_ring_port& access(const std::string& name, std::uint16_t vlan = 1);
  test_ring_port& trunk(const std::string& name, std::uint16_t native,
                        std::vector<std::uint16_t> tagged);
  void add(const port_config& config);

  /// As it is now; fails, and is empty, where there is no such port.
  port_status status_of(const std::string& port);
  std::uint64_t count(const std::string& port, const std::string& name);
  /// Of a VLAN, by name.
  std::map<std::string, std::uint64_t> counts_of_vlan(std::uint16_t vlan);
  /// Whether a counter of a port comes to `n`: a worker counts some things after it has sent.
  ::testing::AssertionResult counts(const std::string& port, const std::string& name,
                                    std::uint64_t n);
  bool learned(std::uint16_t vlan, std::uint64_t mac, const std::string& port,
               unsigned within_ms = 30'000);
  /// Sends a frame from there until it is learned: one alone that comes so soon after one at
  /// another port is not told (learn/suppress_cache.h).
  bool moves(std::uint64_t mac, const std::string& port);
  /// What docs promise of the counters (dp/counters.h).
  void check_sums();

  std::map<std::string, std::unique_ptr<test_ring_port>> rings_;
  std::map<std::string, unsigned> numbers_;
  std::vector<unsigned> cores_;
  std::unique_ptr<l2_switch> switch_;
};

}  // namespace coua::dp
