// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/setsep/setsep_command.h"

namespace coua::bench {

/// Figure 11 of ScaleBricks: how many entries a cluster of 1 to 32 nodes holds in 16 MiB of each,
/// when all nodes have all entries (`duplication`), when each has those of its own keys and the map
/// (`scalebricks`), and when the key says which node has its entry (`hash-partition`). By the
/// formula of section 6.3, and by what our tables of `keys` keys take.
result<void> add_scaling(const setsep_options&, report&);

}  // namespace coua::bench
