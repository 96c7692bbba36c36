// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/use_case.h"

#include <algorithm>
#include <numeric>

#include "bench/cases/classify_case.h"
#include "bench/cases/gateway_case.h"
#include "bench/cases/l2_case.h"
#include "bench/cases/l3_case.h"
#include "bench/cases/lb_case.h"
#include "bench/cases/vrf_case.h"
#include "bench/harness/population.h"
#include "bench/rules/mask_set.h"

namespace coua::bench {
namespace {

struct known_case {
  const char* name;
  std::uint64_t rules;
  std::uint64_t users;  // of each CE; 0: it is no gateway
};
// The rules are those of the paper: 2,000 prefixes of a router, 100 services, 10,000 prefixes of a
// gateway; 20 masks are of the patches that bench/rules/mask_set.h names.
constexpr known_case known[] = {{"l2-flows", 1'000, 0},  {"l3", 2'000, 0},
                                {"vrf", 10'000, 0},      {"lb", 100, 0},
                                {"gateway", 10'000, 20}, {"gateway-1m", 10'000, 100'000},
                                {"classify", 20, 0}};

const known_case* find(const std::string& name) {
  for (const known_case& each : known) {
    if (name == each.name) return &each;
  }
  return nullptr;
}

result<void> check_range(const char* option, std::uint64_t value, std::uint64_t least,
                         std::uint64_t most) {
  if (value >= least && value <= most) return {};
  return fail(errc::invalid, std::string(option) + " " + std::to_string(value),
              "must be " + std::to_string(least) + " to " + std::to_string(most));
}

/// Each mask that is attacked has a flow of the attack.
result<void> check_attack(std::uint64_t flows, unsigned percent, std::uint64_t masks) {
  const std::uint64_t attack = attacking_flows(flows, percent),
                      attacked = masks - popular_masks(masks);
  if (percent == 0 || attack >= attacked) return {};
  return fail(errc::invalid, "--attack " + std::to_string(percent),
              "has " + std::to_string(attack) + " of " + std::to_string(flows) +
                  " flows, fewer than the " + std::to_string(attacked) +
                  " masks that they attack: --flows must be at least " +
                  std::to_string((attacked * 100 + percent - 1) / percent));
}

result<void> check(const case_params& asked, const known_case& kind) {
  const bool masks = asked.name == "classify";
  for (const result<void>& good : {check_range(masks ? "--masks" : "--rules", asked.rules, 1,
                                               masks ? most_masks : most_case_rules),
                                   check_range("--flows", asked.flows, 1, most_case_flows),
                                   check_range("--size", asked.size, 64, 1518)}) {
    if (!good) return good;
  }
  if (kind.users != 0) {
    if (auto good = check_range("--users", asked.users, 1, most_users); !good) return good;
  } else if (asked.users != 0) {
    return fail(errc::invalid, "--users", "has no meaning with --case " + asked.name);
  } else if (asked.direction != flow_direction::up) {
    return fail(errc::invalid, "--direction", "has no meaning with --case " + asked.name);
  }
  if (asked.attack) {
    if (!masks) return fail(errc::invalid, "--attack", "has no meaning with --case " + asked.name);
    if (asked.rules < 2) return fail(errc::invalid, "--masks 1", "leaves none to be attacked");
    if (auto good = check_range("--attack", *asked.attack, 0, most_attack); !good) return good;
    if (auto good = check_attack(asked.flows, *asked.attack, asked.rules); !good) return good;
  }
  if (asked.single_table && asked.name != "lb") {
    return fail(errc::invalid, "--single-table", "has no meaning with --case " + asked.name);
  }
  return {};
}

}  // namespace

const char* to_string(flow_direction way) {
  switch (way) {
    case flow_direction::up: return "up";
    case flow_direction::down: return "down";
    case flow_direction::both: return "both";
  }
  return "?";
}

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const known_case& each : known) all.emplace_back(each.name);
    return all;
  }();
  return names;
}

std::uint64_t default_rules(const std::string& name) {
  const known_case* kind = find(name);
  return kind == nullptr ? 0 : kind->rules;
}

result<case_params> complete(case_params asked) {
  const known_case* kind = find(asked.name);
  if (kind == nullptr) {
    std::string all;
    for (const std::string& each : case_names()) all += (all.empty() ? "" : ", ") + each;
    return fail(errc::invalid, "--case " + asked.name, "must be of " + all);
  }
  if (asked.rules == 0) asked.rules = kind->rules;
  if (asked.users == 0) asked.users = kind->users;
  if (auto good = check(asked, *kind); !good) return tl::unexpected(good.error());
  return asked;
}

result<std::unique_ptr<use_case>> make_use_case(const case_params& asked) {
  const result<case_params> params = complete(asked);
  if (!params) return tl::unexpected(params.error());
  if (params->name == "l2-flows") return std::make_unique<l2_case>(*params);
  if (params->name == "l3") return std::make_unique<l3_case>(*params);
  if (params->name == "vrf") return std::make_unique<vrf_case>(*params);
  if (params->name == "lb") return std::make_unique<lb_case>(*params);
  if (params->name == "classify") return std::make_unique<classify_case>(*params);
  return std::make_unique<gateway_case>(*params);
}

std::vector<std::uint32_t> draw_order(std::uint64_t flows, std::uint64_t packets,
                                      std::uint64_t seed) {
  random_words random(seed);
  std::vector<std::uint32_t> round(flows);
  std::iota(round.begin(), round.end(), 0);
  std::vector<std::uint32_t> order;
  order.reserve(packets);
  while (order.size() < packets) {
    for (std::uint64_t left = flows; left > 1; --left) {
      std::swap(round[left - 1], round[random.below(left)]);
    }
    const std::uint64_t n = std::min<std::uint64_t>(flows, packets - order.size());
    order.insert(order.end(), round.begin(), round.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return order;
}

}  // namespace coua::bench
