// SPDX-License-Identifier: Apache-2.0
//
// What callers of the classifier see beyond right answers: errors, limits, counts, and the switch
// of the distributor.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "classifier_handles.h"

namespace coua::test {
namespace {

std::string why_not(const coua_classifier_params& params) {
  coua_classifier* made = nullptr;
  char message[200] = "";
  EXPECT_EQ(coua_classifier_create(&params, &made, message, sizeof message), -EINVAL);
  EXPECT_EQ(made, nullptr);
  return message;
}

/// Rule number i has a mask of its own: the tag in its first two bytes, and i chooses bits of the
/// rest. No two overlap.
rule rule_of_mask(std::uint32_t i, std::uint32_t priority = 7) {
  rule one{byte_string(16, 0), byte_string(16, 0), priority, i};
  one.mask[0] = one.mask[1] = 0xff;
  one.key[0] = static_cast<std::uint8_t>(i);
  one.key[1] = static_cast<std::uint8_t>(i >> 8);
  for (unsigned bit = 0; bit < 16; ++bit) {
    if ((i >> bit & 1) != 0) one.mask[2 + bit / 2] |= static_cast<std::uint8_t>(1 << bit % 8);
  }
  return one;
}
/// Packets of `n_masks` such rules, `each` a rule; bytes that rules mask are those of the rule.
byte_string packets_of(std::uint32_t n_masks, std::uint32_t each) {
  byte_string all;
  for (std::uint32_t copy = 0; copy < each; ++copy) {
    for (std::uint32_t i = 0; i < n_masks; ++i) {
      byte_string packet = rule_of_mask(i).key;
      std::memcpy(packet.data() + 12, &copy, sizeof copy);
      all.insert(all.end(), packet.begin(), packet.end());
    }
  }
  return all;
}
std::size_t look_up(coua_classifier_reader* reader, const byte_string& packets) {
  return coua_classifier_lookup_batch(reader, packets.data(), packets.size() / 16, nullptr,
                                      nullptr);
}

TEST(classifier_api, bad_parameters_are_named) {
  coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_AUTO);
  const auto changed = [&](auto change) {
    coua_classifier_params other = params;
    change(other);
    return why_not(other);
  };
  EXPECT_EQ(changed([](auto& p) { p.key_bytes = 0; }), "key_bytes: must be 1 to 256");
  EXPECT_EQ(changed([](auto& p) { p.key_bytes = 257; }), "key_bytes: must be 1 to 256");
  EXPECT_EQ(changed([](auto& p) { p.masks_max = 32769; }), "masks_max: must be 1 to 32,768");
  EXPECT_EQ(changed([](auto& p) { p.rules_max = std::uint64_t{1} << 32; }),
            "rules_max: must be 1 to 2^31");
  EXPECT_EQ(changed([](auto& p) { p.flows = 15; }), "flows: must be 16 to 2^26");
  EXPECT_EQ(changed([](auto& p) { p.distributor = coua_classifier_distributor(3); }),
            "distributor: is not a value of enum coua_classifier_distributor");
  EXPECT_EQ(changed([](auto& p) { p.unpruned = 2; }), "unpruned: must be 0 or 1");
  EXPECT_EQ(changed([](auto& p) { p.size = 4; }),
            "size: must be sizeof(struct coua_classifier_params)");
}

TEST(classifier_api, bad_rules_change_nothing) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  rule outside = rule_of_mask(3);
  outside.key[15] = 1;  // the mask leaves it out
  EXPECT_EQ(add(table, outside), -EINVAL);
  EXPECT_EQ(remove(table, outside), -EINVAL);
  EXPECT_EQ(coua_classifier_add(table.get(), nullptr, outside.mask.data(), 1, 1), -EINVAL);
  EXPECT_EQ(remove(table, rule_of_mask(3)), -ENOENT);
  EXPECT_EQ(stats_of(table).rules, 0u);
  EXPECT_EQ(stats_of(table).masks, 0u);
}

