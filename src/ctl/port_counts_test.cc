// SPDX-License-Identifier: Apache-2.0
#include "ctl/port_counts.h"

#include <gtest/gtest.h>

#include "dp/counters.h"

namespace coua::ctl {
namespace {

/// Each counter alone, with the value 1.
ofp::port_facts with(const char* name) {
  ofp::port_facts made;
  count_port({{"learn_reports", 100}, {name, 1}}, made);
  return made;
}
std::uint64_t sum(const ofp::port_facts& of) {
  return of.rx.packets + of.rx.bytes + of.rx.dropped + of.rx.errors + of.tx.packets + of.tx.bytes +
         of.tx.dropped + of.tx.errors;
}

TEST(port_counts, what_is_lost_is_dropped_or_an_error_and_counted_once) {
  for (std::size_t id = 0; id < dp::port_counter::count; ++id) {
    const std::string name = dp::port_counter::name(id);
    const bool is_told = name.starts_with("drop_") || id <= dp::port_counter::tx_bytes;
    EXPECT_EQ(sum(with(name.c_str())), is_told ? 1U : 0U) << name;
  }
  for (const char* name : {"rx_missed", "rx_errors", "rx_no_mbuf", "tx_errors", "drop_shut_down"})
    EXPECT_EQ(sum(with(name)), 1U) << name;
}

TEST(port_counts, who_lost_it_is_the_one_that_received_or_the_one_that_sends) {
  for (const char* name : {"drop_pipeline", "drop_port_down", "drop_ingress_vlan", "rx_missed"})
    EXPECT_EQ(with(name).rx.dropped, 1U) << name;
  for (const char* name :
       {"drop_tx_full", "drop_tx_too_long", "drop_lacp_tx", "drop_no_mbuf", "drop_mirror_no_mbuf"})
    EXPECT_EQ(with(name).tx.dropped, 1U) << name;
  for (const char* name : {"drop_truncated", "rx_errors"})
    EXPECT_EQ(with(name).rx.errors, 1U) << name;
  EXPECT_EQ(with("tx_errors").tx.errors, 1U);
}

}  // namespace
}  // namespace coua::ctl
