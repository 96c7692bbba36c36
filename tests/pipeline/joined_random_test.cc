// SPDX-License-Identifier: Apache-2.0
//
// Small random pipelines of rules that may be joined, and some that may not, beside the oracle,
// with changes between bursts.
#include <gtest/gtest.h>

#include <random>

#include "base/sanitizer.h"
#include "checked_pipeline.h"
#include "joined_rules.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_rule;
using pipeline::test::ipv4;
using pipeline::test::output;
using pipeline::test::where;

/// Frames, with the places of those that are IPv4, with one tag or none, and of those with more
/// tags than are followed.
struct known_frames {
  const std::vector<pipeline::test::bytes>& all = pipeline::test::frames();
  std::vector<std::size_t> usual, many_tags;

  known_frames() {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t type = net::load_be16(all[i].data() + 12) == 0x8100 ? 16 : 12;
      if (net::load_be16(all[i].data() + type) == net::ethertype_ipv4) usual.push_back(i);
      constexpr std::size_t fifth = 12 + 4 * 4;
      if (type == 16 && all[i].size() > fifth + 1 &&
          net::load_be16(all[i].data() + fifth) == 0x8100) {
        many_tags.push_back(i);
      }
    }
  }
};

class joinable {
 public:
  explicit joinable(std::uint64_t seed)
      : random_(seed), by_tag_(one_in(2)), by_half_(one_in(2)), kind_(number(5)) {}

  std::uint64_t some(std::uint64_t below) { return random_() % below; }
  unsigned number(unsigned below) { return static_cast<unsigned>(some(below)); }
  bool one_in(std::uint64_t n) { return some(n) == 0; }

  /// Of the first table.
  rule_mod first() {
    std::vector<match_term> terms;
    if (!one_in(8)) terms.push_back(exact(field::in_port, 1 + some(3)));
    const bool has_tag = by_tag_ && !one_in(8);
    if (has_tag) terms.push_back(tag(100 + number(3)));
    if (by_half_ && !one_in(8)) {
      terms.push_back(ipv4());
      terms.push_back({field::ipv4_dst, some(2), 1});
    }
    action_list list;
    if (has_tag && one_in(2)) list.push_back(act::pop_vlan{});
    if (one_in(4)) list.push_back(act::set(field::eth_src, some(3)));
    if (one_in(8)) list.push_back(output(4));
    if (one_in(16)) list.push_back(output(port_controller));
    rule_mod made = add_rule(0, priority(), where(std::move(terms)), then(std::move(list)));
    if (!one_in(8)) made.instructions.goto_table = behind();
    return made;
  }

  /// Of one of the tables behind it.
  rule_mod second(table_id table) {
    action_list list;
    if (one_in(3)) list.push_back(act::set(field::eth_dst, some(1 << 20)));
    if (one_in(3)) list.push_back(act::push_vlan{});
    list.push_back(output(2 + number(2)));
    rule_mod made = add_rule(table, priority(), where(asked()), then(std::move(list)));
    if (one_in(4)) made.instructions.goto_table = 5;
    return made;
  }
  rule_mod any() { return one_in(5) ? first() : second(behind()); }
  /// One comes, or some go.
  rule_mod change() {
    rule_mod made = any();
    return one_in(3) ? pipeline::test::change_rules(rule_command::remove, made.table, 0, made.match)
                     : made;
  }

  /// Mostly IPv4 from somebody that rules ask for.
  packet frame(const known_frames& from) {
    packet one;
    one.in_port = 1 + number(3);
    const std::vector<std::size_t>& usual = by_type() ? from.many_tags : from.usual;
    one.bytes = from.all[one_in(4) ? some(from.all.size()) : usual[some(usual.size())]];
    if (one_in(8)) one.bytes = pipeline::test::damaged_frame(from.all, random_);
    if (one.bytes.size() <= 40) return one;
    std::uint8_t* const bytes = one.bytes.data();
    std::size_t network = net::ethernet_header_bytes;
    net::store_mac(bytes + 6, some(n_sources()));
    if (net::load_be16(bytes + 12) == 0x8100) {
      net::store_be16(bytes + 14, static_cast<std::uint16_t>(100 + number(4)));
      network += 4;
    }
    if (net::load_be16(bytes + network - 2) == net::ethertype_ipv4) {
      net::store_be32(bytes + network + net::wire::ipv4::source, first_user + number(n_users));
    }
    return one;
  }

 private:
  static constexpr unsigned n_users = 10;

  /// Of what is behind the tags: of more than are followed, that of another one.
  bool by_type() const { return kind_ == 4; }
  unsigned n_sources() const { return by_type() ? 12 : 3; }
  table_id behind() { return static_cast<table_id>(1 + number(3)); }
  std::uint16_t priority() { return static_cast<std::uint16_t>(number(3)); }

  /// Of rules of one pipeline mostly the same fields.
  std::vector<match_term> asked() {
    if (one_in(32)) return {exact(field::eth_type, 0x0800 + some(2) * 6)};
    if (by_type()) {
      constexpr unsigned types[] = {0x8100, 0x8100, 0x0800};
      return {exact(field::eth_type, types[some(3)]), exact(field::eth_src, some(n_sources()))};
    }
    std::vector<match_term> terms{ipv4(), from(number(n_users))};
    if (one_in(32)) return terms;
    if (kind_ == 1) terms.push_back(exact(field::eth_src, some(n_sources())));
    if (kind_ == 2) terms.push_back(exact(field::in_port, 1 + some(3)));
    if (kind_ == 3) terms.push_back(exact(field::vlan_vid, one_in(2) ? 0 : vlan_present | 100));
    return terms;
  }

  std::mt19937_64 random_;
  const bool by_tag_, by_half_;
  const unsigned kind_;
};

struct seen {
  std::size_t bursts = 0, joined_bursts = 0, met = 0;
};

void run(std::uint64_t seed, const known_frames& frames, seen& all) {
  joinable made(seed);
  checked_pipeline in(joined_at_once);
  const table_joiner& joined = in.bridge().compiler().joined();
  for (port_no i = 1; i <= 4; ++i) ASSERT_TRUE(in.apply({pipeline::test::add_port(i)}));
  for (unsigned i = 0; i < 6; ++i) (void)in.apply({made.first()});
  for (unsigned i = 0; i < 180; ++i)
    (void)in.apply({made.second(static_cast<table_id>(1 + i % 3))});
  for (unsigned round = 0; round < 12; ++round) {
    if (!made.one_in(3)) in.bridge().tend(later);
    std::vector<packet> burst;
    for (unsigned n = 1 + made.number(executor::burst_max); n > 0; --n)
      burst.push_back(made.frame(frames));
    const std::uint64_t met_before = joined.n_met();
    all.joined_bursts += joined.n_pairs() != 0;
    in.receive(burst);
    in.collect();
    ++all.bursts;
    all.met += joined.n_met() - met_before;
    if (made.one_in(3)) in.check_counters();
    for (unsigned n = made.number(3); n > 0; --n) (void)in.apply({made.change()});
  }
  in.check_counters();
  in.check_nothing_stays();
}

TEST(joined_at_random, does_what_the_oracle_does) {
  const known_frames frames;
  seen all;
  constexpr std::uint64_t seeds = COUA_HAS_SHADOW ? 40 : 200;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) run(seed, frames, all);
  EXPECT_GT(all.joined_bursts * 3, all.bursts);
  EXPECT_GT(all.met, 10 * seeds);
}

}  // namespace
}  // namespace coua::test
