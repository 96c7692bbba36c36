// SPDX-License-Identifier: Apache-2.0
//
// The fields of the configuration file: one table per mapping, and the document made from them.
#pragma once

#include <string>
#include <vector>

#include "ctl/config_reader.h"
#include "ctl/ranges.h"

namespace coua::ctl {

/// The whole file.
const field_table<config>& file_fields();

/// A mapping below another: its fields come from a table of their own.
template <typename Owner, typename Inner, typename Get>
field<Owner> section_field(std::string name, std::string meaning, std::string example,
                           const field_table<Inner>& fields, Get get) {
  field_info info{std::move(name), std::move(meaning), std::move(example)};
  info.type = "mapping";
  return {
      info,
      [&fields, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
        read_mapping(reader, node, fields, get(owner));
      },
      [&fields, get](Owner& owner, extent how) { return write_mapping(fields, get(owner), how); }};
}

/// The fields of a part as fields of the whole.
template <typename Owner, typename Inner, typename Get>
field_table<Owner> fields_of_part(const field_table<Inner>& fields, Get get) {
  field_table<Owner> made;
  for (const auto& each : fields)
    made.push_back(
        {each.info,
         [read = each.read, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
           read(reader, node, get(owner));
         },
         [write = each.write, get](Owner& owner, extent how) { return write(get(owner), how); }});
  return made;
}

/// Says nothing where the others say it.
template <typename Owner, typename If>
field<Owner> written_if(If is_written, field<Owner> made) {
  made.write = [is_written, inner = made.write](Owner& owner, extent how) {
    return is_written(owner) ? inner(owner, how) : config_value();
  };
  return made;
}

template <typename Owner, typename Get>
field<Owner> vlan_field(field_info info, Get get) {
  return integer_field<Owner>(std::move(info), limits::vlan_min, limits::vlan_max, get);
}

// config_ports.cc
const field_table<dp::port_config>& port_fields();
field<config> ports_field();

// config_pipeline.cc
const field_table<bridge_settings>& pipeline_fields();
/// What the rules, groups and meters of a bridge ask of each other and of its ports.
void check_pipeline(config_reader& reader, const config& c, std::size_t bridge);

// config_openflow.cc
const field_table<openflow_config>& openflow_fields();
/// The section `openflow` of the file's top.
const field_table<config>& top_openflow_fields();
/// What fields of `openflow` of a bridge ask of each other.
void check_openflow(config_reader& reader, const config& c, std::size_t bridge);

// config_bridges.cc
const field_table<bridge_settings>& bridge_fields();
field<config> bridges_field();
/// What bridges ask of each other, and of what is beside their list.
void check_bridges(config_reader& reader, const config& c);

/// One mapping of the file, as the document shows it.
struct section_info {
  std::string path;  // "fib", "ports[]", "ports[].vlans"; empty: the file
  std::string meaning;
  std::vector<field_info> fields;
};
template <typename Owner>
section_info describe(std::string path, std::string meaning, const field_table<Owner>& fields) {
  section_info info{std::move(path), std::move(meaning), {}};
  for (const auto& f : fields) info.fields.push_back(f.info);
  return info;
}

std::vector<section_info> describe_sections();
std::vector<section_info> describe_ports();
std::vector<section_info> describe_openflow();
section_info describe_bridges();

/// The reference part of docs/configuration.md.
std::string config_reference();

}  // namespace coua::ctl
