// SPDX-License-Identifier: Apache-2.0
//
// Random pipelines, packets and changes through the compiled datapath and through the oracle; a
// failing list of steps is shrunk. RC_PARAMS="seed=... max_success=10000" repeats or lengthens a
// run; it prints how many packets were compared.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>

#include "checked_pipeline.h"
#include "pipeline/compiler/decomposed_form.h"
#include "random_pipeline.h"

namespace coua::test {
namespace {

constexpr unsigned n_max = 32;

struct step {
  enum kind { change, fill, thin, bundle, burst, out, collect, wait } what;
  std::uint64_t number;
  unsigned n;  // 1 to n_max: operations of a bundle, packets of a burst
};
std::ostream& operator<<(std::ostream& out, const step& one) {
  constexpr const char* names[] = {"change", "fill", "thin",    "bundle",
                                   "burst",  "out",  "collect", "wait"};
  return out << names[one.what] << " " << one.number << " " << one.n;
}

rc::Gen<step> arbitrary_step() {
  return rc::gen::map(rc::gen::tuple(rc::gen::weightedElement<step::kind>({{40, step::change},
                                                                           {3, step::bundle},
                                                                           {4, step::fill},
                                                                           {2, step::thin},
                                                                           {20, step::burst},
                                                                           {2, step::out},
                                                                           {2, step::collect},
                                                                           {1, step::wait}}),
                                     rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>()),
                                     rc::gen::inRange(1U, n_max + 1)),
                      [](const auto& parts) {
                        return step{std::get<0>(parts), std::get<1>(parts), std::get<2>(parts)};
                      });
}

/// What many runs saw, for the checks at the end and whoever reads the output.
struct totals {
  std::size_t packets = 0, trains = 0, outputs = 0, packet_ins = 0, taken = 0, refused = 0,
              full = 0;
  std::size_t resubmits = 0, ended = 0, conjunctions = 0, remarked = 0,
              learned = 0;  // ended: by a bound of model/resubmit.h
  // Bursts that left several rules behind: as one change, and one by one. Places of takes_along.
  std::size_t learned_together = 0, learned_apart = 0, takers = 0;
  // Bursts that met a table of each template, and that met one of another template than the last
  // one did.
  std::array<std::size_t, pipeline::n_table_templates> forms{};
  std::size_t long_forms = 0;                  // direct, of more than direct_rules_max
  std::size_t exact_apart = 0, lpm_apart = 0;  // with rules apart
  // Not tables: bursts, where rules share records; and where tables are joined.
  std::size_t sharing = 0, joined = 0;
  std::size_t to_parts = 0, from_parts = 0;
  std::size_t prefix_sets = 0;  // of decomposed tables
};
totals all;

/// The template of each table, from burst to burst.
class noted_forms {
 public:
  void note(checked_pipeline& in) {
    all.sharing += in.bridge().compiler().usage().shared != 0 ? 1 : 0;
    all.joined += in.bridge().compiler().joined().n_pairs() != 0 ? 1 : 0;
    using enum pipeline::table_template;
    for (unsigned table = 0; table < pipeline_tables; ++table) {
      const auto* form = in.bridge().compiler().form(static_cast<pipeline::table_id>(table));
      if (form == nullptr) continue;
      const pipeline::table_template kind = form->kind(), before = before_[table];
      ++all.forms[static_cast<std::size_t>(kind)];
      all.long_forms += form->stage().kind == direct &&
                                form->stage().direct.load()->n_rules > pipeline::direct_rules_max
                            ? 1
                            : 0;
      if (form->stage().rules_apart() != nullptr)
        ++(kind == exact ? all.exact_apart : all.lpm_apart);
      if (const auto* parts = dynamic_cast<const pipeline::decomposed_form*>(form))
        all.prefix_sets += parts->prefixes().sets;
      if (before == classifier && kind == decomposed) ++all.to_parts;
      if (before == decomposed && kind == classifier) ++all.from_parts;
      before_[table] = kind;
    }
  }

