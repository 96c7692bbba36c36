// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/wide_set.h"

#include "bench/rules/draw_rules.h"
#include "bench/rules/mask_index.h"
#include "bench/rules/port_cover.h"
#include "bench/rules/prefix_tree.h"
#include "bench/rules/seeded.h"
#include "bench/rules/weighted_choice.h"
#include "net/ip_protocol.h"

namespace coua::bench {
namespace {

using enum wide_field;

constexpr std::uint64_t ipv4 = 0x0800;

template <typename... Fields>
constexpr std::uint16_t together(Fields... fields) {
  return static_cast<std::uint16_t>((0 | ... | field_bit(fields)));
}

constexpr field_set_share field_sets[] = {
    {together(eth_dst, eth_type, ip_dst, ip_proto, ip_src), 3891},
    {together(eth_dst, eth_type, ip_proto, ip_dst, ip_src, tp_dst, tp_src), 2494},
    {together(eth_dst, eth_type, ip_dst, ip_src), 1297},
    {together(eth_dst, eth_type, ip_dst, ip_proto, tp_dst), 781},
    {together(eth_dst), 774},
    {together(eth_src, eth_type, ip_proto, ip_src, tp_dst), 139},
    {together(eth_src, eth_type, ip_src), 119},
    {together(in_port), 101},
    {together(eth_dst, eth_type, ip_dst), 92},
    {together(eth_type, ip_dst), 77},
    {together(eth_src, eth_type, ip_proto, ip_src), 68},
    {together(eth_type, ip_proto, ip_dst, tp_dst, tp_src), 67},
    {together(eth_src), 47},
    {together(eth_dst, eth_type, ip_proto, ip_dst, tp_dst, tp_src), 26},
    {together(eth_dst, eth_type, ip_dst, ip_proto), 22},
    {together(eth_type, ip_src), 3},
    {together(eth_dst, eth_src, eth_type, ip_proto, ip_dst, ip_src, tp_dst, tp_src), 3},
};

struct value_share {
  std::uint32_t value;
  std::uint16_t share;
};
constexpr std::uint32_t cloud_half = 0xfa163e;  // of the addresses that OpenStack gives
// Of rules that match nothing but the destination: all the others are those of hosts, and so are
// all sources.
constexpr value_share first_halves[] = {
    {cloud_half, 9002}, {0x010000, 692}, {0xc28109, 133}, {0xffffff, 75}, {0x01000c, 34},
    {0x00e02b, 26},     {0x000000, 25},  {0x0180c2, 9},   {0x005056, 4},
};
constexpr value_share protocols[] = {
    {net::ip_proto_tcp, 3645}, {net::ip_proto_udp, 3540}, {net::ip_proto_icmp, 2815}};
constexpr value_share port_protocols[] = {{net::ip_proto_tcp, 55}, {net::ip_proto_udp, 45}};
// Below 32 bits there is one rule in ten thousand or two.
constexpr value_share source_lengths[] = {{32, 9990}, {4, 2}, {20, 2}, {23, 2}, {24, 2}, {30, 2}};
constexpr value_share destination_lengths[] = {{32, 9998}, {8, 2}};
// Of rules with a protocol and a destination port: from which range, or which port.
constexpr value_share port_sources[] = {{65535, 832}, {65534, 75}, {67, 47},  {68, 40},
                                        {443, 2},     {22, 2},     {3389, 2}, {8443, 2}};
constexpr value_share services[] = {{445, 9900}, {2888, 40}, {22, 40}, {443, 20}};
constexpr std::uint32_t ephemeral_low = 32768, ephemeral_high = 60999;

constexpr trie_level source_levels[address_bits] = {
    {1.00, 0.97}, {1.00, 0.60}, {1.00, 0.99}, {0.25, 0.99}, {0.20, 0.83}, {0.17, 0.99},
    {0.29, 0.80}, {0.17, 0.50}, {0.16, 0.96}, {0.23, 0.96}, {0.00, 0.00}, {0.00, 0.00},
    {0.04, 0.72}, {0.11, 0.61}, {0.00, 0.00}, {0.00, 0.00}, {0.03, 1.00}, {0.03, 1.00},
    {0.18, 0.37}, {0.18, 0.62}, {0.02, 0.78}, {0.19, 0.72}, {0.27, 0.60}, {0.37, 0.47},
    {0.36, 0.28}, {0.45, 0.22}, {0.45, 0.16}, {0.49, 0.12}, {0.76, 0.39}, {0.68, 0.34},
    {0.49, 0.21}, {0.33, 0.06},
};
constexpr trie_level destination_levels[address_bits] = {
    {1.00, 0.38}, {1.00, 0.45}, {0.50, 1.00}, {0.50, 0.33}, {0.29, 0.98}, {0.33, 0.98},
    {0.17, 0.96}, {0.06, 0.11}, {0.14, 0.97}, {0.17, 0.97}, {0.00, 0.00}, {0.00, 0.00},
    {0.00, 0.00}, {0.04, 0.01}, {0.00, 0.00}, {0.00, 0.00}, {0.10, 0.70}, {0.24, 0.54},
    {0.44, 0.45}, {0.38, 0.53}, {0.42, 0.45}, {0.23, 0.57}, {0.12, 0.59}, {0.19, 0.39},
    {0.16, 0.34}, {0.10, 0.22}, {0.13, 0.26}, {0.08, 0.24}, {0.00, 0.00}, {0.00, 0.00},
    {0.09, 0.50}, {0.00, 0.00},
};
// Nestings 1 and 1, 2 and 2; the few shorter prefixes are not counted in them.
constexpr address_figures sources = {source_levels, 2}, destinations = {destination_levels, 2};

std::uint32_t pick(std::span<const value_share> values, random_words& random) {
  return values[weighted_choice(values).draw(random)].value;
}

bool has(std::uint16_t fields, wide_field field) { return (fields & field_bit(field)) != 0; }

/// The one Ethernet address of a host.
std::uint64_t host_address(std::uint32_t ip) {
  return std::uint64_t{cloud_half} << 24 | random_words(ip)() >> 40;
}

class wide_generator {
 public:
  explicit wide_generator(std::uint64_t seed)
      : random_(seeded(seed, purpose::rules)),
        sets_(wide_field_sets()),
        sources_(sources),
        destinations_(destinations) {
    for (const std::uint16_t high : {65535, 65534}) covers_.push_back(cover({1, high}));
  }

