// SPDX-License-Identifier: Apache-2.0
//
// A server as its owner sees it; what it says to controllers is in conversation_test.cc and in
// tests/packet/test_controllers.py.
#include "ctl/openflow/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

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
  bool answers() const {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path().copy(to.sun_path, sizeof to.sun_path - 1);
    const int one = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool done = connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    close(one);
    return done;
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