TEST(classifier_api, a_mask_takes_bits_of_so_many_words) {
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  params.key_bytes = COUA_CLASSIFIER_KEY_BYTES_MAX;
  const classifier_ptr table = make_classifier(params);
  rule one{byte_string(params.key_bytes, 0), byte_string(params.key_bytes, 0), 7, 1};
  for (unsigned w = 0; w < COUA_CLASSIFIER_MASK_WORDS_MAX; ++w) one.mask[16 * w] = 1;
  EXPECT_EQ(add(table, one), COUA_CLASSIFIER_ADDED);
  rule wider = one;
  wider.mask[8] = 1;
  EXPECT_EQ(add(table, wider), -ERANGE);
  EXPECT_EQ(remove(table, wider), -ENOENT);
  EXPECT_EQ(stats_of(table).refused, 1U);
  EXPECT_EQ(stats_of(table).masks, 1U);
}

TEST(classifier_api, a_thousand_masks_at_default_settings_and_a_limit_that_tells) {
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  params.key_bytes = 16;
  const classifier_ptr table = make_classifier(params);
  for (std::uint32_t i = 0; i < COUA_CLASSIFIER_MASKS_DEFAULT; ++i) {
    ASSERT_EQ(add(table, rule_of_mask(i)), COUA_CLASSIFIER_ADDED) << i;
  }
  EXPECT_EQ(add(table, rule_of_mask(COUA_CLASSIFIER_MASKS_DEFAULT)), -E2BIG);
  EXPECT_EQ(stats_of(table).refused, 1u);
  EXPECT_EQ(stats_of(table).masks, COUA_CLASSIFIER_MASKS_DEFAULT);
  // Another rule of a mask that is there is welcome.
  EXPECT_EQ(add(table, rule_of_mask(5, 8)), COUA_CLASSIFIER_ADDED);
  // And another mask once one is gone.
  EXPECT_EQ(remove(table, rule_of_mask(9)), 0);
  EXPECT_EQ(add(table, rule_of_mask(COUA_CLASSIFIER_MASKS_DEFAULT)), COUA_CLASSIFIER_ADDED);
  coua_classifier_reader* reader = reader_of(table);
  EXPECT_EQ(look_up(reader, packets_of(COUA_CLASSIFIER_MASKS_DEFAULT, 1)),
            COUA_CLASSIFIER_MASKS_DEFAULT - 1);
}

TEST(classifier_api, a_full_list_of_rules_refuses_and_counts) {
  coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_ON);
  params.rules_max = 3;
  const classifier_ptr table = make_classifier(params);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(add(table, rule_of_mask(i)), 1);
  EXPECT_EQ(add(table, rule_of_mask(3)), -ENOSPC);
  EXPECT_EQ(add(table, rule_of_mask(2)), COUA_CLASSIFIER_UPDATED);
  EXPECT_EQ(stats_of(table).refused, 1u);
  EXPECT_EQ(stats_of(table).masks, 3u);
}

TEST(classifier_api, values_are_replaced_and_read_back) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  rule one = rule_of_mask(6);
  EXPECT_EQ(add(table, one), COUA_CLASSIFIER_ADDED);
  one.value = 1234;
  EXPECT_EQ(add(table, one), COUA_CLASSIFIER_UPDATED);
  std::uint32_t value = 0;
  EXPECT_EQ(coua_classifier_get(table.get(), one.key.data(), one.mask.data(), 7, &value), 0);
  EXPECT_EQ(value, 1234u);
  EXPECT_EQ(coua_classifier_get(table.get(), one.key.data(), one.mask.data(), 8, &value), -ENOENT);
  coua_classifier_answer answer{};
  EXPECT_EQ(coua_classifier_lookup(reader_of(table), one.key.data(), &answer), 1);
  EXPECT_EQ(answer.value, 1234u);
  EXPECT_EQ(answer.priority, 7u);
}

