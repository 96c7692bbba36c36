// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the C API, structures that begin with their size: that of the caller's header,
// which may be older or newer than this library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace coua {

/// Puts what the caller set into `known`, which has the defaults. A smaller size is an older
/// caller's: what it does not know stays at its default. A larger one is a newer caller's: it must
/// not ask for what this library does not know. `least`: the bytes that the first version of the
/// structure had before its optional members. Returns what is wrong, or nothing.
template <class Params>
std::string take_params(const Params& given, const char* name, std::size_t least, Params& known) {
  if (given.size < least) return std::string("size: must be sizeof(struct ") + name + ")";
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof known; i < given.size; ++i) {
    if (bytes[i] != 0) return "size: a parameter is set that this library does not know";
  }
  std::memcpy(&known, bytes, std::min(given.size, sizeof known));
  return {};
}

}  // namespace coua
