// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coua::bench {

/// Steps a nanosecond, all threads together, of a loop in registers that each thread does as often:
/// what this machine has for so many threads at this moment. It takes some 30 ms where each has a
/// CPU of its own.
double plain_loop(unsigned threads);

}  // namespace coua::bench
