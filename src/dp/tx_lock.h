// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rte_spinlock.h>

namespace coua::dp {

/// Guards a transmit queue that more than one worker uses. On a line of its own.
struct alignas(64) tx_lock {
  rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;
};

}  // namespace coua::dp
