// SPDX-License-Identifier: Apache-2.0
#include "ctl/config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/cpu.h"
#include "ctl/config_schema.h"
#include "ctl/port_rules.h"
#include "pipeline/model/port.h"

namespace coua::ctl {
namespace {

const std::filesystem::path tests_dir = COUA_TESTS_DIR;
const std::filesystem::path docs_dir = COUA_DOCS_DIR;

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> files_in(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(tests_dir / "config" / folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// The lines "# error: N: field: reason" of a file.
std::vector<std::string> expected_errors(const std::string& text) {
  std::vector<std::string> errors;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("# error: ")) errors.push_back(line.substr(9));
  return errors;
}

config good(const std::string& text) {
  auto parsed = parse_config(text, "f");
  if (!parsed) {
    ADD_FAILURE() << to_string(parsed.error().at(0), "f");
    return {};
  }
  return *parsed;
}

TEST(config, every_bad_file_gets_exactly_its_errors) {
  const auto files = files_in("bad");
  ASSERT_GT(files.size(), 40u);
  for (const auto& file : files) {
    const std::string text = slurp(file);
    const auto expected = expected_errors(text);
    ASSERT_FALSE(expected.empty()) << file;
    const auto parsed = parse_config(text, "f");
    ASSERT_FALSE(parsed) << file << " was accepted";
    std::vector<std::string> got;
    for (const auto& e : parsed.error()) got.push_back(to_string(e, "f").substr(2));
    EXPECT_EQ(got, expected) << file;
  }
}

TEST(config, every_good_file_is_accepted) {
  for (const auto& file : files_in("good")) {
    const auto parsed = load_config(file);
    EXPECT_TRUE(parsed) << to_string(parsed.error().at(0), file);
  }
}

TEST(config, the_files_to_start_from_are_accepted) {
  for (const char* file : {"packaging/couad.yaml", "examples/bridges.yaml"}) {
    const auto parsed = load_config(tests_dir.parent_path() / file);
    EXPECT_TRUE(parsed) << to_string(parsed.error().at(0), file);
  }
}

TEST(config, empty_file_has_the_defaults) {
  const config c = good("");
  EXPECT_EQ(c.socket, "");
  EXPECT_EQ(c.tables.fib_entries, dp::switch_config{}.fib_entries);
  EXPECT_TRUE(c.ports.empty());
}

TEST(config, every_field_reaches_its_member) {
  const auto parsed = load_config(tests_dir / "config/good/full.yaml");
  ASSERT_TRUE(parsed);
  const config& c = *parsed;
  EXPECT_EQ(c.socket, "/tmp/coua-test/couad.sock");
  EXPECT_EQ(c.metrics_listen, "127.0.0.1:9107");
  EXPECT_EQ(c.log, log_level::debug);
  EXPECT_EQ(c.huge_pages, huge_page_mode::off);
  EXPECT_EQ(c.packet_mib, 256u);
  EXPECT_EQ(c.tables.mbufs, 4096u);
  EXPECT_EQ(c.tables.mbuf_bytes, 2176u);
  EXPECT_EQ(c.cores, (std::vector<unsigned>{1, 2, 3}));
  EXPECT_EQ(c.tables.idle, dp::idle_mode::spin);
  EXPECT_EQ(c.tables.burst, 16u);
  EXPECT_EQ(c.tables.tx_flush_us, 20u);
  EXPECT_EQ(c.pci, pci_mode::on);
  EXPECT_EQ(c.eal_arguments, std::vector<std::string>{"--log-level=pmd:debug"});
  EXPECT_EQ(c.tables.fib_entries, 10'000'000u);
  EXPECT_DOUBLE_EQ(c.tables.fib_max_load, 0.9);
  EXPECT_EQ(c.tables.ageing_s, 0u);
  EXPECT_EQ(c.tables.port_bits, 12u);
  EXPECT_EQ(c.tables.fib_numa_node, 0);
  ASSERT_EQ(c.statics.size(), 2u);
  EXPECT_EQ(c.statics[0].vlan, 10);
  EXPECT_EQ(c.statics[0].mac, 0x020000000001u);
  EXPECT_EQ(c.statics[0].port, "host-1");
  EXPECT_EQ(c.statics[1].mac, 0x02000000000au);
  const openflow_config& of = c.bridges[0].openflow;
  EXPECT_EQ(of.datapath_id, 0xa1u);
  EXPECT_EQ(of.controllers, (std::vector<std::string>{"tcp:10.0.0.1:6653", "ssl:[fd00::1]:6653",
                                                      "unix:/run/controller.sock"}));
  EXPECT_EQ(of.listen, (std::vector<std::string>{"ptcp:6654", "pssl:6655:127.0.0.1",
                                                 "punix:/run/coua/of.sock"}));
  EXPECT_EQ(of.management, "/run/coua/br0.mgmt");
  EXPECT_EQ(of.fail_mode, fail_mode::standalone);
  EXPECT_EQ(of.probe_s, 10u);
  EXPECT_EQ(of.backoff_max_s, 30u);
  EXPECT_EQ(of.table_names, (std::map<std::uint8_t, std::string>{{0, "acl"}, {1, "routes"}}));
  EXPECT_EQ(c.tls.key, "/etc/coua/key.pem");
  EXPECT_EQ(c.tls.certificate, "/etc/coua/cert.pem");
  EXPECT_EQ(c.tls.authority, "/etc/coua/ca.pem");
  ASSERT_EQ(c.ports.size(), 5u);
  const auto& p = c.ports[0];
  EXPECT_EQ(p.name, "host-1");
  EXPECT_EQ(p.devargs, "net_tap0,iface=tap0");
  EXPECT_EQ(p.mode, dp::vlan_mode::access);
  EXPECT_EQ(p.native_vlan, 10);
  EXPECT_EQ(p.rx_queues, 1u);
  EXPECT_EQ(p.tx_queues, 2u);
  EXPECT_EQ(p.rx_descriptors, 512u);
  EXPECT_EQ(p.tx_descriptors, 1024u);
  EXPECT_EQ(p.mtu, 9000u);
  EXPECT_FALSE(p.promiscuous);
  EXPECT_FALSE(p.enabled);
  EXPECT_FALSE(p.learning);
  EXPECT_EQ(p.mac_limit, 100u);
  EXPECT_EQ(p.mac_limit_action, dp::limit_action::shutdown);
  EXPECT_EQ(p.storm, (dp::storm_limits{1000, 0, 200'000'000, dp::storm_action::shutdown}));
  EXPECT_EQ(p.recover_s, 300u);
  EXPECT_EQ(c.ports[1].storm,
            (dp::storm_limits{flood_limit::percent_hundredths(50), flood_limit::bits(1'500'000),
                              flood_limit::block()}));
  EXPECT_EQ(c.ports[1].mode, dp::vlan_mode::trunk);
  EXPECT_EQ(c.ports[1].native_vlan, 0);
  EXPECT_EQ(c.ports[1].tagged, (std::vector<std::uint16_t>{10, 20, 21, 22}));
  EXPECT_EQ(c.ports[2].mode, dp::vlan_mode::trunk) << "tagged alone means trunk";
  EXPECT_EQ(c.ports[2].native_vlan, 7);
  EXPECT_TRUE(c.ports[2].local);
  EXPECT_FALSE(p.local);
  EXPECT_EQ(c.ports[3].mirror,
            (dp::mirror_sources{{"host-1", "uplink"}, {"host-1"}, {10, 20, 21, 22, 30}}));
  EXPECT_EQ(c.ports[4].devargs, "");
  EXPECT_EQ(c.ports[4].bond, (dp::bond_config{dp::bond_mode::lacp,
                                              {"net_tap3,iface=tap3", "net_null20"},
                                              dp::bond_hash::l23,
                                              dp::lacp_rate::fast,
                                              2}));
}

TEST(config, bridges_have_what_their_items_say) {
  const auto parsed = load_config(tests_dir / "config/good/bridges.yaml");
  ASSERT_TRUE(parsed) << to_string(parsed.error().at(0), "f");
  ASSERT_EQ(parsed->bridges.size(), 2u);
  const bridge_settings &a = parsed->bridges[0], &b = parsed->bridges[1];
  EXPECT_EQ(a.name, "tenant-a");
  EXPECT_EQ(a.pipeline.rules_max, 10'000u);
  EXPECT_EQ(a.rules.flows.size(), 2u);
  EXPECT_EQ(a.openflow.datapath_id, 0xa1u);
  EXPECT_EQ(b.pipeline.start, dp::first_rules::none);
  EXPECT_FALSE(b.rules.given);
  EXPECT_EQ(b.openflow.fail_mode, fail_mode::standalone);
  EXPECT_EQ(parsed->tls.key, "/etc/coua/key.pem");
  EXPECT_EQ(parsed->ports[0].bridge, "tenant-a");
  EXPECT_EQ(parsed->ports[2].bridge, "tenant-b");
  EXPECT_EQ(parsed->bridge_path(1), "bridges[1].");
  // A port that comes with the first bridge's name, and one that names none, are alike.
  EXPECT_EQ(good("ports: [{name: a, devargs: x0, bridge: br0}]").ports,
            good("ports: [{name: a, devargs: x0}]").ports);
}

TEST(config, a_place_names_file_and_line) {
  const config c = good("ports:\n  - name: a\n    devargs: net_null0\n");
  EXPECT_EQ(c.place("ports[0].devargs"), "f:3: ports[0].devargs");
  EXPECT_EQ(c.place("ports[0].mtu"), "f:2: ports[0].mtu");
  EXPECT_EQ(c.place("workers.cores"), "f: workers.cores");
}

TEST(config, files_that_cannot_be_read) {
  EXPECT_EQ(load_config("/nonexistent/x.yaml").error().at(0).reason,
            "cannot be opened: No such file or directory");
  EXPECT_EQ(load_config("/").error().at(0).reason, "is a directory");
}

TEST(config, deep_nesting_is_an_error_and_no_crash) {
  EXPECT_FALSE(parse_config(std::string(100'000, '['), "f"));
  EXPECT_FALSE(parse_config(std::string(100'000, '{'), "f"));
}

// Aliases let a short file stand for a huge one; lists are bounded by what they can hold.
TEST(config, ranges_do_not_multiply) {
  std::string text = "ports: [{name: a, devargs: net_null0, vlans: {tagged: [";
  for (int i = 0; i < 10'000; i++) text += "2-4094,";
  const auto parsed = parse_config(text + "]}}]", "f");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().at(0).reason, "lists more numbers than there are");
}

// An alias costs two bytes: work must grow no faster than their number. It is the time of this
// process that counts: others may be at work.
TEST(config, repeated_aliases_take_little_time) {
  std::string text =
      "ports: [{name: a, devargs: net_null0}]\nfib:\n  static:\n"
      "    - &e {vlan: 1, mac: 02:00:00:00:00:01, port: b}\n";
  for (int i = 0; i < 40'000; i++) text += "    - *e\n";
  const std::clock_t start = std::clock();
  const auto parsed = parse_config(text, "f");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().size(), 40'001u);
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
}

TEST(config, what_follows_a_zero_byte_is_not_lost) {
  const auto parsed = parse_config(std::string_view("ports: []\n\0fib: 1\n", 18), "f");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(to_string(parsed.error().at(0), "f"),
            "f:2: has a zero byte, so it is no YAML in UTF-8");
}

TEST(config, deep_nesting_is_named) {
  const auto parsed = parse_config(std::string(100'000, '['), "f");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().at(0).reason, "nests too deeply to be a configuration");
}

TEST(config, environment_uses_what_the_machine_has) {
  const auto cpus = allowed_cpus();
  config c = good("workers: {count: 1}\nports: [{name: a, devargs: '0000:03:00.0'}]");
  auto params = resolve_environment(c);
  ASSERT_TRUE(params) << params.error().message();
  EXPECT_EQ(params->cores, std::vector<unsigned>{cpus.back()});
  EXPECT_TRUE(params->pci);
  EXPECT_TRUE(params->huge_pages);
  params = resolve_environment(
      good("memory: {huge_pages: off}\nports: [{name: a, devargs: net_null0}]"));
  ASSERT_TRUE(params);
  EXPECT_FALSE(params->pci);
  EXPECT_FALSE(params->huge_pages);
  EXPECT_TRUE(good("fib: {entries: 1M}").tables.fib_huge_pages);
  EXPECT_TRUE(good("memory: {huge_pages: required}").tables.fib_huge_pages);
  EXPECT_FALSE(good("memory: {huge_pages: off}").tables.fib_huge_pages);
  const auto no_core = resolve_environment(good("workers:\n  cores: 1023\n"));
  ASSERT_FALSE(no_core);
  EXPECT_EQ(no_core.error().where, "f:2: workers.cores");
}

TEST(config, an_error_has_the_place_of_its_field) {
  const config c = good("bridges:\n- name: b\n  openflow:\n    listen: ['ptcp:6653']\n");
  EXPECT_EQ(c.at("bridges[0].name", {errc::io, "", "no"}).message(), "f:2: bridges[0].name: no");
  EXPECT_EQ(c.at("bridges[0].name", {errc::io, "port p", "no"}).message(),
            "f:2: bridges[0].name: port p: no");
  EXPECT_EQ(c.at_its_field({errc::io, "listen[0]: ptcp:6653", "no"}, "bridges[0].openflow.").where,
            "f:4: bridges[0].openflow.listen[0]: ptcp:6653");
  EXPECT_EQ(c.at_its_field({errc::io, "bridges[0].pipeline: 5", "no"}).where,
            "f:2: bridges[0].pipeline: 5");
  const config top = good("fib: {entries: 1M}\npipeline: {rules: 5}\n");
  EXPECT_EQ(top.at_its_field({errc::io, "bridges[0].pipeline: 5", "no"}).where, "f:2: pipeline: 5");
  EXPECT_EQ(top.at_its_field({errc::io, "fib.entries", "no"}).where, "f:1: fib.entries");
}

// DPDK would take it, and die where it is used.
TEST(config, more_packet_memory_than_the_machine_has) {
  for (const char* pages : {"off", "auto"}) {
    const auto params = resolve_environment(
        good(std::string("memory:\n  huge_pages: ") + pages + "\n  packet_mib: 1048576\n"));
    ASSERT_FALSE(params);
    EXPECT_EQ(params.error().where, "f:3: memory.packet_mib");
    EXPECT_EQ(params.error().code, errc::no_memory);
  }
}

TEST(port_rules, pci_addresses) {
  EXPECT_TRUE(is_pci_devargs("0000:03:00.0"));
  EXPECT_TRUE(is_pci_devargs("03:00.1,queues=2"));
  EXPECT_FALSE(is_pci_devargs("net_tap0,iface=03:00.1"));
  EXPECT_FALSE(is_pci_devargs(""));
}

TEST(config, no_port_is_called_as_rules_call_others) {
  for (std::uint64_t number = pipeline::port_in_port; number <= pipeline::port_any; ++number) {
    const std::string word = pipeline::port_name(static_cast<pipeline::port_no>(number));
    EXPECT_FALSE(check_new_port_name(word).empty()) << word;
    EXPECT_TRUE(check_port_name(word).empty()) << "of a bridge it may be the name";
    EXPECT_TRUE(check_new_port_name(word + "0").empty());
  }
}

// The text between the markers of docs/configuration.md is what the schema says. After a change of
// the schema, run this test with COUA_UPDATE_DOCS=1.
TEST(config_document, says_what_the_schema_says) {
  const std::string begin = "<!-- reference: begin -->\n", end = "<!-- reference: end -->\n";
  const auto file = docs_dir / "configuration.md";
  const std::string text = slurp(file);
  const auto first = text.find(begin), last = text.find(end);
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(last, std::string::npos);
  const std::string wanted = "\n" + config_reference();
  const auto start = first + begin.size();
  if (std::getenv("COUA_UPDATE_DOCS") != nullptr)
    std::ofstream(file) << text.substr(0, start) + wanted + text.substr(last);
  else
    EXPECT_EQ(text.substr(start, last - start), wanted);
}

TEST(config_document, its_whole_examples_are_valid) {
  const std::string text = slurp(docs_dir / "configuration.md");
  int examples = 0;
  for (std::size_t at = 0; (at = text.find("```yaml\n", at)) != std::string::npos; examples++) {
    at += 8;
    const auto parsed = parse_config(text.substr(at, text.find("```", at) - at), "example");
    EXPECT_TRUE(parsed) << to_string(parsed.error().at(0), "example");
  }
  EXPECT_GE(examples, 2);
}

TEST(config_document, the_example_of_each_field_is_valid) {
  for (const auto& section : describe_sections()) {
    for (const auto& field : section.fields) {
      EXPECT_FALSE(field.meaning.empty());
      const std::string pair = field.name + ": " + field.example;
      // What a port or a static entry needs beside the field.
      const auto port = [&](const std::string& more) {
        std::string text = "{" + more;
        if (!more.starts_with("name:")) text += ", name: p0";
        if (!more.starts_with("devargs:") && !more.starts_with("bond:"))
          text += ", devargs: net_null0";
        return "ports: [" + text + "}]\n";
      };
      std::string text;
      if (section.path.empty())
        text = pair;
      else if (section.path == "ports[]")
        text = port(pair);
      else if (section.path == "ports[].bond")
        text = port("bond: {" + pair +
                    (field.name == "members" ? "" : ", members: [net_null1, net_null2]") +
                    (field.name == "rate" ? ", mode: lacp}" : "}"));
      else if (section.path == "ports[].storm")
        text = port("storm: {" + pair + "}");
      else if (section.path == "ports[].mirror")
        text = port("mirror: {" + pair + "}");
      else if (section.path == "ports[].vlans")
        text = port("vlans: {" + pair + (field.name == "mode" ? ", tagged: [5]}" : "}"));
      else if (section.path == "fib.static[]")
        text = port("vlan: 10") + "fib: {static: [{vlan: 10, mac: 02:00:00:00:00:01, port: p0}]}";
      else if (section.path == "bridges[]")
        text = "bridges: [{" + pair + (field.name == "name" ? "" : ", name: br1") + "}]";
      else if (section.path == "openflow.tables[]")
        text = "openflow: {tables: [{" + pair +
               (field.name == "table" ? ", name: x" : ", table: 1") + "}]}";
      else if (section.path == "openflow.tls")
        text = "openflow: {tls: {key: " + field.example + ", certificate: " + field.example +
               ", authority: " + field.example + "}}";
      else if (section.path == "pipeline")
        text = "pipeline: {" + pair +
               "}\nports: [{name: p1, devargs: net_null1}, {name: p2, devargs: net_null2}]";
      else
        text =
            section.path + ": {" + pair + "}\n" + (field.name == "static" ? port("vlan: 10") : "");
      const auto parsed = parse_config(text, "f");
      EXPECT_TRUE(parsed) << text << "\n" << to_string(parsed.error().at(0), "f");
    }
  }
}

}  // namespace
}  // namespace coua::ctl
