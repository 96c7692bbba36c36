// SPDX-License-Identifier: Apache-2.0
#include "ctl/metrics/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <prometheus/exposer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "ctl/listen_address.h"

namespace coua::ctl {
namespace {

/// Why nobody can listen there now: civetweb does not say. Empty: it has become possible.
std::string why_not(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;  // as civetweb has it
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const bool bound = fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
                     listen(fd, 1) == 0;
  const int reason = errno;
  if (fd >= 0) close(fd);
  return bound ? "" : std::strerror(reason);
}

}  // namespace

result<std::unique_ptr<metrics_server>> metrics_server::create(
    const std::string& address, std::shared_ptr<prometheus::Collectable> metrics) {
  if (const std::string wrong = check_listen_address(address); !wrong.empty())
    return fail(errc::invalid, "metrics", "'" + address + "' " + wrong);
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(address, 2);
    exposer->RegisterCollectable(metrics);
    return std::unique_ptr<metrics_server>(
        new metrics_server(std::move(exposer), std::move(metrics)));
  } catch (const std::exception& e) {
    const std::string why = why_not(address);
    return fail(errc::io, "metrics on " + address,
                "cannot listen: " + (why.empty() ? e.what() : why));
  }
}

metrics_server::metrics_server(std::unique_ptr<prometheus::Exposer> exposer,
                               std::shared_ptr<prometheus::Collectable> metrics)
    : metrics_(std::move(metrics)), exposer_(std::move(exposer)) {}

metrics_server::~metrics_server() = default;

int metrics_server::port() const { return exposer_->GetListeningPorts().at(0); }

}  // namespace coua::ctl
