// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/harness/contestant.h"
#include "bench/lpm/route_set.h"

namespace coua::bench {

/// A table of prefixes that has all routes.
class route_table : public named_contestant {
 public:
  using named_contestant::named_contestant;
  /// Takes a route out and puts it in again; both count.
  virtual void change(const route& one, std::uint32_t value) = 0;
  virtual std::uint64_t bytes() const = 0;
  /// What a row says besides.
  virtual json describe() const { return json::object(); }
};

/// Ours (pipeline/datapath/lpm_table.h), with a root of 8 or 16 bits. Errors: no_memory.
result<std::unique_ptr<route_table>> make_coua_routes(const route_set& routes, unsigned root_bits,
                                                      std::size_t batch);

}  // namespace coua::bench
