// SPDX-License-Identifier: Apache-2.0
#include "ctl/port_counts.h"

#include <algorithm>
#include <string_view>

namespace coua::ctl {
namespace {

/// Copies and frames that were to leave, besides those of drop_tx.
bool is_of_sending(std::string_view name) {
  return name.starts_with("drop_tx_") || name == "drop_lacp_tx" || name == "drop_mirror_no_mbuf" ||
         name == "drop_no_mbuf";
}

}  // namespace

void count_port(const std::vector<dp::counter>& counters, ofp::port_facts& into) {
  for (const dp::counter& one : counters) {
    const std::string_view name = one.name;
    if (name == "rx_packets") {
      into.rx.packets = one.value;
    } else if (name == "rx_bytes") {
      into.rx.bytes = one.value;
    } else if (name == "tx_packets") {
      into.tx.packets = one.value;
    } else if (name == "tx_bytes") {
      into.tx.bytes = one.value;
    } else if (name == "rx_errors" || name == "drop_truncated") {
      into.rx.errors += one.value;
    } else if (name == "tx_errors") {
      into.tx.errors += one.value;
    } else if (name == "rx_missed" || name == "rx_no_mbuf") {
      into.rx.dropped += one.value;
    } else if (name.starts_with("drop_")) {
      (is_of_sending(name) ? into.tx : into.rx).dropped += one.value;
    }
  }
}

}  // namespace coua::ctl