 private:
  std::array<pipeline::table_template, pipeline_tables> before_{};
};

/// Packets of one flow; of half of them one is not.
std::vector<pipeline::packet> random_train(std::mt19937_64& random, unsigned n) {
  const pipeline::packet one = random_packet(random());
  std::vector<pipeline::packet> made(n, one);
  if (random() % 2 == 0 && !one.bytes.empty()) {
    pipeline::packet& other = made[random() % n];
    other.bytes[random() % other.bytes.size()] ^= 1 << random() % 8;
  }
  ++all.trains;
  all.packets += n;
  return made;
}

void run(checked_pipeline& in, profile is, noted_forms& forms, const step& one) {
  std::mt19937_64 random(one.number);
  const auto operations = [&](unsigned n) {
    std::vector<pipeline::operation> made;
    for (unsigned i = 0; i < n; ++i) made.push_back(random_operation(random(), is));
    return made;
  };
  const auto apply = [&](const std::vector<pipeline::operation>& some) {
    ++(in.apply(some) ? all.taken : all.refused);
  };
  switch (one.what) {
    case step::change: return apply(operations(1));
    case step::fill: {
      constexpr pipeline::table_id some[] = {1, 2, 3, 4, 5, 5, 6, 7, 7, 8, 8};
      const pipeline::table_id table = some[random() % std::size(some)];
      for (unsigned i = 0; i < 2 * one.n; ++i) apply({random_simple_rule(random(), table)});
      return;
    }
    case step::thin: {
      // And as many changes as it takes to be asked whether it falls into sets again.
      const pipeline::operation removal = random_thinning(random());
      apply({removal});
      const pipeline::table_id table = std::get<pipeline::rule_mod>(removal).table;
      for (int i = 0; i < 20; ++i) apply({random_simple_rule(random(), table)});
      return;
    }
    case step::bundle: return apply(operations(1 + one.n % 4));
    case step::burst: {
      forms.note(in);
      // Some are as long as bursts may be.
      const unsigned n = one.number % 4 == 0 ? 2 * one.n : one.n;
      static_assert(2 * n_max == pipeline::executor::burst_max);
      for (unsigned bursts = 1 + one.n / 8; bursts > 0; --bursts) {
        std::vector<pipeline::packet> packets;
        for (unsigned i = 0; i < n; ++i) packets.push_back(random_packet(random()));
        // A switch's are of one port.
        const bool is_one_port = random() % 2 == 0;
        for (pipeline::packet& each : packets) {
          if (is_one_port) each.in_port = packets.front().in_port;
        }
        all.packets += packets.size();
        in.receive(packets);
      }
      if (n >= n_max / 2) in.receive(random_train(random, n));
      return;
    }
    case step::out: return in.packet_out(random_packet(random()), random_packet_out(random(), is));
    case step::collect: return in.check_counters();
    case step::wait: return in.wait(random() % (3 * pipeline::ns_per_s));
  }
}

/// A run that compares packets without meeting what is difficult proves little; a short one may
/// well miss some of it.
void check_what_was_met() {
  const char* share = std::getenv("COUA_MODEL_PACKETS");
  EXPECT_GE(all.packets, share == nullptr ? 0 : std::strtoull(share, nullptr, 10));
  if (all.packets < 200'000) return;
  for (std::size_t i = 0; i < all.forms.size(); ++i) {
    EXPECT_GT(all.forms[i], 0U) << to_string(static_cast<pipeline::table_template>(i));
  }
  EXPECT_GT(all.long_forms, 0U);
  EXPECT_GT(all.exact_apart, 0U);
  EXPECT_GT(all.lpm_apart, 0U);
  EXPECT_GT(all.sharing, 0U);
  EXPECT_GT(all.joined, 0U);
  EXPECT_GT(all.to_parts, 0U);
  EXPECT_GT(all.prefix_sets, 0U);
  EXPECT_GT(all.from_parts, 0U);
  EXPECT_GT(all.trains, 0U);
  EXPECT_GT(all.packet_ins, 0U);
  EXPECT_GT(all.resubmits, 0U);
  EXPECT_GT(all.ended, 0U);
  EXPECT_GT(all.conjunctions, 0U);
  EXPECT_GT(all.remarked, 0U);
  EXPECT_GT(all.learned, 0U);
  EXPECT_GT(all.learned_together, 0U);
  EXPECT_GT(all.takers, 0U);
}

TEST(pipeline_model, does_what_the_oracle_does) {
  const bool holds = rc::check("the datapath does what the oracle does", [] {
    const profile is = *rc::gen::element(profile::metered, profile::resubmitting);
    const auto steps =
        *rc::gen::scale(3.0, rc::gen::container<std::vector<step>>(arbitrary_step()));
    // Small mixed tables are decomposed or a classifier's, long direct ones, or exact as far as
    // they can.
    const pipeline::template_limits limits =
        *rc::gen::element(pipeline::no_mixed_tables, pipeline::template_limits(),
                          pipeline::template_limits{.direct_long = 0});
    const std::size_t share_from = *rc::gen::element<std::size_t>(1, 4096);
    const pipeline::time_ns join_after =
        *rc::gen::element<pipeline::time_ns>(0, pipeline::table_joiner::never);
    checked_pipeline in(pipeline::compiler_params{
        .limits = limits, .share_from = share_from, .join_after = join_after});
    noted_forms forms;
    in.apply(way_through(is));
    try {
      for (const step& each : steps) run(in, is, forms, each);
      in.check_counters();
      in.check_nothing_stays();
      all.outputs += in.n_outputs;
      all.packet_ins += in.n_packet_ins;
      all.full += in.n_full;
      all.resubmits += in.n_resubmits;
      all.ended += in.n_ended;
      all.conjunctions += in.n_conjunctions;
      all.remarked += in.n_remarked;
      all.learned += in.n_learned;
      all.learned_together += in.n_learned_together;
      all.learned_apart += in.n_learned_apart;
      all.takers += in.n_takers;
    } catch (const std::exception& difference) {
      RC_FAIL(std::string(difference.what()));
    }
  });
  EXPECT_TRUE(holds);
  std::printf(
      "%zu packets, %zu bursts of one flow: %zu outputs, %zu packet-ins; %zu changes taken, %zu "
      "refused, %zu full; "
      "%zu resubmits, of which %zu came to a bound; %zu rules met by conjunctions, "
      "%zu frames remarked; "
      "%zu learned (%zu bursts at once, %zu one by one), %zu places of which rules go along; "
      "tables met: "
      "direct %zu (of which long %zu), exact %zu (with rules apart %zu), lpm %zu (with rules apart "
      "%zu), decomposed %zu (%zu sets of prefixes), classifier %zu; %zu bursts where rules share "
      "records, %zu where tables are joined; from the "
      "classifier "
      "to decomposed %zu, back %zu\n",
      all.packets, all.trains, all.outputs, all.packet_ins, all.taken, all.refused, all.full,
      all.resubmits, all.ended, all.conjunctions, all.remarked, all.learned, all.learned_together,
      all.learned_apart, all.takers, all.forms[0], all.long_forms, all.forms[1], all.exact_apart,
      all.forms[2], all.lpm_apart, all.forms[3], all.prefix_sets, all.forms[4], all.sharing,
      all.joined, all.to_parts, all.from_parts);
  check_what_was_met();
}

}  // namespace
}  // namespace coua::test
