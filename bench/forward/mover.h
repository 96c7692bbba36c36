// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// Something that moves packets from one port to another, and rests between its windows: the CPU
/// of the workers belongs to one at a time.
class mover {
 public:
  virtual ~mover() = default;
  virtual std::string name() const = 0;
  /// Works for `seconds` after a short start; millions of packets per second that left the second
  /// port. Errors: io (packets were lost, or went elsewhere).
  virtual result<double> run(double seconds) = 0;
  /// Further numbers of its row.
  virtual json more() const { return json::object(); }
};

}  // namespace coua::bench
