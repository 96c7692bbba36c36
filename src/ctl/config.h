// SPDX-License-Identifier: Apache-2.0
//
// The configuration file of couad, parsed and checked as a whole: either a `config` comes out with
// which everything can be started, or every error of the file, each with its line, field and
// reason. Nothing is applied while errors remain. The fields are described in config_schema.h,
// from which docs/configuration.md is made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "dp/switch.h"

namespace coua::ctl {

enum class huge_page_mode { automatic, off, required };
enum class pci_mode { automatic, on, off };

/// A FIB entry of the file. It names its port; the number is known when the port runs.
struct static_entry {
  std::uint16_t vlan = 0;
  std::uint64_t mac = 0;
  std::string port;
  bool operator==(const static_entry&) const = default;
};

/// The rules, groups and meters of the pipeline, each as `coua flow add` (group, meter) takes it.
struct pipeline_texts {
  bool given = false;  // by any of the lists, also by an empty one; else they are left to others
  std::vector<std::string> flows, groups, meters;
  bool operator==(const pipeline_texts&) const = default;
};

enum class fail_mode { secure, standalone };

/// Controllers of a bridge.
struct openflow_config {
  /// 0: made of the address of the bridge's first port when it opens, else of its name, but never
  /// that of another bridge; so that it may be another one after a restart.
  std::uint64_t datapath_id = 0;
  std::vector<std::string> controllers;  // to connect to
  std::vector<std::string> listen;
  std::string management;  // empty: NAME.mgmt beside the API's socket
  ctl::fail_mode fail_mode = ctl::fail_mode::secure;
  unsigned probe_s = 5;
  unsigned backoff_max_s = 8;
  std::map<std::uint8_t, std::string> table_names;
  bool operator==(const openflow_config&) const = default;
};
inline constexpr std::size_t openflow_targets_max = 16;  // of either list

/// A bridge: what the switch has of it, its rules, and its controllers.
struct bridge_settings : dp::bridge_config {
  pipeline_texts rules;
  openflow_config openflow;
  bool operator==(const bridge_settings&) const = default;
};

/// Files for TLS with the controllers of all bridges.
struct tls_files {
  std::string key, certificate, authority;  // all, or none
  bool any() const { return !key.empty(); }
  bool operator==(const tls_files&) const = default;
};

struct config {
  std::string file;    // as given on the command line
  std::string socket;  // of the API; empty: default_socket()
  log_level log = log_level::info;
  std::string metrics_listen;  // "127.0.0.1:9107"; empty: nowhere
  huge_page_mode huge_pages = huge_page_mode::automatic;
  unsigned packet_mib = 512;
  std::vector<unsigned> cores;  // empty: see `worker_count`
  unsigned worker_count = 0;    // 0: the default of dp::eal_params
  pci_mode pci = pci_mode::automatic;
  std::vector<std::string> eal_arguments;
  dp::switch_config tables;  // but for its bridges, which are these:
  std::vector<bridge_settings> bridges = std::vector<bridge_settings>(1);  // one at least
  tls_files tls;
  std::vector<dp::port_config> ports;  // each with the name of its bridge
  std::vector<static_entry> statics;
  std::map<std::string, int> lines;  // field path ("ports[2].devargs") -> line, of what is there

  /// "FILE:12: ports[2]", or the nearest line above when that path is not in the file; the path
  /// alone when there is no file.
  std::string place(const std::string& path) const;
  /// An error of what a field says: "FILE:12: ports[2]: port p0", and what it was.
  error at(const std::string& path, error e) const;
  /// An error whose place begins with a field of the section `in` ("bridges[1].openflow."):
  /// "listen[0]: ptcp:6653". "bridges[0]." may stand before one of the file's top.
  error at_its_field(error e, const std::string& in = "") const;
  /// A list of bridges says what they are; else the sections of the file's top are those of the one
  /// bridge, which is called br0.
  bool lists_bridges() const;
  /// What stands before the path of a bridge's field: "bridges[1]." or nothing.
  std::string bridge_path(std::size_t index) const;
  bool operator==(const config&) const = default;
};

/// "ports[2]"
std::string item_path(const std::string& list, std::size_t index);

struct config_error {
  int line = 0;       // from 1; 0: the file as a whole
  std::string field;  // "ports[2].vlans.native"; empty: not in a field
  std::string reason;
};

/// "FILE:12: ports[2].mtu: 20 is not from 68 to 9600"
std::string to_string(const config_error& error, const std::string& file);

using config_result = tl::expected<config, std::vector<config_error>>;

/// Parses and checks the text of a file. `file` only names it. Errors come in the order of lines.
config_result parse_config(std::string_view text, const std::string& file);

/// The same for a file on disk, of at most 64 MiB.
inline constexpr std::size_t config_bytes_max = std::size_t{64} << 20;
config_result load_config(const std::string& path);

enum class config_format { yaml, json };
/// A file that says what `config` does, and leaves out what is the default: parsed, it brings
/// another one like it.
std::string print_config(config config, config_format format = config_format::yaml);

/// What the DPDK environment and the switch start with. Here the configuration meets the machine:
/// cores and NUMA nodes that are not there and huge pages that are required but missing are errors
/// that name their line.
result<dp::eal_params> resolve_environment(const config& config);

}  // namespace coua::ctl