TEST(classifier_api, all_rules_are_told) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  linear_rules list;
  for (std::uint32_t i = 0; i < 50; ++i) {
    add(table, rule_of_mask(i, i % 4));
    list.add(rule_of_mask(i, i % 4));
  }
  EXPECT_EQ(coua_classifier_each(
                table.get(),
                [](void* context, const void* key, const void* mask, std::uint32_t priority,
                   std::uint32_t value) {
                  const auto* bytes = static_cast<const std::uint8_t*>(key);
                  const auto* bits = static_cast<const std::uint8_t*>(mask);
                  const rule told{{bytes, bytes + 16}, {bits, bits + 16}, priority, value};
                  return static_cast<linear_rules*>(context)->remove(told) ? 0 : 1;
                },
                &list),
            0);
  EXPECT_TRUE(list.all().empty());
  EXPECT_EQ(
      coua_classifier_each(
          table.get(),
          [](void*, const void*, const void*, std::uint32_t, std::uint32_t) { return 5; }, nullptr),
      5);
}

TEST(classifier_api, a_mask_is_described_and_counts_its_hits) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_OFF));
  coua_classifier_reader* reader = reader_of(table);
  add(table, rule_of_mask(1, 10));
  add(table, rule_of_mask(2, 20));
  EXPECT_EQ(look_up(reader, packets_of(3, 4)), 8u);
  coua_classifier_mask mask{};
  mask.size = sizeof mask;
  ASSERT_EQ(coua_classifier_get_mask(table.get(), 0, &mask), 0);
  EXPECT_EQ(std::memcmp(mask.mask, rule_of_mask(2).mask.data(), 16), 0);
  EXPECT_EQ(mask.highest, 20u);
  EXPECT_EQ(mask.hits, 4u);
  EXPECT_EQ(coua_classifier_get_mask(table.get(), 2, &mask), -ENOENT);
  // The counts of a reader that is gone stay; those of a mask that is gone do not come back.
  coua_classifier_reader_destroy(reader);
  ASSERT_EQ(coua_classifier_get_mask(table.get(), 0, &mask), 0);
  EXPECT_EQ(mask.hits, 4u);
  EXPECT_EQ(remove(table, rule_of_mask(2, 20)), 0);
  while (coua_classifier_reclaim(table.get()) != 0) {
  }
  EXPECT_EQ(add(table, rule_of_mask(9, 30)), COUA_CLASSIFIER_ADDED);
  ASSERT_EQ(coua_classifier_get_mask(table.get(), 0, &mask), 0);
  EXPECT_EQ(mask.hits, 0u);
}

TEST(classifier_api, memory_of_masks_that_are_gone_is_given_back) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  coua_classifier_reader* reader = reader_of(table);
  const std::uint64_t before = stats_of(table).bytes;
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 300; ++i) ASSERT_EQ(add(table, rule_of_mask(i)), 1);
    EXPECT_EQ(look_up(reader, packets_of(300, 1)), 300u);
    for (std::uint32_t i = 0; i < 300; ++i) ASSERT_EQ(remove(table, rule_of_mask(i)), 0);
    EXPECT_EQ(look_up(reader, packets_of(300, 1)), 0u);
  }
  for (int i = 0; i < 10; ++i) coua_classifier_reclaim(table.get());
  EXPECT_EQ(coua_classifier_reclaim(table.get()), 0u);
  EXPECT_LT(stats_of(table).bytes, before + 20'000);
}

TEST(classifier_api, a_mask_that_loses_most_rules_gives_memory_back) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_OFF));
  coua_classifier_reader* reader = reader_of(table);
  constexpr std::uint32_t n = 5000, n_left = 20;
  const auto many = [](std::uint32_t i) {
    rule one{byte_string(16, 0), byte_string(16, 0), 1, i};
    std::fill_n(one.mask.begin(), 4, std::uint8_t{0xff});
    std::memcpy(one.key.data(), &i, sizeof i);
    return one;
  };
  for (std::uint32_t i = 0; i < n_left; ++i) ASSERT_EQ(add(table, many(i)), 1);
  const std::uint64_t few = stats_of(table).bytes;
  for (std::uint32_t i = n_left; i < n; ++i) ASSERT_EQ(add(table, many(i)), 1);
  EXPECT_GT(stats_of(table).bytes, 50 * n);
  for (std::uint32_t i = n_left; i < n; ++i) ASSERT_EQ(remove(table, many(i)), 0);
  while (coua_classifier_reclaim(table.get()) != 0) {
  }
  EXPECT_LT(stats_of(table).bytes, few + 10'000);
  for (std::uint32_t i = 0; i < n; ++i) {
    coua_classifier_answer answer{};
    ASSERT_EQ(coua_classifier_lookup(reader, many(i).key.data(), &answer), i < n_left) << i;
    if (i < n_left) {
      ASSERT_EQ(answer.value, i);
    }
  }
}

