// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/link.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace coua::ofp {
namespace {

using namespace std::chrono_literals;

constexpr std::uint8_t hello = 0, echo_request = 2;

message made(std::uint8_t type, std::uint32_t xid, std::size_t length = header_bytes) {
  message one(length);
  one[0] = wire_version;
  one[1] = type;
  one[2] = static_cast<std::uint8_t>(length >> 8);
  one[3] = static_cast<std::uint8_t>(length);
  for (unsigned i = 0; i < 4; ++i) one[4 + i] = static_cast<std::uint8_t>(xid >> (24 - 8 * i));
  return one;
}

std::chrono::steady_clock::duration time_of_wait(poller& of, std::chrono::milliseconds at_most) {
  const auto began = std::chrono::steady_clock::now();
  of.block(static_cast<unsigned>(at_most.count()));
  return std::chrono::steady_clock::now() - began;
}

/// A switch's end of a connection and the controller's, which is a plain socket.
class link_pair : public testing::Test {
 protected:
  void SetUp() override {
    auto polls = poller::create();
    auto listens = listener::on("punix:" + path_);
    ASSERT_TRUE(polls && listens);
    poller_ = std::move(*polls);
    listener_ = std::move(*listens);
    peer_ = connected();
    ASSERT_GE(peer_, 0);
    say(made(hello, 1));
    link_settings settings;
    while ((link_ = listener_->accept(settings)) == nullptr) {
      listener_->wait();
      poller_->block(1000);
    }
    ASSERT_TRUE(until([this] { return link_->is_connected(); }));
  }
  void TearDown() override {
    if (peer_ >= 0) close(peer_);
    unlink(path_.c_str());
  }

  /// A socket of the controller's; below 0: there is none.
  int connected() const {
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    if (connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return made;
    close(made);
    return -1;
  }

  void say(message_view bytes) {
    ASSERT_EQ(send(peer_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  /// As the server's loop: what waits is woken by what it has asked for, or after a second.
  template <class Done>
  bool until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      link_->run();
      if (done()) return true;
      if (std::chrono::steady_clock::now() > end) return false;
      link_->wait(true);
      poller_->block(1000);
      ++rounds_;
    }
  }

  std::optional<message> next() {
    std::optional<message> one;
    (void)until([&] { return (one = link_->receive()).has_value() || !link_->is_alive(); });
    return one;
  }

  std::string path_ = testing::TempDir() + "link_test." + std::to_string(getpid());
  std::unique_ptr<poller> poller_;
  std::unique_ptr<listener> listener_;
  std::unique_ptr<link> link_;
  int peer_ = -1;
  unsigned rounds_ = 0;
};

TEST_F(link_pair, messages_that_come_together_are_taken_one_by_one) {
  message all;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const message one = made(echo_request, i, header_bytes + i % 7);
    all.insert(all.end(), one.begin(), one.end());
  }
  say(all);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const auto one = next();
    ASSERT_TRUE(one);
    ASSERT_EQ(*one, made(echo_request, i, header_bytes + i % 7));
  }
  EXPECT_FALSE(link_->receive());
}

TEST_F(link_pair, what_comes_after_the_socket_was_found_empty_wakes_the_loop) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    say(made(echo_request, i));
    auto one = next();
    ASSERT_TRUE(one);
    EXPECT_EQ(xid_of(*one), i);
    // Between the question that found nothing and the wait, and without a question at all.
    if (i % 2 == 0) {
      EXPECT_FALSE(link_->receive());
    }
  }
  EXPECT_LT(rounds_, 200U);  // it never waited in vain, nor turned without end
}

