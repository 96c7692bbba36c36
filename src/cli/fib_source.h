// SPDX-License-Identifier: Apache-2.0
//
// Where the entries of `fib load` come from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/port_vlans.h"
#include "coua/v1/fib.pb.h"

namespace coua::cli {

/// Of an entry in the keys of a v1::FibBatch.
inline constexpr std::uint64_t fib_static_bit = std::uint64_t{1} << 60;

class fib_source {
 public:
  virtual ~fib_source() = default;
  /// Fills the next batch; false: there is none. The first one has all port names, so that an
  /// unknown port is refused before anything is stored.
  virtual bool next(v1::FibBatch& batch) = 0;

  // Before the first batch.
  /// Entries to come, each as often as it is given.
  virtual std::uint64_t size() const = 0;
  /// Different entries to come. Of a file they are sorted for it, which takes 8 bytes for each.
  virtual std::uint64_t distinct() = 0;
  /// Whether the entry of a key (VLAN and address) is to come. After distinct().
  virtual bool has(std::uint64_t key) const = 0;
};

/// Reads and checks a whole file, "-" for the standard input. Errors: io, invalid; the latter with
/// the first ten wrong lines.
/// Ports are those that are there when it is read.
result<std::unique_ptr<fib_source>> read_fib_file(const std::string& path, bool all_static,
                                                  const port_vlans& ports);

struct fib_pattern {
  std::uint64_t count = 0;
  unsigned vlan = 1;
  std::uint64_t base = 0;  // the first address; the others count up
  std::vector<std::string> ports;
  bool is_static = false;
};
/// Errors: not_found (port), invalid (no port, a port that does not carry the VLAN, addresses
/// beyond the range of their first byte).
result<std::unique_ptr<fib_source>> make_fib_entries(const fib_pattern& pattern,
                                                     const port_vlans& ports);

}  // namespace coua::cli
