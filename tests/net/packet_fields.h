// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/layers.h"
#include "pipeline/model/field_values.h"

namespace coua::test {

/// Every header field of a packet by what the parser of src/net says.
pipeline::field_values fields_of(const net::packet& p, const net::layers& l);

}  // namespace coua::test
