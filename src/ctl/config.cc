// SPDX-License-Identifier: Apache-2.0
#include "ctl/config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "base/error_place.h"
#include "ctl/config_schema.h"
#include "ctl/port_rules.h"
#include "dp/domains_max.h"
#include "dp/drivers/devargs.h"
#include "dp/max_ports.h"
#include "net/mac.h"

// What the DPDK of this build can have; where there is none, that of Debian 12.
#ifndef COUA_MAX_DEVICES
#define COUA_MAX_DEVICES 32
#endif

namespace coua::ctl {
namespace {

/// At a field of a port: it says what one of another port says, too.
void complain_again(config_reader& reader, const std::string& path, const std::string& what,
                    std::size_t other_port, const std::string& other_field) {
  const std::string other = item_path("ports", other_port);
  const int line = nearest_line(reader.lines, other + "." + other_field);
  reader.complain_at(path, what + " of " + other + " in line " + std::to_string(line) + " too");
}

/// What no two ports have: a device, and an interface of the kernel below it.
void check_devices(config_reader& reader, const config& c) {
  using port_field = std::pair<std::size_t, std::string>;
  std::map<std::string, port_field> devices, interfaces;
  const auto interface = [&](const std::string& name, std::size_t port, const std::string& field) {
    const auto [before, fresh] = interfaces.try_emplace(name, port, field);
    if (fresh) return;
    const std::string other =
        item_path("ports", before->second.first) + "." + before->second.second;
    reader.complain_at(item_path("ports", port) + "." + field,
                       "port " + c.ports[port].name + " would have interface " + name +
                           ", which is that of port " + c.ports[before->second.first].name + " (" +
                           other + " in line " + std::to_string(nearest_line(reader.lines, other)) +
                           "): one port has an interface");
  };
  const auto device = [&](const std::string& devargs, std::size_t port, const std::string& field) {
    if (devargs.empty()) return;
    const std::string path = item_path("ports", port) + "." + field;
    const auto [before, fresh] = devices.try_emplace(device_of(devargs), port, field);
    const auto& [other, other_field] = before->second;
    // Twice in one bond: check_port() has said it.
    if (!fresh && other != port) complain_again(reader, path, "is the device", other, other_field);
    if (!fresh) return;
    if (devices.size() == COUA_MAX_DEVICES + 1)
      reader.complain_at(path, "is one more than the " + std::to_string(COUA_MAX_DEVICES) +
                                   " devices that DPDK can have");
    for (const std::string& name : dp::interfaces_in(devargs)) interface(name, port, field);
  };
  for (std::size_t i = 0; i < c.ports.size(); i++) {
    device(c.ports[i].devargs, i, "devargs");
    const auto& members = c.ports[i].bond.members;
    for (std::size_t m = 0; m < members.size(); m++)
      device(members[m], i, item_path("bond.members", m));
  }
}

void check_ports(config_reader& reader, const config& c) {
  std::map<std::string, std::size_t> names;
  std::map<std::string, std::size_t> locals;  // by bridge
  for (std::size_t i = 0; i < c.ports.size(); i++) {
    const auto& port = c.ports[i];
    const std::string path = item_path("ports", i);
    if (reader.has(path + ".vlan") && reader.has(path + ".vlans"))
      reader.complain_at(path + ".vlan", "is given together with vlans; keep one of them");
    if (!reader.troubled(path)) {
      for (const auto& problem : check_port(port)) {
        // `vlan` sets the same member as `vlans.native`.
        reader.complain_at(path + "." + problem.field, problem.reason);
      }
    }
    if (const auto [before, fresh] = names.emplace(port.name, i); !fresh && !port.name.empty())
      complain_again(reader, path + ".name", "is the name", before->second, "name");
    const bool is_second = port.local && !locals.try_emplace(port.bridge, i).second;
    if (is_second) {
      const std::string other = item_path("ports", locals[port.bridge]);
      reader.complain_at(path + ".local",
                         "a bridge has one local port, and " + other + " in line " +
                             std::to_string(nearest_line(reader.lines, other + ".local")) +
                             " is that of " + port.bridge);
    }
  }
  check_devices(reader, c);
  const std::uint64_t held = std::uint64_t{1} << c.tables.port_bits;
  const std::uint64_t most = std::min<std::uint64_t>(held, dp::max_ports);
  if (c.ports.size() > most)
    reader.complain_at(
        item_path("ports", most),
        "is one more than " +
            (held < dp::max_ports
                 ? "fib.port_bits " + std::to_string(c.tables.port_bits) + " can hold"
                 : "the " + std::to_string(most) + " ports that a switch has at most"));
}

/// VLANs that ports carry, each counted in every bridge: one that a static entry names is among
/// them.
void check_domains(config_reader& reader, const config& c) {
  std::set<std::pair<std::string, std::uint16_t>> carried;
  for (std::size_t i = 0; i < c.ports.size(); i++) {
    const dp::port_config& port = c.ports[i];
    const std::string path = item_path("ports", i);
    if (reader.troubled(path)) continue;
    for (const std::uint16_t vlan : dp::vlans_of(port)) carried.emplace(port.bridge, vlan);
    if (carried.size() <= dp::domains_max) continue;
    return reader.complain_at(path + (reader.has(path + ".vlans") ? ".vlans" : ".vlan"),
                              "bridge " + port.bridge + ": the VLANs of all bridges are " +
                                  std::to_string(dp::domains_max) + " at most: " +
                                  std::to_string(carried.size() - dp::domains_max) + " too many");
  }
}

void check_statics(config_reader& reader, const config& c) {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> port_of;  // by name
  for (std::size_t i = 0; i < c.ports.size(); i++) {
    names.push_back(c.ports[i].name);
    port_of.emplace(c.ports[i].name, i);
  }
  std::map<std::string, std::string> nearest_to;  // of each unknown name, which may come often
  std::set<std::tuple<std::string, std::uint16_t, std::uint64_t>> seen;
  for (std::size_t i = 0; i < c.statics.size(); i++) {
    const auto& entry = c.statics[i];
    const std::string path = item_path("fib.static", i);
    const auto at = port_of.find(entry.port);
    if (!entry.port.empty() && at == port_of.end()) {
      const auto [found, fresh] = nearest_to.try_emplace(entry.port);
      if (fresh) found->second = nearest(entry.port, names);
      const std::string& near = found->second;
      reader.complain_at(path + ".port",
                         "no port of this file is called '" + entry.port + "'" +
                             (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    if (reader.troubled(path) || at == port_of.end()) continue;
    const dp::port_config& port = c.ports[at->second];
    if (!reader.troubled(item_path("ports", at->second)))
      if (const std::string reason = check_fib_vlan(port, entry.vlan); !reason.empty())
        reader.complain_at(path + ".vlan", reason);
    if (!seen.emplace(port.bridge, entry.vlan, entry.mac).second)
      reader.complain_at(path + ".mac", net::format_mac(entry.mac) + " in VLAN " +
                                            std::to_string(entry.vlan) + " is given twice");
  }
}

config_result whole_file_error(int line, std::string reason) {
  return tl::unexpected(std::vector<config_error>{{line, "", std::move(reason)}});
}

int line_at(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, offset), '\n'));
}

// Takes events of the parser and keeps none but the last document's place.
class document_finder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  int line = 0;
};

// 0 when the text is one document. YAML::LoadAll would tell as well, but at a stray ',' it returns
// empty documents for ever, and YAML::Load alone ignores all that follows the first document.
int line_of_second_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  document_finder finder;
  if (!parser.HandleNextDocument(finder) || !parser.HandleNextDocument(finder)) return 0;
  return finder.line;
}

