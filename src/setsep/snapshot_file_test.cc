// SPDX-License-Identifier: Apache-2.0
#include "setsep/snapshot_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "setsep/builder.h"
#include "setsep/replica.h"
#include "setsep/test_file.h"
#include "setsep/test_keys.h"

namespace coua::setsep {
namespace {

namespace fs = std::filesystem;
using file_bytes = std::vector<std::uint8_t>;

/// A builder, a replica that is mapped, and one that is loaded.
class snapshot_file : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / "coua-snapshot-XXXXXX";
    std::string name = folder_;
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "map";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void make(const layout& shape, std::size_t n, std::uint64_t room) {
    keys_ = random_keys(n, shape.value_bits);
    from_ = std::move(*builder::create(keys_, {.shape = shape, .keys_room = room}, hash_key{1, 2}));
    const replica_params params{.keys_room = room};
    mapped_ = std::make_unique<replica>(params);
    loaded_ = std::make_unique<replica>(params);
  }
  file_bytes snapshot() const {
    file_bytes made(from_->snapshot_bytes());
    EXPECT_TRUE(from_->snapshot(made));
    return made;
  }
  void write(const file_bytes& what) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(what.data()),
               static_cast<std::streamsize>(what.size()));
  }
  file_bytes read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void change_some(std::mt19937_64& random, unsigned n) {
    const unsigned mask = (1U << from_->table().shape().value_bits) - 1;
    for (unsigned i = 0; i < n; ++i) {
      keyed_value& one = keys_[random() % keys_.size()];
      if (i % 3 == 0) {
        ASSERT_TRUE(from_->remove(one.hash));
        one.hash = {random(), random()};
      }
      one.value = static_cast<std::uint16_t>(random() & mask);
      ASSERT_TRUE(from_->put(one));
    }
  }
  static void expect_same(const replica& one, const replica& other) {
    EXPECT_EQ(one.version(), other.version());
    EXPECT_EQ(one.n_keys(), other.n_keys());
    EXPECT_EQ(one.table()->size(), other.table()->size());
    EXPECT_TRUE(std::ranges::equal(one.table()->blocks(), other.table()->blocks()));
    EXPECT_EQ(one.table()->fallback().entries(), other.table()->fallback().entries());
  }
  /// KiB of the mapped file's pages that are copies.
  std::size_t copied_kib() const {
    std::ifstream maps("/proc/self/smaps");
    const std::string name = fs::canonical(path_).string();
    bool ours = false, found = false;
    std::size_t all = 0;
    for (std::string line; std::getline(maps, line);) {
      if (line.find(':') > line.find(' ')) ours = line.ends_with(name);  // the next mapping
      found = found || ours;
      if (ours && line.starts_with("Anonymous:")) all += std::strtoul(&line[10], nullptr, 10);
    }
    EXPECT_TRUE(found);
    return all;
  }

  fs::path folder_, path_;
  std::vector<keyed_value> keys_;
  std::unique_ptr<builder> from_;
  std::unique_ptr<replica> mapped_, loaded_;
};

