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

// config_openflow.cc
const field_table<openflow_config>& openflow_fields();
/// What fields of `openflow` ask of each other.
void check_openflow(config_reader& reader, const openflow_config& of);

/// Of a Unix socket that is made. Empty: good; else the reason.
std::string check_socket(const std::string& path);

/// One mapping of the file, as the document shows it.
struct section_info {
  std::string path;  // "fib", "ports[]", "ports[].vlans"; empty: the file
  std::string meaning;
  std::vector<field_info> fields;
};
std::vector<section_info> describe_sections();
std::vector<section_info> describe_openflow();

/// The reference part of docs/configuration.md.
std::string config_reference();

}  // namespace coua::ctl
