// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bench/classify/classify_options.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// Names that --peers knows in this build.
const std::vector<std::string>& classify_peer_names();

/// `coua-bench classify`: tuple space search with and without its distributor, beside rte_acl.
result<report> run_classify(const classify_options&);

}  // namespace coua::bench
