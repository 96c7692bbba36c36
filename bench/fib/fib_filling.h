// SPDX-License-Identifier: Apache-2.0
//
// Filling tables from empty with the calls of their one writer, and how long that takes. Records
// are made chunk by chunk outside of the clock.
#pragma once

#include <array>
#include <vector>

#include "bench/fib/coua_table.h"
#include "bench/harness/crew.h"
#include "bench/harness/report.h"

namespace coua::bench {

class fib_filling {
 public:
  /// A thread of the crew, which has a CPU of its own, inserts.
  fib_filling(const population& people, crew& threads) : people_(people), crew_(threads) {}

  /// Inserts the population into an empty table, one record to a call or a batch of them. Errors:
  /// no_room.
  result<void> fill(coua_table&, bool batched);

  /// Of all fills of this kind; `filled` is the last of them.
  row make_row(const coua_table& filled, bool batched, const json& params) const;

 private:
  static constexpr std::size_t batch_records = 32;

  const population& people_;
  crew& crew_;
  std::array<std::vector<double>, 2> mops_;  // by `batched`, a fill each
};

}  // namespace coua::bench
