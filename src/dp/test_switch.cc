// SPDX-License-Identifier: Apache-2.0
#include "dp/test_switch.h"

#include <utility>

namespace coua::dp {
namespace {

void put_mac(frame_bytes& frame, std::uint64_t mac) {
  for (int shift = 40; shift >= 0; shift -= 8)
    frame.push_back(static_cast<std::uint8_t>(mac >> shift));
}

}  // namespace

frame_bytes make_frame(std::uint64_t to, std::uint64_t from, int control, unsigned size) {
  frame_bytes frame;
  put_mac(frame, to);
  put_mac(frame, from);
  if (control >= 0)
    for (const int byte : {0x81, 0x00, control >> 8, control & 0xFF})
      frame.push_back(static_cast<std::uint8_t>(byte));
  frame.push_back(0x08);
  frame.push_back(0x00);
  while (frame.size() < size) frame.push_back(static_cast<std::uint8_t>(frame.size() * 7 + from));
  return frame;
}

frame_bytes without_tag(frame_bytes frame) {
  frame.erase(frame.begin() + 12, frame.begin() + 16);
  return frame;
}
frame_bytes with_tag(frame_bytes frame, unsigned control) {
  const std::uint8_t tag[4] = {0x81, 0x00, static_cast<std::uint8_t>(control >> 8),
                               static_cast<std::uint8_t>(control)};
  frame.insert(frame.begin() + 12, tag, tag + 4);
  return frame;
}

std::uint64_t value(const std::vector<counter>& counters, const std::string& name) {
  for (const counter& each : counters)
    if (each.name == name) return each.value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

void switch_test::start(switch_config config) {
  switch_.reset();
  eal_params eal;
  eal.huge_pages = false;
  eal.memory_mib = 256;
  eal.cores = cores_;
  if (config.fib_entries == switch_config{}.fib_entries) config.fib_entries = 4000;
  auto made = l2_switch::create(eal, config);
  ASSERT_TRUE(made) << made.error().message();
  switch_ = std::move(*made);
}

void switch_test::TearDown() {
  check_sums();
  switch_.reset();
  rings_.clear();
  EXPECT_EQ(test_ring_port::in_use(), 0u) << "frames leaked";
}

port_config switch_test::config_of(const std::string& name) {
  port_config config;
  config.name = name;
  config.devargs = rings_.at(name)->devargs();
  config.rx_descriptors = config.tx_descriptors = 64;
  return config;
}

test_ring_port& switch_test::access(const std::string& name, std::uint16_t vlan) {
  rings_[name] = std::make_unique<test_ring_port>(name);
  port_config config = config_of(name);
  config.native_vlan = vlan;
  add(config);
  return *rings_[name];
}

test_ring_port& switch_test::trunk(const std::string& name, std::uint16_t native,
                                   std::vector<std::uint16_t> tagged) {
  rings_[name] = std::make_unique<test_ring_port>(name);
  port_config config = config_of(name);
  config.mode = vlan_mode::trunk;
  config.native_vlan = native;
  config.tagged = std::move(tagged);
  add(config);
  return *rings_[name];
}

void switch_test::add(const port_config& config) {
  const auto number = switch_->add_port(config);
  ASSERT_TRUE(number) << number.error().message();
  numbers_[config.name] = *number;
}

port_status switch_test::status_of(const std::string& port) {
  for (port_status& each : switch_->ports())
    if (each.config.name == port) return each;
  ADD_FAILURE() << "no port " << port;
  return {};
}

std::uint64_t switch_test::count(const std::string& port, const std::string& name) {
  const auto counters = switch_->port_counters(port);
  return counters ? value(*counters, name) : 0;
}

std::map<std::string, std::uint64_t> switch_test::counts_of_vlan(std::uint16_t vlan) {
  std::map<std::string, std::uint64_t> named;
  for (const vlan_status& each : switch_->vlans())
    if (each.vlan == vlan)
      for (const counter& one : each.counters) named[one.name] = one.value;
  return named;
}

::testing::AssertionResult switch_test::counts(const std::string& port, const std::string& name,
                                               std::uint64_t n) {
  if (eventually([&] { return count(port, name) == n; })) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << name << " of port " << port << " is " << count(port, name) << ", not " << n;
}

bool switch_test::learned(std::uint16_t vlan, std::uint64_t mac, const std::string& port,
                          unsigned within_ms) {
  return eventually(
      [&] {
        const auto entry = switch_->fib_find({}, vlan, mac);
        return entry && entry->port == numbers_[port];
      },
      within_ms);
}

bool switch_test::moves(std::uint64_t mac, const std::string& port) {
  return eventually([&] {
    return rings_.at(port)->send(make_frame(broadcast, mac)) && learned(1, mac, port, 100);
  });
}

void switch_test::check_sums() {
  if (!switch_) return;
  std::vector<counter> t;
  ASSERT_TRUE(eventually([&] {
    t = switch_->totals();
    std::uint64_t in = value(t, "forwarded") + value(t, "flooded") + value(t, "to_controller") +
                       value(t, "to_lacp");
    for (const char* drop :
         {"drop_truncated", "drop_bond_standby", "drop_lacp_full", "drop_ingress_vlan",
          "drop_source_multicast", "drop_link_local", "drop_hairpin", "drop_egress_vlan",
          "drop_port_down", "drop_no_fwd", "drop_no_member", "drop_storm_broadcast",
          "drop_storm_multicast", "drop_storm_unknown_unicast", "drop_mac_limit",
          "drop_no_headroom", "drop_pipeline", "drop_packet_in_rate", "drop_packet_in_full"})
      in += value(t, drop);
    return value(t, "rx_packets") + value(t, "from_controller") + value(t, "pipeline_copies") ==
               in &&
           value(t, "forwarded") + value(t, "flood_copies") + value(t, "mirrored") ==
               value(t, "tx_packets") + value(t, "drop_tx_full") + value(t, "drop_tx_too_long");
  })) << "rx "
      << value(t, "rx_packets") << " forwarded " << value(t, "forwarded") << " flooded "
      << value(t, "flooded") << " copies " << value(t, "flood_copies") << " tx "
      << value(t, "tx_packets") << " full " << value(t, "drop_tx_full");
}

}  // namespace coua::dp
