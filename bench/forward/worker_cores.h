// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/cpu.h"

namespace coua::bench {

/// The CPUs of the workers: from the second one that the process may use; the first comes last,
/// because everything else runs there.
inline std::vector<unsigned> worker_cores(unsigned workers) {
  const std::vector<unsigned> cpus = allowed_cpus();
  std::vector<unsigned> out;
  for (unsigned i = 0; i < workers && i < cpus.size(); ++i) {
    out.push_back(cpus[(i + 1) % cpus.size()]);
  }
  return out;
}

/// Whether the first CPU, on which everything else runs, is not one of theirs.
inline bool leave_a_cpu(unsigned workers) { return workers < allowed_cpus().size(); }

}  // namespace coua::bench
