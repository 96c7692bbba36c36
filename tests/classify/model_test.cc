// SPDX-License-Identifier: Apache-2.0
//
// Random lists of updates and look-ups, checked against a linear list of rules; a failing list is
// shrunk. RC_PARAMS="seed=... max_success=1000" repeats or lengthens a run. Keys and masks use few
// bits, so that rules overlap, share masks and share keys; the same packets are looked up again and
// again, so that hints are used.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "classifier_handles.h"

namespace coua::test {
namespace {

struct model_case {
  const char* name;
  unsigned key_bytes;
  enum coua_classifier_distributor distributor;
  std::uint32_t proof_budget;  // 0: the default
  std::uint32_t n_priorities;
  bool pruned = true;
};

const model_case cases[] = {
    {"on", 16, COUA_DISTRIBUTOR_ON, 0, 6},
    {"on_flat", 16, COUA_DISTRIBUTOR_ON, 0, 1},
    {"on_many_priorities", 16, COUA_DISTRIBUTOR_ON, 0, 1000},
    {"on_no_proofs", 16, COUA_DISTRIBUTOR_ON, 1, 6},
    {"on_few_proofs", 16, COUA_DISTRIBUTOR_ON, 40, 50},
    {"on_one_byte", 1, COUA_DISTRIBUTOR_ON, 0, 6},
    {"on_odd", 13, COUA_DISTRIBUTOR_ON, 0, 6},
    {"on_wide", 40, COUA_DISTRIBUTOR_ON, 0, 20},
    {"on_widest", 128, COUA_DISTRIBUTOR_ON, 0, 20},
    {"auto", 16, COUA_DISTRIBUTOR_AUTO, 0, 6},
    {"off", 16, COUA_DISTRIBUTOR_OFF, 0, 6},
    {"off_many_priorities", 13, COUA_DISTRIBUTOR_OFF, 0, 1000},
    {"off_wide", 72, COUA_DISTRIBUTOR_OFF, 0, 6},
    {"on_unpruned", 16, COUA_DISTRIBUTOR_ON, 0, 20, false},
    {"off_unpruned", 16, COUA_DISTRIBUTOR_OFF, 0, 6, false},
    {"off_wide_unpruned", 72, COUA_DISTRIBUTOR_OFF, 0, 20, false},
};
void PrintTo(const model_case& one, std::ostream* out) { *out << one.name; }

enum class step_kind { add, remove, look_up };
struct step {
  step_kind kind;
  rule subject;
  std::size_t n = 0;  // packets, or which rule of those there are
};
void showValue(const step& one, std::ostream& out) {
  const char* names[] = {"add", "remove", "look_up"};
  out << names[static_cast<int>(one.kind)] << "(" << one.n;
  out << ", priority " << one.subject.priority << ", value " << one.subject.value << ", ";
  for (std::size_t i = 0; i < one.subject.key.size(); ++i) {
    if (one.subject.mask[i] == 0) continue;
    out << "[" << i << "]" << +one.subject.key[i] << "/" << +one.subject.mask[i];
  }
  out << ")";
}

/// Few places of the key take part: its first and last byte, and some between.
byte_string spread(const std::vector<std::uint8_t>& few, unsigned key_bytes) {
  byte_string all(key_bytes, 0);
  for (std::size_t i = 0; i < few.size(); ++i) {
    all[i * (key_bytes - 1) / (few.size() - 1)] |= few[i];
  }
  return all;
}

rc::Gen<rule> arbitrary_rule(const model_case& at) {
  const auto few = rc::gen::container<std::vector<std::uint8_t>>(
      5, rc::gen::element<std::uint8_t>(0, 0, 1, 2, 3, 0x83));
  const auto priority = rc::gen::map(rc::gen::inRange<std::uint32_t>(0, at.n_priorities),
                                     [](std::uint32_t p) { return p == 5 ? ~0u : p; });
  return rc::gen::map(rc::gen::tuple(few, few, priority, rc::gen::inRange<std::uint32_t>(0, 1000)),
                      [at](const auto& parts) {
                        rule one{spread(std::get<0>(parts), at.key_bytes),
                                 spread(std::get<1>(parts), at.key_bytes), std::get<2>(parts),
                                 std::get<3>(parts)};
                        for (std::size_t i = 0; i < one.key.size(); ++i) one.key[i] &= one.mask[i];
                        return one;
                      });
}

rc::Gen<step> arbitrary_step(const model_case& at) {
  const auto kind = rc::gen::weightedElement<step_kind>(
      {{3, step_kind::add}, {1, step_kind::remove}, {2, step_kind::look_up}});
  return rc::gen::map(
      rc::gen::tuple(kind, arbitrary_rule(at), rc::gen::inRange<std::size_t>(0, 200)),
      [](const auto& parts) {
        return step{std::get<0>(parts), std::get<1>(parts), std::get<2>(parts)};
      });
}

class checked_classifier {
 public:
  explicit checked_classifier(const model_case& at) : at_(at) {
    coua_classifier_params params = classifier_params(at.key_bytes, at.distributor);
    params.proof_budget = at.proof_budget;
    params.flows = 64;
    params.unpruned = !at.pruned;
    table_ = make_classifier(params);
    reader_ = reader_of(table_);
  }

