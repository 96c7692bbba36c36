// SPDX-License-Identifier: Apache-2.0
//
// The next best match (classifier_reader::lookup_below) while the writer adds and removes rules:
// those that others of the same mask and key hide, and those that hide them.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "classify/classifier_reader.h"
#include "race.h"

namespace coua::test {
namespace {

constexpr unsigned n_flows = 12;
constexpr unsigned n_bytes = 16;
using key_text = std::array<std::uint8_t, n_bytes>;

/// Matches one flow, by so many of its bytes.
struct flow_rule {
  key_text key{}, mask{};

  flow_rule(unsigned flow, unsigned bytes) {
    std::fill_n(mask.begin(), bytes, std::uint8_t{0xff});
    key[0] = static_cast<std::uint8_t>(flow + 1);
  }
};

class raced_rules {
 public:
  raced_rules() {
    coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
    params.key_bytes = n_bytes;
    rules_ = std::move(*classifier::create(params));
  }
  /// The value says which rule it is.
  void add(unsigned flow, unsigned bytes, std::uint32_t priority) {
    const flow_rule one(flow, bytes);
    ASSERT_GE(rules_->add(one.key.data(), one.mask.data(), priority, flow << 16 | priority), 0);
  }
  void remove(unsigned flow, unsigned bytes, std::uint32_t priority) {
    const flow_rule one(flow, bytes);
    rules_->remove(one.key.data(), one.mask.data(), priority);
  }

  using check = std::function<void(classifier_reader&, unsigned flow, const std::uint8_t* key)>;
  void start(const check& each) {
    for (unsigned t = 0; t < 2; ++t) {
      threads_.emplace_back([this, each, t] {
        const auto reader = std::move(*classifier_reader::create(*rules_));
        std::mt19937_64 random(t);
        while (!stop_.load(std::memory_order_relaxed)) {
          const auto flow = static_cast<unsigned>(random() % n_flows);
          each(*reader, flow, flow_rule(flow, n_bytes).key.data());
          n_asked_.fetch_add(1, std::memory_order_relaxed);
        }
        coua_classifier_reader_stats stats{};
        reader->get_stats(stats);
        n_unsettled_ += stats.unsettled;
      });
    }
  }
  void stop() {
    stop_ = true;
    for (std::thread& each : threads_) each.join();
  }
  std::uint64_t asked() const { return n_asked_.load(std::memory_order_relaxed); }
  std::uint64_t unsettled() const { return n_unsettled_; }

 private:
  std::unique_ptr<classifier> rules_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> n_asked_{0}, n_unsettled_{0};
  std::vector<std::thread> threads_;
};

TEST(classifier_below_race, rules_that_stay_are_never_missed) {
  raced_rules table;
  fault_log faults;
  const auto bytes_of = [](unsigned flow) { return 1 + flow % 5; };
  for (unsigned flow = 0; flow < n_flows; ++flow) table.add(flow, bytes_of(flow), 100);
  table.start([&](classifier_reader& reader, unsigned flow, const std::uint8_t* key) {
    coua_classifier_answer answer{};
    if (!reader.lookup_below(key, 101, answer)) {
      faults.report("missed", flow, 0, 100);
    } else if (answer.priority != 100 || answer.value != (flow << 16 | 100)) {
      faults.report("wrong", flow, answer.value, answer.priority);
    }
    if (reader.lookup_below(key, 100, answer) &&
        (answer.priority >= 100 || answer.value != (flow << 16 | answer.priority))) {
      faults.report("too high", flow, answer.value, answer.priority);
    }
  });
  std::uint64_t n_updates = 0;
  race_until([&] { return n_updates > 1000 && table.asked() > 1000; },
             [&](std::mt19937_64& random) {
               const auto flow = static_cast<unsigned>(random() % n_flows);
               const auto priority = static_cast<std::uint32_t>(90 + random() % 20);
               if (priority == 100) return;
               // Half of them share mask and key with the one that stays.
               const unsigned bytes =
                   random() % 2 == 0 ? bytes_of(flow) : 1 + static_cast<unsigned>(random() % 16);
               if (random() % 2 == 0) {
                 table.add(flow, bytes, priority);
               } else {
                 table.remove(flow, bytes, priority);
               }
               ++n_updates;
             });
  table.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

/// A reader that has seen the rule above, and goes through many others before it looks for what
/// that hides, still finds it when the rule above has gone meanwhile.
TEST(classifier_below_race, a_rule_is_found_while_the_one_that_hides_it_comes_and_goes) {
  raced_rules table;
  fault_log faults;
  for (unsigned bytes = 1; bytes <= 7; ++bytes) {
    for (unsigned i = 0; i < 30; ++i) table.add(0, bytes, 500 + i);
  }
  table.add(0, 8, 100);
  table.start([&](classifier_reader& reader, unsigned, const std::uint8_t*) {
    coua_classifier_answer answer{};
    const bool found = reader.lookup_below(flow_rule(0, n_bytes).key.data(), 150, answer);
    if (!found || answer.priority != 100) faults.report("missed", 0, answer.priority, 100);
  });
  std::uint64_t n_updates = 0;
  race_until([&] { return n_updates > 1000 && table.asked() > 1000; },
             [&](std::mt19937_64&) {
               table.add(0, 8, 200);
               table.remove(0, 8, 200);
               n_updates += 2;
             });
  table.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

/// Each flow has a rule that changes its mask: the new one is added before the old one is removed.
/// A higher one of every mask hides it. Who goes from subtable to subtable could miss both.
TEST(classifier_below_race, a_hidden_rule_that_changes_places_is_never_missed) {
  raced_rules table;
  fault_log faults;
  std::array<unsigned, n_flows> at{};
  for (unsigned flow = 0; flow < n_flows; ++flow) {
    for (unsigned bytes = 1; bytes <= n_bytes; ++bytes) table.add(flow, bytes, 500);
    at[flow] = 1 + flow;
    table.add(flow, at[flow], 50 + at[flow]);
  }
  table.start([&](classifier_reader& reader, unsigned flow, const std::uint8_t* key) {
    coua_classifier_reader_stats before{}, after{};
    reader.get_stats(before);
    coua_classifier_answer answer{};
    const bool found = reader.lookup_below(key, 500, answer);
    reader.get_stats(after);
    if (before.unsettled != after.unsettled) return;  // overtaken again and again
    if (!found) {
      faults.report("missed", flow, 0, 0);
    } else if (answer.priority > 50 + n_bytes || answer.value != (flow << 16 | answer.priority)) {
      faults.report("wrong", flow, answer.value, answer.priority);
    }
  });
  std::uint64_t n_updates = 0;
  race_until([&] { return n_updates > 1000 && table.asked() > 1000; },
             [&](std::mt19937_64& random) {
               const auto flow = static_cast<unsigned>(random() % n_flows);
               const auto next = 1 + static_cast<unsigned>(random() % n_bytes);
               if (next == at[flow]) return;
               table.add(flow, next, 50 + next);
               table.remove(flow, at[flow], 50 + at[flow]);
               at[flow] = next;
               ++n_updates;
             });
  table.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_LT(table.unsettled(), table.asked() / 2);
}

}  // namespace
}  // namespace coua::test
