// SPDX-License-Identifier: Apache-2.0
//
// Set separation by its public interface, in C and in C++.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/test_no_threads.h"
#include "coua/setsep.hpp"

namespace coua::test {
namespace {

using api::setsep_builder;
using api::setsep_reader;
using api::setsep_replica;
using key = std::uint64_t;

struct setsep_api : testing::Test {
  void SetUp() override {
    for (key i = 0; i < 20'000; ++i) {
      keys.push_back(i * 0x10001);
      values.push_back(static_cast<std::uint16_t>((i * i >> 3) % 8));
    }
    params.value_bits = 3;
    params.keys_max = 40'000;
    std::string why;
    ASSERT_EQ(from.create(params, keys, values, from, &why), 0) << why;
    coua_setsep_replica_params how = COUA_SETSEP_REPLICA_PARAMS_INIT;
    how.keys_max = 40'000;
    ASSERT_EQ(to.create(how, to), 0);
    ASSERT_EQ(to.open(reader), 0);
  }
  std::size_t wrong(setsep_reader<key>& in) {
    std::vector<std::uint16_t> found(keys.size());
    in.lookup_batch(keys, found);
    std::size_t n = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      n += found[i] != values[i] || in.lookup(keys[i]) != values[i];
    }
    return n;
  }

  std::vector<key> keys;
  std::vector<std::uint16_t> values;
  coua_setsep_params params = COUA_SETSEP_PARAMS_INIT;
  setsep_builder<key> from;
  setsep_replica<key> to;
  setsep_reader<key> reader;  // of the replica
};

TEST_F(setsep_api, is_built_by_all_processors) {
  std::size_t most = 0;
  params.context = &most;
  params.progress = [](void* context, std::uint64_t, std::uint64_t) {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    auto& most_so_far = *static_cast<std::size_t*>(context);
    most_so_far =
        std::max(most_so_far, static_cast<std::size_t>(std::distance(begin(tasks), end(tasks))));
  };
  const auto threads_of = [&](std::uint32_t threads) {
    most = 0;
    params.threads = threads;
    setsep_builder<key> made;
    EXPECT_EQ(made.create(params, keys, values, made), 0);
    return most;
  };
  const std::size_t alone = threads_of(1);
  EXPECT_GT(threads_of(2), alone);
  if (allowed_cpus().size() > 1) {
    EXPECT_GT(threads_of(0), alone);
  }
}

TEST_F(setsep_api, is_built_by_one_thread_where_the_system_has_no_more) {
  params.threads = 4;
  setsep_builder<key> made;
  std::string why;
  {
    const no_threads none;
    ASSERT_EQ(made.create(params, keys, values, made, &why), 0) << why;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(made.value_of(keys[i]), values[i]);
}

TEST_F(setsep_api, a_replica_follows_its_builder) {
  EXPECT_EQ(reader.lookup(keys[1]), 0);  // no map yet
  coua_setsep_hash hash;
  EXPECT_EQ(reader.hash_batch(std::span(keys).first(1), {&hash, 1}), -EAGAIN);
  ASSERT_EQ(to.load(from.snapshot()), 0);
  EXPECT_EQ(wrong(reader), 0U);
  setsep_reader<key> other;
  ASSERT_EQ(from.open(other), 0);
  EXPECT_EQ(wrong(other), 0U);

  EXPECT_EQ(from.put(keys[3], values[3]), COUA_SETSEP_UNCHANGED);
  EXPECT_EQ(to.apply(from.take_delta()), COUA_SETSEP_OLD);  // empty
  EXPECT_EQ(to.stats().deltas, 0U);
  EXPECT_EQ(coua_setsep_replica_apply(to.get(), nullptr, 1), -EINVAL);
  values[3] ^= 7;
  EXPECT_EQ(from.put(keys[3], values[3]), COUA_SETSEP_UPDATED);
  keys.push_back(~key{0});
  values.push_back(5);
  EXPECT_EQ(from.put(keys.back(), 5), COUA_SETSEP_ADDED);
  EXPECT_EQ(from.value_of(keys.back()), 5);
  EXPECT_EQ(from.remove(keys[0]), 0);
  EXPECT_EQ(from.remove(keys[0]), -ENOENT);
  EXPECT_EQ(from.value_of(keys[0]), -ENOENT);
  keys[0] = keys[1];
  values[0] = values[1];
  ASSERT_EQ(from.grow(), 0);
  EXPECT_TRUE(from.snapshot().empty());  // the delta comes first
  char too_little[8];
  EXPECT_EQ(coua_setsep_take_delta(from.get(), too_little, sizeof too_little), -ENOSPC);
  const auto delta = from.take_delta();
  EXPECT_EQ(to.apply(delta), COUA_SETSEP_APPLIED);
  EXPECT_EQ(to.apply(delta), COUA_SETSEP_OLD);
  EXPECT_EQ(wrong(reader), 0U);
  EXPECT_EQ(wrong(other), 0U);

  // One key may already give its value by chance, so that there is no delta.
  for (std::uint64_t key = 7; key < 71; ++key) ASSERT_EQ(from.put(key, 7), COUA_SETSEP_ADDED);
  ASSERT_FALSE(from.take_delta().empty());
  for (std::uint64_t key = 71; key < 135; ++key) ASSERT_EQ(from.put(key, 7), COUA_SETSEP_ADDED);
  EXPECT_EQ(to.apply(from.take_delta()), COUA_SETSEP_GAP);
  std::string why;
  auto snapshot = from.snapshot();
  snapshot[5'000] ^= 1;
  EXPECT_EQ(to.load(snapshot, &why), -EINVAL);
  EXPECT_NE(why.find("checksum"), std::string::npos);
  snapshot[5'000] ^= 1;
  ASSERT_EQ(to.load(snapshot), 0);
  EXPECT_EQ(reader.lookup(7), 7);
}

TEST_F(setsep_api, a_replica_comes_up_from_a_file) {
  const std::string path = testing::TempDir() + "coua-setsep-" + std::to_string(getpid());
  std::string why;
  EXPECT_EQ(to.map(path.c_str(), &why), -ENOENT);
  EXPECT_NE(why.find(path), std::string::npos);
  ASSERT_EQ(from.write_snapshot(path.c_str(), &why), 0) << why;
  ASSERT_EQ(to.map(path.c_str(), &why), 0) << why;
  EXPECT_EQ(wrong(reader), 0U);
  for (std::size_t i = 0; i < 500; ++i) {
    values[i] ^= 5;
    ASSERT_EQ(from.put(keys[i], values[i]), COUA_SETSEP_UPDATED);
  }
  EXPECT_EQ(from.write_snapshot(path.c_str(), &why), -EBUSY);  // the delta comes first
  EXPECT_NE(why.find("delta"), std::string::npos);
  EXPECT_EQ(to.apply(from.take_delta()), COUA_SETSEP_APPLIED);
  EXPECT_EQ(wrong(reader), 0U);
  EXPECT_EQ(from.write_snapshot((path + "/x").c_str()), -ENOENT);
  setsep_replica<key> other;
  setsep_reader<key> of_other;
  ASSERT_EQ(other.create(COUA_SETSEP_REPLICA_PARAMS_INIT, other), 0);
  ASSERT_EQ(other.open(of_other), 0);
  ASSERT_EQ(other.map(path.c_str()), 0);  // the file is what it was
  EXPECT_EQ(other.stats().sequence, 0U);
  EXPECT_EQ(of_other.lookup(keys[7]), values[7] ^ 5);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(from.write_snapshot(path.c_str()), 0);
  struct stat of_file {};
  ASSERT_EQ(stat(path.c_str(), &of_file), 0);
  EXPECT_EQ(of_file.st_mode & 07777, 0600U);  // it holds a secret
  ASSERT_EQ(other.map(path.c_str()), 0);
  EXPECT_EQ(other.stats().sequence, 1U);
  EXPECT_EQ(wrong(of_other), 0U);
  ASSERT_EQ(truncate(path.c_str(), 5'000), 0);
  EXPECT_EQ(to.map(path.c_str(), &why), -EINVAL);
  EXPECT_NE(why.find("not as long"), std::string::npos);
  EXPECT_EQ(to.map("/"), -EINVAL);
  EXPECT_EQ(coua_setsep_replica_map(nullptr, "x", nullptr, 0), -EINVAL);
  EXPECT_EQ(coua_setsep_replica_map(to.get(), nullptr, nullptr, 0), -EINVAL);
  EXPECT_EQ(coua_setsep_write_snapshot(from.get(), nullptr, nullptr, 0), -EINVAL);
  unlink(path.c_str());
}

TEST_F(setsep_api, stats_count) {
  ASSERT_EQ(to.load(from.snapshot()), 0);
  ASSERT_EQ(from.put(1, 1), COUA_SETSEP_ADDED);
  ASSERT_EQ(from.put(1, 2), COUA_SETSEP_UPDATED);
  ASSERT_EQ(from.remove(1), 0);
  ASSERT_EQ(from.grow(), 0);
  ASSERT_EQ(to.apply(from.take_delta()), COUA_SETSEP_APPLIED);
  const coua_setsep_stats one = from.stats(), other = to.stats();
  EXPECT_EQ(one.keys, keys.size());
  EXPECT_EQ(one.blocks, 21U);
  EXPECT_EQ(one.blocks_max, 40U);
  EXPECT_EQ(one.added, 1U);
  EXPECT_EQ(one.updated, 1U);
  EXPECT_EQ(one.removed, 1U);
  EXPECT_EQ(one.sequence, 1U);
  EXPECT_GT(one.key_bytes, 24 * keys.size());
  EXPECT_LT(static_cast<double>(one.bytes) * 8 / static_cast<double>(keys.size()), 6);
  EXPECT_EQ(other.blocks, 21U);
  EXPECT_EQ(other.sequence, 1U);
  EXPECT_EQ(other.deltas, 1U);
  EXPECT_EQ(other.key_bytes, 0U);
  coua_setsep_stats none{};
  EXPECT_EQ(coua_setsep_get_stats(from.get(), &none), -EINVAL);
}

TEST_F(setsep_api, ready_hashes_and_the_pipeline) {
  ASSERT_EQ(to.load(from.snapshot()), 0);
  std::vector<coua_setsep_hash> hashes(keys.size());
  ASSERT_EQ(reader.hash_batch(keys, hashes), 0);
  std::vector<std::uint16_t> found(keys.size()), rest(reader.pipeline_depth());
  reader.lookup_hashed(hashes, found);
  EXPECT_EQ(found, values);
  std::size_t n = 0;
  for (std::size_t at = 0; at < hashes.size(); at += 20) {
    n += reader.pipeline(std::span(hashes).subspan(at, 20), std::span(found).subspan(n)).size();
  }
  const auto left = reader.pipeline_drain(rest);
  std::copy(left.begin(), left.end(), found.begin() + static_cast<long>(n));
  EXPECT_EQ(n + left.size(), keys.size());
  EXPECT_EQ(found, values);
  reader.pause();
  EXPECT_EQ(reader.lookup(keys[9]), values[9]);
}

TEST(setsep_params, wrong_ones_are_refused) {
  const auto why = [](auto change) {
    coua_setsep_params params = COUA_SETSEP_PARAMS_INIT;
    params.key_bytes = 8;
    change(params);
    const key keys[2] = {1, 1};
    const std::uint16_t values[2] = {0, 1};
    coua_setsep_builder* made = nullptr;
    char text[200] = "";
    const int rc = coua_setsep_builder_create(&params, keys, values, 2, &made, text, sizeof text);
    EXPECT_LT(rc, 0);
    EXPECT_EQ(made, nullptr);
    return std::to_string(-rc) + " " + text;
  };
  const std::string invalid = std::to_string(EINVAL) + " ";
  EXPECT_NE(why([](auto& p) { p.key_bytes = 0; }).find("key_bytes"), std::string::npos);
  EXPECT_NE(why([](auto& p) { p.key_bytes = 129; }).find("key_bytes"), std::string::npos);
  EXPECT_NE(why([](auto& p) { p.value_bits = 17; }).find("value_bits"), std::string::npos);
  EXPECT_NE(why([](auto& p) { p.index_bits = 12; }).find("index_bits"), std::string::npos);
  EXPECT_NE(why([](auto& p) { p.threads = 257; }).find("threads"), std::string::npos);
  EXPECT_NE(why([](auto& p) { p.keys_max = 1ULL << 33; }).find("keys_max"), std::string::npos);
  EXPECT_NE(why([](auto& p) { p.size = 8; }).find("size"), std::string::npos);
  EXPECT_EQ(why([](auto& p) { p.key_bytes = 129; }).find(invalid), 0U);
  for (const int node : {99, -2}) {
    EXPECT_EQ(why([&](auto& p) { p.numa_node = node; }).find(std::to_string(ENOENT) + " numa_node"),
              0U);
  }
  EXPECT_EQ(why([](auto&) {}).find(std::to_string(EEXIST) + " "), 0U);
  EXPECT_EQ(coua_setsep_builder_create(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0), -EINVAL);
  coua_setsep_replica_params params = COUA_SETSEP_REPLICA_PARAMS_INIT;
  coua_setsep_replica* made = nullptr;
  params.reserved = 1;
  EXPECT_EQ(coua_setsep_replica_create(&params, &made), -EINVAL);
  params.reserved = 0;
  for (const int node : {99, -2}) {
    params.numa_node = node;
    EXPECT_EQ(coua_setsep_replica_create(&params, &made), -ENOENT);
    EXPECT_EQ(made, nullptr);
  }
  coua_setsep_builder_destroy(nullptr);
  coua_setsep_replica_destroy(nullptr);
  coua_setsep_reader_destroy(nullptr);
}

TEST(setsep_params, too_many_keys_are_refused_before_any_is_looked_at) {
  for (const std::size_t n : {SIZE_MAX, std::size_t{1} << 60, (std::size_t{1} << 32) + 1}) {
    coua_setsep_params params = COUA_SETSEP_PARAMS_INIT;
    params.key_bytes = 8;
    const key one = 1;
    const std::uint16_t value = 0;
    coua_setsep_builder* made = nullptr;
    char text[200] = "";
    EXPECT_EQ(coua_setsep_builder_create(&params, &one, &value, n, &made, text, sizeof text),
              -EINVAL);
    EXPECT_EQ(std::string(text), "n: to 2^32");
    EXPECT_EQ(made, nullptr);
  }
}

}  // namespace
}  // namespace coua::test
