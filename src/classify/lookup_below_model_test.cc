// SPDX-License-Identifier: Apache-2.0
//
// The next best match, against a plain list of rules; a failing list of steps is shrunk. Masks,
// keys and priorities are few, so that rules of one mask and key hide one another.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "classify/classifier_reader.h"

namespace coua {
namespace {

constexpr unsigned key_bytes = 3;
using key_text = std::vector<std::uint8_t>;

struct step {
  enum { add, remove, change } what;
  key_text key, mask;
  std::uint32_t priority, value;

  bool is_same(const step& other) const {
    return key == other.key && mask == other.mask && priority == other.priority;
  }
  bool matches(const key_text& packet) const {
    for (unsigned i = 0; i < key_bytes; ++i) {
      if ((packet[i] & mask[i]) != key[i]) return false;
    }
    return true;
  }
};
std::ostream& operator<<(std::ostream& out, const step& one) {
  static const char* const names[] = {"add", "remove", "change"};
  out << names[one.what];
  for (unsigned i = 0; i < key_bytes; ++i) out << ' ' << +one.key[i] << '/' << +one.mask[i];
  return out << " priority " << one.priority << " value " << one.value;
}

rc::Gen<step> any_step() {
  const auto bytes = [](std::initializer_list<std::uint8_t> of) {
    return rc::gen::container<key_text>(key_bytes, rc::gen::elementOf(std::vector(of)));
  };
  return rc::gen::map(
      rc::gen::construct<step>(rc::gen::element(step::add, step::add, step::remove, step::change),
                               bytes({0, 0, 1}), bytes({0, 0, 1, 255}),
                               rc::gen::inRange<std::uint32_t>(0, 8),
                               rc::gen::inRange<std::uint32_t>(0, 1000)),
      [](step one) {
        for (unsigned i = 0; i < key_bytes; ++i) one.key[i] &= one.mask[i];
        return one;
      });
}

class model {
 public:
  explicit model(bool unpruned) {
    coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
    params.key_bytes = key_bytes;
    params.unpruned = unpruned;
    rules_ = *classifier::create(params);
    reader_ = *classifier_reader::create(*rules_);
  }

  void apply(const step& one) {
    auto same = std::find_if(list_.begin(), list_.end(),
                             [&](const step& each) { return each.is_same(one); });
    if (one.what != step::add && same == list_.end() && !list_.empty()) {
      same = list_.begin() + one.value % list_.size();  // one that is there
    }
    if (one.what == step::add && same == list_.end()) {
      list_.push_back(one);
      RC_ASSERT(add(one) == COUA_CLASSIFIER_ADDED);
    } else if (same == list_.end()) {
      RC_ASSERT(remove(one) == -ENOENT);
    } else if (one.what == step::remove) {
      const step gone = *same;
      list_.erase(same);
      RC_ASSERT(remove(gone) == 0);
    } else {
      same->value = one.value;
      RC_ASSERT(add(*same) == COUA_CLASSIFIER_UPDATED);
    }
  }

  void check() {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const key_text packet = {static_cast<std::uint8_t>(bits & 1),
                               static_cast<std::uint8_t>(bits >> 1 & 1),
                               static_cast<std::uint8_t>(bits >> 2)};
      for (std::uint32_t below = 0; below <= 9; ++below) check(packet, below);
    }
  }

 private:
  void check(const key_text& packet, std::uint32_t below) {
    const step* best = nullptr;
    for (const step& each : list_) {
      if (each.priority >= below || !each.matches(packet)) continue;
      if (best == nullptr || each.priority > best->priority) best = &each;
    }
    coua_classifier_answer answer{12345, 12345};
    RC_ASSERT(reader_->lookup_below(packet.data(), below, answer) == (best != nullptr));
    if (best == nullptr) {
      RC_ASSERT(answer.value == 12345U);
      return;
    }
    RC_ASSERT(answer.priority == best->priority);
    RC_ASSERT(std::any_of(list_.begin(), list_.end(), [&](const step& each) {
      return each.priority == answer.priority && each.value == answer.value && each.matches(packet);
    }));
  }
  int add(const step& one) {
    return rules_->add(one.key.data(), one.mask.data(), one.priority, one.value);
  }
  int remove(const step& one) {
    return rules_->remove(one.key.data(), one.mask.data(), one.priority);
  }

  std::unique_ptr<classifier> rules_;
  std::unique_ptr<classifier_reader> reader_;
  std::vector<step> list_;
};

TEST(lookup_below_model, is_what_a_list_says) {
  EXPECT_TRUE(rc::check([] {
    const auto steps = *rc::gen::scale(2, rc::gen::container<std::vector<step>>(any_step()));
    model tested(*rc::gen::arbitrary<bool>());
    for (const step& one : steps) {
      tested.apply(one);
      tested.check();
    }
  }));
}

/// A hidden rule takes memory, and gives it back.
TEST(hidden_rules, those_of_many_keys_come_and_go) {
  qsbr domain;
  reclaimer reclaim(domain);
  hidden_rules hidden(2, reclaim);
  // Hashes meet: keys decide.
  const auto hash = [](std::uint64_t i) { return i % 700; };
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t key[2] = {i, ~i};
    hidden.add(key, hash(i), answer_word(7, static_cast<std::uint32_t>(i)));
    hidden.add(key, hash(i), answer_word(5, static_cast<std::uint32_t>(i)));
    hidden.add(key, hash(i), answer_word(5, static_cast<std::uint32_t>(i + 1)));
  }
  EXPECT_EQ(hidden.size(), 2000u);
  EXPECT_GT(hidden.bytes(), 2000u * 32);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t key[2] = {i, ~i};
    EXPECT_EQ(hidden.best_below(key, hash(i), 8), answer_word(7, static_cast<std::uint32_t>(i)));
    EXPECT_EQ(hidden.best_below(key, hash(i), 7),
              answer_word(5, static_cast<std::uint32_t>(i + 1)));
    EXPECT_EQ(hidden.best_below(key, hash(i), 5), std::nullopt);
    hidden.remove(key, hash(i), 7);
    EXPECT_EQ(hidden.best_below(key, hash(i), 8),
              answer_word(5, static_cast<std::uint32_t>(i + 1)));
    hidden.remove(key, hash(i), 5);
    hidden.remove(key, hash(i), 5);
  }
  EXPECT_EQ(hidden.size(), 0u);
  EXPECT_EQ(hidden.bytes(), 0u);
}

}  // namespace
}  // namespace coua
