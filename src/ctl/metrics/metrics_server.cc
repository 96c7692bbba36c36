// SPDX-License-Identifier: Apache-2.0
#include "ctl/metrics/metrics_server.h"

#include <prometheus/exposer.h>

#include <exception>
#include <utility>

#include "ctl/listen_address.h"

namespace coua::ctl {

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
    return fail(errc::io, "metrics on " + address, std::string("cannot listen: ") + e.what());
  }
}

metrics_server::metrics_server(std::unique_ptr<prometheus::Exposer> exposer,
                               std::shared_ptr<prometheus::Collectable> metrics)
    : metrics_(std::move(metrics)), exposer_(std::move(exposer)) {}

metrics_server::~metrics_server() = default;

int metrics_server::port() const { return exposer_->GetListeningPorts().at(0); }

}  // namespace coua::ctl
