// SPDX-License-Identifier: Apache-2.0
//
// A server as its owner sees it; what it says to controllers is in conversation_test.cc and in
// tests/packet/test_controllers.py.
#include "ctl/openflow/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/test_no_threads.h"
#include "ctl/fake_pipeline.h"

namespace coua::openflow {
namespace {

class servers : public testing::Test {
 protected:
  servers() {
    std::signal(SIGPIPE, SIG_IGN);  // as couad does
    char made[] = "/tmp/coua-server-XXXXXX";
    folder_ = mkdtemp(made);
  }
  ~servers() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<server> start() {
    server_settings settings;
    settings.bridge = "br0";
    settings.management = path();
    auto made = server::create(pipeline_, roles_, settings);
    EXPECT_TRUE(made) << made.error().message();
    return made ? std::shared_ptr<server>(std::move(*made)) : nullptr;
  }
  std::string path() const { return folder_ + "/br0.mgmt"; }
  /// A connection to the management socket; -1: nobody listens.
  int visit() const {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path().copy(to.sun_path, sizeof to.sun_path - 1);
    const int one = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return one;
    close(one);
    return -1;
  }
  bool answers() const {
    const int one = visit();
    if (one >= 0) close(one);
    return one >= 0;
  }

  ctl::fake_pipeline pipeline_;
  role_book roles_;
  std::string folder_;
};

// Whoever asks one something keeps it. Red when it closes its socket only when nobody has it any
// more: by then that is the next one's.
TEST_F(servers, make_room_for_the_next_one_when_they_stop) {
  std::shared_ptr<server> first = start();
  ASSERT_TRUE(first);
  EXPECT_TRUE(answers());
  first->stop();
  EXPECT_FALSE(answers());
  const std::shared_ptr<server> next = start();
  ASSERT_TRUE(next);
  EXPECT_TRUE(answers());
  EXPECT_TRUE(first->controllers());  // it says nothing, but at once
  first.reset();
  EXPECT_TRUE(answers());
}

// Red when it stops listening to the bridge only when nobody has it any more: the next one, which
// listens by then, is told of nothing.
TEST_F(servers, leave_the_bridge_to_the_next_one_when_they_stop) {
  std::shared_ptr<server> first = start();
  ASSERT_TRUE(first);
  first->stop();
  const std::shared_ptr<server> next = start();
  ASSERT_TRUE(next);
  first.reset();
  const int one = visit();
  ASSERT_GE(one, 0);
  const timeval at_most{10, 0};
  setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &at_most, sizeof at_most);
  std::string said;
  const auto hears = [&](const std::string& wanted) {
    char some[64];
    for (ssize_t n;
         said.find(wanted) == std::string::npos && (n = recv(one, some, sizeof some, 0)) > 0;)
      said.append(some, static_cast<std::size_t>(n));
    return said.find(wanted) != std::string::npos;
  };
  // A visitor is told of packets when it has said how it wants them.
  const bytes asks{4, 0, 0, 8, 0,    0,    0, 0,  4, 9, 0, 12, 0, 0,
                   0, 1, 0, 0, 0xff, 0xff, 4, 20, 0, 8, 0, 0,  0, 2};
  ASSERT_EQ(::send(one, asks.data(), asks.size(), 0), static_cast<ssize_t>(asks.size()));
  ASSERT_TRUE(hears(std::string{4, 21, 0, 8, 0, 0, 0, 2}));
  dp::packet_in packet;
  packet.in_port = 1;
  packet.bytes.resize(60);
  pipeline_.punt(packet);
  EXPECT_TRUE(hears(std::string{4, 10, 0}));
  close(one);
}

// Red when answers to echo requests are kept for who does not read them.
TEST_F(servers, read_no_more_from_one_that_does_not_read) {
  const auto one = start();
  ASSERT_TRUE(one);
  const int deaf = visit();
  ASSERT_GE(deaf, 0);
  const timeval at_most{1, 0};
  ASSERT_EQ(setsockopt(deaf, SOL_SOCKET, SO_SNDTIMEO, &at_most, sizeof at_most), 0);
  bytes hello{4, 0, 0, 8, 0, 0, 0, 0}, echo{4, 2, 0xff, 0xf8, 0, 0, 0, 0};
  echo.resize(0xfff8);
  ASSERT_EQ(::send(deaf, hello.data(), hello.size(), 0), 8);
  std::size_t n_echoes = 0;
  while (n_echoes < 2000 && ::send(deaf, echo.data(), echo.size(), 0) > 0) ++n_echoes;
  EXPECT_LT(n_echoes, 1000U);
  close(deaf);
}

// Red when std::system_error ends the switch.
TEST_F(servers, need_threads) {
  server_settings settings;
  settings.bridge = "br0";
  settings.management = path();
  {
    const no_threads none;
    const auto made = server::create(pipeline_, roles_, settings);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::no_room);
    EXPECT_EQ(made.error().where, "controllers");
  }
  EXPECT_FALSE(answers());
  EXPECT_TRUE(start());
}

