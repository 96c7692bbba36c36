// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "bench/setsep/setsep_command.h"

namespace coua::bench {

/// The words of `coua-bench setsep`.
CLI::App* add_setsep(CLI::App& root, setsep_options& out);

}  // namespace coua::bench
