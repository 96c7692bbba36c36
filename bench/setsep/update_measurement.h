// SPDX-License-Identifier: Apache-2.0
//
// What it takes to change a table of separated sets that knows its keys, and to bring the change to
// one that does not.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "bench/harness/options.h"
#include "setsep/builder.h"
#include "setsep/replica.h"

namespace coua::bench {

class update_measurement {
 public:
  /// `keys` are in the table, and stay so: they change as it does.
  update_measurement(setsep::builder& from, std::vector<setsep::keyed_value>& keys,
                     std::uint64_t seed)
      : from_(from), keys_(keys), seed_(seed), to_({.keys_room = 0}) {}

  struct window {
    double update_mops = 0, apply_mops = 0;
    double delta_bytes = 0;  // of an update
  };
  /// Updates for so long, sealing a delta every so many, then applies them. Half of the updates
  /// change a value, a quarter removes a key, a quarter inserts another one. Errors: io (the
  /// replica differs from the builder afterwards).
  result<window> run(double seconds, unsigned per_delta);

 private:
  result<void> bring_up();

  setsep::builder& from_;
  std::vector<setsep::keyed_value>& keys_;
  std::uint64_t seed_;
  setsep::replica to_;
};

}  // namespace coua::bench
