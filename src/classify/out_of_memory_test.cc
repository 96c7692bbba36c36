// SPDX-License-Identifier: Apache-2.0
//
// Memory ends at each place of an update, one after the other: then nothing has changed, also not
// for readers, and the update can be made when there is memory again. A program of its own:
// operator new is replaced.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "base/test_little_memory.h"
#include "classify/classifier.h"
#include "classify/classifier_reader.h"

namespace coua {
namespace {

struct rule {
  std::uint32_t key, mask, priority, value;
};

const std::uint8_t* bytes(const std::uint32_t& word) {
  return reinterpret_cast<const std::uint8_t*>(&word);
}

class tested_classifier {
 public:
  tested_classifier() {
    coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
    params.key_bytes = sizeof(std::uint32_t);
    params.flows = 1024;
    rules_ = *classifier::create(params);
    reader_ = *classifier_reader::create(*rules_);
  }

  std::size_t size() const { return list_.size(); }

  /// How often it failed before there was enough memory.
  unsigned add(const rule& one) {
    const unsigned n = with_too_little_memory(COUA_CLASSIFIER_ADDED, [&] {
      return rules_->add(bytes(one.key), bytes(one.mask), one.priority, one.value);
    });
    list_.push_back(one);
    return n;
  }
  unsigned remove(std::size_t at) {
    const rule one = list_[at];
    const unsigned n = with_too_little_memory(
        0, [&] { return rules_->remove(bytes(one.key), bytes(one.mask), one.priority); });
    list_[at] = list_.back();
    list_.pop_back();
    return n;
  }

  void expect_as_listed() {
    coua_classifier_stats stats{};
    rules_->get_stats(stats);
    ASSERT_EQ(stats.rules, list_.size());
    std::size_t n_told = 0;
    rules_->each([&](const whole_rule&, std::uint32_t) {
      ++n_told;
      return 0;
    });
    ASSERT_EQ(n_told, list_.size());
    for (const rule& each : list_) {
      const std::uint32_t packet = each.key | (~each.mask & static_cast<std::uint32_t>(random_()));
      const rule* best = nullptr;
      for (const rule& one : list_) {
        if ((packet & one.mask) != one.key) continue;
        if (best == nullptr || one.priority > best->priority) best = &one;
      }
      coua_classifier_answer found{};
      ASSERT_EQ(reader_->lookup(bytes(packet), 1, &found, nullptr), 1U);
      ASSERT_EQ(found.priority, best->priority);
      ASSERT_EQ(found.value, best->value);
      ASSERT_EQ(reader_->lookup_below(bytes(packet), best->priority + 1, found), true);
      ASSERT_EQ(found.value, best->value);
    }
  }

 private:
  template <class Update>
  unsigned with_too_little_memory(int wanted, const Update& update) {
    const auto change = [&] {
      const int done = update();
      if (done == -ENOMEM) throw std::bad_alloc();
      EXPECT_EQ(done, wanted);
    };
    return coua::with_too_little_memory(change, [this] { expect_as_listed(); });
  }

  std::unique_ptr<classifier> rules_;
  std::unique_ptr<classifier_reader> reader_;
  std::vector<rule> list_;
  std::mt19937 random_{3};
};

// Masks come and go; some rules hide others of the same key; tables grow; candidates are mapped.
TEST(classify_out_of_memory, changes_nothing) {
  tested_classifier tested;
  std::mt19937 random(5);
  constexpr std::size_t n_most = 120;
  unsigned n_added = 0, n_removed = 0;
  std::uint32_t priority = 0;
  for (int i = 0; i < 300 && !testing::Test::HasFatalFailure(); ++i) {
    const std::uint32_t mask = ~std::uint32_t{0} << random() % 16;
    // One value for each priority, so that the answer is known.
    rule fresh{(1 + static_cast<std::uint32_t>(random() % 3) * 0x10000) & mask, mask, 0, 0};
    if (random() % 2 == 0) fresh.key = static_cast<std::uint32_t>(random()) & mask;
    fresh.priority = random() % 2 == 0 ? 1'000'000 - ++priority : ++priority;
    fresh.value = fresh.priority;
    n_added += tested.add(fresh);
    if (tested.size() > n_most || random() % 4 == 0) {
      n_removed += tested.remove(random() % tested.size());
    }
  }
  while (tested.size() != 0 && !testing::Test::HasFatalFailure()) n_removed += tested.remove(0);
  EXPECT_GT(n_added, 300U);
  EXPECT_GT(n_removed, 100U);
}

}  // namespace
}  // namespace coua
