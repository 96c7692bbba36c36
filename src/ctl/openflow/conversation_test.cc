// SPDX-License-Identifier: Apache-2.0
//
// A conversation with a bridge that has no packets, in bytes: what is refused, and in which order
// answers come. Real controllers talk to the daemon in tests/packet/test_openflow.py.
#include <chrono>
#include <semaphore>

#include "ctl/openflow/event_hub.h"
#include "ctl/openflow/test_conversation.h"

namespace coua::openflow {
namespace {

TEST_F(a_conversation, answers_in_the_order_of_what_was_asked) {
  const auto got =
      ask({rule(0, 1, {}, 1), message(barrier, {}, 2), rule(99, 1, {}, 3), message(barrier, {}, 4),
           message(77, {}, 5), message(barrier, {}, 6), message(echo, {1, 2}, 7)});
  EXPECT_EQ(got, (answers{{barrier_answer, 2},
                          {error, 3},
                          {barrier_answer, 4},
                          {error, 5},
                          {barrier_answer, 6},
                          {echo_answer, 7}}));
  EXPECT_EQ(pipeline_.status().rules, 1U);
}

TEST_F(a_conversation, waits_once_for_the_workers_for_many_barriers) {
  std::vector<bytes> messages;
  for (std::uint16_t i = 0; i < 100; ++i) {
    messages.push_back(rule(1, i));
    messages.push_back(message(barrier, {}, i));
  }
  EXPECT_EQ(ask(messages).size(), 100U);
  EXPECT_EQ(pipeline_.n_settled(), 1U);
  EXPECT_EQ(pipeline_.status().rules, 100U);
}

TEST_F(a_conversation, does_not_wait_for_the_workers_without_a_barrier) {
  ask({rule(1, 1), rule(1, 2)});
  EXPECT_EQ(pipeline_.n_settled(), 0U);
}

TEST_F(a_conversation, repeats_the_whole_message_in_an_error) {
  const bytes wrong = rule(99, 1, actions(4, output(1)), 5);
  ask({wrong});
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_EQ(bytes(said_[0].begin() + 12, said_[0].end()), wrong);
}

TEST_F(a_conversation, refuses_what_is_cut_off_at_any_byte) {
  const bytes whole = rule(1, 1, actions(4, output(1) + output(2)) + actions(3, output(3)));
  for (std::size_t n = 8; n < whole.size(); ++n) {
    bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    part[2] = static_cast<std::uint8_t>(n >> 8);
    part[3] = static_cast<std::uint8_t>(n);
    ask({part});
    // Without some of its instructions it is another rule, and a good one.
    if (said_.empty()) continue;
    EXPECT_EQ(ofp::type_of(said_[0]), error) << n;
  }
}

TEST_F(a_conversation, refuses_lists_that_the_library_would_not_survive) {
  bytes list;
  for (unsigned i = 0; i < 1001; ++i) list = list + output(1);
  constexpr int bad_action = 2, too_many = 7;
  for (const std::uint16_t instruction : {3, 4}) {
    EXPECT_EQ(refused(rule(0, 1, actions(instruction, list))), std::pair(bad_action, too_many));
  }
  const bytes bucket = number(16 + list.size(), 2) + number(0, 2) + number(0xffff'ffff, 4) +
                       number(0xffff'ffff, 4) + number(0, 4) + list;
  EXPECT_EQ(refused(message(group_mod, number(0, 4) + number(1, 4) + bucket)),
            std::pair(bad_action, too_many));
}

TEST_F(a_conversation, refuses_to_show_a_table_that_is_not_there) {
  constexpr std::uint16_t flows = 1, sum = 2;
  const auto of = [](std::uint16_t kind, std::uint8_t table) {
    return message(multipart, number(kind, 2) + number(0, 6) + number(table, 1) + number(0, 3) +
                                  number(0xffff'ffff, 4) + number(0xffff'ffff, 4) + number(0, 4) +
                                  number(0, 8) + number(0, 8) + any_match);
  };
  constexpr auto bad_table = std::pair(1, 9);
  const auto n_tables = static_cast<std::uint8_t>(pipeline_.n_tables());
  for (const std::uint16_t kind : {flows, sum}) {
    EXPECT_EQ(refused(of(kind, n_tables)), bad_table);
    for (const std::uint8_t good : {std::uint8_t{0}, pipeline::table_all}) {
      EXPECT_EQ(ask({of(kind, good)}), (answers{{multipart_answer, 0}}));
    }
  }
}

TEST_F(a_conversation, refuses_a_buffer) {
  bytes one = rule(0, 1);
  one[32] = 0;  // of buffer_id
  EXPECT_EQ(refused(one), std::pair(1, 8));
}

TEST_F(a_conversation, does_a_bundle_as_a_whole) {
  conversation with(bridge_, with_);
  const bytes good = rule(1, 1), bad = rule(99, 1, {}, 9);
  EXPECT_EQ(ask(with, {bundle_control(1, 0), bundle_add(1, good), bundle_add(1, bad)}).size(), 1U);
  EXPECT_EQ(pipeline_.status().rules, 0U);
  // The message that is wrong, and that the bundle failed.
  const auto got = ask(with, {bundle_control(1, 4)});
  EXPECT_EQ(got, (answers{{error, 9}, {error, 0}}));
  EXPECT_EQ(said_[1][8], 0xff);
  EXPECT_EQ(said_[1][10] << 8 | said_[1][11], 2313);
  EXPECT_EQ(pipeline_.status().rules, 0U);
  EXPECT_EQ(ask(with, {bundle_control(1, 0), bundle_add(1, good), bundle_control(1, 2),
                       bundle_control(1, 4)}),
            (answers{{experimenter, 0}, {experimenter, 0}, {experimenter, 0}}));
  EXPECT_EQ(pipeline_.status().rules, 1U);
}

TEST_F(a_conversation, does_meters_in_bundles) {
  conversation with(bridge_, with_);
  const bytes uses_it = rule(1, 1, metered(7));
  // Twice the same meter: neither it nor the rule is there afterwards.
  EXPECT_EQ(ask(with, {bundle_control(1, 0), bundle_add(1, meter(7)), bundle_add(1, uses_it),
                       bundle_add(1, meter(7, 5)), bundle_control(1, 4)}),
            (answers{{experimenter, 0}, {error, 5}, {error, 0}}));
  EXPECT_EQ(said_[1][8] << 8 | said_[1][9], 12);   // meter_mod failed:
  EXPECT_EQ(said_[1][10] << 8 | said_[1][11], 1);  // it exists
  EXPECT_EQ(pipeline_.status().meters, 0U);
  EXPECT_EQ(pipeline_.status().rules, 0U);
  EXPECT_EQ(ask(with, {bundle_control(1, 0), bundle_add(1, meter(7)), bundle_add(1, uses_it),
                       bundle_control(1, 4)}),
            (answers{{experimenter, 0}, {experimenter, 0}}));
  EXPECT_EQ(pipeline_.status().meters, 1U);
  EXPECT_EQ(pipeline_.status().rules, 1U);
}

TEST_F(a_conversation, refuses_what_bundles_do_not_have) {
  conversation with(bridge_, with_);
  const auto refusal = [&](const bytes& inner) {
    EXPECT_EQ(ask(with, {bundle_control(1, 0), bundle_add(1, inner), bundle_control(1, 6)}),
              (answers{{experimenter, 0}, {error, 0}, {experimenter, 0}}));
    return std::pair(said_[1][8] << 8 | said_[1][9], said_[1][10] << 8 | said_[1][11]);
  };
  constexpr std::pair unsupported(0xffff, 2310);
  EXPECT_EQ(refusal(message(port_mod, bytes(32))), unsupported);
  EXPECT_EQ(refusal(message(barrier, {})), unsupported);
  EXPECT_EQ(refusal(message(99, {})), unsupported);
  EXPECT_EQ(refusal(message(meter_mod, bytes(4))), std::pair(1, 6));  // bad length
  bytes cut = meter(7);
  cut[3] += 8;  // its length: more than there is
  EXPECT_EQ(refusal(cut), std::pair(0xffff, 2308));
}

TEST_F(a_conversation, keeps_bundles_within_bounds) {
  conversation with(bridge_, with_);
  for (std::uint32_t i = 0; i < bundles_max; ++i) {
    EXPECT_EQ(ask(with, {bundle_control(i, 0)}), (answers{{experimenter, 0}}));
  }
  EXPECT_EQ(ask(with, {bundle_control(99, 0)}), (answers{{error, 0}}));
  EXPECT_EQ(ask(with, {bundle_control(0, 6), bundle_control(99, 0)}),
            (answers{{experimenter, 0}, {experimenter, 0}}));
}

TEST_F(a_conversation, stops_a_dump_when_nobody_is_there) {
  std::vector<pipeline::operation> rules;
  for (std::uint16_t i = 0; i < 5000; ++i) {
    pipeline::rule_mod one;
    one.priority = i;
    rules.emplace_back(one);
  }
  ASSERT_TRUE(pipeline_.apply(rules));
  unsigned n_parts = 0;
  pipeline_.on_dump_part([&n_parts] { ++n_parts; });
  conversation gone(bridge_, [](const bytes&) { return false; });
  const bytes all = number(1, 2) + number(0, 6) + number(255, 1) + number(0, 3) +
                    number(0xffff'ffff, 4) + number(0xffff'ffff, 4) + number(0, 4) + number(0, 8) +
                    number(0, 8) + any_match;
  gone.take(message(multipart, all));
  EXPECT_LT(n_parts, 20U);
  EXPECT_GT(ask({message(multipart, all)}).size(), 3U);
  // All but the last say that more follow.
  for (const bytes& one : said_) {
    EXPECT_EQ(ofp::type_of(one), multipart_answer);
    EXPECT_EQ(one[11], &one == &said_.back() ? 0 : 1);
  }
}

constexpr std::uint16_t features_type = 12, bad_request_error = 1, features_error = 13;

/// A part of a request of table features.
bytes features(const bytes& body, bool more, std::uint32_t xid) {
  return message(multipart,
                 number(features_type, 2) + number(more ? 1 : 0, 2) + number(0, 4) + body, xid);
}

TEST_F(a_conversation, takes_back_the_features_of_tables_as_it_says_them) {
  const answers all = {{multipart_answer, 1}};
  ASSERT_EQ(ask({features({}, false, 1)}), all);
  const bytes said = said_[0];
  std::vector<bytes> parts;
  for (std::size_t at = 16; at < said.size();) {
    const auto begin = said.begin() + static_cast<std::ptrdiff_t>(at);
    at += ofp::u16(said, at);
    parts.push_back(features(bytes(begin, said.begin() + static_cast<std::ptrdiff_t>(at)),
                             at < said.size(), 1));
  }
  ASSERT_EQ(parts.size(), pipeline_.n_tables());
  EXPECT_EQ(ask(parts), all);
  EXPECT_EQ(said_[0], said);
  // Nothing is said before the last part.
  parts.pop_back();
  EXPECT_EQ(ask(parts), answers{});
}

TEST_F(a_conversation, refuses_features_of_tables_that_are_none) {
  const auto wrong = [](int code) { return std::pair(int{features_error}, code); };
  const auto of_table = [](unsigned table, unsigned length, const bytes& properties) {
    return features(number(length, 2) + number(table, 1) + bytes(61, 0) + properties, false, 1);
  };
  const auto property = [](unsigned type, unsigned length, std::uint32_t body) {
    return number(type, 2) + number(length, 2) + number(body, 4);
  };
  constexpr unsigned instructions = 0, match = 8;
  constexpr int bad_table = 0, bad_length = 3;
  EXPECT_EQ(ask({of_table(15, 64, {})}), (answers{{multipart_answer, 1}}));
  EXPECT_EQ(refused(of_table(16, 64, {})), wrong(bad_table));
  for (const unsigned length : {0U, 56U, 63U, 65U, 72U, 0xffffU}) {
    EXPECT_EQ(refused(of_table(1, length, {})), wrong(bad_length)) << length;
  }
  for (const unsigned length : {0U, 3U, 9U, 0xffffU}) {
    EXPECT_EQ(refused(of_table(1, 72, property(match, length, 0))), wrong(bad_length)) << length;
  }
  // Elements of less than a header, of more than there is, and of an experimenter who is not said.
  EXPECT_EQ(refused(of_table(1, 72, property(match, 7, 0))), wrong(bad_length));
  EXPECT_EQ(refused(of_table(1, 72, property(match, 8, 0xffff'0000))), wrong(bad_length));
  EXPECT_EQ(refused(of_table(1, 72, property(instructions, 6, 0x0001'0004))), wrong(bad_length));
  EXPECT_EQ(refused(of_table(1, 72, property(instructions, 8, 0x0001'0003))), wrong(bad_length));
  EXPECT_EQ(refused(of_table(1, 72, property(instructions, 8, 0x0001'0005))), wrong(bad_length));
  EXPECT_EQ(refused(of_table(1, 72, property(instructions, 8, 0xffff'0004))), wrong(bad_length));
  EXPECT_EQ(ask({of_table(1, 72, property(instructions, 8, 0x0001'0004))}),
            (answers{{multipart_answer, 1}}));
}

TEST_F(a_conversation, keeps_requests_in_parts_within_bounds) {
  conversation with(bridge_, with_);
  for (std::uint32_t i = 1; i <= cut_requests_max; ++i) {
    EXPECT_EQ(ask(with, {features({}, true, i)}), answers{});
  }
  EXPECT_EQ(ask(with, {features({}, true, 99)}), (answers{{error, 99}}));
  EXPECT_EQ(said_[0][9] << 8 | said_[0][11], bad_request_error << 8 | 13);
  // One that has ended makes room.
  EXPECT_EQ(ask(with, {features({}, false, 1)}).back(), std::pair(int{multipart_answer}, 1U));
  EXPECT_EQ(ask(with, {features({}, true, 99)}), answers{});
  const bytes much(65'000, 0);
  std::vector<bytes> flood(cut_requests_bytes_max / much.size() + 3, features(much, true, 5));
  flood.push_back(features(much, false, 5));
  EXPECT_EQ(ask(with, flood), (answers{{error, 5}}));
  EXPECT_EQ(said_[0][9] << 8 | said_[0][11], bad_request_error << 8 | 13);
  // Its rest was taken, and the room is there for another.
  flood.resize(3);
  EXPECT_EQ(ask(with, flood), answers{});
  EXPECT_EQ(ask(with, {features({}, false, 5)}), (answers{{error, 5}}));
  EXPECT_EQ(said_[0][9] << 8 | said_[0][11], features_error << 8 | 3);
}

TEST_F(a_conversation, breaks_a_bundle_by_what_it_cannot_read) {
  conversation with(bridge_, with_);
  bytes cut = bundle_add(1, rule(1, 2));
  cut.resize(20);  // not even its flags
  ofp::set_u16(cut, 2, cut.size());
  EXPECT_EQ(ask(with, {bundle_control(1, 0), bundle_add(1, rule(1, 1)), cut, bundle_control(1, 4)}),
            (answers{{experimenter, 0}, {error, 0}, {error, 0}}));
  EXPECT_EQ(said_[2][10] << 8 | said_[2][11], 2313);
  EXPECT_EQ(pipeline_.status().rules, 0U);
}

TEST_F(a_conversation, breaks_a_bundle_by_what_a_slave_adds) {
  conversation with(bridge_, with_);
  const auto role = [](std::uint32_t wanted, std::uint64_t generation) {
    return message(role_request, number(wanted, 4) + number(0, 4) + number(generation, 8));
  };
  EXPECT_EQ(ask(with, {bundle_control(1, 0), bundle_add(1, rule(1, 1)), role(3, 1),
                       bundle_add(1, rule(1, 2)), role(1, 0), bundle_add(1, rule(1, 3)),
                       bundle_control(1, 4)}),
            (answers{{experimenter, 0},
                     {role_request + 1, 0},
                     {error, 0},
                     {role_request + 1, 0},
                     {error, 0}}));
  EXPECT_EQ(said_[4][10] << 8 | said_[4][11], 2313);
  EXPECT_EQ(pipeline_.status().rules, 0U);
}

/// A session that is at a dump, of the only rule, until it may go on.
class a_busy_session : public a_conversation {
 protected:
  a_busy_session() : one_(std::make_unique<session>(bridge_, [] {})) {
    EXPECT_TRUE(pipeline_.apply(std::vector<pipeline::operation>{pipeline::rule_mod{}}));
    pipeline_.on_dump_part([this] {
      begun_.release();
      go_on_.acquire();
    });
    const bytes all = number(1, 2) + number(0, 6) + number(255, 1) + number(0, 3) +
                      number(0xffff'ffff, 4) + number(0xffff'ffff, 4) + number(0, 4) +
                      number(0, 8) + number(0, 8) + any_match;
    for (int i = 0; i < 2; ++i) one_->put(message(multipart, all));
    for (std::uint16_t i = 0; i < 100; ++i) one_->put(rule(1, i));
    begun_.acquire();
  }
  ~a_busy_session() override { EXPECT_FALSE(begun_.try_acquire()) << "another dump"; }
  void go_on() { go_on_.release(100); }

  std::counting_semaphore<> begun_{0}, go_on_{0};
  std::unique_ptr<session> one_;
};

TEST_F(a_busy_session, makes_only_the_changes_that_one_who_left_has_asked_for) {
  one_->close();
  go_on();
  while (!one_->is_over()) std::this_thread::yield();
  EXPECT_EQ(pipeline_.status().rules, 101U);
}

TEST_F(a_busy_session, does_nothing_more_when_it_is_abandoned) {
  one_->abandon();
  go_on();
  one_.reset();
  EXPECT_EQ(pipeline_.status().rules, 1U);
}

TEST_F(a_conversation, of_one_that_does_not_read_stops_taking) {
  session_limits limits;
  limits.outbox_bytes = 100;
  limits.inbox_bytes = 1000;
  session one(
      bridge_, [] {}, audience::controller, limits);
  unsigned n = 0;
  while (one.takes_more() && n < 10'000) {
    one.put(message(barrier, {}));
    ++n;
    std::this_thread::yield();
  }
  EXPECT_LT(n, 10'000U);
}

/// A session with the thread of the connections, which the test is.
class brief_messages : public a_conversation {
 protected:
  brief_messages() : one_(bridge_, [this] { woken_.release(); }) {}

  /// As the server hands it over.
  void take(bytes of) {
    if (!one_.do_at_once(of)) one_.put(std::move(of));
  }
  /// The numbers of so many barriers, as they are answered.
  std::vector<std::uint32_t> answered(std::size_t n) {
    std::vector<std::uint32_t> made;
    while (made.size() < n) {
      auto said = one_.next();
      if (!said) {
        EXPECT_TRUE(woken_.try_acquire_for(std::chrono::seconds(60)));
        continue;
      }
      if (ofp::type_of(*said) == barrier_answer) made.push_back(ofp::xid_of(*said));
    }
    return made;
  }

  std::counting_semaphore<> woken_{0};
  session one_;
};

TEST_F(brief_messages, are_done_without_another_thread) {
  bytes add = rule(0, 1), ask = message(barrier, {}, 5);
  ASSERT_TRUE(one_.do_at_once(add));
  ASSERT_TRUE(one_.do_at_once(ask));
  EXPECT_FALSE(one_.next());
  one_.finish_at_once();
  const auto said = one_.next();
  ASSERT_TRUE(said);
  EXPECT_EQ(ofp::xid_of(*said), 5U);
  EXPECT_EQ(pipeline_.status().rules, 1U);
  EXPECT_FALSE(woken_.try_acquire());
}

TEST_F(brief_messages, are_no_dumps_and_no_changes_of_all_rules) {
  constexpr std::size_t command_at = 25;
  for (const std::uint8_t command : {std::uint8_t{1}, std::uint8_t{3}}) {
    bytes all = rule(0, 1);
    all[command_at] = command;
    EXPECT_FALSE(one_.do_at_once(all));
  }
  bytes dump = message(multipart, number(0, 8));
  EXPECT_FALSE(one_.do_at_once(dump));
  one_.finish_at_once();
}

TEST_F(brief_messages, are_no_rules_that_are_compared_with_all_others) {
  constexpr std::size_t flags_at = 44;
  bytes one = rule(0, 1);
  one[flags_at + 1] = 1;  // tells when it goes
  EXPECT_TRUE(one_.do_at_once(one));
  bytes other = rule(0, 1);
  other[flags_at + 1] = 2;
  EXPECT_FALSE(one_.do_at_once(other));
  one_.finish_at_once();
}

TEST_F(brief_messages, send_packets_to_ports_only) {
  const auto send = [this](const bytes& list) {
    bytes made = message(packet_out, number(0xffff'ffff, 4) + number(pipeline::port_controller, 4) +
                                         number(list.size(), 2) + number(0, 6) + list + bytes(60));
    const bool done = one_.do_at_once(made);
    one_.finish_at_once();
    return done;
  };
  EXPECT_TRUE(send(output(1) + output(2)));
  EXPECT_TRUE(send(output(pipeline::port_flood)));
  EXPECT_TRUE(send({}));
  EXPECT_FALSE(send(output(1) + output(pipeline::port_table)));
  EXPECT_FALSE(send(output(1) + number(22, 2) + number(8, 2) + number(1, 4)));  // a group
  EXPECT_FALSE(send(number(0xffff, 2) + number(16, 2) + number(0x2320, 4) + bytes(8)));
  EXPECT_FALSE(send(output(1) + number(0, 2)));
  EXPECT_EQ(pipeline_.packet_outs().size(), 3U);
}

TEST_F(brief_messages, of_one_that_does_not_read_are_done_at_once_no_more) {
  session_limits limits;
  limits.outbox_bytes = 300;
  session deaf(
      bridge_, [] {}, audience::controller, limits);
  unsigned n = 0;
  for (bytes wrong = rule(99, 1); n < 100 && deaf.do_at_once(wrong); wrong = rule(99, 1)) {
    deaf.finish_at_once();
    ++n;
  }
  EXPECT_GT(n, 1U);
  EXPECT_LT(n, 10U);
}

TEST_F(brief_messages, do_not_wait_for_an_owner_that_is_busy) {
  pipeline_.is_busy = true;
  bytes ask = message(barrier, {}, 1);
  EXPECT_FALSE(one_.do_at_once(ask));
}

TEST_F(brief_messages, that_take_long_are_done_by_the_thread_of_the_session) {
  take(rule(0, 1));
  one_.finish_at_once();
  EXPECT_EQ(pipeline_.applied_by.load(), std::this_thread::get_id());
  pipeline_.is_long = true;
  take(rule(0, 2));
  take(message(barrier, {}, 1));
  one_.finish_at_once();
  take(rule(0, 3));
  take(message(barrier, {}, 2));
  one_.finish_at_once();
  EXPECT_EQ(answered(2), (std::vector{1U, 2U}));
  EXPECT_NE(pipeline_.applied_by.load(), std::this_thread::get_id());
  EXPECT_EQ(pipeline_.status().rules, 3U);
}

TEST_F(brief_messages, of_slow_workers_are_answered_by_the_thread_of_the_session) {
  pipeline_.is_slow = true;
  bytes ask = message(barrier, {}, 1);
  ASSERT_TRUE(one_.do_at_once(ask));
  one_.finish_at_once();
  take(message(barrier, {}, 2));
  one_.finish_at_once();
  EXPECT_EQ(answered(2), (std::vector{1U, 2U}));
}

TEST_F(brief_messages, keep_the_order_among_others) {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    take(rule(static_cast<std::uint8_t>(i % 4), 1));
    take(message(barrier, {}, i));
    wanted.push_back(i);
    if (i % 7 == 0) take(message(multipart, number(0, 8)));
    pipeline_.is_slow = i % 5 == 0;
    if (i % 3 == 0) one_.finish_at_once();
  }
  one_.finish_at_once();
  EXPECT_EQ(answered(wanted.size()), wanted);
}

/// A hub, and what it has told a session; wake() comes once for each batch of events.
class a_hub : public a_conversation {
 protected:
  a_hub() : hub_(pipeline_, [this] { woken_.release(); }) {}

  void wait() { ASSERT_TRUE(woken_.try_acquire_for(std::chrono::seconds(60))); }
  static std::vector<int> told(session& by) {
    std::vector<int> made;
    while (const auto one = by.next()) made.push_back(ofp::type_of(*one));
    return made;
  }
  /// Adds so many rules that tell when they go, and removes them.
  void add_and_remove(std::uint16_t n) {
    std::vector<pipeline::operation> both;
    pipeline::rule_mod one;
    one.flags = pipeline::rule_send_removed;
    for (; one.priority = n, n > 0; --n) both.emplace_back(one);
    one = {};
    one.command = pipeline::rule_command::remove;
    both.emplace_back(one);
    ASSERT_TRUE(pipeline_.apply(both));
  }

  std::counting_semaphore<> woken_{0};
  event_hub hub_;
};

constexpr int packet_in = 10, flow_removed = 11;

TEST_F(a_hub, tells_controllers_and_not_visitors) {
  session controller(bridge_, [] {}), visitor(
                                          bridge_, [] {}, audience::visitor);
  for (session* each : {&controller, &visitor}) hub_.add(*each);
  dp::packet_in packet;
  packet.bytes = {1, 2, 3};
  pipeline_.punt(packet);
  wait();
  EXPECT_EQ(told(controller), std::vector{packet_in});
  add_and_remove(2);
  wait();
  EXPECT_EQ(told(controller), (std::vector{flow_removed, flow_removed}));
  EXPECT_EQ(told(visitor), std::vector<int>{});
  for (session* each : {&controller, &visitor}) hub_.remove(*each);
}

TEST_F(a_hub, drops_packets_but_no_news_of_rules) {
  session_limits limits;
  limits.dropped_above = 100;
  limits.events_bytes = 1000;
  session deaf(
      bridge_, [] {}, audience::controller, limits);
  hub_.add(deaf);
  dp::packet_in packet;
  packet.bytes.resize(200);
  pipeline_.punt(packet);
  wait();
  EXPECT_EQ(hub_.take_dropped(), 1U);
  EXPECT_FALSE(deaf.is_overrun());
  add_and_remove(5);
  wait();
  EXPECT_FALSE(deaf.is_overrun());
  add_and_remove(50);
  wait();
  EXPECT_TRUE(deaf.is_overrun());
  hub_.remove(deaf);
}

}  // namespace
}  // namespace coua::openflow
