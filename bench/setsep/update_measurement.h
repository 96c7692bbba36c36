// SPDX-License-Identifier: Apache-2.0
//
// What it takes to change a table of separated sets that knows its keys, and to bring the change to
// those that do not: one in memory, and one in a mapped file, whose pages are copied as they
// change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/harness/options.h"
#include "setsep/builder.h"
#include "setsep/replica.h"

namespace coua::bench {

class update_measurement {
 public:
  /// `keys` are in the table, and stay so: they change as it does.
  /// `path`: of the file, which it makes.
  update_measurement(setsep::builder& from, std::vector<setsep::keyed_value>& keys,
                     std::string path, std::uint64_t seed)
      : from_(from),
        keys_(keys),
        path_(std::move(path)),
        seed_(seed),
        to_({.keys_room = 0}),
        mapped_({.keys_room = 0}) {}

  struct window {
    double update_mops = 0, apply_mops = 0, mapped_apply_mops = 0;
    double delta_bytes = 0;  // of an update
  };
  /// Updates for so long, sealing a delta every so many, then applies them. Half of the updates
  /// change a value, a quarter removes a key, a quarter inserts another one. Errors: io (a
  /// replica differs from the builder afterwards).
  result<window> run(double seconds, unsigned per_delta);

 private:
  struct delta_list {
    std::vector<std::uint8_t> bytes;
    std::vector<std::size_t> ends;
  };
  result<void> bring_up();
  /// Nanoseconds.
  result<double> apply(const delta_list& deltas, setsep::replica& to) const;

  setsep::builder& from_;
  std::vector<setsep::keyed_value>& keys_;
  const std::string path_;
  std::uint64_t seed_;
  setsep::replica to_, mapped_;
};

}  // namespace coua::bench