TEST_F(link_pair, what_was_read_and_not_taken_wakes_the_loop) {
  message both = made(echo_request, 1);
  const message one = both;
  both.insert(both.end(), one.begin(), one.end());
  say(both);
  ASSERT_TRUE(next());
  link_->wait(true);
  const auto began = std::chrono::steady_clock::now();
  poller_->block(10'000);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_TRUE(link_->receive());
}

TEST_F(link_pair, a_loop_with_nothing_to_do_sleeps) {
  say(made(echo_request, 1));
  ASSERT_TRUE(next());
  const unsigned before = rounds_;
  const auto began = std::chrono::steady_clock::now();
  (void)until([&] { return std::chrono::steady_clock::now() - began > std::chrono::seconds(1); });
  EXPECT_LE(rounds_ - before, 4U);
}

TEST_F(link_pair, what_was_waited_for_once_does_not_wake_the_next_wait) {
  say(made(echo_request, 1));
  link_->wait(true);
  EXPECT_LT(time_of_wait(*poller_, 10s), 5s);
  EXPECT_GE(time_of_wait(*poller_, 50ms), 50ms);  // nobody has asked for the message again
}

TEST_F(link_pair, behind_a_message_the_next_is_looked_for_at_once_until_that_was_in_vain) {
  const auto wait = [this](std::chrono::milliseconds at_most) {
    link_->wait(true);
    return time_of_wait(*poller_, at_most);
  };
  for (unsigned i = 0; i < 20; ++i) (void)wait(1ms);  // nothing came for long
  say(made(echo_request, 1));
  ASSERT_TRUE(next());
  EXPECT_LT(wait(10s), 5s) << "nothing is there yet";
  say(made(echo_request, 2));
  ASSERT_TRUE(next());
  EXPECT_LT(wait(10s), 5s) << "the last time it was there";
  EXPECT_FALSE(link_->receive());
  EXPECT_GE(wait(50ms), 50ms) << "this time it was not";
  say(made(echo_request, 3));
  ASSERT_TRUE(next());
  EXPECT_GE(wait(50ms), 50ms) << "not again so soon";
  for (unsigned i = 0; i < 20; ++i) (void)wait(1ms);
  say(made(echo_request, 4));
  ASSERT_TRUE(next());
  EXPECT_LT(wait(10s), 5s);
}

TEST_F(link_pair, messages_cut_anywhere_are_whole_again) {
  const message longest = made(echo_request, 7, 65535), brief = made(echo_request, 8);
  message all = longest;
  all.insert(all.end(), brief.begin(), brief.end());
  const message_view view = all;
  for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{40000},
                                longest.size() - 1, longest.size(), all.size() - 1}) {
    say(view.first(cut));
    if (cut < longest.size()) {
      EXPECT_FALSE(link_->receive());
    }
    say(view.subspan(cut));
    ASSERT_EQ(next(), longest);
    ASSERT_EQ(next(), brief);
  }
}

TEST_F(link_pair, what_was_said_before_the_end_is_heard) {
  say(made(echo_request, 1));
  say(made(echo_request, 2));
  close(peer_);
  peer_ = -1;
  EXPECT_EQ(next(), made(echo_request, 1));
  EXPECT_EQ(next(), made(echo_request, 2));
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_FALSE(link_->is_alive());
}

TEST_F(link_pair, another_connection_takes_nothing_over) {
  // The library may put the next stream where this one was; half a message is left of it.
  say(message_view(made(echo_request, 1, 100)).first(50));
  EXPECT_FALSE(link_->receive());
  link_.reset();
  close(peer_);
  listener_.reset();
  unlink(path_.c_str());
  SetUp();
  say(made(echo_request, 9));
  EXPECT_EQ(next(), made(echo_request, 9));
}

TEST_F(link_pair, who_cannot_be_taken_for_lack_of_descriptors_is_taken_later) {
  const int other = connected();
  ASSERT_GE(other, 0);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none = {0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const bool none_taken = listener_->accept({}) == nullptr;
  const std::string trouble = listener_->trouble();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(none_taken);
  EXPECT_EQ(trouble, std::strerror(EMFILE));
  poller_->block(0);  // behind the hello, which is no wait
  // Who waits for it still would end each wait at once.
  listener_->wait();
  EXPECT_GT(time_of_wait(*poller_, 10s), 50ms);
  EXPECT_NE(listener_->accept({}), nullptr);
  EXPECT_EQ(listener_->trouble(), "");
  EXPECT_EQ(listener_->accept({}), nullptr);
  EXPECT_EQ(listener_->trouble(), "") << "nobody is there";
  close(other);
}

TEST(poller, is_woken_before_and_while_it_waits) {
  auto one = poller::create();
  ASSERT_TRUE(one);
  (*one)->wake();
  EXPECT_LT(time_of_wait(**one, 10s), 5s);
  EXPECT_GE(time_of_wait(**one, 50ms), 50ms);  // once
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    (*one)->wake();
  });
  EXPECT_LT(time_of_wait(**one, 10s), 5s);
  other.join();
}

TEST(poller, is_woken_by_a_timer_of_the_library) {
  auto one = poller::create();
  ASSERT_TRUE(one);
  // The next attempt is due after a second.
  const auto nobody = link::to("unix:" + testing::TempDir() + "nobody", {.backoff_max_s = 1});
  for (int round = 0; round < 20; ++round) {
    nobody->run();
    nobody->wait(true);
    const auto took = time_of_wait(**one, 10s);
    ASSERT_LT(took, 5s);
    if (took > 200ms) return;
  }
  FAIL() << "it never waited";
}

}  // namespace
}  // namespace coua::ofp
