// SPDX-License-Identifier: Apache-2.0
//
// Controllers without a network, for tests of what shows them: one that is connected, one that is
// not before it was looked at a few times, and one that came.
#pragma once

#include <atomic>

#include "ctl/controller_list.h"

namespace coua::ctl {

class fake_controllers final : public controller_list {
 public:
  /// After so many looks the second one is connected, too.
  void connect_after(unsigned looks) { looks_ = looks; }

  result<controllers_state> controllers() override {
    const bool there = looks_ == 0;
    if (!there) --looks_;
    controller_state near;
    near.target = "tcp:10.0.0.1:6653";
    near.connected = true;
    near.for_s = 90;
    near.role = "master";
    near.connections = 2;
    near.received = 1000;
    near.sent = 1001;
    near.trouble = "end of file";
    controller_state far;
    far.target = "ssl:10.0.0.2:6653";
    far.connected = there;
    far.for_s = 3;
    if (there) far.role = "slave";
    far.connections = there ? 1 : 0;
    far.trouble = "Connection refused";
    controller_state guest;
    guest.target = "tcp:10.0.0.9:40000";
    guest.origin = controller_origin::came;
    guest.connected = true;
    guest.role = "equal";
    guest.connections = 1;
    return controllers_state{{near, far, guest}, false};
  }

 private:
  std::atomic<unsigned> looks_{0};
};

}  // namespace coua::ctl
