// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tables that the datapath has, from the cheapest to the most general;
// compiler/choose_template.h has what each asks of its rules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coua::pipeline {

enum class table_template : std::uint8_t { direct, exact, lpm, decomposed, classifier };
inline constexpr std::size_t n_table_templates = 5;
const char* to_string(table_template which);

}  // namespace coua::pipeline
