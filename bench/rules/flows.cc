// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/flows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_set>

#include "bench/harness/population.h"
#include "bench/rules/mask_index.h"
#include "bench/rules/seeded.h"
#include "net/ip_protocol.h"

namespace coua::bench {
namespace {

constexpr unsigned attempts_in_vain = 10'000;  // to find one more flow

/// The protocol of a packet where the rule leaves it open.
std::uint8_t any_protocol(random_words& random) {
  constexpr std::uint8_t usual[] = {net::ip_proto_tcp, net::ip_proto_udp, net::ip_proto_icmp};
  return usual[random.below(std::size(usual))];
}

std::uint32_t point_in(const ip_prefix& prefix, random_words& random) {
  return prefix.address | (static_cast<std::uint32_t>(random()) & ~prefix.mask());
}

std::uint16_t point_in(const port_range& range, random_words& random) {
  return static_cast<std::uint16_t>(range.low + random.below(range.size()));
}

five_tuple point_in(const five_tuple_rule& rule, random_words& random) {
  five_tuple key;
  key.ip_src = point_in(rule.source, random);
  key.ip_dst = point_in(rule.destination, random);
  key.tp_src = point_in(rule.source_port, random);
  key.tp_dst = point_in(rule.destination_port, random);
  key.ip_proto = rule.protocol ? *rule.protocol : any_protocol(random);
  return key;
}

wide_tuple point_in(const wide_rule& rule, random_words& random) {
  constexpr std::uint64_t ipv4 = 0x0800;
  wide_tuple key = {};
  for (std::size_t i = 0; i < n_wide_fields; ++i) {
    const unsigned width = wide_layout::fields[i].bits;
    key[i] = rule.fields[i].value |
             (random() & prefix_mask(width, width) & ~prefix_mask(width, rule.fields[i].bits));
  }
  // Packets of a network, untagged and of one class, where the rule leaves it open.
  const auto usual = [&](wide_field field, std::uint64_t value) {
    if (rule[field].bits == 0) key[index_of(field)] = value;
  };
  usual(wide_field::in_port, 1 + random.below(512));
  usual(wide_field::eth_type, ipv4);
  usual(wide_field::vlan, 0);
  usual(wide_field::dscp, 0);
  usual(wide_field::ip_proto, any_protocol(random));
  return key;
}

/// Tells keys apart. Should two keys ever have the same one, the second is not used.
std::uint64_t fingerprint(const flow_list& flows, std::uint64_t i) {
  std::uint64_t sum = 0, word = 0;
  for (std::size_t at = 0; at < flows.key_bytes(); at += sizeof word) {
    std::memcpy(&word, flows.key(i) + at, sizeof word);
    sum = random_words(sum ^ word)();
  }
  return sum;
}

template <typename Rule>
result<flow_list> make(const rule_set<Rule>& set, const flow_params& params) {
  if (result<void> good = check_flows(params.flows); !good) return tl::unexpected(good.error());
  if (!(params.misses >= 0 && params.misses <= 1)) {
    return fail(errc::invalid, "misses " + std::to_string(params.misses), "must be 0 to 1");
  }
  if (params.misses > 0 && set.ends_in_default) {
    return fail(errc::invalid, "misses " + std::to_string(params.misses),
                "the last rule matches every key: make the set without a default rule");
  }
  flow_list out(key_bytes_of(static_cast<const Rule*>(nullptr)), params.flows);
  std::optional<mask_index<Rule>> index;
  if (params.misses > 0) index.emplace(set.rules);
  const auto missed = [&](const typename Rule::key_type& key) {
    bool none = true;
    index->for_matches(key, [&](std::size_t) { none = false; });
    return none;
  };
  random_words random = seeded(params.seed, purpose::flows);
  std::unordered_set<std::uint64_t> known;
  for (std::uint64_t i = 0; i < params.flows; ++i) {
    // Misses are spread evenly, and their number is exact.
    const bool miss = std::floor(static_cast<double>(i + 1) * params.misses) >
                      std::floor(static_cast<double>(i) * params.misses);
    for (unsigned attempt = 0;; ++attempt) {
      if (attempt == attempts_in_vain) {
        return fail(errc::no_room, std::to_string(params.flows) + " flows",
                    "only " + std::to_string(i) + " were found" +
                        (miss ? ": nearly every key matches a rule" : ""));
      }
      const Rule& rule = set.rules[random.below(set.rules.size())];
      const typename Rule::key_type key = point_in(miss ? Rule() : rule, random);
      if (miss && !missed(key)) continue;
      out.put(i, key, miss ? no_rule : rule.number);
      if (known.insert(fingerprint(out, i)).second) break;
    }
  }
  return out;
}

}  // namespace

result<void> check_flows(std::uint64_t flows) {
  if (flows >= 1 && flows <= most_flows) return {};
  return fail(errc::invalid, std::to_string(flows) + " flows",
              "must be 1 to " + std::to_string(most_flows));
}

result<flow_list> make_flows(const five_tuple_set& set, const flow_params& params) {
  return make(set, params);
}

result<flow_list> make_flows(const wide_set& set, const flow_params& params) {
  return make(set, params);
}

result<std::vector<std::uint32_t>> draw_trace(std::uint64_t flows, std::uint64_t packets,
                                              const locality& bursts, std::uint64_t seed) {
  if (result<void> good = check_flows(flows); !good) return tl::unexpected(good.error());
  if (!(bursts.shape > 0) || !(bursts.scale >= 0)) {
    return fail(errc::invalid, "locality", "needs a shape above 0 and a scale of at least 0");
  }
  random_words random = seeded(seed, purpose::trace);
  std::vector<std::uint32_t> out;
  out.reserve(packets);
  while (out.size() < packets) {
    const auto flow = static_cast<std::uint32_t>(random.below(flows));
    const double uniform = (static_cast<double>(random() >> 11) + 1) * 0x1p-53;  // (0, 1]
    const double length = std::ceil(bursts.scale / std::pow(uniform, 1 / bursts.shape));
    const auto left = static_cast<double>(packets - out.size());
    out.insert(out.end(), static_cast<std::size_t>(std::clamp(length, 1.0, left)), flow);
  }
  return out;
}

}  // namespace coua::bench