// Hints.

TEST(classifier_api, a_hinted_look_up_takes_one_probe) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  for (std::uint32_t i = 0; i < 30; ++i) add(table, rule_of_mask(i));
  coua_classifier_reader* reader = reader_of(table);
  const byte_string packets = packets_of(30, 10);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look_up(reader, packets), 300u);
  const coua_classifier_reader_stats before = stats_of(reader);
  EXPECT_EQ(look_up(reader, packets), 300u);
  const coua_classifier_reader_stats after = stats_of(reader);
  EXPECT_LE(after.probes - before.probes, 330u);
  EXPECT_GE(after.final_hints - before.final_hints, 290u);
}

TEST(classifier_api, a_flow_is_the_bits_that_rules_look_at) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  for (std::uint32_t i = 0; i < 30; ++i) add(table, rule_of_mask(i));
  coua_classifier_reader* reader = reader_of(table);
  EXPECT_EQ(look_up(reader, packets_of(30, 2)), 60u);
  // These differ from the first ones in bytes that no mask takes.
  const coua_classifier_reader_stats before = stats_of(reader);
  EXPECT_EQ(look_up(reader, packets_of(30, 100)), 3000u);
  EXPECT_GE(stats_of(reader).final_hints - before.final_hints, 2950u);
}

TEST(classifier_api, hints_to_a_mask_that_is_gone_are_harmless) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  coua_classifier_reader* reader = reader_of(table);
  rule narrow = rule_of_mask(63, 10);
  rule broad{byte_string(16, 0), byte_string(16, 0), 1, 999};
  add(table, narrow);
  add(table, broad);
  coua_classifier_answer answer{};
  for (int i = 0; i < 4; ++i) coua_classifier_lookup(reader, narrow.key.data(), &answer);
  EXPECT_EQ(answer.value, 63u);
  EXPECT_EQ(remove(table, narrow), 0);
  EXPECT_EQ(coua_classifier_lookup(reader, narrow.key.data(), &answer), 1);
  EXPECT_EQ(answer.value, 999u);
  while (coua_classifier_reclaim(table.get()) != 0) {
  }
  // Its number goes to another mask.
  add(table, rule_of_mask(7, 10));
  EXPECT_EQ(coua_classifier_lookup(reader, narrow.key.data(), &answer), 1);
  EXPECT_EQ(answer.value, 999u);
}

TEST(classifier_api, a_hint_is_not_final_when_a_better_rule_came) {
  for (const std::uint32_t budget : {0u, 1u}) {
    coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_ON);
    params.proof_budget = budget;
    const classifier_ptr table = make_classifier(params);
    coua_classifier_reader* reader = reader_of(table);
    for (std::uint32_t i = 0; i < 20; ++i) add(table, rule_of_mask(i, 10));
    const byte_string packet = rule_of_mask(11).key;
    coua_classifier_answer answer{};
    for (int i = 0; i < 4; ++i) coua_classifier_lookup(reader, packet.data(), &answer);
    EXPECT_EQ(answer.value, 11u);
    rule better{byte_string(16, 0), byte_string(16, 0), 11, 500};
    EXPECT_EQ(add(table, better), COUA_CLASSIFIER_ADDED);
    coua_classifier_lookup(reader, packet.data(), &answer);
    EXPECT_EQ(answer.value, 500u);
    EXPECT_EQ(remove(table, better), 0);
    coua_classifier_lookup(reader, packet.data(), &answer);
    EXPECT_EQ(answer.value, 11u);
    EXPECT_EQ(budget == 0, stats_of(table).proofs_given_up == 0);
  }
}

