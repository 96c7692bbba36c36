// SPDX-License-Identifier: Apache-2.0
//
// Every set of look-up kernels against the definition (geometry.h), on blocks of random bits; and
// the pipeline against batches.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "setsep/bulk_build.h"
#include "setsep/pipeline.h"
#include "setsep/test_keys.h"
#include "simd/setsep_lookup/kernels.h"

namespace coua::setsep {
namespace {

struct random_table {
  random_table(const layout& of, extent size, std::mt19937_64& random) : shape(of), extent_(size) {
    const std::size_t bytes = std::size_t{size.n_blocks} * shape.block_bytes();
    words.resize((bytes + slack_bytes) / 4);
    for (std::uint32_t& each : words) each = static_cast<std::uint32_t>(random());
    auto* const from = reinterpret_cast<std::uint8_t*>(words.data());
    for (unsigned i = 0; i < size.n_blocks * block_groups / 8; ++i) {  // some groups failed
      const std::size_t block = random() % size.n_blocks, group = random() % block_groups;
      store_part(shape,
                 from + block * shape.block_bytes() + choice_bytes + group * shape.group_bytes(),
                 {shape.failed(), 0});
    }
  }

  /// -1: its group failed.
  int value_of(const key_hash& hash) const {
    const auto* block = reinterpret_cast<const std::uint8_t*>(words.data()) +
                        std::size_t{extent_.block_of(hash)} * shape.block_bytes();
    const unsigned bucket = hash.low % 256;
    const unsigned choice = block[bucket / 4] >> bucket % 4 * 2 & 3;
    const std::uint8_t* record =
        block + choice_bytes + group_of(bucket, choice) * shape.group_bytes();
    if (load_part(shape, record).index == shape.failed()) return -1;
    int value = 0;
    for (unsigned bit = 0; bit < shape.value_bits; ++bit) {
      const group_part part = load_part(shape, record + bit * shape.part_bytes());
      const std::uint64_t sum =
          (hash.low >> 32) + std::uint64_t{part.index} * ((hash.high & 0xffffffff) | 1);
      const unsigned place = (sum & 0xffffffff) / (std::uint64_t{1} << (32 - shape.place_bits()));
      value |= static_cast<int>(part.places >> place & 1) << bit;
    }
    return value;
  }

  layout shape;
  extent extent_;
  std::vector<std::uint32_t> words;
};

class setsep_lookup : public testing::TestWithParam<isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) GTEST_SKIP() << "this machine has no " << to_string(GetParam());
  }
};

