// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "bench/forward/forward_options.h"
#include "bench/pipeline/pipeline_command.h"
#include "bench/traffic/traffic_command.h"

namespace coua::bench {

/// The words of `coua-bench pipeline`, `forward` and `traffic`.
CLI::App* add_pipeline(CLI::App& root, pipeline_options& out);
CLI::App* add_forward(CLI::App& root, forward_options& out);
CLI::App* add_traffic(CLI::App& root, traffic_options& out);

}  // namespace coua::bench
