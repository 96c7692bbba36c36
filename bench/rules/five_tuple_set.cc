// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/five_tuple_set.h"

#include <array>

#include "bench/rules/draw_rules.h"
#include "bench/rules/mask_index.h"
#include "bench/rules/prefix_tree.h"
#include "bench/rules/seeded.h"
#include "bench/rules/weighted_choice.h"

namespace coua::bench {
namespace {

/// Draws ranges of one of the two ports.
class port_source {
 public:
  port_source(const exact_ports& exact, std::span<const range_share> ranges, random_words& random)
      : exact_(exact), ranges_(ranges), frequent_(exact.frequent), range_(ranges) {
    for (unsigned i = 0; i < exact.others; ++i) {
      others_.push_back(static_cast<std::uint16_t>(1 + random.below(65535)));
    }
  }

  port_range draw(port_kind kind, random_words& random) const {
    switch (kind) {
      case port_kind::wc: return {0, 65535};
      case port_kind::hi: return {1024, 65535};
      case port_kind::lo: return {0, 1023};
      case port_kind::ar: {
        const range_share& each = ranges_[range_.draw(random)];
        return {each.low, each.high};
      }
      case port_kind::em: break;
    }
    const std::uint16_t port = random.below(10'000) < exact_.others_share
                                   ? others_[random.below(others_.size())]
                                   : exact_.frequent[frequent_.draw(random)].port;
    return {port, port};
  }

 private:
  exact_ports exact_;
  std::span<const range_share> ranges_;
  weighted_choice frequent_, range_;
  std::vector<std::uint16_t> others_;
};

class generator {
 public:
  generator(const seed_figures& figures, std::uint64_t seed)
      : figures_(figures),
        random_(seeded(seed, purpose::rules)),
        applications_(figures.applications),
        sources_(figures.source),
        destinations_(figures.destination),
        source_ports_(figures.source_exact, figures.source_ranges, random_),
        destination_ports_(figures.destination_exact, figures.destination_ranges, random_) {
    for (const length_share& each : figures.lengths) {
      lengths_of_[static_cast<std::size_t>(each.ports)].push_back(each);
    }
    for (std::size_t i = 0; i < n_port_classes; ++i) {
      lengths_[i] = weighted_choice(std::span<const length_share>(lengths_of_[i]));
    }
    // There are always rules without an address. A path that filled up before the first of them
    // would keep all of them out.
    sources_.mark({});
    destinations_.mark({});
  }

  result<five_tuple_set> make(const rule_set_params& params) {
    const bool with_default = params.with_default && figures_.ends_in_default;
    return draw_rules<five_tuple_rule>(params, with_default, random_,
                                       [&](const mask_index<five_tuple_rule>& known) {
                                         const std::optional<five_tuple_rule> made = draw(known);
                                         if (made) {
                                           sources_.mark(made->source);
                                           destinations_.mark(made->destination);
                                         }
                                         return made;
                                       });
  }

 private:
  std::optional<five_tuple_rule> draw(const mask_index<five_tuple_rule>& known) {
    const application_share& application = figures_.applications[applications_.draw(random_)];
    const auto ports = static_cast<std::size_t>(application.ports);
    const length_share& lengths = lengths_of_[ports][lengths_[ports].draw(random_)];
    for (unsigned attempt = 0; attempt < attempts; ++attempt) {
      five_tuple_rule rule;
      if (application.protocol != 0) rule.protocol = application.protocol;
      rule.source_port = source_ports_.draw(source_kind(application.ports), random_);
      rule.destination_port = destination_ports_.draw(destination_kind(application.ports), random_);
      draw_addresses(rule, lengths, attempt >= attempts_as_found);
      const bool any = rule.same_match({});  // the default rule is added where there is one
      if (!any && sources_.may_mark(rule.source) && destinations_.may_mark(rule.destination) &&
          !known.has(rule)) {
        return rule;
      }
    }
    return {};
  }

  void draw_addresses(five_tuple_rule& rule, const length_share& lengths, bool branch) {
    // The depth of the new branch, counted through both addresses.
    std::optional<unsigned> in_source, in_destination;
    if (branch && lengths.source + lengths.destination > 0) {
      const auto depth =
          static_cast<unsigned>(random_.below(lengths.source + lengths.destination + 0U));
      if (depth < lengths.source) in_source = depth;
      if (depth >= lengths.source) in_destination = depth - lengths.source;
    }
    rule.source = sources_.walk(lengths.source, random_, {}, in_source);
    rule.destination =
        destinations_.walk(lengths.destination, random_,
                           prefix_tree::guide{rule.source, figures_.correlation}, in_destination);
  }

  const seed_figures& figures_;
  random_words random_;
  weighted_choice applications_;
  std::array<std::vector<length_share>, n_port_classes> lengths_of_;
  std::array<weighted_choice, n_port_classes> lengths_;
  prefix_tree sources_, destinations_;
  port_source source_ports_, destination_ports_;
};

}  // namespace

result<five_tuple_set> make_five_tuple_set(const seed_figures& figures,
                                           const rule_set_params& params) {
  return generator(figures, params.seed).make(params);
}

}  // namespace coua::bench