TEST_P(setsep_lookup, is_what_the_definition_says) {
  std::mt19937_64 random(11);
  std::size_t n_failed = 0;
  for (unsigned value_bits = 1; value_bits <= value_bits_max; ++value_bits) {
    for (const auto& [index_bytes, array_bytes] :
         {std::pair(2U, 1U), {1U, 2U}, {2U, 2U}, {1U, 1U}}) {
      for (const extent size : {extent{1, 1}, {3, 3}, {3, 5}, {3, 6}, {2, 13}, {1, 31}}) {
        const random_table table({value_bits, index_bytes, array_bytes}, size, random);
        const auto& kernels = simd::select_setsep_kernels(GetParam(), table.words.size() * 4);
        ASSERT_EQ(kernels.instruction_set, std::min(GetParam(), isa::avx2));
        for (std::size_t n = 1; n <= simd::setsep_batch; n += 1 + random() % 3) {
          std::vector<key_hash> hashes(n);
          for (key_hash& each : hashes) each = {random(), random()};
          std::vector<std::uint16_t> values(n + 1, 0xabcd);
          simd::setsep_keys keys;
          const simd::setsep_view view{table.words.data(), table.shape, random() % 2 == 0};
          kernels.locate(view, size, hashes.data(), n, keys);
          kernels.choose(view, n, keys);
          const std::uint32_t failed = kernels.resolve(view, n, keys, values.data());
          for (std::size_t i = 0; i < n; ++i) {
            const int want = table.value_of(hashes[i]);
            ASSERT_EQ(failed >> i & 1, want < 0 ? 1U : 0U) << n << " " << i;
            ASSERT_EQ(values[i], std::max(0, want)) << n << " " << i;
            n_failed += want < 0;
          }
          ASSERT_EQ(values[n], 0xabcd) << "written behind the end";
          ASSERT_EQ(n == 32 ? 0U : failed >> n, 0U);
        }
      }
    }
  }
  EXPECT_GT(n_failed, 1'000U);
}

TEST_P(setsep_lookup, a_pipeline_gives_what_a_batch_gives) {
  const auto keys = random_keys(20'000, 3);
  build_params params;
  params.shape = {3, 1, 2};  // with a fallback
  params.instruction_set = GetParam();
  // Of one size, with further keys that are not the same ones: so their blocks differ.
  const auto with_others = [&](unsigned seed) {
    auto all = random_keys(5'000, 3, seed);
    all.insert(all.end(), keys.begin(), keys.end());
    return build_table(all, params);
  };
  const auto near = with_others(2);
  ASSERT_EQ(setenv("COUA_L2_BYTES", "0", 1), 0);
  const auto far = with_others(3);
  ASSERT_EQ(unsetenv("COUA_L2_BYTES"), 0);
  ASSERT_TRUE(near && far);
  ASSERT_TRUE((*near)->is_near() && !(*far)->is_near());
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    const table* made = round % 3 == 0 ? near->get() : far->get();
    lookup_pipeline pipeline;
    std::vector<std::uint16_t> values;
    std::size_t at = 0;
    while (at < keys.size()) {
      const std::size_t n =
          std::min<std::size_t>(random() % (round < 10 ? 40 : 300), keys.size() - at);
      std::vector<key_hash> hashes;
      for (std::size_t i = 0; i < n; ++i) hashes.push_back(keys[at + i].hash);
      std::vector<std::uint16_t> some(n + 1, 0xabcd);
      const std::size_t answered = pipeline.submit(*made, hashes.data(), n, some.data());
      ASSERT_LE(answered, n);
      ASSERT_TRUE(round % 3 != 0 || answered == n);
      // From one table to the other, with keys in flight or without.
      if (round % 3 == 2 && random() % 20 == 0) made = (made == near->get() ? far : near)->get();
      ASSERT_EQ(some[answered], 0xabcd);
      values.insert(values.end(), some.begin(), some.begin() + static_cast<long>(answered));
      at += n;
      ASSERT_LE(pipeline.in_flight(), lookup_pipeline::depth);
      if (random() % 50 != 0 && at < keys.size()) continue;
      std::vector<std::uint16_t> rest(lookup_pipeline::depth);
      const std::size_t left = pipeline.drain(*made, rest.data());
      values.insert(values.end(), rest.begin(), rest.begin() + static_cast<long>(left));
      ASSERT_EQ(values.size(), at);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(values[i], keys[i].value) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(kernels, setsep_lookup,
                         testing::Values(isa::generic, isa::avx2, isa::avx512),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(setsep_extent, growth_splits_one_block_at_a_time) {
  const auto keys = random_keys(20'000, 1);
  for (extent now : {extent{1, 1}, extent{3, 3}, extent{5, 5}}) {
    while (now.n_blocks < 40) {
      const std::uint32_t split = now.next_split();
      const extent grown{now.n_first, now.n_blocks + 1};
      std::size_t moved = 0, of_split = 0;
      for (const keyed_value& each : keys) {
        const std::uint32_t before = now.block_of(each.hash), after = grown.block_of(each.hash);
        ASSERT_LT(after, grown.n_blocks);
        of_split += before == split;
        if (after == before) continue;
        ASSERT_EQ(before, split);
        ASSERT_EQ(after, now.n_blocks);
        ++moved;
      }
      const auto half = static_cast<double>(of_split) / 2;
      EXPECT_NEAR(static_cast<double>(moved), half, 5 * std::sqrt(half));
      now = grown;
    }
  }
}

}  // namespace
}  // namespace coua::setsep