  void run(const step& one) {
    switch (one.kind) {
      case step_kind::add: {
        const bool is_new = list_.add(one.subject);
        RC_ASSERT(add(table_, one.subject) ==
                  (is_new ? COUA_CLASSIFIER_ADDED : COUA_CLASSIFIER_UPDATED));
        break;
      }
      case step_kind::remove: {
        // Mostly one that is there.
        const auto& all = list_.all();
        const rule gone =
            all.empty() || one.n % 8 == 0 ? one.subject : rule(all[one.n % all.size()]);
        RC_ASSERT(remove(table_, gone) == (list_.remove(gone) ? 0 : -ENOENT));
        break;
      }
      case step_kind::look_up: look_up(one.n); break;
    }
    check_counts();
  }

  /// The same `n` packets in each call, in which every place that rules look at takes some values.
  void look_up(std::size_t n) {
    std::vector<std::uint8_t> packets;
    std::uint32_t x = 1;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::uint8_t> few(5);
      for (std::uint8_t& byte : few) {
        x = x * 1664525 + 1013904223;
        byte = static_cast<std::uint8_t>(x >> 24 & 0x83);
      }
      byte_string packet = spread(few, at_.key_bytes);
      packets.insert(packets.end(), packet.begin(), packet.end());
    }
    std::vector<coua_classifier_answer> answers(n, {77, 78});
    std::vector<std::uint64_t> hits(COUA_CLASSIFIER_WORDS(n));
    const std::size_t n_found =
        coua_classifier_lookup_batch(reader_, packets.data(), n, answers.data(), hits.data());
    std::size_t n_right = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* packet = packets.data() + i * at_.key_bytes;
      const auto best = list_.best_priority(packet);
      RC_ASSERT((hits[i / 64] >> i % 64 & 1) == best.has_value());
      if (best) {
        RC_ASSERT(answers[i].priority == *best);
        RC_ASSERT(list_.has(packet, answers[i]));
      } else {
        RC_ASSERT(answers[i].value == 77u);
      }
      n_right += best.has_value();
    }
    RC_ASSERT(n_found == n_right);
  }

 private:
  void check_counts() const {
    const coua_classifier_stats stats = stats_of(table_);
    RC_ASSERT(stats.rules == list_.all().size());
    std::uint64_t n_rules = 0, n_masks = 0;
    coua_classifier_mask mask{};
    mask.size = sizeof mask;
    std::uint32_t before = ~0u;
    for (; coua_classifier_get_mask(table_.get(), n_masks, &mask) == 0; ++n_masks) {
      n_rules += mask.rules;
      RC_ASSERT(mask.rules > 0u);
      RC_ASSERT(mask.highest <= before && mask.lowest <= mask.highest);
      before = mask.highest;
    }
    RC_ASSERT(n_rules == stats.rules && n_masks == stats.masks);
  }

  const model_case at_;
  classifier_ptr table_;
  coua_classifier_reader* reader_;
  linear_rules list_;
};

class classifier_model : public testing::TestWithParam<model_case> {};

TEST_P(classifier_model, agrees_with_a_linear_list) {
  const model_case at = GetParam();
  const bool passed = rc::check("random updates and look-ups", [&] {
    const auto steps =
        *rc::gen::scale(4.0, rc::gen::container<std::vector<step>>(arbitrary_step(at)));
    checked_classifier checked(at);
    for (const step& one : steps) {
      checked.run(one);
      checked.look_up(40);
    }
    checked.look_up(150);
  });
  EXPECT_TRUE(passed);
}

INSTANTIATE_TEST_SUITE_P(, classifier_model, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace coua::test
