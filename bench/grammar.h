// SPDX-License-Identifier: Apache-2.0
//
// The command line of coua-bench: one grammar, one struct of options for each subcommand.
#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "bench/classify/classify_options.h"
#include "bench/fib/fib_options.h"
#include "bench/flow/flow_options.h"
#include "bench/forward/forward_options.h"
#include "bench/limit/limit_command.h"
#include "bench/lpm/lpm_command.h"
#include "bench/pipeline/pipeline_command.h"
#include "bench/pipeline/plan_command.h"
#include "bench/plot/plot_command.h"
#include "bench/rules/rules_command.h"
#include "bench/setsep/setsep_command.h"
#include "bench/stalls/stalls_command.h"
#include "bench/traffic/traffic_command.h"

namespace coua::bench {

/// What the command line asks for; the first is "nothing more to do" with an exit status: help was
/// printed, or an error.
using request =
    std::variant<int, limit_options, fib_options, flow_options, classify_options, lpm_options,
                 pipeline_options, plan_options, setsep_options, forward_options, stalls_options,
                 traffic_options, rules_options, plot_options>;

/// Parses it; prints help to stdout, errors to stderr.
request parse_command_line(int count, char** words);

}  // namespace coua::bench
