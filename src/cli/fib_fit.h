// SPDX-License-Identifier: Apache-2.0
//
// Whether the table has room for a load, asked before the first entry is sent: a load that is
// refused half-way leaves a table full of half of it.
#pragma once

#include "base/result.h"
#include "cli/client.h"
#include "cli/fib_source.h"

namespace coua::cli {

/// no_room when there cannot be room, whatever the order; the message has what the table holds,
/// what is in use and what is asked for. Entries that are there already need no room; they are
/// counted, by reading the whole table, only where that decides. Good news is no promise: a table
/// is refused entries a little before its last slot, and addresses are learned meanwhile.
result<void> check_fit(client& daemon, fib_source& source);

}  // namespace coua::cli
