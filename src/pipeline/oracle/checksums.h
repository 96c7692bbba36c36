// SPDX-License-Identifier: Apache-2.0
//
// Keeps checksums in step with a change of bytes that moves no header (rewrite.h has the rules).
#pragma once

#include "pipeline/oracle/parse.h"

namespace coua::pipeline {

/// Which checksums cover what is written.
struct covered_by {
  bool ipv4_header = false;
  bool l4 = false;
};
covered_by checksums_of(const parsed& before, field which);

/// `now` is `before` with some bytes changed, whose headers are `headers`.
void update_checksums(packet& now, const packet& before, const parsed& headers, covered_by what);

/// The checksum of the IPv4 header at `offset`.
void update_ipv4_checksum(packet& now, const packet& before, std::size_t offset);

}  // namespace coua::pipeline
