// SPDX-License-Identifier: Apache-2.0
//
// A change of the whole configuration, as `coua config apply` and SIGHUP make it: all that a file
// can say while the switch runs, at once.
#pragma once

#include <memory>

#include "base/result.h"
#include "bench/stalls/control_actions.h"
#include "bench/stalls/stalls_command.h"
#include "dp/switch.h"

namespace coua::bench {

class config_change {
 public:
  /// Of a switch with these ports, which must outlive it. Errors: of the switch.
  static result<std::unique_ptr<config_change>> create(dp::l2_switch& sw, const stalls_ports& ports,
                                                       std::uint64_t first,
                                                       const stalls_options& options);
  ~config_change();

  result<void> go();
  result<void> back();

 private:
  class running;
  explicit config_change(std::unique_ptr<running> of);
  std::unique_ptr<running> running_;
};

}  // namespace coua::bench
