// SPDX-License-Identifier: Apache-2.0
#include "classify/distributor.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace coua {
namespace {

const isa all_sets[] = {isa::generic, isa::avx2, isa::avx512};

std::uint16_t hint_of(const distributor& hints, std::uint64_t flow) {
  std::uint16_t hint;
  hints.find(&flow, 1, &hint);
  return hint;
}

TEST(distributor, remembers_and_corrects) {
  auto hints = distributor::create(1024, isa::generic);
  ASSERT_TRUE(hints);
  EXPECT_EQ(hint_of(*hints, 12345), simd::no_hint);
  hints->remember(12345, 7);
  EXPECT_EQ(hint_of(*hints, 12345), 7);
  hints->remember(12345, 0);
  EXPECT_EQ(hint_of(*hints, 12345), 0);
}

TEST(distributor, keeps_as_many_flows_as_it_has_room_for) {
  auto hints = distributor::create(4096, isa::generic);
  ASSERT_TRUE(hints);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> flows(3500);
  for (std::uint64_t& flow : flows) flow = random();
  for (int round = 0; round < 8; ++round) {
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (hint_of(*hints, flows[i]) != i % 1000) {
        hints->remember(flows[i], static_cast<subtable_id>(i % 1000));
      }
    }
    hints->adapt(flows.size(), 0);
  }
  EXPECT_EQ(hints->flows_in_use(), 4096u);
  std::size_t n_known = 0;
  for (std::size_t i = 0; i < flows.size(); ++i) n_known += hint_of(*hints, flows[i]) == i % 1000;
  EXPECT_GT(n_known, flows.size() * 95 / 100);
}

TEST(distributor, few_flows_stay_in_few_lines) {
  auto hints = distributor::create(1 << 20, isa::generic);
  ASSERT_TRUE(hints);
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) hints->remember(random(), 1);
  hints->adapt(8192, 0);
  EXPECT_EQ(hints->flows_in_use(), 1024u);
  hints->adapt(8192, 16);
  EXPECT_EQ(hints->flows_in_use(), 1024u);
  hints->adapt(8192, 17);  // false hints
  EXPECT_EQ(hints->flows_in_use(), 4096u);
}

TEST(distributor, each_bucket_leads_to_the_other) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t flow = random(), mask = (std::uint64_t{64} << random() % 12) - 1;
    const std::uint64_t first = simd::first_bucket(flow, mask);
    const std::uint64_t second = simd::second_bucket(first, simd::signature_of(flow), mask);
    EXPECT_EQ(simd::second_bucket(second, simd::signature_of(flow), mask), first);
  }
}

/// Lines of few different signatures, so that both buckets have several that are equal.
TEST(distributor, all_kernels_give_the_same_hints) {
  std::mt19937_64 random(5);
  constexpr std::uint64_t n_lines = 16;
  std::vector<simd::hint_line> lines(n_lines);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t n_signatures = 2 + random() % 40;
    for (simd::hint_line& line : lines) {
      for (unsigned slot = 0; slot < simd::hint_line::n_slots; ++slot) {
        line.signatures[slot] = static_cast<std::uint16_t>(random() % n_signatures);
        line.hints[slot] = static_cast<std::uint16_t>(random());
      }
    }
    std::vector<std::uint64_t> flows(64);
    for (std::uint64_t& flow : flows) flow = random() >> 16 | random() % n_signatures << 48;
    std::vector<std::uint16_t> wanted(flows.size()), got(flows.size());
    simd::generic_hints.find(lines.data(), n_lines - 1, flows.data(), flows.size(), wanted.data());
    std::size_t n_hints = 0;
    for (const std::uint16_t hint : wanted) n_hints += hint != simd::no_hint;
    EXPECT_GT(n_hints, 0u);
    for (const isa set : all_sets) {
      if (set > best_isa()) continue;
      const simd::hint_kernels& kernels = simd::select_hint_kernels(set);
      kernels.find(lines.data(), n_lines - 1, flows.data(), flows.size(), got.data());
      EXPECT_EQ(got, wanted) << kernels.name;
    }
  }
}

/// A flow is what the mask takes.
TEST(distributor, bits_outside_the_mask_do_not_matter) {
  auto hints = distributor::create(1024, isa::generic);
  ASSERT_TRUE(hints);
  wide_words bits{};
  bits.words[0] = 0xff00;
  bits.words[2] = 1;
  const joint_mask mask(bits, 3);
  const std::uint64_t key[3] = {0x1234, 5, 1}, same[3] = {0x99120012ff, 77, 3};
  const std::uint64_t other[3] = {0x1334, 5, 1}, another[3] = {0x1234, 5, 0};
  EXPECT_EQ(hints->flow_of(mask, key), hints->flow_of(mask, same));
  EXPECT_NE(hints->flow_of(mask, key), hints->flow_of(mask, other));
  EXPECT_NE(hints->flow_of(mask, key), hints->flow_of(mask, another));
}

}  // namespace
}  // namespace coua
