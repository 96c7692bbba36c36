// SPDX-License-Identifier: Apache-2.0
#include "plain_slots.h"

#include "simd/flow_lookup/sets.h"

// The header once more, under another name. It is the last one, and this file is a library of its
// own: nothing else is compiled without the macro, or without the header as it is.
#undef __SSE2__
#define bucket_slots plain_bucket_slots
#include "flow/bucket_slots.h"

namespace coua::fuzz {

std::uint32_t plain_with_tag(const simd::flow_line& line, std::uint32_t tag) {
  return plain_bucket_slots::with_tag(line, tag);
}
std::uint32_t plain_empty(const simd::flow_line& line) { return plain_bucket_slots::empty(line); }
std::uint32_t plain_invisible(const simd::flow_line& line, std::uint64_t now) {
  return plain_bucket_slots::invisible(line, now);
}

}  // namespace coua::fuzz