  result<wide_set> make(const rule_set_params& params) {
    return draw_rules<wide_rule>(params, params.with_default, random_,
                                 [&](const mask_index<wide_rule>& known) { return draw(known); });
  }

 private:
  std::optional<wide_rule> draw(const mask_index<wide_rule>& known) {
    const std::uint16_t fields = field_sets[sets_.draw(random_)].fields;
    for (unsigned attempt = 0; attempt < attempts; ++attempt) {
      wide_rule rule;
      if (!draw_addresses(rule, fields, attempt >= attempts_as_found)) continue;
      draw_ethernet(rule, fields);
      draw_ports(rule, fields);
      if (has(fields, in_port)) rule.set_exactly(in_port, 1 + random_.below(0xff00 - 1));
      if (!known.has(rule)) {
        mark(rule);
        return rule;
      }
    }
    return {};
  }

  bool draw_addresses(wide_rule& rule, std::uint16_t fields, bool branch) {
    const auto draw_one = [&](wide_field field, prefix_tree& tree,
                              std::span<const value_share> lengths) {
      if (!has(fields, field)) return true;
      const unsigned bits = pick(lengths, random_);
      std::optional<unsigned> opened;
      if (branch && random_.below(2) == 0) opened = static_cast<unsigned>(random_.below(bits));
      const ip_prefix prefix = tree.walk(bits, random_, {}, opened);
      rule[field] = {prefix.address, bits};
      return tree.may_mark(prefix);
    };
    return draw_one(ip_src, sources_, source_lengths) &&
           draw_one(ip_dst, destinations_, destination_lengths);
  }

  void mark(const wide_rule& rule) {
    const auto mark_one = [&](wide_field field, prefix_tree& tree) {
      if (rule[field].bits > 0) {
        tree.mark({static_cast<std::uint32_t>(rule[field].value), rule[field].bits});
      }
    };
    mark_one(ip_src, sources_);
    mark_one(ip_dst, destinations_);
  }

  void draw_ethernet(wide_rule& rule, std::uint16_t fields) {
    const auto address_of = [&](wide_field ip) {
      return has(fields, ip) ? host_address(static_cast<std::uint32_t>(rule[ip].value))
                             : host_address(static_cast<std::uint32_t>(random_()));
    };
    if (has(fields, eth_src)) rule.set_exactly(eth_src, address_of(ip_src));
    if (has(fields, eth_dst)) rule.set_exactly(eth_dst, address_of(ip_dst));
    if (fields == field_bit(eth_dst)) {
      rule.set_exactly(eth_dst, std::uint64_t{pick(first_halves, random_)} << 24 | random_() >> 40);
    }
    if (has(fields, eth_type)) rule.set_exactly(eth_type, ipv4);
  }

  void draw_ports(wide_rule& rule, std::uint16_t fields) {
    const bool source = has(fields, tp_src), destination = has(fields, tp_dst);
    if (source && !has(fields, ip_src)) {
      const bool to_server = random_.below(2) == 0;
      rule.set_exactly(ip_proto, net::ip_proto_udp);
      rule.set_exactly(tp_src, to_server ? 68 : 67);
      rule.set_exactly(tp_dst, to_server ? 67 : 68);
    } else if (source) {
      rule.set_exactly(ip_proto, net::ip_proto_tcp);
      rule.set_exactly(tp_src, pick(services, random_));
      rule.set_exactly(tp_dst, ephemeral_low + random_.below(ephemeral_high - ephemeral_low + 1));
    } else if (destination) {
      rule.set_exactly(ip_proto, pick(port_protocols, random_));
      rule[tp_dst] = one_port_match();
    } else if (has(fields, ip_proto)) {
      rule.set_exactly(ip_proto, pick(protocols, random_));
    }
  }

  field_match one_port_match() {
    const std::uint32_t from = pick(port_sources, random_);
    if (from < 65534) return {from, 16};
    const std::vector<port_prefix>& all = covers_[from == 65535 ? 0 : 1];
    const port_prefix& each = all[random_.below(all.size())];
    return {each.value, each.bits};
  }

  random_words random_;
  weighted_choice sets_;
  prefix_tree sources_, destinations_;
  std::vector<std::vector<port_prefix>> covers_;
};

}  // namespace

std::span<const field_set_share> wide_field_sets() { return field_sets; }

std::uint16_t fields_of(const wide_rule& rule) {
  std::uint16_t out = 0;
  for (std::size_t i = 0; i < n_wide_fields; ++i) {
    if (rule.fields[i].bits > 0) out |= field_bit(static_cast<wide_field>(i));
  }
  return out;
}

result<wide_set> make_wide_set(const rule_set_params& params) {
  return wide_generator(params.seed).make(params);
}

}  // namespace coua::bench