TEST_F(snapshot_file, brings_up_what_a_loaded_snapshot_does) {
  for (const layout shape : {layout{2, 2, 1}, layout{3, 1, 2}, layout{16, 2, 2}}) {
    make(shape, 9'000, 40'000);
    const file_bytes first = snapshot();
    ASSERT_TRUE(write_snapshot_file(path_, first));
    EXPECT_EQ(read(), first);
    ASSERT_EQ(mapped_->map(path_).value(), from_->version());
    ASSERT_TRUE(loaded_->load(first));
    expect_same(*mapped_, *loaded_);
    replica other({.keys_room = 40'000});
    ASSERT_TRUE(other.map(path_));
    std::mt19937_64 random(4);
    for (int i = 0; i < 60; ++i) {
      change_some(random, 40);
      // Into what were pages of the fallback, and beyond the file.
      if (i % 2 == 0 && from_->table().size().n_blocks < 39) {
        ASSERT_TRUE(from_->grow());
      }
      const auto delta = from_->take_delta();
      ASSERT_EQ(mapped_->apply(delta).value(), delta_outcome::applied);
      ASSERT_EQ(loaded_->apply(delta).value(), delta_outcome::applied);
      expect_same(*mapped_, *loaded_);
    }
    EXPECT_EQ(count_wrong(*mapped_->table(), keys_), 0U);
    EXPECT_EQ(mapped_->table()->size().n_blocks, 39U);
    // Neither the file nor who else has it mapped.
    EXPECT_EQ(read(), first);
    EXPECT_TRUE(std::ranges::equal(
        other.table()->blocks(),
        std::span(first).subspan(snapshot_header_bytes, other.table()->blocks().size())));
    fs::remove(path_);
  }
}

TEST_F(snapshot_file, is_mapped_and_copied_page_by_page) {
  make({2, 2, 1}, 500'000, 0);
  write(snapshot());
  ASSERT_TRUE(mapped_->map(path_));
  EXPECT_EQ(count_wrong(*mapped_->table(), keys_), 0U);
  EXPECT_EQ(copied_kib(), 0U);
  keys_[0].value ^= 3;
  ASSERT_TRUE(from_->put(keys_[0]));
  ASSERT_EQ(mapped_->apply(from_->take_delta()).value(), delta_outcome::applied);
  EXPECT_EQ(count_wrong(*mapped_->table(), keys_), 0U);
  const std::size_t copied = copied_kib();
  EXPECT_GT(copied, 0U);
  EXPECT_LE(copied, 16U);  // of 213
}

TEST_F(snapshot_file, what_is_damaged_is_refused_whole) {
  make({2, 1, 2}, 3'000, 10'000);
  const file_bytes good = snapshot();
  write(good);
  ASSERT_TRUE(mapped_->map(path_));
  ASSERT_TRUE(loaded_->map(path_));
  ASSERT_TRUE(from_->put({{7, 7}, 2}));
  const auto taken = from_->take_delta();
  const file_bytes delta(taken.begin(), taken.end());
  std::mt19937 random(2);
  for (unsigned i = 0; i < 400; ++i) {
    file_bytes bad = good;
    if (i % 4 == 0) {
      bad.resize(random() % bad.size());
    } else if (i % 4 == 1) {
      bad.insert(bad.begin() + random() % bad.size(), 1 + random() % 64, 0);  // moved
    } else {
      bad[i < 250 ? i / 2 : random() % bad.size()] ^= static_cast<std::uint8_t>(1U << random() % 8);
    }
    const memory_file file(bad);
    const auto refused = mapped_->map(file.path());
    ASSERT_FALSE(refused) << i;
    EXPECT_EQ(refused.error().code, errc::invalid);
    expect_same(*mapped_, *loaded_);
  }
  ASSERT_EQ(mapped_->apply(delta).value(), delta_outcome::applied);
  EXPECT_EQ(mapped_->table()->find({7, 7}), 2U);
}

TEST_F(snapshot_file, that_cannot_be_opened_is_refused_with_its_name) {
  make({2, 2, 1}, 3'000, 0);
  const auto why = [&](const fs::path& path, errc code) {
    const auto refused = mapped_->map(path);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, code);
    return refused.error().message();
  };
  EXPECT_NE(why(path_, errc::not_found).find(path_.string()), std::string::npos);
  EXPECT_NE(why(folder_, errc::invalid).find("regular file"), std::string::npos);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(why(path_, errc::invalid).find("regular file"), std::string::npos);
  fs::remove(path_);
  write({});
  EXPECT_NE(why(path_, errc::invalid).find("too short"), std::string::npos);
  EXPECT_EQ(mapped_->table(), nullptr);
}

TEST_F(snapshot_file, of_another_key_or_older_is_refused) {
  make({2, 2, 1}, 3'000, 0);
  const file_bytes old = snapshot();
  ASSERT_TRUE(from_->put({{7, 7}, 2}));
  (void)from_->take_delta();
  write(snapshot());
  ASSERT_TRUE(mapped_->map(path_));
  write(old);
  EXPECT_EQ(loaded_->map(path_)->sequence, 0U);
  fs::remove(path_);
  write(old);
  EXPECT_NE(mapped_->map(path_).error().message().find("older"), std::string::npos);
  const auto stranger = builder::create(keys_, {.shape = {2, 2, 1}}, hash_key{9});
  file_bytes strange((*stranger)->snapshot_bytes());
  ASSERT_TRUE((*stranger)->snapshot(strange));
  const memory_file file(strange);
  EXPECT_NE(mapped_->map(file.path()).error().message().find("another way"), std::string::npos);
}

TEST_F(snapshot_file, may_be_replaced_and_removed_while_it_is_mapped) {
  make({2, 2, 1}, 50'000, 0);
  ASSERT_TRUE(write_snapshot_file(path_, snapshot()));
  struct stat found {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  ASSERT_TRUE(mapped_->map(path_));
  const auto reader = reader::create(mapped_->source());
  const auto before = keys_;
  std::mt19937_64 random(1);
  change_some(random, 500);
  const auto taken = from_->take_delta();
  const file_bytes delta(taken.begin(), taken.end());
  ASSERT_TRUE(write_snapshot_file(path_, snapshot()));
  EXPECT_EQ(count_wrong(*mapped_->table(), before), 0U);
  ASSERT_EQ(mapped_->apply(delta).value(), delta_outcome::applied);
  EXPECT_EQ(count_wrong(*mapped_->table(), keys_), 0U);
  ASSERT_TRUE(mapped_->map(path_));  // the newer one
  fs::remove(path_);
  EXPECT_EQ(count_wrong(*mapped_->table(), keys_), 0U);
}

}  // namespace
}  // namespace coua::setsep
