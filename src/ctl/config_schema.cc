// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_schema.h"

#include <algorithm>

#include "base/default_socket.h"
#include "ctl/listen_address.h"
#include "ctl/port_rules.h"
#include "ctl/ranges.h"
#include "net/mac.h"

namespace coua::ctl {
namespace {

const auto itself = [](auto& owner) -> auto& { return owner; };

std::string check_argument(const std::string& text) {
  const bool printable =
      std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (text.empty() || !printable) return "is not one argument of printable ASCII without blanks";
  if (text == "-h" || text == "--help") return "makes DPDK print its help and end the daemon";
  return "";
}

const field_table<config>& api_fields() {
  static const field_table<config> fields = {
      text_field<config>(
          {.name = "socket",
           .meaning = "Unix socket of the management API. Its directory is made when it is missing",
           .example = "/run/coua/couad.sock",
           .default_value = "/run/coua/couad.sock for root, else "
                            "$XDG_RUNTIME_DIR/coua/couad.sock, else "
                            "/tmp/coua-UID/couad.sock"},
          "absolute path, at most 107 bytes", check_socket,
          [](config& c) -> auto& { return c.socket; }),
  };
  return fields;
}

const field_table<config>& metrics_fields() {
  static const field_table<config> fields = {
      text_field<config>(
          {.name = "listen",
           .meaning = "Where `GET /metrics` is answered, for Prometheus, by HTTP and to whoever "
                      "asks. Port 0: any that is free, told in the log",
           .example = "\"127.0.0.1:9107\"",
           .default_value = "nowhere"},
          "IPv4 address and port", check_listen_address,
          [](config& c) -> auto& { return c.metrics_listen; }),
  };
  return fields;
}

// A number within a range, or 0, which stands for something else: `zero`. What is below the range
// is `too_low`.
template <typename Get>
field<config> zero_or_integer_field(field_info info, std::int64_t low, std::int64_t high,
                                    const std::string& zero, const std::string& too_low, Get get) {
  const std::string range = std::to_string(low) + " to " + std::to_string(high);
  info.type = "integer";
  info.range = "0, " + range;
  config fresh{};
  info.default_value = std::to_string(get(fresh));
  const std::string reason = " is " + too_low + ": 0 (" + zero + ") or " + range;
  return {info,
          [low, high, reason, get](config_reader& reader, const YAML::Node& node, config& c) {
            std::int64_t value = 0;
            if (!read_integer(reader, node, 0, high, value)) return;
            if (value != 0 && value < low)
              return reader.complain(node, std::to_string(value) + reason);
            get(c) = static_cast<std::remove_reference_t<decltype(get(c))>>(value);
          },
          [get](config& c, extent) { return bare_value(std::to_string(get(c))); }};
}

const field_table<config>& memory_fields() {
  static const field_table<config> fields = {
      choice_field<config>(
          {.name = "huge_pages",
           .meaning = "For packets and the FIB: `auto` takes huge pages where they are "
                      "free and ordinary memory else, `off` never takes reserved ones "
                      "(the FIB then uses transparent ones where the kernel has them), "
                      "`required` does not start without them for packets",
           .example = "auto"},
          {"auto", "off", "required"}, [](config& c) -> auto& { return c.huge_pages; }),
      integer_field<config>({.name = "packet_mib",
                             .meaning = "Memory for packets; the FIB has its own",
                             .example = "1024",
                             .unit = "MiB"},
                            32, 1 << 20, [](config& c) -> auto& { return c.packet_mib; }),
      integer_field<config>({.name = "mbufs",
                             .meaning = "Packet buffers per NUMA node; 0: computed from the queues",
                             .example = "65536"},
                            0, 1 << 26, [](config& c) -> auto& { return c.tables.mbufs; }),
      // Drivers write short frames without asking whether they fit, and count room and headroom in
      // 16 bits.
      zero_or_integer_field({.name = "mbuf_bytes",
                             .meaning = "Data room of a packet buffer; 0: fits the largest MTU",
                             .example = "2176",
                             .unit = "bytes"},
                            limits::mbuf_bytes_min, limits::mbuf_bytes_max, "fits", "too small",
                            [](config& c) -> auto& { return c.tables.mbuf_bytes; }),
  };
  return fields;
}

field<config> cores_field() {
  field_info info{.name = "cores",
                  .meaning =
                      "CPUs that the workers run on, one worker each. Not together with "
                      "`count`",
                  .example = "[2, 4-7]"};
  info.type = "list of integers and ranges";
  info.range = "0 to 1023";
  info.default_value = "every CPU of the process but the first, at least one";
  return {info,
          [](config_reader& reader, const YAML::Node& node, config& c) {
            std::vector<unsigned> cores;
            if (!read_ranges(reader, node, 0, 1023, cores)) return;
            if (cores.empty()) return reader.complain(node, "is empty");
            auto sorted = cores;
            std::ranges::sort(sorted);
            const auto twice = std::ranges::adjacent_find(sorted);
            if (twice != sorted.end())
              return reader.complain(node, "CPU " + std::to_string(*twice) + " is given twice");
            c.cores = cores;
          },
          [](config& c, extent) { return ranges_value(c.cores); }};
}

field<config> count_field() {
  auto made =
      integer_field<config>({.name = "count",
                             .meaning = "That many workers, on the last CPUs of the process. Not "
                                        "together with `cores`",
                             .example = "4",
                             .default_value = "see `cores`"},
                            1, 1024, [](config& c) -> auto& { return c.worker_count; });
  made.write = [](config& c, extent) {
    return c.worker_count == 0 ? config_value() : bare_value(std::to_string(c.worker_count));
  };
  return made;
}

const field_table<config>& worker_fields() {
  static const field_table<config> fields = {
      cores_field(),
      count_field(),
      choice_field<config>({.name = "idle",
                            .meaning = "What a worker does when no packet came: `spin` polls on, "
                                       "`yield` lets others run, and naps for up to 50 us; `sleep` "
                                       "for up to 1 ms",
                            .example = "yield"},
                           {"spin", "yield", "sleep"},
                           [](config& c) -> auto& { return c.tables.idle; }),
      integer_field<config>({.name = "burst",
                             .meaning = "Packets that are taken from a queue and looked up at once",
                             .example = "32",
                             .unit = "packets"},
                            1, 64, [](config& c) -> auto& { return c.tables.burst; }),
      integer_field<config>(
          {.name = "tx_flush_us",
           .meaning = "The longest that a packet waits in a transmit buffer of less than a quarter "
                      "of a burst while a worker finds a burst or more in each round; else it "
                      "waits for nothing",
           .example = "50",
           .unit = "us"},
          0, 10'000, [](config& c) -> auto& { return c.tables.tx_flush_us; }),
  };
  return fields;
}

const field_table<config>& log_fields() {
  static const field_table<config> fields = {
      choice_field<config>({.name = "level",
                            .meaning = "Up to which level the daemon logs. `couad --log-level` "
                                       "stands above it at the start",
                            .example = "info"},
                           {"error", "warning", "info", "debug"},
                           [](config& c) -> auto& { return c.log; }),
  };
  return fields;
}

const field_table<config>& dpdk_fields() {
  static const field_table<config> fields = {
      choice_field<config>({.name = "pci",
                            .meaning = "Look for network cards on the PCI bus; `auto`: when a "
                                       "port of this file is one",
                            .example = "auto"},
                           {"auto", "on", "off"}, [](config& c) -> auto& { return c.pci; }),
      texts_field<config>(
          {.name = "arguments",
           .meaning = "Further arguments for the DPDK environment (EAL), as they are",
           .example = "[\"--log-level=pmd.net.tap:debug\"]"},
          "printable, without blanks",
          [](const std::string& text, const auto&) { return check_argument(text); },
          [](config& c) -> auto& { return c.eal_arguments; })};
  return fields;
}

const field_table<static_entry>& static_fields() {
  static const field_table<static_entry> fields = [] {
    field_info mac{.name = "mac",
                   .meaning = "Address of a station",
                   .example = "02:00:00:00:00:01",
                   .required = true};
    mac.type = "MAC address";
    mac.range = "unicast";
    return field_table<static_entry>{
        vlan_field<static_entry>({.name = "vlan",
                                  .meaning = "VLAN of the entry, which its port carries",
                                  .example = "10",
                                  .required = true},
                                 [](static_entry& e) -> auto& { return e.vlan; }),
        {mac,
         [](config_reader& reader, const YAML::Node& node, static_entry& e) {
           std::string text;
           if (!read_scalar(reader, node, text)) return;
           const auto value = net::parse_mac(text);
           if (!value) return reader.complain(node, "is not an address such as 02:00:00:00:00:01");
           if (const auto reason = check_fib_mac(*value); !reason.empty())
             return reader.complain(node, reason);
           e.mac = *value;
         },
         [](static_entry& e, extent) { return text_value(net::format_mac(e.mac)); }},
        text_field<static_entry>({.name = "port",
                                  .meaning = "Port of this file that the station is behind",
                                  .example = "p0",
                                  .required = true},
                                 "name of a port", check_port_name,
                                 [](static_entry& e) -> auto& { return e.port; })};
  }();
  return fields;
}

const field_table<config>& fib_fields() {
  static const field_table<config> fields = [] {
    field_info statics{.name = "static",
                       .meaning = "Entries that never age and that learning does not move",
                       .example = "[{vlan: 10, mac: 02:00:00:00:00:01, port: p0}]"};
    statics.type = "list of mappings";
    statics.default_value = "none";
    return field_table<config>{
        size_field<config>({.name = "entries",
                            .meaning = "Addresses that must fit at `max_load`; K, M, G are powers "
                                       "of ten, Ki, Mi, Gi powers of two",
                            .example = "10M"},
                           1, std::uint64_t{1} << 40,
                           [](config& c) -> auto& { return c.tables.fib_entries; }),
        real_field<config>({.name = "max_load",
                            .meaning = "Share of the table that `entries` may fill",
                            .example = "0.95"},
                           0.05, 0.99, [](config& c) -> auto& { return c.tables.fib_max_load; }),
        zero_or_integer_field(
            {.name = "ageing_s",
             .meaning = "A learned address goes when it was not seen for that long; 0: never",
             .example = "300",
             .unit = "s"},
            limits::ageing_min_s, limits::ageing_max_s, "never", "too short",
            [](config& c) -> auto& { return c.tables.ageing_s; }),
        integer_field<config>({.name = "port_bits",
                               .meaning = "Width of a port number in an entry: 2^port_bits ports. "
                                          "Fewer bits let a small table pack more tightly",
                               .example = "10",
                               .unit = "bits"},
                              1, 16, [](config& c) -> auto& { return c.tables.port_bits; }),
        integer_field<config>({.name = "numa_node",
                               .meaning = "NUMA node of the table's memory; -1: any",
                               .example = "0"},
                              -1, 63, [](config& c) -> auto& { return c.tables.fib_numa_node; }),
        {statics,
         [](config_reader& reader, const YAML::Node& node, config& c) {
           read_list(reader, node, [&](const YAML::Node& item) {
             static_entry entry;
             if (item.IsNull()) return reader.complain(item, "has no value");
             read_mapping(reader, item, static_fields(), entry);
             c.statics.push_back(entry);
           });
         },
         [](config& c, extent how) {
           std::vector<config_value> items;
           for (static_entry& each : c.statics)
             items.push_back(write_mapping(static_fields(), each, how));
           return list_value(std::move(items));
         }}};
  }();
  return fields;
}

}  // namespace

const field_table<config>& file_fields() {
  static const field_table<config> fields = {
      section_field<config>("api", "The management API", "{socket: /run/coua/couad.sock}",
                            api_fields(), itself),
      section_field<config>("log", "What the daemon says", "{level: info}", log_fields(), itself),
      section_field<config>("metrics", "Metrics for Prometheus", "{listen: \"127.0.0.1:9107\"}",
                            metrics_fields(), itself),
      section_field<config>("memory", "Memory for packets", "{huge_pages: auto, packet_mib: 512}",
                            memory_fields(), itself),
      section_field<config>("workers", "The threads that forward", "{cores: [1-3], idle: yield}",
                            worker_fields(), itself),
      section_field<config>("dpdk", "The DPDK environment", "{pci: auto}", dpdk_fields(), itself),
      section_field<config>("fib", "The forwarding table", "{entries: 10M, ageing_s: 300}",
                            fib_fields(), itself),
      bridges_field(),
      written_if([](const config& c) { return !c.lists_bridges(); },
                 section_field<config>("pipeline", "The OpenFlow pipeline, without `bridges`",
                                       "{start: normal, rules: 1M}", pipeline_fields(),
                                       [](config& c) -> auto& { return c.bridges[0]; })),
      section_field<config>("openflow", "Controllers", "{controllers: [\"tcp:10.0.0.1:6653\"]}",
                            top_openflow_fields(), itself),
      ports_field(),
  };
  return fields;
}

std::vector<section_info> describe_sections() {
  std::vector<section_info> made = {
      describe("", "The file is one mapping. Every part may be left out.", file_fields()),
      describe("api", "Where `coua` and other clients reach the daemon.", api_fields()),
      describe("log", "What the daemon says on its standard error output.", log_fields()),
      describe("metrics", "What Prometheus reads; see metrics.md.", metrics_fields()),
      describe("memory", "Memory for packets.", memory_fields()),
      describe("workers", "The threads that forward packets.", worker_fields()),
      describe("dpdk", "How the DPDK environment starts.", dpdk_fields()),
      describe("fib", "The forwarding table.", fib_fields()),
      describe("fib.static[]", "One static entry.", static_fields()),
      describe_bridges(),
      describe("pipeline", "The OpenFlow pipeline of a bridge.", pipeline_fields())};
  for (section_info& each : describe_openflow()) made.push_back(std::move(each));
  for (section_info& each : describe_ports()) made.push_back(std::move(each));
  return made;
}

std::string config_reference() {
  std::string out;
  for (const auto& section : describe_sections()) {
    out += "### " + (section.path.empty() ? "The file" : "`" + section.path + "`") + "\n\n" +
           section.meaning + "\n\n";
    out += "| field | type | unit | range | default | example | meaning |\n";
    out += "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const auto& f : section.fields) {
      const auto cell = [](const std::string& text) { return text.empty() ? "-" : text; };
      out += "| `" + f.name + "` | " + f.type + " | " + cell(f.unit) + " | " + cell(f.range) +
             " | " + (f.required ? "required" : cell(f.default_value)) + " | `" + f.example +
             "` | " + f.meaning + " |\n";
    }
    out += "\n";
  }
  return out;
}

}  // namespace coua::ctl
