// SPDX-License-Identifier: Apache-2.0
//
// The fields of `bridges`. Without that list there is one bridge, and sections of the file's top
// are its own.
#include <algorithm>

#include "base/default_socket.h"
#include "base/nearest.h"
#include "ctl/config_schema.h"
#include "ctl/openflow_rules.h"
#include "ctl/port_rules.h"

namespace coua::ctl {
namespace {

using bridge = bridge_settings;

/// Files for TLS are of the process.
field<bridge> openflow_field() {
  auto made = section_field<bridge>(
      "openflow", "Its controllers, as `openflow` without `tls`, which stays at the top",
      "{controllers: [\"tcp:10.0.0.1:6653\"]}", openflow_fields(),
      [](bridge& b) -> auto& { return b.openflow; });
  made.read = [inner = made.read](config_reader& reader, const YAML::Node& node, bridge& b) {
    if (!node.IsMap() || !node["tls"]) return inner(reader, node, b);
    const config_reader::step step(reader, "tls");
    reader.complain(node["tls"], "is of all bridges: give it as openflow.tls at the top");
  };
  return made;
}

/// What two bridges cannot both say, by the fields that say it.
using unique_texts = std::vector<std::pair<std::string, std::string>>;

template <class TextsOf>
void check_unique(config_reader& reader, const config& c, const std::string& what,
                  TextsOf texts_of) {
  std::map<std::string, std::pair<std::size_t, std::string>> known;  // by text: bridge, path
  for (std::size_t i = 0; i < c.bridges.size(); i++) {
    for (const auto& [field, text] : texts_of(c.bridges[i])) {
      const std::string path = item_path("bridges", i) + "." + field;
      if (text.empty() || reader.troubled(path)) continue;
      const auto [at, fresh] = known.try_emplace(text, i, path);
      const auto& [before, place] = at->second;
      if (!fresh && before != i)
        reader.complain_at(path, "is " + what + " of " + item_path("bridges", before) +
                                     " in line " +
                                     std::to_string(nearest_line(reader.lines, place)) + " too");
    }
  }
}

/// The API's socket is no bridge's, and leaves room beside it for those of the bridges.
void check_api_socket(config_reader& reader, const config& c, const std::string& api) {
  for (std::size_t i = 0; i < c.bridges.size(); i++) {
    const std::string& name = c.bridges[i].name;
    const openflow_config& of = c.bridges[i].openflow;
    const std::string path = c.bridge_path(i) + "openflow.";
    const auto check = [&](const std::string& field, const std::string& socket) {
      if (normal_path(socket) == normal_path(api) && !reader.troubled(path + field))
        reader.complain_at(path + field, "is the socket of the API, " + api);
    };
    if (!of.management.empty()) check("management", of.management);
    for (std::size_t t = 0; t < of.listen.size(); t++)
      if (const auto socket = socket_of(of.listen[t])) check(item_path("listen", t), *socket);
    if (!of.management.empty()) continue;
    const std::string made = management_socket(name, api);
    if (normal_path(made) == normal_path(api))
      reader.complain_at("api.socket", "is the management socket of bridge " + name +
                                           ", unless its openflow.management is another one");
    if (made.size() > socket_path_max)
      reader.complain_at("api.socket", "makes the path of the management socket of bridge " + name +
                                           ", " + made + ", longer than " +
                                           std::to_string(socket_path_max) +
                                           " bytes, unless its openflow.management is another one");
  }
}

/// A bridge listens at a socket once: for controllers, or for ovs-ofctl.
void check_own_sockets(config_reader& reader, const config& c, const std::string& api) {
  for (std::size_t i = 0; i < c.bridges.size(); i++) {
    const openflow_config& of = c.bridges[i].openflow;
    const std::string listen = c.bridge_path(i) + "openflow.listen";
    const std::string management =
        of.management.empty() ? management_socket(c.bridges[i].name, api) : of.management;
    std::map<std::string, std::string> known = {
        {normal_path(management), "the bridge's management socket, " + management}};
    for (std::size_t t = 0; t < of.listen.size(); t++) {
      const auto socket = socket_of(of.listen[t]);
      const std::string path = item_path(listen, t);
      if (!socket || reader.troubled(path)) continue;
      const auto [at, fresh] = known.try_emplace(*socket, "that of " + path);
      if (!fresh) reader.complain_at(path, "is " + at->second);
    }
  }
}

void check_top(config_reader& reader) {
  const auto refuse = [&](const std::string& path) {
    if (reader.has(path))
      reader.complain_at(path, "is given together with bridges; give it to one of them");
  };
  refuse("pipeline");
  for (const auto& each : openflow_fields()) refuse("openflow." + each.info.name);
}

void check_ports_of(config_reader& reader, const config& c) {
  std::vector<std::string> names;
  for (const bridge& each : c.bridges) names.push_back(each.name);
  for (std::size_t i = 0; i < c.ports.size(); i++) {
    const std::string& name = c.ports[i].bridge;
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string near = nearest(name, names);
    reader.complain_at(item_path("ports", i) + ".bridge",
                       "no bridge of this file is called '" + name + "'" +
                           (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
}

}  // namespace

const field_table<bridge>& bridge_fields() {
  static const field_table<bridge> fields = {
      text_field<bridge>({.name = "name",
                          .meaning = "Name of the bridge everywhere; unique",
                          .example = "br1",
                          .required = true},
                         "1 to 32 letters, digits, `_`, `.`, `-`; not `-` first", check_port_name,
                         [](bridge& b) -> auto& { return b.name; }),
      section_field<bridge>("pipeline", "Its rules, as `pipeline` at the top",
                            "{start: none, rules: 10K}", pipeline_fields(),
                            [](bridge& b) -> auto& { return b; }),
      openflow_field()};
  return fields;
}

field<config> bridges_field() {
  field_info info{.name = "bridges",
                  .meaning =
                      "Switches that share nothing but the machine: each has rules, "
                      "controllers, VLANs and addresses of its own. Instead of `pipeline` "
                      "and `openflow`, but for `openflow.tls`",
                  .example = "[{name: br0}, {name: br1, pipeline: {start: none}}]"};
  info.type = "list of mappings";
  info.range = "1 to " + std::to_string(dp::bridges_max);
  info.default_value = "one, `br0`";
  return {info,
          [](config_reader& reader, const YAML::Node& node, config& c) {
            std::vector<bridge> all;
            read_list(reader, node, [&](const YAML::Node& item) {
              if (item.IsNull()) return reader.complain(item, "has no value");
              if (all.size() == dp::bridges_max)
                return reader.complain(item, "is one more than " + std::to_string(all.size()));
              bridge one;
              read_mapping(reader, item, bridge_fields(), one);
              all.push_back(std::move(one));
            });
            if (node.IsNull() || (node.IsSequence() && node.size() == 0))
              return reader.complain(node, "is empty; a switch has a bridge");
            if (!all.empty()) c.bridges = std::move(all);
          },
          [](config& c, extent how) {
            std::vector<config_value> items;
            if (c.lists_bridges())
              for (bridge& each : c.bridges)
                items.push_back(write_mapping(bridge_fields(), each, how));
            return list_value(std::move(items));
          }};
}

void check_bridges(config_reader& reader, const config& c) {
  if (reader.has("bridges")) check_top(reader);
  if (!reader.troubled("bridges")) check_ports_of(reader, c);
  check_unique(reader, c, "the name", [](const bridge& b) {
    return unique_texts{{"name", b.name}};
  });
  check_unique(reader, c, "the datapath id", [](const bridge& b) {
    const std::uint64_t id = b.openflow.datapath_id;
    return unique_texts{{"openflow.datapath_id", id == 0 ? "" : format_datapath_id(id)}};
  });
  const std::string api = c.socket.empty() ? default_socket() : c.socket;
  if (!reader.troubled("api.socket")) check_api_socket(reader, c, api);
  check_own_sockets(reader, c, api);
  check_unique(reader, c, "a socket", [&](const bridge& b) {
    const std::string& said = b.openflow.management;
    unique_texts made{{said.empty() ? "name" : "openflow.management",
                       normal_path(said.empty() ? management_socket(b.name, api) : said)}};
    for (std::size_t i = 0; i < b.openflow.listen.size(); i++)
      if (const auto path = socket_of(b.openflow.listen[i]))
        made.emplace_back(item_path("openflow.listen", i), *path);
    return made;
  });
  check_unique(reader, c, "an address", [](const bridge& b) {
    unique_texts made;
    for (std::size_t i = 0; i < b.openflow.listen.size(); i++)
      if (!socket_of(b.openflow.listen[i]))
        made.emplace_back(item_path("openflow.listen", i), b.openflow.listen[i]);
    return made;
  });
  for (std::size_t i = 0; i < c.bridges.size(); i++) {
    check_openflow(reader, c, i);
    check_pipeline(reader, c, i);
  }
}

section_info describe_bridges() { return describe("bridges[]", "One bridge.", bridge_fields()); }

}  // namespace coua::ctl
