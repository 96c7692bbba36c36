// SPDX-License-Identifier: Apache-2.0
#include "base/qsbr.h"

#include <gtest/gtest.h>

#include <vector>

namespace coua {
namespace {

qsbr::reader online_reader(qsbr& domain) {
  qsbr::reader reader = domain.register_reader().value();
  reader.online();
  return reader;
}

TEST(qsbr, passes_at_once_without_online_readers) {
  qsbr domain;
  EXPECT_TRUE(domain.poll(domain.start()));
  qsbr::reader idle = domain.register_reader().value();
  EXPECT_FALSE(idle.is_online());
  EXPECT_TRUE(domain.poll(domain.start()));
}

TEST(qsbr, waits_for_every_online_reader) {
  qsbr domain;
  qsbr::reader one = online_reader(domain), other = online_reader(domain);
  const qsbr::token token = domain.start();
  EXPECT_FALSE(domain.poll(token));
  one.quiescent();
  EXPECT_FALSE(domain.poll(token));
  one.quiescent();
  EXPECT_FALSE(domain.poll(token)) << "one reader must not answer for two";
  other.quiescent();
  EXPECT_TRUE(domain.poll(token));
}

TEST(qsbr, a_quiescent_state_before_the_start_does_not_count) {
  qsbr domain;
  qsbr::reader reader = online_reader(domain);
  reader.quiescent();
  const qsbr::token token = domain.start();
  EXPECT_FALSE(domain.poll(token));
}

TEST(qsbr, offline_counts_as_quiescent_and_online_readers_start_fresh) {
  qsbr domain;
  qsbr::reader reader = online_reader(domain);
  const qsbr::token before = domain.start();
  reader.offline();
  EXPECT_TRUE(domain.poll(before));
  const qsbr::token meanwhile = domain.start();
  reader.online();
  EXPECT_TRUE(domain.poll(meanwhile)) << "it came online after the unlinking";
  const qsbr::token after = domain.start();
  EXPECT_FALSE(domain.poll(after));
}

TEST(qsbr, a_reader_knows_that_it_is_awaited) {
  qsbr domain;
  qsbr::reader reader = online_reader(domain);
  EXPECT_FALSE(reader.is_awaited());
  const qsbr::token token = domain.start();
  EXPECT_TRUE(reader.is_awaited());
  EXPECT_FALSE(domain.poll(token)) << "asking must not answer";
  reader.quiescent();
  EXPECT_FALSE(reader.is_awaited());
  EXPECT_TRUE(domain.poll(token));
}

TEST(qsbr, one_grace_period_answers_many_tokens) {
  qsbr domain;
  qsbr::reader reader = online_reader(domain);
  const qsbr::token first = domain.start(), second = domain.start(), third = domain.start();
  reader.quiescent();
  const qsbr::token later = domain.start();
  EXPECT_TRUE(domain.poll(third));
  EXPECT_TRUE(domain.poll(first));
  EXPECT_TRUE(domain.poll(second));
  EXPECT_FALSE(domain.poll(later));
}

TEST(qsbr, an_older_token_passes_while_a_newer_one_waits) {
  qsbr domain;
  qsbr::reader fast = online_reader(domain), slow = online_reader(domain);
  const qsbr::token older = domain.start();
  slow.quiescent();
  const qsbr::token newer = domain.start();
  fast.quiescent();
  EXPECT_FALSE(domain.poll(newer));
  EXPECT_TRUE(domain.poll(older));
  EXPECT_FALSE(domain.poll(newer));
}

TEST(qsbr, registers_up_to_the_limit_and_reuses_places) {
  qsbr domain;
  std::vector<qsbr::reader> readers;
  for (unsigned i = 0; i < qsbr::max_readers; ++i) readers.push_back(online_reader(domain));
  const result<qsbr::reader> none = domain.register_reader();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::no_room);
  const qsbr::token token = domain.start();
  EXPECT_FALSE(domain.poll(token));
  const bool last_was_online = readers.back().is_online();
  readers.clear();
  EXPECT_TRUE(last_was_online);
  EXPECT_TRUE(domain.poll(token)) << "a reader that is gone holds nothing";
  EXPECT_TRUE(domain.register_reader());
}

TEST(qsbr, the_last_of_all_places_is_waited_for) {
  qsbr domain;
  std::vector<qsbr::reader> readers;
  for (unsigned i = 0; i < qsbr::max_readers; ++i) {
    readers.push_back(domain.register_reader().value());
  }
  readers.back().online();
  const qsbr::token token = domain.start();
  EXPECT_FALSE(domain.poll(token));
  readers.back().quiescent();
  EXPECT_TRUE(domain.poll(token));
}

TEST(qsbr, a_moved_reader_keeps_its_place) {
  qsbr domain;
  qsbr::reader reader = online_reader(domain);
  qsbr::reader moved = std::move(reader);
  EXPECT_FALSE(static_cast<bool>(reader));
  const qsbr::token token = domain.start();
  EXPECT_FALSE(domain.poll(token));
  moved = qsbr::reader();
  EXPECT_TRUE(domain.poll(token));
}

}  // namespace
}  // namespace coua
