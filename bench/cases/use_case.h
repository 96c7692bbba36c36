// SPDX-License-Identifier: Apache-2.0
//
// The use cases of ESWITCH (Molnar et al., SIGCOMM 2016, section 4), one for the classifier, and
// one for routers of which several share a table: a pipeline of OpenFlow tables, and flows of
// packets through it, of each of which is known where it leaves and what it looks like then.
//
//   l2-flows    0  eth_dst --> output                                        R addresses
//
//   l3          0  longest prefix of ip_dst --> new MACs, TTL, output        R prefixes
//
//   vrf         0  VLAN of a virtual router, longest prefix of ip_dst --> as l3
//                                                                            R prefixes of ten
//
//   lb          0  from a back end --> output to the clients                 R services, two back
//                  from clients: half of ip_src --> 1 or 2                   ends, by the first bit
//               1, 2  ip_dst, tcp_dst 80 --> output to a back end            of ip_src
//
//      as one table: in_port, or ip_dst + tcp_dst + half of ip_src
//
//   gateway     0  users' port, VLAN: pop --> 2 to 11;  network's port --> 1
//               2 to 11   one for each customer end point (CE): private ip_src -->
//                         public ip_src, 110
//               110  longest prefix of ip_dst --> new MACs, TTL, output      R prefixes
//               1    block of public ip_dst --> 12 to 21
//               12 to 21  public ip_dst --> private ip_dst, new MACs, TTL, VLAN, output
//
//   classify    0  R masks, one rule each --> output                         R masks
//                  with an attack: see classify_case.h
//
// gateway has 10 CEs with 20 users each, gateway-1m with 100,000. The users of each CE have the
// same private addresses. What no rule matches is dropped; no packet of a flow is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/cases/tcp_frame.h"
#include "pipeline/model/operation.h"

namespace coua::bench {

/// Which way the packets of a gateway go: from the users, to them, or every other flow.
enum class flow_direction { up, down, both };
const char* to_string(flow_direction);

struct case_params {
  std::string name = "l2-flows";
  std::uint64_t rules = 0;  // R; 0: default_rules()
  std::uint64_t flows = 1000;
  unsigned size = 64;  // bytes of a frame on the wire, with the check sequence, 64 to 1518
  std::uint64_t seed = 1;
  bool single_table = false;                      // of lb
  std::uint64_t users = 0;                        // of a CE of a gateway; 0: those of its name
  flow_direction direction = flow_direction::up;  // of a gateway
  std::optional<unsigned> attack = {};            // of classify: percent of the flows
};

inline constexpr std::uint64_t most_case_rules = 4'000'000;
inline constexpr std::uint64_t most_case_flows = std::uint64_t{1} << 24;
inline constexpr std::uint64_t spare_rules = 1024;  // that updates may add
inline constexpr unsigned most_attack = 90;
/// Of these flows, those of an attack of `percent`: rounded down.
constexpr std::uint64_t attacking_flows(std::uint64_t flows, unsigned percent) {
  return flows * percent / 100;
}
/// Masks that packets of no attack have, the first ones; 1 at the least.
constexpr std::uint64_t popular_masks(std::uint64_t masks) { return masks < 200 ? 1 : masks / 100; }
inline constexpr std::uint64_t most_users = 100'000;  // of a CE: what its public block holds

/// All packets of it are alike.
struct case_flow {
  pipeline::port_no in_port = 0;
  tcp_frame sent;
  pipeline::port_no out_port = 0;
  tcp_frame expected;  // as it leaves; a tag more or less makes the frame longer or shorter
};

class use_case {
 public:
  virtual ~use_case() = default;
  use_case(const use_case&) = delete;
  use_case& operator=(const use_case&) = delete;

  const case_params& params() const { return params_; }
  /// Ports 1 to n.
  virtual unsigned n_ports() const = 0;
  /// All rules, as they may be added one after the other.
  virtual void each_rule(const std::function<void(pipeline::rule_mod)>& call) const = 0;
  /// A further rule of the table that R rules are in, which no packet of a flow meets: what updates
  /// add and remove. `i` below spare_rules.
  virtual pipeline::rule_mod spare_rule(std::uint64_t i) const = 0;
  /// Of flow i, below params().flows. Flows are spread evenly over rules and users.
  virtual case_flow flow(std::uint64_t i) const = 0;

  /// Bytes of a frame as it comes: without the check sequence.
  std::size_t sent_bytes() const { return params_.size - 4; }
  /// Bytes of the flow's frames when they leave.
  std::size_t expected_bytes(const case_flow& of) const {
    return sent_bytes() + (of.expected.vid != 0 ? 4U : 0U) - (of.sent.vid != 0 ? 4U : 0U);
  }

 protected:
  explicit use_case(case_params params) : params_(std::move(params)) {}

 private:
  case_params params_;
};

/// "l2-flows", "l3", "vrf", "lb", "gateway", "gateway-1m", "classify".
const std::vector<std::string>& case_names();
/// Rules of the paper's case, where it names them.
std::uint64_t default_rules(const std::string& name);
/// With what is 0 set to what it stands for. Errors: invalid, which names the option.
result<case_params> complete(case_params asked);
/// Errors: those of complete().
result<std::unique_ptr<use_case>> make_use_case(const case_params& asked);

/// The flows of `packets` packets in a random order: as often as it goes all flows, each time in
/// another order.
std::vector<std::uint32_t> draw_order(std::uint64_t flows, std::uint64_t packets,
                                      std::uint64_t seed);

}  // namespace coua::bench
