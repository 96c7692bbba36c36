// SPDX-License-Identifier: Apache-2.0
//
// Any bytes through the compiled datapath and the oracle: outputs, packet-ins and counters must be
// the same, and neither reads beyond the frame. Of the first byte, the low bits pick a pipeline,
// the others the port; what follows is the frame. There is a pipeline for each template, exact and
// lpm with rules apart, whose rules ask for few bits of a field, so that any frame with the header
// meets some; and two that write.
#include <memory>

#include "checked_pipeline.h"
#include "every_write.h"
#include "fuzz.h"

namespace coua::test {
namespace {

using namespace pipeline;
using namespace pipeline::test;

constexpr port_no n_ports = 4;

/// What tells which rule it was.
instructions mark(unsigned number) {
  return pipeline::test::apply({act::set_queue{number}, output(1 + number % n_ports)});
}

class rules {
 public:
  void add(std::uint16_t priority, std::vector<match_term> terms) {
    all.emplace_back(add_rule(0, priority, where(std::move(terms)), mark(++n_)));
  }
  std::vector<operation> all;

 private:
  unsigned n_ = 0;
};

/// Prefixes of up to six bits: half of those of each length.
void add_prefixes(rules& to, const match_term& type, field which) {
  const unsigned n_bits = info(which).n_bits;
  for (unsigned length = 1; length <= 6; ++length) {
    const value128 mask = ones(n_bits) & ~ones(n_bits - length);
    for (unsigned i = 0; i < 1U << length; i += 2) {
      const unsigned bits = i + length % 2;
      to.add(static_cast<std::uint16_t>(length),
             {type, {which, value128{bits} << (n_bits - length), mask}});
    }
  }
}

rules direct_rules() {
  rules made;
  made.add(5, {ipv4(), exact(field::ip_proto, 6), {field::tcp_dst, 0, 1}});
  made.add(5, {ipv6(), exact(field::ip_proto, 17), {field::udp_src, 0, 1}});
  made.add(4, {tagged(), {field::eth_dst, 0, 1}});
  made.add(3, {mpls(), exact(field::mpls_bos, 1)});
  made.add(3, {exact(field::eth_type, 0x0806), exact(field::arp_op, 1)});
  made.add(2, {{field::eth_src, 1, 1}});
  return made;
}

/// Above, between and below the others.
constexpr unsigned n_apart = 3;
void add_rules_apart(rules& to) {
  to.add(9, {ipv4(), exact(field::ip_proto, 6), {field::tcp_dst, 0, 1}});
  to.add(3, {{field::eth_dst, 1, 1}});
  to.add(0, {exact(field::eth_type, 0x0806), exact(field::arp_op, 1)});
}

rules exact_rules() {
  rules made;
  for (unsigned i = 0; i < 64; ++i) {
    made.add(static_cast<std::uint16_t>(1 + i % 6), {ipv4(), {field::ipv4_dst, i, 63}});
  }
  add_rules_apart(made);
  return made;
}

rules decomposed_rules() {
  rules made;
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned length = 0; length < 5; ++length) {
      const value128 mask = ones(32) & ~ones(31 - length);
      made.add(static_cast<std::uint16_t>(length),
               {ipv4(), {field::ipv4_dst, i, 7}, {field::ipv4_src, 0, mask}});
    }
  }
  return made;
}

/// A bit of each field of a frame that has masks, and of some in places that others decide. What is
/// no part of a frame would take up the room that keys have.
rules classifier_rules() {
  rules made;
  std::uint16_t priority = 1;
  const std::vector<std::vector<match_term>> kinds = {
      {},
      {ipv4()},
      {ipv6()},
      {mpls()},
      {exact(field::eth_type, 0x0806)},
      {ipv4(), exact(field::ip_proto, 6)},
      {ipv6(), exact(field::ip_proto, 6)},
      {ipv4(), exact(field::ip_proto, 17)},
      {ipv6(), exact(field::ip_proto, 132)},
      {ipv6(), exact(field::ip_proto, 58), exact(field::icmpv6_type, 135)},
  };
  for (const std::vector<match_term>& kind : kinds) {
    for (std::size_t i = 0; i < n_fields; ++i) {
      const auto which = static_cast<field>(i);
      const bool is_state = is_reg(which) || which == field::metadata || which == field::tunnel_id;
      if (!info(which).maskable || is_state || which == field::vlan_vid) continue;
      std::vector<match_term> terms = kind;
      terms.push_back({which, i % 2, 1});
      if (match::make(terms).has_value()) made.add(priority++, std::move(terms));
    }
  }
  made.add(priority++, {ipv4(), exact(field::ip_dscp, 10)});
  made.add(priority++, {ipv6(), exact(field::ip_dscp, 10)});
  made.add(priority, {tagged()});
  return made;
}

