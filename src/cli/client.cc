// SPDX-License-Identifier: Apache-2.0
#include "cli/client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/default_socket.h"
#include "base/socket_uri.h"
#include "cli/output.h"
#include "coua/v1/common.pb.h"

namespace coua::cli {
namespace {

bool is_socket_path(const std::string& path) {
  return !path.empty() && path.size() <= socket_path_max;
}

errc from_code(v1::Error::Code code) {
  switch (code) {
    case v1::Error::CODE_INVALID: return errc::invalid;
    case v1::Error::CODE_NOT_FOUND: return errc::not_found;
    case v1::Error::CODE_EXISTS: return errc::exists;
    case v1::Error::CODE_NO_MEMORY: return errc::no_memory;
    case v1::Error::CODE_NO_ROOM: return errc::no_room;
    case v1::Error::CODE_BUSY: return errc::busy;
    case v1::Error::CODE_DENIED: return errc::denied;
    case v1::Error::CODE_UNAVAILABLE: return errc::unavailable;
    case v1::Error::CODE_UNSUPPORTED: return errc::unsupported;
    default: return errc::io;
  }
}

}  // namespace

client::client(std::string socket, std::optional<double> timeout)
    : socket_(std::move(socket)), timeout_(timeout) {
  connect();
}

void client::point_to(const std::string& socket) {
  if (socket == socket_) return;
  socket_ = socket;
  connect();
}

void client::connect() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // What is no path of a socket probe() refuses; gRPC would write lines of its own about it.
  const auto channel =
      grpc::CreateCustomChannel(socket_uri(is_socket_path(socket_) ? socket_ : "/"),
                                grpc::InsecureChannelCredentials(), arguments);
  config_ = v1::ConfigService::NewStub(channel);
  bridges_ = v1::BridgeService::NewStub(channel);
  ports_ = v1::PortService::NewStub(channel);
  fib_ = v1::FibService::NewStub(channel);
  flows_ = v1::FlowService::NewStub(channel);
  system_ = v1::SystemService::NewStub(channel);
  captures_ = v1::CaptureService::NewStub(channel);
}

namespace {

/// Connected to a socket's path, or -1 with errno.
int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

}  // namespace

result<void> client::probe() const {
  const auto unreachable = [this](const std::string& why) {
    return fail(errc::unavailable, "couad at " + socket_, why);
  };
  if (!is_socket_path(socket_))
    return unreachable("a socket's path has 1 to " + std::to_string(socket_path_max) +
                       " bytes, and this one " + std::to_string(socket_.size()));
  const int fd = connect_to(socket_);
  const int reason = errno;
  if (fd >= 0) {
    close(fd);
    return {};
  }
  if (reason == ENOENT || reason == ECONNREFUSED)
    return unreachable("no daemon listens there; start couad, or name its socket by -s PATH");
  return unreachable(std::strerror(reason));
}

error client::why_lost(const grpc::Status& status) const {
  const auto lost = [this](const std::string& why) {
    return error{errc::unavailable, "couad at " + socket_, "the connection ended: " + why};
  };
  if (!probe()) return lost("the daemon has stopped");
  return lost(status.error_message() +
              "; the daemon's log may say why, such as too many connections");
}

unsigned client::process() const {
  if (!is_socket_path(socket_)) return 0;
  const int fd = connect_to(socket_);
  if (fd < 0) return 0;
  ucred of{};
  socklen_t bytes = sizeof of;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &of, &bytes) != 0 || of.pid < 0) of.pid = 0;
  close(fd);
  return static_cast<unsigned>(of.pid);
}

call_context::call_context(const client& of, std::optional<std::chrono::duration<double>> fallback)
    : of_(of) {
  if (of.timeout_) fallback = std::chrono::duration<double>(*of.timeout_);
  if (fallback) {
    set_deadline(std::chrono::system_clock::now() +
                 std::chrono::duration_cast<std::chrono::nanoseconds>(*fallback));
  }
  const std::lock_guard lock(of.mutex_);
  of.running_.insert(this);
  if (of.stopped_) TryCancel();  // before it begins: it then ends at once
}

call_context::~call_context() {
  const std::lock_guard lock(of_.mutex_);
  of_.running_.erase(this);
}

bool call_context::is_stopped() const {
  const std::lock_guard lock(of_.mutex_);
  return of_.stopped_;
}

void client::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (grpc::ClientContext* each : running_) each->TryCancel();
  changed_.notify_all();
}

void client::allow() {
  const std::lock_guard lock(mutex_);
  stopped_ = false;
}

bool client::wait(std::chrono::duration<double> time) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopped_; });
}

error client::to_error(const grpc::Status& status, const call_context& context) {
  if (status.error_code() == grpc::StatusCode::CANCELLED && context.is_stopped())
    return interrupted();
  const auto& trailer = context.GetServerTrailingMetadata();
  const auto found = trailer.find("coua-error-bin");
  v1::Error detail;
  if (found != trailer.end() &&
      detail.ParseFromArray(found->second.data(), static_cast<int>(found->second.size())))
    return {from_code(detail.code()), detail.where(), detail.what()};
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED: return context.of().why_lost(status);
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {errc::unavailable, "couad", "gave no answer in time"};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {errc::unsupported, "couad", "is too old for this; compare 'coua version'"};
    default: return {errc::io, "couad", status.error_message()};
  }
}

}  // namespace coua::cli