// Red when the thread of the connections does not survive a session without one of its own.
TEST_F(servers, refuse_whom_they_have_no_thread_for) {
  const auto one = start();
  ASSERT_TRUE(one);
  const bytes hello{4, 0, 0, 8, 0, 0, 0, 0};
  const auto talk = [&] {
    const int visitor = visit();
    ::send(visitor, hello.data(), hello.size(), 0);
    const timeval at_most{10, 0};
    setsockopt(visitor, SOL_SOCKET, SO_RCVTIMEO, &at_most, sizeof at_most);
    const bytes ask{4, 5, 0, 8, 0, 0, 0, 1};
    ::send(visitor, ask.data(), ask.size(), 0);
    // A hello comes in any case. What a switch is tells the session.
    const std::string wanted{4, 6, 0, 32};
    std::string said;
    char some[64];
    for (ssize_t n;
         said.find(wanted) == std::string::npos && (n = recv(visitor, some, sizeof some, 0)) > 0;)
      said.append(some, static_cast<std::size_t>(n));
    close(visitor);
    return said.find(wanted) != std::string::npos;
  };
  {
    const no_threads none;
    EXPECT_FALSE(talk());
  }
  EXPECT_TRUE(talk());
}

/// A server with a controller that is never there; one was, so long ago.
class without_controller : public servers {
 protected:
  std::unique_ptr<server> start(std::chrono::seconds seen_ago) {
    server_settings settings;
    settings.standalone = true;
    settings.links.probe_s = 5;
    settings.controllers = {"unix:" + folder_ + "/none"};
    seen_ = std::chrono::steady_clock::now() - seen_ago;
    settings.controller_seen = seen_;
    auto made = server::create(pipeline_, roles_, settings);
    EXPECT_TRUE(made);
    return made ? std::move(*made) : nullptr;
  }
  std::chrono::steady_clock::time_point seen_;
};

TEST_F(without_controller, a_server_forwards_by_itself_when_it_was_long_ago) {
  const auto one = start(std::chrono::seconds(16));
  ASSERT_TRUE(one->controllers());
  EXPECT_TRUE(one->controllers()->standalone);
  EXPECT_TRUE(pipeline_.is_standalone());
}

// Red when another configuration of the channel makes the switch forget who was there.
TEST_F(without_controller, a_server_waits_as_long_as_the_one_before_would_have) {
  const auto one = start(std::chrono::seconds(1));
  ASSERT_TRUE(one->controllers());
  EXPECT_FALSE(one->controllers()->standalone);
  EXPECT_FALSE(pipeline_.is_standalone());
  one->stop();
  EXPECT_EQ(one->controller_seen(), seen_);
}

// Red when an error tells the address alone: who wrote the file looks for the field.
TEST_F(servers, name_the_field_that_they_cannot_listen_on) {
  const std::string good = "punix:" + folder_ + "/a", wrong = "punix:" + folder_ + "/none/b";
  server_settings settings;
  settings.listen = {good, wrong};
  const auto made = server::create(pipeline_, roles_, settings);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().where, "listen[1]: " + wrong);
  settings.listen = {good};
  settings.management = folder_ + "/none/b";
  const auto other = server::create(pipeline_, roles_, settings);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().where, "management: " + wrong);
}

}  // namespace
}  // namespace coua::openflow
