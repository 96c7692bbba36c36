// SPDX-License-Identifier: Apache-2.0
#include "byte_stream.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

#include "fuzz.h"

namespace coua::fuzz {
namespace {

constexpr std::uint8_t hello[] = {ofp::wire_version, 0, 0, ofp::header_bytes, 0, 0, 0, 1};
// Of what is there, a connection is established at once; a question that finds nothing may be
// followed by one that does (read_ahead.cc).
constexpr unsigned tries = 8;

/// Where all of them connect to, one after the other. The library removes the file at the end.
class meeting_place {
 public:
  meeting_place() {
    (void)std::signal(SIGPIPE, SIG_IGN);  // as couad does
    auto made = ofp::listener::on("punix:" + path_);
    COUA_CHECK(made.has_value());
    listener_ = std::move(*made);
  }

  int connect() const {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path_.copy(to.sun_path, sizeof to.sun_path - 1);
    const int one = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    COUA_CHECK(::connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    return one;
  }
  std::unique_ptr<ofp::link> accept() {
    auto one = listener_->accept({0, 1});
    COUA_CHECK(one != nullptr);
    return one;
  }

 private:
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("openflow_fuzz." + std::to_string(getpid()));
  std::unique_ptr<ofp::listener> listener_;
};

}  // namespace

byte_stream::byte_stream() {
  static meeting_place place;
  peer_ = place.connect();
  COUA_CHECK(::send(peer_, hello, sizeof hello, 0) == sizeof hello);
  link_ = place.accept();
  for (unsigned i = 0; i < tries && !link_->is_connected(); ++i) link_->run();
  COUA_CHECK(link_->is_connected());
}

byte_stream::~byte_stream() { close(peer_); }

void byte_stream::send(ofp::message_view bytes, std::size_t piece,
                       const std::function<void(ofp::message)>& take) {
  while (!bytes.empty() && link_->is_alive()) {
    const auto part = bytes.first(std::min(piece, bytes.size()));
    const ssize_t sent = ::send(peer_, part.data(), part.size(), MSG_DONTWAIT);
    if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
    receive(take);
  }
  (void)shutdown(peer_, SHUT_WR);
  receive(take);
}

void byte_stream::receive(const std::function<void(ofp::message)>& take) {
  for (unsigned none = 0; none < tries; ++none) {
    link_->run();
    while (auto one = link_->receive()) {
      none = 0;
      take(std::move(*one));
    }
  }
}

}  // namespace coua::fuzz