config_result interpret(const YAML::Node& root, const std::string& file) {
  config out;
  out.file = file;
  config_reader reader;
  read_mapping(reader, root, file_fields(), out);
  if (reader.has("workers.cores") && reader.has("workers.count"))
    reader.complain_at("workers.count", "is given together with cores; keep one of them");
  for (dp::port_config& each : out.ports)
    if (each.bridge.empty()) each.bridge = out.bridges[0].name;
  out.lines = reader.lines;
  check_ports(reader, out);
  check_bridges(reader, out);
  check_domains(reader, out);
  check_statics(reader, out);
  if (!reader.errors.empty()) {
    std::ranges::stable_sort(reader.errors, {}, &config_error::line);
    return tl::unexpected(std::move(reader.errors));
  }
  out.tables.fib_huge_pages = out.huge_pages != huge_page_mode::off;
  return out;
}

}  // namespace

std::string config::place(const std::string& path) const {
  if (file.empty()) return path;
  const int line = nearest_line(lines, path);
  return file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + path;
}

error config::at(const std::string& path, error e) const {
  return at_place(place(path), std::move(e));
}

error config::at_its_field(error e, const std::string& in) const {
  std::string path = in + e.where.substr(0, e.where.find(": "));
  e.where.erase(0, path.size() - in.size());
  const std::string one = "bridges[0].";
  if (!lists_bridges() && path.starts_with(one)) path.erase(0, one.size());
  e.where.insert(0, place(path));
  return e;
}

bool config::lists_bridges() const {
  return lines.contains("bridges") || bridges.size() != 1 ||
         bridges[0].name != dp::bridge_config{}.name;
}

std::string config::bridge_path(std::size_t index) const {
  return lists_bridges() ? item_path("bridges", index) + "." : "";
}

std::string item_path(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

std::string to_string(const config_error& error, const std::string& file) {
  return file + (error.line > 0 ? ":" + std::to_string(error.line) : "") + ": " +
         (error.field.empty() ? "" : error.field + ": ") + error.reason;
}

config_result parse_config(std::string_view text, const std::string& file) {
  try {
    // The parser takes a zero byte for the end, and so would ignore what follows.
    if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
      return whole_file_error(line_at(text, zero), "has a zero byte, so it is no YAML in UTF-8");
    const std::string copy(text);
    if (const int line = line_of_second_document(copy); line > 0)
      return whole_file_error(line, "what starts here is not part of the one document of the file");
    return interpret(YAML::Load(copy), file);
  } catch (const YAML::DeepRecursion& e) {
    return whole_file_error(e.mark.line + 1, "nests too deeply to be a configuration");
  } catch (const YAML::Exception& e) {
    return whole_file_error(e.mark.is_null() ? 0 : e.mark.line + 1,
                            "is not YAML: " + printable(e.msg));
  } catch (const std::exception& e) {
    return whole_file_error(0, "cannot be read: " + printable(e.what()));
  }
}

config_result load_config(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  struct stat status {};
  if (!in || stat(path.c_str(), &status) != 0)
    return whole_file_error(0, std::string("cannot be opened: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return whole_file_error(0, "is a directory");
  std::string text;
  std::string block(1 << 16, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > config_bytes_max)
      return whole_file_error(0, "has more than 64 MiB; load many addresses by `coua fib load`");
  }
  return parse_config(text, path);
}

std::string print_config(config config, config_format format) {
  for (dp::port_config& each : config.ports)
    if (each.bridge == config.bridges[0].name) each.bridge.clear();
  const config_value root = write_mapping(file_fields(), config, extent::needed);
  return format == config_format::json ? to_json(root) + "\n" : to_yaml(root);
}

}  // namespace coua::ctl