/// Every field, in buckets: there, what is missing is passed over.
std::vector<operation> writes() {
  return {add_group(1, group_type::all, {to(write_everything()), to(tags_and_ttls())}),
          add_rule(0, 0, {}, pipeline::test::apply({act::group{1}, output(port_controller)}))};
}

/// Headers come and go before they are matched.
std::vector<operation> writes_between_tables() {
  instructions labelled = pipeline::test::apply({act::dec_ip_ttl{}, act::push_mpls{0x8847}});
  labelled.goto_table = 1;
  instructions bare = pipeline::test::apply({act::copy_ttl_in{}, act::pop_mpls{0x0800}});
  bare.goto_table = 2;
  instructions tag = pipeline::test::apply({act::push_vlan{0x88a8}, act::set(field::vlan_pcp, 5)});
  tag.goto_table = 3;
  return {add_rule(0, 2, where({ipv4()}), labelled),
          add_rule(0, 1, where({mpls()}), bare),
          add_rule(0, 0, {}, go(2)),
          add_rule(1, 0, where({mpls()}), bare),
          add_rule(2, 5, where({tagged()}), pipeline::test::apply({act::pop_vlan{}, output(2)})),
          add_rule(2, 0, {}, tag),
          add_rule(3, 5, where({{field::vlan_vid, vlan_present | 1, vlan_present | 1}}), mark(1)),
          add_rule(3, 0, {}, mark(2))};
}

std::unique_ptr<checked_pipeline> make(const std::vector<operation>& all, table_template kind,
                                       unsigned n_rows_apart = 0) {
  const template_limits limits = n_rows_apart == 0 ? no_mixed_tables : template_limits();
  auto made =
      std::make_unique<checked_pipeline>(compiler_params{.limits = limits, .share_from = 1});
  std::vector<operation> ports;
  for (port_no i = 1; i <= n_ports; ++i) ports.emplace_back(add_port(i));
  COUA_CHECK(made->apply(ports));
  COUA_CHECK(made->apply(all));
  const table_form& form = *made->bridge().compiler().form(0);
  COUA_CHECK(form.kind() == kind && form.n_rows_apart() == n_rows_apart);
  return made;
}

std::vector<std::unique_ptr<checked_pipeline>> make_pipelines() {
  rules ipv4_prefixes, ipv6_prefixes;
  add_prefixes(ipv4_prefixes, ipv4(), field::ipv4_dst);
  add_rules_apart(ipv4_prefixes);
  add_prefixes(ipv6_prefixes, ipv6(), field::ipv6_dst);
  std::vector<std::unique_ptr<checked_pipeline>> made;
  made.push_back(make(direct_rules().all, table_template::direct));
  made.push_back(make(exact_rules().all, table_template::exact, n_apart));
  made.push_back(make(ipv4_prefixes.all, table_template::lpm, n_apart));
  made.push_back(make(ipv6_prefixes.all, table_template::lpm));
  made.push_back(make(decomposed_rules().all, table_template::decomposed));
  made.push_back(make(classifier_rules().all, table_template::classifier));
  made.push_back(make(writes(), table_template::direct));
  made.push_back(make(writes_between_tables(), table_template::direct));
  return made;
}

}  // namespace
}  // namespace coua::test

// What differs is thrown, and ends the program.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua::test;
  static const auto pipelines = make_pipelines();
  coua::fuzz::input in(data, size);
  const auto choice = in.take<std::uint8_t>();
  checked_pipeline& through = *pipelines[choice % pipelines.size()];
  coua::pipeline::packet one;
  one.in_port = 1U + (choice >> 3) % n_ports;
  one.bytes.assign(data + (size - in.left()), data + size);
  coua::pipeline::packet other = one;
  other.in_port = 1U + one.in_port % n_ports;
  through.receive({one, other});
  through.check_counters();
  return 0;
}