/// What is known of a rule's rivals is not given up when a removal cannot compare everything anew.
TEST(classifier_api, a_removal_beyond_its_budget_keeps_the_rivals_that_are_known) {
  const auto rule_at = [](unsigned byte, std::uint8_t is, std::uint32_t priority) {
    rule one{byte_string(16, 0), byte_string(16, 0), priority, priority};
    one.mask[byte] = 0xff;
    one.key[byte] = is;
    return one;
  };
  coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_ON);
  params.unpruned = 1;
  params.proof_budget = 31;
  const classifier_ptr table = make_classifier(params);
  // Thirty masks above, none of which overlaps the low rule.
  for (unsigned i = 0; i < 30; ++i) {
    rule high = rule_at(0, 2, 100);
    high.mask[2 + i / 8] = static_cast<std::uint8_t>(1 << i % 8);
    add(table, high);
  }
  const rule low = rule_at(0, 1, 1), middle = rule_at(1, 5, 10);
  rule other = rule_at(1, 5, 20);
  other.mask[1] = other.key[1] = 0x0f;
  for (const rule& one : {low, middle, other}) add(table, one);
  coua_classifier_reader* reader = reader_of(table);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look_up(reader, low.key), 1u);
  EXPECT_EQ(remove(table, other), 0);
  const std::uint64_t probes = stats_of(reader).probes;
  EXPECT_EQ(look_up(reader, low.key), 1u);
  EXPECT_EQ(stats_of(reader).probes - probes, 2u);  // its own mask and the one rival
}

// Rivals.

/// `n` rules of masks of their own, each better than `low` and matching some of its keys.
std::vector<rule> rivals_of(const rule& low, unsigned n) {
  std::vector<rule> all;
  for (unsigned i = 0; i < n; ++i) {
    rule high = low;
    high.mask[4 + i / 8] |= static_cast<std::uint8_t>(1 << i % 8);
    high.key[4 + i / 8] |= static_cast<std::uint8_t>(1 << i % 8);
    high.priority = 100 + i;
    high.value = 1000 + i;
    all.push_back(high);
  }
  return all;
}

TEST(classifier_api, of_many_rivals_only_those_are_asked) {
  coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_ON);
  params.unpruned = 1;
  const classifier_ptr table = make_classifier(params);
  // Forty masks above that do not overlap the low rule, and ten that do.
  for (std::uint32_t i = 100; i < 140; ++i) add(table, rule_of_mask(i, 50));
  const rule low = rule_of_mask(1, 1);
  add(table, low);
  const std::vector<rule> rivals = rivals_of(low, 10);
  for (const rule& one : rivals) add(table, one);
  coua_classifier_reader* reader = reader_of(table);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look_up(reader, low.key), 1u);
  const coua_classifier_reader_stats before = stats_of(reader);
  EXPECT_EQ(look_up(reader, low.key), 1u);
  const coua_classifier_reader_stats after = stats_of(reader);
  EXPECT_EQ(after.checked_hints - before.checked_hints, 1u);
  EXPECT_GE(after.probes - before.probes, 11u);
  EXPECT_LE(after.probes - before.probes, 22u);  // of 51: some share a bit with a rival
  // Each of them counts where it matches, also when it came after the hint was learned.
  for (const rule& one : rivals) {
    coua_classifier_answer answer{};
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(coua_classifier_lookup(reader, one.key.data(), &answer), 1);
      EXPECT_EQ(answer.value, one.value);
    }
    EXPECT_EQ(remove(table, one), 0);
    EXPECT_EQ(coua_classifier_lookup(reader, one.key.data(), &answer), 1);
    EXPECT_EQ(answer.value, low.value);
    EXPECT_EQ(add(table, one), COUA_CLASSIFIER_ADDED);
    EXPECT_EQ(coua_classifier_lookup(reader, one.key.data(), &answer), 1);
    EXPECT_EQ(answer.value, one.value);
  }
}

