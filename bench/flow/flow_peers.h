// SPDX-License-Identifier: Apache-2.0
//
// The tables that our flow tables are compared with. They have as many slots as ours and are filled
// to the same load.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/flow/flow_options.h"
#include "bench/flow/measured_table.h"

namespace coua::bench {

enum class rte_kind { plain, lock_free, extendable };

/// Names of the peers that this build has; `coua-bench flow --peers NAME,...` takes them.
const std::vector<std::string>& flow_peer_names();

/// Makes one without tables yet. Errors: invalid (no such peer, a capacity that it cannot have),
/// unsupported.
result<std::unique_ptr<measured_table>> make_flow_peer(const std::string& name,
                                                       const measured_params&);

/// The same for a name of the options; null, and `out` has a note, where a figure and not the user
/// wants it beside tables of a capacity that it cannot have.
result<std::unique_ptr<measured_table>> make_wanted_peer(const flow_options&,
                                                         const std::string& name,
                                                         const measured_params&, report& out);

/// Of the source file peers/rte_flows.cc.
result<std::unique_ptr<measured_table>> make_rte_flows(const measured_params&, rte_kind);

}  // namespace coua::bench
