// SPDX-License-Identifier: Apache-2.0
//
// The fields of `openflow`.
#include <algorithm>

#include "ctl/config_schema.h"
#include "ctl/listen_address.h"
#include "ctl/openflow_rules.h"
#include "ctl/ranges.h"

namespace coua::ctl {
namespace {

using settings = openflow_config;

/// Each once, and so many at most.
field<settings> targets_field(field_info info, std::string range,
                              std::string (*check)(const std::string&),
                              std::vector<std::string> settings::*into) {
  return texts_field<settings>(
      std::move(info), std::move(range),
      [check](const std::string& text, const std::vector<std::string>& before) -> std::string {
        if (const std::string reason = check(text); !reason.empty()) return reason;
        if (before.size() >= openflow_targets_max)
          return "is one more than " + std::to_string(openflow_targets_max);
        return std::ranges::find(before, text) != before.end() ? "is named twice" : "";
      },
      [into](settings& s) -> auto& { return s.*into; });
}

field<settings> datapath_id_field() {
  field_info info{.name = "datapath_id",
                  .meaning =
                      "The number by which controllers know the bridge. Without it, it is "
                      "made of the address of the bridge's first port when the bridge opens, else, "
                      "or where another bridge has that one, of its name, so that it may be "
                      "another one after a restart: who needs it to stay gives it",
                  .example = "\"00:00:00:00:00:00:00:a1\""};
  info.type = "text";
  info.range = "1 to 16 hexadecimal digits, not all 0";
  info.default_value = "made of the first port's address, else of the bridge's name";
  return {info,
          [](config_reader& reader, const YAML::Node& node, settings& s) {
            std::string text;
            if (!read_scalar(reader, node, text)) return;
            const auto id = parse_datapath_id(text);
            if (!id)
              return reader.complain(node, "is not of 1 to 16 hexadecimal digits, not all 0");
            s.datapath_id = *id;
          },
          [](settings& s, extent) {
            return s.datapath_id == 0 ? config_value()
                                      : text_value(format_datapath_id(s.datapath_id));
          }};
}

struct named_table {
  unsigned number = 0;
  std::string name;
};

const field_table<named_table>& table_fields() {
  static const field_table<named_table> fields = {
      integer_field<named_table>(
          {.name = "table", .meaning = "Its number", .example = "0", .required = true}, 0, 254,
          [](named_table& t) -> auto& { return t.number; }),
      text_field<named_table>({.name = "name",
                               .meaning = "What table features call it",
                               .example = "acl",
                               .required = true},
                              "1 to 31 printable characters", check_table_name,
                              [](named_table& t) -> auto& { return t.name; }),
  };
  return fields;
}

/// Of one that was read: neither its number nor its name is another one's.
void check_named_once(config_reader& reader, const YAML::Node& item, const named_table& one,
                      const std::map<std::uint8_t, std::string>& before) {
  const auto complain = [&](const char* field, const std::string& reason) {
    const config_reader::step step(reader, field);
    reader.complain(item[field], reason);
  };
  if (before.contains(static_cast<std::uint8_t>(one.number)))
    complain("table", std::to_string(one.number) + " has a name already");
  if (const std::string reason = check_new_table_name(one.name, before); !reason.empty())
    complain("name", reason);
}

field<settings> tables_field() {
  field_info info{.name = "tables",
                  .meaning =
                      "Names of tables, for controllers that show them; each table, and each "
                      "name, once",
                  .example = "[{table: 0, name: acl}]"};
  info.type = "list of mappings";
  info.default_value = "table0, table1...";
  return {info,
          [](config_reader& reader, const YAML::Node& node, settings& s) {
            read_list(reader, node, [&](const YAML::Node& item) {
              named_table one;
              if (item.IsNull()) return reader.complain(item, "has no value");
              read_mapping(reader, item, table_fields(), one);
              if (reader.troubled(reader.path())) return;
              check_named_once(reader, item, one, s.table_names);
              s.table_names.emplace(static_cast<std::uint8_t>(one.number), one.name);
            });
          },
          [](settings& s, extent how) {
            std::vector<config_value> items;
            for (const auto& [number, name] : s.table_names) {
              named_table one{number, name};
              items.push_back(write_mapping(table_fields(), one, how));
            }
            return list_value(std::move(items));
          }};
}

std::string check_file(const std::string& path) {
  return path.empty() || path[0] != '/' ? "is not an absolute path" : "";
}

const field_table<tls_files>& tls_fields() {
  const auto file = [](std::string name, std::string meaning, std::string tls_files::*into) {
    return text_field<tls_files>({.name = std::move(name),
                                  .meaning = std::move(meaning),
                                  .example = "/etc/coua/file.pem",
                                  .required = true},
                                 "absolute path", check_file,
                                 [into](tls_files& s) -> auto& { return s.*into; });
  };
  static const field_table<tls_files> fields = {
      file("key", "Private key of the switch, in PEM", &tls_files::key),
      file("certificate", "Its certificate", &tls_files::certificate),
      file("authority", "Certificates of those that may sign a controller's",
           &tls_files::authority),
  };
  return fields;
}

field<config> tls_field() {
  return section_field<config>("tls", "For `ssl:` and `pssl:`; both sides show a certificate",
                               "{key: /etc/coua/key.pem, certificate: /etc/coua/cert.pem, "
                               "authority: /etc/coua/ca.pem}",
                               tls_fields(), [](config& c) -> auto& { return c.tls; });
}

}  // namespace

const field_table<openflow_config>& openflow_fields() {
  static const field_table<settings> fields = {
      datapath_id_field(),
      targets_field({.name = "controllers",
                     .meaning = "Controllers that the switch connects to, again and again",
                     .example = "[\"tcp:10.0.0.1:6653\"]"},
                    "`tcp:ADDRESS:PORT`, `ssl:ADDRESS:PORT`, `unix:PATH`; at most 16",
                    check_controller, &settings::controllers),
      targets_field({.name = "listen",
                     .meaning = "Where controllers may connect to the switch; without ADDRESS, at "
                                "every IPv4 address of the machine. TCP has no password: listen on "
                                "addresses only that nobody else reaches",
                     .example = "[\"ptcp:6653:127.0.0.1\"]"},
                    "`ptcp:PORT[:ADDRESS]`, `pssl:PORT[:ADDRESS]`, `punix:PATH`; at most 16",
                    check_listener, &settings::listen),
      text_field<settings>({.name = "management",
                            .meaning = "The Unix socket for `ovs-ofctl`",
                            .example = "/run/coua/br0.mgmt",
                            .default_value = "`NAME.mgmt` in the directory of `api.socket`, "
                                             "NAME that of the bridge"},
                           "absolute path, at most 107 bytes", check_socket,
                           [](settings& s) -> auto& { return s.management; }),
      choice_field<settings>(
          {.name = "fail_mode",
           .meaning = "While there are `controllers` and none is connected for three times "
                      "`probe_s`: `secure` goes on with the rules that are there, `standalone` "
                      "forwards as an L2 switch until one is back",
           .example = "secure"},
          {"secure", "standalone"}, [](settings& s) -> auto& { return s.fail_mode; }),
      integer_field<settings>({.name = "probe_s",
                               .meaning = "A controller that is silent for that long, 5 s at "
                                          "least, is asked for a sign of life, and given up after "
                                          "as long again",
                               .example = "5",
                               .unit = "s"},
                              1, limits::openflow_time_max_s,
                              [](settings& s) -> auto& { return s.probe_s; }),
      integer_field<settings>({.name = "backoff_max_s",
                               .meaning = "The longest time between two attempts to connect; it "
                                          "begins with a second and doubles",
                               .example = "8",
                               .unit = "s"},
                              1, limits::openflow_time_max_s,
                              [](settings& s) -> auto& { return s.backoff_max_s; }),
      tables_field(),
  };
  return fields;
}

const field_table<config>& top_openflow_fields() {
  static const field_table<config> fields = [] {
    field_table<config> made;
    for (auto& each : fields_of_part<config>(
             openflow_fields(), [](config& c) -> auto& { return c.bridges[0].openflow; }))
      made.push_back(written_if([](const config& c) { return !c.lists_bridges(); }, each));
    made.push_back(tls_field());
    return made;
  }();
  return fields;
}

void check_openflow(config_reader& reader, const config& c, std::size_t bridge) {
  const std::string path = c.bridge_path(bridge) + "openflow";
  const auto check = [&](const std::vector<std::string>& targets, const std::string& name) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!needs_tls(targets[i]) || c.tls.any()) continue;
      reader.complain_at(item_path(path + "." + name, i),
                         "needs openflow.tls with key, certificate and authority");
    }
  };
  if (reader.troubled(path) || reader.troubled("openflow.tls")) return;
  check(c.bridges[bridge].openflow.controllers, "controllers");
  check(c.bridges[bridge].openflow.listen, "listen");
}

std::vector<section_info> describe_openflow() {
  return {
      describe("openflow",
               "Controllers of the bridge ([openflow.md](openflow.md)). Beside `bridges` it has "
               "`tls` alone, which is of all of them.",
               top_openflow_fields()),
      describe("openflow.tables[]", "The name of one table.", table_fields()),
      describe("openflow.tls", "Files for TLS.", tls_fields())};
}

}  // namespace coua::ctl