// The favourite.

byte_string copies_of(const byte_string& packet, std::size_t n) {
  byte_string all;
  for (std::size_t i = 0; i < n; ++i) all.insert(all.end(), packet.begin(), packet.end());
  return all;
}

TEST(classifier_api, a_mask_that_most_keys_match_in_is_asked_first_whatever_its_priority) {
  for (const std::uint32_t unpruned : {0u, 1u}) {
    coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_OFF);
    params.unpruned = unpruned;
    const classifier_ptr table = make_classifier(params);
    for (std::uint32_t i = 0; i < 30; ++i) add(table, rule_of_mask(i, 100 - i));
    coua_classifier_reader* reader = reader_of(table);
    const byte_string last = copies_of(rule_of_mask(29, 71).key, 70'000);
    look_up(reader, last);
    const std::uint64_t before = stats_of(reader).probes;
    look_up(reader, last);
    EXPECT_EQ(stats_of(reader).probes - before, 70'000u);
    // Others are found all the same, and then another one is the favourite.
    EXPECT_EQ(look_up(reader, packets_of(30, 1)), 30u);
    const byte_string first = copies_of(rule_of_mask(3, 97).key, 200'000);
    look_up(reader, first);
    const std::uint64_t then = stats_of(reader).probes;
    EXPECT_EQ(look_up(reader, first), 200'000u);
    EXPECT_EQ(stats_of(reader).probes - then, 200'000u);
  }
}

TEST(classifier_api, nothing_is_gained_by_hints_where_one_mask_takes_all) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_AUTO));
  for (std::uint32_t i = 0; i < 30; ++i) add(table, rule_of_mask(i));
  coua_classifier_reader* reader = reader_of(table);
  const byte_string one = copies_of(rule_of_mask(17).key, 70'000);
  for (int i = 0; i < 10; ++i) look_up(reader, one);
  EXPECT_EQ(stats_of(reader).distributor_on, 0u);
  EXPECT_LT(stats_of(reader).saved_probes, 0.1);
  // A favourite that is gone misleads nobody.
  EXPECT_EQ(remove(table, rule_of_mask(17)), 0);
  EXPECT_EQ(look_up(reader, packets_of(30, 1)), 29u);
}

TEST(classifier_api, the_distributor_goes_on_and_off_with_the_traffic) {
  coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_AUTO);
  params.unpruned = 1;
  const classifier_ptr table = make_classifier(params);
  for (std::uint32_t i = 0; i < 30; ++i) add(table, rule_of_mask(i));
  coua_classifier_reader* reader = reader_of(table);
  EXPECT_EQ(stats_of(reader).distributor_on, 0u);
  const byte_string spread_out = packets_of(30, 100);
  for (int i = 0; i < 100; ++i) look_up(reader, spread_out);
  EXPECT_EQ(stats_of(reader).distributor_on, 1u);
  EXPECT_GT(stats_of(reader).saved_probes, 10.0);
  byte_string one_mask;
  for (int i = 0; i < 3000; ++i) {
    const byte_string packet = rule_of_mask(17).key;
    one_mask.insert(one_mask.end(), packet.begin(), packet.end());
  }
  for (int i = 0; i < 300; ++i) look_up(reader, one_mask);
  EXPECT_EQ(stats_of(reader).distributor_on, 0u);
  EXPECT_EQ(stats_of(reader).switches, 2u);
  EXPECT_LT(stats_of(reader).saved_probes, 1.0);
}

// Pruning.

TEST(classifier_api, a_search_asks_only_masks_that_can_match) {
  for (const std::uint32_t unpruned : {0u, 1u}) {
    coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_OFF);
    params.unpruned = unpruned;
    const classifier_ptr table = make_classifier(params);
    for (std::uint32_t i = 0; i < 500; ++i) add(table, rule_of_mask(i));
    coua_classifier_reader* reader = reader_of(table);
    EXPECT_EQ(look_up(reader, packets_of(500, 2)), 1000u);
    const std::uint64_t probes = stats_of(reader).probes;
    if (unpruned == 0) {
      EXPECT_EQ(probes, 1000u);  // the first two bytes tell all masks apart
    } else {
      EXPECT_GT(probes, 200'000u);
    }
  }
}

TEST(classifier_api, rules_that_are_gone_are_forgotten_by_searches) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_OFF));
  for (std::uint32_t i = 0; i < 20; ++i) add(table, rule_of_mask(i));
  // 250 rules of one mask, which let byte 15 take any value.
  const auto many = [](unsigned i) {
    rule one{byte_string(16, 0), byte_string(16, 0), 7, i};
    one.mask[15] = 0xff;
    one.key[15] = static_cast<std::uint8_t>(i);
    return one;
  };
  for (unsigned i = 0; i < 250; ++i) add(table, many(i));
  coua_classifier_reader* reader = reader_of(table);
  byte_string packet(16, 0);
  packet[0] = packet[1] = 0xee;
  packet[15] = 99;
  EXPECT_EQ(look_up(reader, packet), 1u);
  for (unsigned i = 1; i < 250; ++i) EXPECT_EQ(remove(table, many(i)), 0);
  const std::uint64_t probes = stats_of(reader).probes;
  EXPECT_EQ(look_up(reader, packet), 0u);
  EXPECT_EQ(stats_of(reader).probes, probes);
  packet[15] = 0;
  EXPECT_EQ(look_up(reader, packet), 1u);
}

