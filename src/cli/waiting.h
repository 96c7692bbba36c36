// SPDX-License-Identifier: Apache-2.0
//
// --wait SECONDS: a verb that looks again until what it looks at is as it should be.
#pragma once

#include "cli/grammar.h"
#include "cli/session.h"

namespace coua::cli {

/// The option. `what`: "its link is up".
parameter wait_option(const std::string& what);

/// Whether something is as it should be. Errors end the waiting, but for `unavailable` (the daemon
/// is not there yet), `busy` and `not_found`, which may be there later.
using look = std::function<result<bool>()>;

/// With --wait: looks ten times a second until it is so, or the time is over; else once. When it
/// was not so in time, says it on the standard error output, and the verb has exit_not_yet; where
/// the last look ended with an error, that is the error. The socket is chosen at each look: that of
/// a daemon that starts again may not be there at first.
result<void> look_until(const session& s, const std::string& what, const look& once);

}  // namespace coua::cli
