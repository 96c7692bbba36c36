// SPDX-License-Identifier: Apache-2.0
//
// The server as a whole: many clients, and clients that hang when it ends.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/test_no_threads.h"
#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// A client that opens a connection and says nothing.
class mute_client {
 public:
  explicit mute_client(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  mute_client(mute_client&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~mute_client() {
    if (fd_ >= 0) close(fd_);
  }

  /// The server closes it within that time.
  bool is_closed(seconds most) const {
    const timeval time{most.count(), 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    char bytes[256];
    ssize_t n;
    do n = recv(fd_, bytes, sizeof bytes, 0);  // gRPC says its settings first
    while (n > 0);
    return n == 0 || errno == ECONNRESET;
  }

 private:
  int fd_;
};

/// All descriptors that this process may have.
class used_descriptors {
 public:
  used_descriptors() {
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;) fds_.push_back(fd);
  }
  ~used_descriptors() { give_back(fds_.size()); }
  void give_back(std::size_t n) {
    for (; n > 0; --n, fds_.pop_back()) close(fds_.back());
  }

 private:
  std::vector<int> fds_;
};

bool answers(v1::SystemService::Stub& from, seconds most = seconds(20)) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + most);
  context.set_wait_for_ready(true);
  v1::GetVersionResponse response;
  return from.GetVersion(&context, {}, &response).ok();
}

TEST_F(api, comes_back_when_descriptors_do) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{256, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  {
    used_descriptors used;
    used.give_back(1);
    const mute_client client(path_);  // has that one, and the server none for it
    std::this_thread::sleep_for(milliseconds(300));
  }
  EXPECT_TRUE(answers(*system_));
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(api, clients_that_do_nothing_hold_up_nobody) {
  api_params params;
  params.connections = 8;
  params.begin = seconds(3);
  restart(params);
  std::vector<mute_client> clients;
  for (unsigned i = 0; i < params.connections; ++i) clients.emplace_back(path_);
  EXPECT_TRUE(mute_client(path_).is_closed(seconds(1))) << "more than there may be";
  for (const mute_client& each : clients) EXPECT_TRUE(each.is_closed(seconds(20)));
  EXPECT_TRUE(answers(*system_));
}

TEST_F(api, connections_that_ended_count_no_more) {
  api_params params;
  params.connections = 8;
  restart(params);
  ASSERT_TRUE(answers(*system_));
  for (unsigned i = 0; i < 100; ++i) {
    std::vector<mute_client> few;
    for (unsigned n = 0; n < 4; ++n) few.emplace_back(path_);
    std::this_thread::sleep_for(milliseconds(5));
  }
  std::this_thread::sleep_for(milliseconds(100));
  const mute_client last(path_);
  EXPECT_FALSE(last.is_closed(seconds(1)));
}

TEST_F(api, the_socket_is_for_owner_and_group) {
  struct stat of {};
  ASSERT_EQ(stat(path_.c_str(), &of), 0);
  EXPECT_EQ(of.st_mode & 0777, geteuid() == 0 ? 0660u : 0600u);
}

TEST_F(api, a_system_without_threads_is_an_error_to_who_asks) {
  add_ports();
  const auto dump = [&] {
    grpc::ClientContext context;
    auto reader = fib_->ShowFib(&context, {});
    for (v1::FibBatch batch; reader->Read(&batch);) {
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok()) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_NE(detail(status, context).what().find("gives no thread"), std::string::npos)
          << status.error_message();
    }
    return status.ok();
  };
  ASSERT_TRUE(dump());
  {
    const no_threads none;
    for (unsigned i = 0; i < 2 * api_params{}.dumps; ++i) EXPECT_FALSE(dump());
    EXPECT_TRUE(answers(*system_));
  }
  EXPECT_TRUE(dump());
}

// Red when std::system_error ends the daemon.
TEST_F(api, needs_threads) {
  server_.reset();
  auto claim = socket_claim::take(path_);
  ASSERT_TRUE(claim);
  {
    const no_threads none;
    const auto made = api_server::create(sw_, running_, std::move(*claim), {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::no_room);
    EXPECT_EQ(made.error().where, "API");
  }
  start({});
  EXPECT_TRUE(answers(*system_));
}

TEST_F(api, ends_on_a_system_without_threads) {
  ASSERT_TRUE(answers(*system_));
  const no_threads none;
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(api, the_server_ends_in_bounded_time_whatever_clients_do) {
  add_ports();
  fill(1'000'000);
  grpc::ClientContext dump_context, load_context;
  auto dump = fib_->ShowFib(&dump_context, {});
  v1::FibBatch batch;
  ASSERT_TRUE(dump->Read(&batch));
  v1::LoadFibResponse response;
  auto load = fib_->LoadFib(&load_context, &response);  // never sends, never ends
  std::this_thread::sleep_for(milliseconds(100));
  const auto start = steady_clock::now();
  server_.reset();
  EXPECT_LT(steady_clock::now() - start, seconds(60));
  EXPECT_FALSE(std::filesystem::exists(path_));
  while (dump->Read(&batch)) {
  }
  EXPECT_FALSE(dump->Finish().ok());
  EXPECT_FALSE(load->Finish().ok());
}

TEST_F(api, many_clients_at_once) {
  add_ports();
  fill(1000);
  std::vector<std::thread> clients;
  std::atomic<int> failures{0};
  for (int c = 0; c < 8; c++)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 50; i++) {
        grpc::ClientContext context;
        v1::AddPortRequest add;
        add.mutable_spec()->set_name("x" + std::to_string(c));
        add.mutable_spec()->set_devargs("net_null1" + std::to_string(c));
        v1::AddPortResponse added;
        failures += !ports_->AddPort(&context, add, &added).ok();
        grpc::ClientContext context2;
        v1::RemovePortRequest remove;
        remove.set_name(add.spec().name());
        v1::RemovePortResponse removed;
        failures += !ports_->RemovePort(&context2, remove, &removed).ok() || !removed.changed();
      }
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(sw_.ports().size(), 2u);
}

}  // namespace
}  // namespace coua::ctl