TEST(classifier_api, masks_may_grow_to_thousands_and_back) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  coua_classifier_reader* reader = reader_of(table);
  for (const std::uint32_t n : {3u, 9u, 70u, 2000u, 60u, 6u, 2u, 300u}) {
    for (std::uint32_t i = 0; i < n; ++i) add(table, rule_of_mask(i));
    for (std::uint32_t i = n; i < 2000; ++i) remove(table, rule_of_mask(i));
    EXPECT_EQ(look_up(reader, packets_of(2000, 1)), n);
    EXPECT_EQ(stats_of(table).masks, n);
  }
}

TEST(classifier_api, few_masks_leave_the_distributor_off) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_AUTO));
  for (std::uint32_t i = 0; i < 2; ++i) add(table, rule_of_mask(i));
  coua_classifier_reader* reader = reader_of(table);
  for (int i = 0; i < 100; ++i) look_up(reader, packets_of(2, 1000));
  EXPECT_EQ(stats_of(reader).switches, 0u);
  EXPECT_EQ(stats_of(reader).hinted, 0u);
}

TEST(classifier_api, masks_that_are_used_most_are_asked_first_where_priorities_allow) {
  coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_OFF);
  params.unpruned = 1;
  const classifier_ptr table = make_classifier(params);
  for (std::uint32_t i = 0; i < 30; ++i) add(table, rule_of_mask(i));
  coua_classifier_reader* reader = reader_of(table);
  byte_string last;
  for (int i = 0; i < 70'000; ++i) {
    const byte_string packet = rule_of_mask(29).key;
    last.insert(last.end(), packet.begin(), packet.end());
  }
  look_up(reader, last);
  const coua_classifier_reader_stats before = stats_of(reader);
  look_up(reader, last);
  EXPECT_EQ(stats_of(reader).probes - before.probes, 70'000u);
}

TEST(classifier_api, every_instruction_set_has_a_name) {
  const classifier_ptr table = make_classifier(classifier_params(16, COUA_DISTRIBUTOR_ON));
  const std::string name = stats_of(reader_of(table)).simd;
  EXPECT_TRUE(name == "generic" || name == "avx2" || name == "avx512") << name;
  if (const char* asked = std::getenv("COUA_SIMD"); asked != nullptr && name != asked) {
    GTEST_SKIP() << "this machine has no " << asked;
  }
}

}  // namespace
}  // namespace coua::test
