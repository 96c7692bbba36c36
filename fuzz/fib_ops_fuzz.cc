// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a list of operations on a small table, beside a map (tests/fib/checked_fib.h).
//
//   byte 0       which table; byte 1  how full it is at the start
//   then 6 bytes per operation: kind, key, count, arg in 2, 2 bytes of key and arg
#include <cstdio>
#include <cstdlib>

#include "checked_fib.h"
#include "fuzz.h"

namespace {

using coua::test::checked_fib;
using coua::test::fib_op;
using coua::test::op_kind;

struct small_table {
  coua::test::table_shape shape;
  std::size_t n_keys;
};
const small_table tables[] = {
    {{"packed8", COUA_FIB_LAYOUT_PACKED8, 8, 1}, 80},
    {{"packed4", COUA_FIB_LAYOUT_PACKED4, 9, 1}, 50},
    {{"wide8", COUA_FIB_LAYOUT_WIDE8, 3, 24}, 34},
    {{"packed8_v4", COUA_FIB_LAYOUT_PACKED8, 65, 4}, 600},
};
constexpr std::size_t max_ops = 100;

void require(bool ok, const checked_fib& fib, const fib_op& op) {
  if (ok) return;
  std::fprintf(stderr, "%s: %s\n", to_string(op.kind), fib.failure().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coua::fuzz::input in(data, size);
  const small_table& table = tables[in.take<std::uint8_t>() % std::size(tables)];
  std::size_t fill = in.take<std::uint8_t>() % 128;
  checked_fib fib(table.shape, 1, table.n_keys);
  std::size_t left = fib.slots() * fill / 128;
  while (left > 0) {
    std::uint16_t count = left >= 100 ? 100 : left >= 10 ? 10 : 1;
    fib_op op{op_kind::insert_batch, static_cast<std::uint16_t>(left), count, 0};
    require(fib.apply(op), fib, op);
    left -= coua::test::batch_size(count);
  }
  fib_op op;
  for (std::size_t i = 0; i < max_ops && !in.empty(); i++) {
    op.kind =
        static_cast<op_kind>(in.take<std::uint8_t>() % static_cast<unsigned>(op_kind::count_));
    op.key = in.take<std::uint16_t>();
    op.count = in.take<std::uint8_t>();
    std::uint16_t arg = in.take<std::uint16_t>();
    // The stride of batches sits above bit 20; bulk loads stay on one thread, to be repeatable.
    op.arg = static_cast<std::uint32_t>(arg & 0x1fff) | std::uint32_t{arg} >> 13 << 20;
    if (op.kind == op_kind::bulk_load) op.arg &= 0x70000f;
    require(fib.apply(op), fib, op);
  }
  require(fib.finish(), fib, op);
  return 0;
}
