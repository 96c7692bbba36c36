// SPDX-License-Identifier: Apache-2.0
//
// What the reader of connections (read_ahead.cc) tells those who wait for them (poll_loop.cc).
#pragma once

namespace coua::ofp {

/// This thread has read something from one of its connections.
void note_arrival() noexcept;

}  // namespace coua::ofp
