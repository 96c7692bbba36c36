// SPDX-License-Identifier: Apache-2.0
//
// Operation lists on small flow tables against a map, as the model tests run them, led by coverage.
//
//   byte 0  kind of table, byte 1  hash key, from 128 on with a ring; then 6 bytes per operation:
//   kind, count, key, argument
#include <cstdio>

#include "checked_flow.h"
#include "fuzz.h"

namespace {

using coua::test::flow_op_kind;
using coua::test::flow_shape;

constexpr std::size_t n_keys = 120;
// More make an input slow, and no new way through the table: a batch goes in groups of 32.
constexpr int max_ops = 100;
constexpr unsigned max_count = 80;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coua::fuzz::input in(data, size);
  const unsigned pick = in.take<std::uint8_t>();
  flow_shape shape{};
  shape.name = "fuzzed";
  shape.variant = static_cast<coua_flow_variant>(pick & 3);
  shape.sync = static_cast<coua_flow_sync>(pick >> 2 & 1);
  shape.timed = (pick >> 3 & 1) != 0;
  shape.buckets = 1 + (pick >> 4 & 15);
  shape.key_bytes = 4 + pick % 40;
  shape.value_bytes = pick % 30;
  const unsigned seed = in.take<std::uint8_t>();
  shape.ring = shape.timed && seed >= 128 ? 8 : 0;
  coua::test::checked_flow flow(shape, seed, n_keys);
  for (int n = 0; !in.empty() && n < max_ops; ++n) {
    coua::test::flow_op op{};
    op.kind = static_cast<flow_op_kind>(in.take<std::uint8_t>() %
                                        (static_cast<unsigned>(flow_op_kind::cursor_close) + 1));
    op.count = in.take<std::uint8_t>() % max_count;
    op.key = in.take<std::uint16_t>();
    op.arg = in.take<std::uint16_t>();
    if (!flow.apply(op)) break;
  }
  flow.finish();
  if (!flow.failure().empty()) std::fprintf(stderr, "%s\n", flow.failure().c_str());
  COUA_CHECK(flow.failure().empty());
  return 0;
}
