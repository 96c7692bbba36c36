// SPDX-License-Identifier: Apache-2.0
//
// Where an error arose, from the outside in: "FILE:12: ports[2]: port p0".
#pragma once

#include <string>

#include "base/result.h"

namespace coua {

/// Of two places, either of which may be empty.
inline std::string join_places(const std::string& outer, const std::string& inner) {
  return outer + (outer.empty() || inner.empty() ? "" : ": ") + inner;
}

/// An error that arose within a place.
inline error at_place(const std::string& place, error e) {
  e.where = join_places(place, e.where);
  return e;
}

}  // namespace coua
