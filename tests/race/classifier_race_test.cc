// SPDX-License-Identifier: Apache-2.0
//
// A classifier's readers while its writer adds and removes rules, masks and all. Readers know what
// must hold at any moment, and check every answer against it.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <thread>

#include "classifier_handles.h"
#include "race.h"

namespace coua::test {
namespace {

constexpr unsigned n_flows = 24;

/// A rule that matches flow `i` alone, by a mask of `bytes` bytes; its value says which.
rule rule_for(unsigned flow, unsigned bytes, std::uint32_t priority) {
  rule one{byte_string(16, 0), byte_string(16, 0), priority, flow << 16 | priority};
  for (unsigned b = 0; b < bytes; ++b) {
    one.mask[b] = 0xff;
    one.key[b] = b == 0 ? static_cast<std::uint8_t>(flow + 1) : 0;
  }
  return one;
}
byte_string packet_of(unsigned flow) { return rule_for(flow, 16, 0).key; }

/// Readers of all kinds of batches until the race is over.
class classifier_readers {
 public:
  using check = std::function<void(unsigned flow, bool hit, const coua_classifier_answer&)>;

  classifier_readers(const classifier_ptr& table, unsigned n, const check& each) {
    for (unsigned t = 0; t < n; ++t) {
      threads_.emplace_back([this, reader = reader_of(table), each, t] {
        std::mt19937_64 random(t);
        while (!stop_.load(std::memory_order_relaxed)) {
          const std::size_t n_keys = 1 + random() % 70;
          std::vector<unsigned> flows(n_keys);
          byte_string packets;
          for (unsigned& flow : flows) {
            flow = static_cast<unsigned>(random() % n_flows);
            const byte_string packet = packet_of(flow);
            packets.insert(packets.end(), packet.begin(), packet.end());
          }
          std::vector<coua_classifier_answer> answers(n_keys);
          std::vector<std::uint64_t> hits(COUA_CLASSIFIER_WORDS(n_keys));
          coua_classifier_lookup_batch(reader, packets.data(), n_keys, answers.data(), hits.data());
          for (std::size_t i = 0; i < n_keys; ++i) {
            each(flows[i], (hits[i / 64] >> i % 64 & 1) != 0, answers[i]);
          }
          n_batches_.fetch_add(1, std::memory_order_relaxed);
        }
      });
    }
  }
  ~classifier_readers() { stop(); }
  void stop() {
    stop_ = true;
    for (std::thread& each : threads_) {
      if (each.joinable()) each.join();
    }
  }
  std::uint64_t batches() const { return n_batches_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> n_batches_{0};
  std::vector<std::thread> threads_;
};

struct race_case {
  const char* name;
  enum coua_classifier_distributor distributor;
  bool pruned;
};
const race_case race_cases[] = {
    {"on", COUA_DISTRIBUTOR_ON, true},
    {"off", COUA_DISTRIBUTOR_OFF, true},
    {"off_unpruned", COUA_DISTRIBUTOR_OFF, false},
};

classifier_ptr raced_classifier(const race_case& at) {
  coua_classifier_params params = classifier_params(16, at.distributor);
  params.unpruned = !at.pruned;
  return make_classifier(params);
}

class classifier_race : public testing::TestWithParam<race_case> {};

TEST_P(classifier_race, rules_that_stay_are_never_missed) {
  const classifier_ptr table = raced_classifier(GetParam());
  for (unsigned flow = 0; flow < n_flows; ++flow) {
    ASSERT_EQ(add(table, rule_for(flow, 1 + flow % 5, 100)), COUA_CLASSIFIER_ADDED);
  }
  fault_log faults;
  classifier_readers readers(table, 2, [&](unsigned flow, bool hit, const auto& answer) {
    if (!hit) {
      faults.report("missed", flow, 0, 100);
    } else if (answer.value >> 16 != flow || answer.priority < 100 ||
               (answer.value & 0xffff) != answer.priority) {
      faults.report("wrong", flow, answer.value, answer.priority);
    }
  });
  // Others come and go, below and above; masks with them.
  std::uint64_t n_updates = 0;
  race_until([&] { return n_updates > 200 && readers.batches() > 200; },
             [&](std::mt19937_64& random) {
               const auto flow = static_cast<unsigned>(random() % n_flows);
               const rule one = rule_for(flow, 1 + static_cast<unsigned>(random() % 16),
                                         static_cast<std::uint32_t>(90 + random() % 20));
               if (one.priority == 100) return;
               if (random() % 2 == 0) {
                 add(table, one);
               } else {
                 remove(table, one);
               }
               ++n_updates;
             });
  readers.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

/// The writer puts the better rule in before it takes the worse one out, and the other way round:
/// at any moment one of two is there. Between the two updates a reader that goes from subtable to
/// subtable could miss both.
TEST_P(classifier_race, a_rule_that_changes_places_is_never_missed) {
  const classifier_ptr table = raced_classifier(GetParam());
  std::array<unsigned, n_flows> at{};  // bytes of the mask that the flow's rule has
  for (unsigned flow = 0; flow < n_flows; ++flow) {
    at[flow] = 1 + flow % 16;
    add(table, rule_for(flow, at[flow], 50 + at[flow]));
  }
  fault_log faults;
  classifier_readers readers(table, 2, [&](unsigned flow, bool hit, const auto& answer) {
    if (!hit) {
      faults.report("missed", flow, 0, 0);
    } else if (answer.value >> 16 != flow || (answer.value & 0xffff) != answer.priority) {
      faults.report("wrong", flow, answer.value, answer.priority);
    }
  });
  std::uint64_t n_updates = 0;
  race_until([&] { return n_updates > 200 && readers.batches() > 200; },
             [&](std::mt19937_64& random) {
               const auto flow = static_cast<unsigned>(random() % n_flows);
               const auto next = 1 + static_cast<unsigned>(random() % 16);
               if (next == at[flow]) return;
               add(table, rule_for(flow, next, 50 + next));
               remove(table, rule_for(flow, at[flow], 50 + at[flow]));
               at[flow] = next;
               ++n_updates;
             });
  readers.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

/// A worse rule stays, and hints lead to it; the better one comes and goes. Who looks up while it
/// is there all the time must get it.
TEST_P(classifier_race, a_better_rule_counts_as_soon_as_it_is_there) {
  const classifier_ptr table = raced_classifier(GetParam());
  std::array<std::atomic<unsigned>, n_flows> there{};  // odd: the better rule surely is
  for (unsigned flow = 0; flow < n_flows; ++flow) add(table, rule_for(flow, 1 + flow % 7, 20));
  fault_log faults;
  std::atomic<std::uint64_t> n_proven{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&, t, reader = reader_of(table)] {
      std::mt19937_64 random(t);
      while (!stop.load(std::memory_order_relaxed)) {
        const auto flow = static_cast<unsigned>(random() % n_flows);
        const byte_string packet = packet_of(flow);
        coua_classifier_answer answer{};
        const unsigned before = there[flow].load(std::memory_order_acquire);
        const int hit = coua_classifier_lookup(reader, packet.data(), &answer);
        const unsigned after = there[flow].load(std::memory_order_acquire);
        if (hit != 1) faults.report("missed", flow, 0, 20);
        if (before != after || before % 2 == 0) continue;
        if (answer.priority < 50) faults.report("worse", flow, answer.value, 50);
        n_proven.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  race_until([&] { return n_proven.load() > 1000; },
             [&](std::mt19937_64& random) {
               const auto flow = static_cast<unsigned>(random() % n_flows);
               const rule better = rule_for(flow, 1 + static_cast<unsigned>(random() % 16), 50);
               add(table, better);
               there[flow].fetch_add(1, std::memory_order_release);
               for (unsigned i = 0; i < random() % 4; ++i) {  // others meanwhile
                 const rule other =
                     rule_for(n_flows + i, 1 + static_cast<unsigned>(random() % 16), 30);
                 add(table, other);
                 remove(table, other);
               }
               there[flow].fetch_add(1, std::memory_order_acq_rel);
               remove(table, better);
             });
  stop = true;
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

/// A table that grows is replaced under its readers.
TEST_P(classifier_race, a_mask_that_grows_and_empties_loses_nothing) {
  const classifier_ptr table = raced_classifier(GetParam());
  for (unsigned flow = 0; flow < n_flows; ++flow) add(table, rule_for(flow, 2, 100));
  fault_log faults;
  classifier_readers readers(table, 2, [&](unsigned flow, bool hit, const auto& answer) {
    if (!hit || answer.value >> 16 != flow) faults.report("missed", flow, answer.value, flow);
  });
  std::uint64_t n_rounds = 0;
  race_until([&] { return n_rounds > 2 && readers.batches() > 200; },
             [&](std::mt19937_64&) {
               const auto other = [](unsigned i, unsigned bytes) {
                 rule one = rule_for(200, bytes, 7);
                 one.key[1] = static_cast<std::uint8_t>(i);
                 return one;
               };
               for (const unsigned bytes : {2u, 3u}) {
                 for (unsigned i = 1; i < 250; ++i) add(table, other(i, bytes));
               }
               for (const unsigned bytes : {2u, 3u}) {
                 for (unsigned i = 1; i < 250; ++i) remove(table, other(i, bytes));
               }
               ++n_rounds;
             });
  readers.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GT(stats_of(table).rebuilds, 0u);
}

INSTANTIATE_TEST_SUITE_P(, classifier_race, testing::ValuesIn(race_cases),
                         [](const auto& info) { return std::string(info.param.name); });

/// The writer is faster than any search: readers give up repeating, and answer with what they saw
/// last. Rules that stay are among it, and every key is counted once.
TEST(classifier_overtaken, readers_still_answer) {
  // The writer must be at work in each repeat of a search, also where both threads share one CPU
  // with other tests: it sleeps for less than a search takes and, where it may, runs as soon as it
  // wakes.
  constexpr std::uint32_t n_masks = 600;
  constexpr std::size_t n_keys = 2;
  coua_classifier_params params = classifier_params(16, COUA_DISTRIBUTOR_ON);
  params.unpruned = 1;
  const classifier_ptr table = make_classifier(params);
  // The rule that stays is asked last.
  for (std::uint32_t i = 0; i < n_masks; ++i) {
    rule one = rule_for(7, 1, 1000 + i);
    one.mask[2] = one.key[2] = 0xff;
    one.mask[4] = static_cast<std::uint8_t>(i);
    one.mask[5] = static_cast<std::uint8_t>(i >> 8);
    ASSERT_EQ(add(table, one), COUA_CLASSIFIER_ADDED);
  }
  const rule stays = rule_for(7, 1, 5);
  add(table, stays);
  rule better = rule_for(7, 3, 2000);  // of a mask that comes and goes
  byte_string packets;
  for (std::size_t i = 0; i < n_keys; ++i) {
    const byte_string packet = packet_of(7);
    packets.insert(packets.end(), packet.begin(), packet.end());
  }
  fault_log faults;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> n_unsettled{0}, n_asked{0};
  coua_classifier_reader* const reader = reader_of(table);
  std::thread thread([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      coua_classifier_answer answers[n_keys];
      std::uint64_t hits[1];
      const std::size_t n =
          coua_classifier_lookup_batch(reader, packets.data(), n_keys, answers, hits);
      if (n != n_keys) faults.report("missed", 7, n, n_keys);
      for (const coua_classifier_answer& each : answers) {
        if (each.priority != 5 && each.priority != 2000)
          faults.report("wrong", 7, each.priority, 5);
      }
      n_asked.fetch_add(n_keys, std::memory_order_relaxed);
      n_unsettled = stats_of(reader).unsettled;
    }
  });
  const auto step = [&](std::mt19937_64& random) {
    add(table, better);
    remove(table, better);
    for (std::uint32_t i = 0; i < 1'000; ++i) {
      rule other = stays;
      other.value = static_cast<std::uint32_t>(random());
      add(table, other);
      if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  };
  // Without the privilege it takes two CPUs, or patience.
  const sched_param first{.sched_priority = 1}, usual{};
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
  race_until([&] { return n_unsettled > 0; }, step);
  pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual);
  stop = true;
  thread.join();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GT(n_unsettled, 0u) << "no reader was overtaken: nothing is proven";
  EXPECT_EQ(stats_of(reader).lookups, n_asked);
  EXPECT_EQ(stats_of(reader).hits, n_asked);
}

}  // namespace
}  // namespace coua::test
