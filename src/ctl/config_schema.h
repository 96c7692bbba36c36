// SPDX-License-Identifier: Apache-2.0
//
// The fields of the configuration file: one table per mapping, and the document made from them.
#pragma once

#include <string>
#include <vector>

#include "ctl/config_reader.h"

namespace coua::ctl {

/// The whole file.
const field_table<config>& file_fields();

/// One mapping of the file, as the document shows it.
struct section_info {
  std::string path;  // "fib", "ports[]", "ports[].vlans"; empty: the file
  std::string meaning;
  std::vector<field_info> fields;
};
std::vector<section_info> describe_sections();

/// The reference part of docs/configuration.md.
std::string config_reference();

}  // namespace coua::ctl
