// SPDX-License-Identifier: Apache-2.0
//
// Making a table of a given layout and way to sync from the public parameters: checks them, draws
// the hash key, takes the memory.
#pragma once

#include <memory>

#include "table/fib_table.h"

namespace coua {

/// What a table is made of, whatever its layout.
struct fib_parts {
  fib_geometry geometry;
  arena memory;
  arena stamps;
  key_permutation keys;
  unsigned search_budget;

  /// Errors: invalid (names the parameter), no_memory and others of arena::create.
  static result<fib_parts> create(const coua_fib_params& params);
};

template <class Layout, class Sync>
std::unique_ptr<fib_table<Layout, Sync>> make_fib_table(fib_parts parts) {
  return std::make_unique<fib_table<Layout, Sync>>(parts.geometry, std::move(parts.memory),
                                                   std::move(parts.stamps), parts.keys,
                                                   parts.search_budget);
}

}  // namespace coua
