// SPDX-License-Identifier: Apache-2.0
//
// Metrics by HTTP: GET /metrics, in the text format of Prometheus.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace coua::ctl {

class metrics_server {
 public:
  /// Listens on `address` (ctl/listen_address.h), on threads that run where the calling one may.
  /// Errors: invalid (the address), io (it cannot be listened on).
  static result<std::unique_ptr<metrics_server>> create(
      const std::string& address, std::shared_ptr<prometheus::Collectable> metrics);
  /// Ends calls in progress.
  ~metrics_server();

  /// The TCP port that it listens on.
  int port() const;

 private:
  metrics_server(std::unique_ptr<prometheus::Exposer> exposer,
                 std::shared_ptr<prometheus::Collectable> metrics);

  std::shared_ptr<prometheus::Collectable> metrics_;  // which the exposer does not own
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace coua::ctl
