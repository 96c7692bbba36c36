// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include "cli/waiting.h"

namespace coua::cli {
namespace {

const parameter port_name{.name = "NAME", .help = "the port", .names = thing::port};
const parameter vlan_number{
    .name = "VLAN", .help = "1 to 4094", .type = kind::number, .low = 1, .high = 4094};
const parameter mac_address{
    .name = "MAC", .help = "unicast address, aa:bb:cc:dd:ee:ff", .type = kind::mac};

parameter option(std::string name, std::string value, std::string help, kind type = kind::text,
                 std::uint64_t low = 0, std::uint64_t high = UINT64_MAX) {
  return {std::move(name), std::move(value), std::move(help), type, low, high};
}

parameter of_ports(parameter p) {
  p.names = thing::port;
  return p;
}

std::vector<parameter> operator+(std::vector<parameter> a, const std::vector<parameter>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// What both `port add` and `port set` take.
const std::vector<parameter> running_options = {
    option("vlan", "VLAN", "access port of this VLAN", kind::number, 1, 4094),
    option("tagged", "VLANS", "trunk port with these tagged VLANs: 10,20-30", kind::vlans),
    option("native", "VLAN",
           "trunk port: the VLAN of untagged frames, 0: they are dropped (1 where not given)",
           kind::number, 0, 4094),
    option("mtu", "BYTES", "largest payload, 68 to 9600", kind::number, 68, 9600),
    option("mac-limit", "COUNT", "addresses learned at most, 0: no limit", kind::size, 0,
           std::uint64_t{1} << 40),
    {.name = "mac-limit-action",
     .value = "WORD",
     .help = "what becomes of frames from other addresses then: forward; drop; shutdown: they are "
             "dropped and the port is shut down, until --enabled on or --recover",
     .choices = {"forward", "drop", "shutdown"}},
    option("storm-broadcast", "LIMIT",
           "broadcast frames: 1000 a second, 10Mbps, 1% of the link, block: none pass, 0: no limit",
           kind::limit),
    option("storm-multicast", "LIMIT", "other group frames, likewise", kind::limit),
    option("storm-unknown-unicast", "LIMIT",
           "frames for stations that are not in the FIB, likewise", kind::limit),
    {.name = "storm-action",
     .value = "WORD",
     .help = "what becomes of a port that brings more: drop: the rest is dropped; shutdown: and "
             "the port is shut down, until --enabled on or --recover",
     .choices = {"drop", "shutdown"}},
    option("recover", "SECONDS",
           "after which the port comes back that the switch has shut down, 0: never by itself",
           kind::number, 0, 1'000'000),
    of_ports(option("mirror-received", "NAMES",
                    "mirror port: copies of what these ports receive: p0,p1", kind::words)),
    of_ports(option("mirror-sent", "NAMES", "mirror port: copies of what these ports send",
                    kind::words)),
    option("mirror-vlans", "VLANS",
           "mirror port: copies of what any port receives in these VLANs: 10,20-30", kind::vlans),
    option("no-mirror", "", "no mirror port any more, but one like others", kind::flag),
    {.name = "bond",
     .value = "MODE",
     .help = "bond: static: each flow by one of the members that have a link; lacp: by one of "
             "those with which the other end agrees; backup: one member at a time",
     .choices = {"static", "lacp", "backup"}},
    option("members", "DEVARGS",
           "bond, where others have one device: its devices, each with its arguments, with blanks "
           "between them. Of one that is there, those that stay go on as before"),
    {.name = "hash",
     .value = "WORD",
     .help = "bond: what makes a flow: l2: MAC addresses; l23: and IP addresses; l34: IP addresses "
             "and ports",
     .choices = {"l2", "l23", "l34"}},
    {.name = "lacp-rate",
     .value = "WORD",
     .help =
         "bond by LACP: how often the other end is to speak: slow: every 30 s; fast: every second",
     .choices = {"slow", "fast"}},
    option("min-links", "COUNT",
           "bond: while fewer members could send, it has no link; 1 to the number of its members",
           kind::number, 1, 8),
    option("enabled", "on|off", "administratively up", kind::on_off),
    option("learning", "on|off", "learn source addresses", kind::on_off),
    option("promiscuous", "on|off", "receive frames for every address", kind::on_off),
};
const std::vector<parameter> starting_options = {
    option("local", "", "the port LOCAL of its bridge to OpenFlow, which has one at most",
           kind::flag),
    option("rx-queues", "COUNT", "0: one per worker, where the port can", kind::number, 0, 128),
    option("tx-queues", "COUNT", "0: one per worker, where the port can", kind::number, 0, 128),
    option("rx-descriptors", "COUNT", "per queue; 0: the driver's default", kind::number, 0, 32768),
    option("tx-descriptors", "COUNT", "per queue; 0: the driver's default", kind::number, 0, 32768),
};
const std::vector<parameter> port_wait = {
    wait_option("it has a link, a bond by all its members, where it is enabled")};
const std::vector<parameter> filter_options = {
    bridge_option("entries of this bridge"),
    option("vlan", "VLAN", "entries of this VLAN", kind::number, 1, 4094),
    of_ports(option("port", "NAME", "entries of this port")),
    option("mac", "MAC", "entries of this address", kind::mac),
};

const char* const port_example =
    R"({"name": "p0", "bridge": "br0", "local": false, "number": 1, "devargs": "net_tap0,iface=tap0", "driver": "net_tap",
  "mac": "02:00:00:00:00:01", "numa_node": -1, "enabled": true, "link_up": true,
  "link_mbps": 10000, "lost": false, "mtu": 1500, "promiscuous": true, "learning": true,
  "mac_limit": 0, "mac_limit_action": "forward", "shut_down": null, "recover_s": 0, "recovers_in_s": null, "learned": 2,
  "storm": {"broadcast": 1000, "multicast": "1%", "unknown_unicast": "10Mbps", "action": "drop"}, "mirror": null, "bond": null, "rx_queues": 1, "tx_queues": 1, "tx_shared": false,
  "rx_descriptors": 0, "tx_descriptors": 0,
  "vlans": {"mode": "trunk", "native": 1, "tagged": [10, 20]}})";

std::vector<verb> port_verbs() {
  const std::string port = port_example;
  return {
      {.path = "port list",
       .summary = "Lists the ports",
       .details =
           "Queues are those in use; descriptors are as configured, 0: the driver's default. "
           "A storm limit is an integer where it is of packets a second, else a text.",
       .options = {wait_option("each that is enabled has a link, a bond by all its members")},
       .example = "coua port list",
       .json = "{\"ports\": [" + port + "]}",
       .id = port_list},
      {.path = "port show",
       .summary = "Shows a port with its counters",
       .arguments = {port_name},
       .options = {wait_option("it is there, enabled, and has a link, a bond by all its members")},
       .example = "coua port show p0",
       .json = "{\"port\": " + port + ",\n \"counters\": {\"rx_packets\": 10, \"tx_packets\": 9}}",
       .id = port_show},
      {.path = "port add",
       .summary = "Adds a port and starts it",
       .details =
           "Without VLAN options it is an access port of VLAN 1. A port of the same name and "
           "the same settings is left as it is ('unchanged').",
       .arguments = {{.name = "NAME", .help = "the port"},
                     {.name = "DEVARGS",
                      .help = "the DPDK device: a PCI address, or a driver with its arguments",
                      .optional = true}},
       .options = std::vector{bridge_option("that it belongs to (the first one)")} +
                  running_options + starting_options + port_wait,
       .example = "coua port add p0 net_tap0,iface=tap0 --vlan 10",
       .json = "{\"changed\": true, \"port\": " + port + "}",
       .id = port_add},
      {.path = "port remove",
       .summary = "Stops and removes a port and flushes its addresses",
       .details =
           "A port that is not there is no error ('unchanged'). Rules that name it stay, by its "
           "number, which may be another port's later, after a restart at the latest.",
       .arguments = {port_name},
       .example = "coua port remove p0",
       .alias = "del",
       .json = "{\"changed\": true}",
       .id = port_remove},
      {.path = "port set",
       .summary = "Changes a port while it runs",
       .details = "What is not given stays. --vlan makes it an access port; --tagged or --native "
                  "make it a trunk port, and what of the two is not given stays. A change that "
                  "would leave static entries of the port in VLANs that it no longer carries is "
                  "refused, with the first of them: remove them before.",
       .arguments = {port_name},
       .options = running_options + port_wait,
       .example = "coua port set uplink --tagged 10,20-30 --native 0",
       .json = "{\"changed\": true, \"port\": " + port + "}",
       .id = port_set},
  };
}

std::vector<verb> fib_verbs() {
  return {
      {.path = "fib show",
       .summary = "Shows the entries of the forwarding table",
       .details = "Entries stream in no order. The age is an upper bound of the time since the "
                  "address was last seen; 0 where nothing ages. An address that two bridges know "
                  "has two lines, told apart by their ports.",
       .options =
           filter_options +
           std::vector<parameter>{option("static", "", "static entries only", kind::flag),
                                  option("dynamic", "", "learned entries only", kind::flag),
                                  option("limit", "COUNT", "stop after so many", kind::size, 1),
                                  wait_option("an entry matches")},
       .example = "coua fib show --vlan 10 --port p0",
       .json = R"({"entries": [{"vlan": 10, "mac": "02:00:00:00:00:01", "port": "p0",
  "static": false, "age_s": 3}], "count": 1})",
       .id = fib_show},
      {.path = "fib add",
       .summary = "Adds a static entry",
       .details = "An entry of the address, learned or static, is replaced. The same static entry "
                  "is left as it is ('unchanged'). The port has to carry the VLAN.",
       .arguments = {vlan_number, mac_address,
                     of_ports({.name = "PORT", .help = "where the station is"})},
       .example = "coua fib add 10 02:00:00:00:00:01 p0",
       .json = "{\"changed\": true}",
       .id = fib_add},
      {.path = "fib del",
       .summary = "Removes an entry, learned or static",
       .details = "An entry that is not there is no error ('unchanged').",
       .arguments = {vlan_number, mac_address},
       .options = {bridge_option()},
       .example = "coua fib del 10 02:00:00:00:00:01",
       .alias = "remove",
       .json = "{\"changed\": true}",
       .id = fib_del},
      {.path = "fib flush",
       .summary = "Removes all learned entries that match",
       .options = filter_options + std::vector<parameter>{option(
                                       "static", "", "remove static entries instead", kind::flag)},
       .example = "coua fib flush --port p0",
       .json = "{\"removed\": 12}",
       .id = fib_flush},
      {.path = "fib load",
       .summary = "Loads entries from a file, or makes them up",
       .details = "The file has lines 'VLAN MAC PORT [static]'; '#' starts a comment, '-' is the "
                  "standard input. It is read and checked as a whole (10 bytes of memory per "
                  "line) before anything is sent; a port has to carry the VLANs of its entries. "
                  "Entries that are not static age like learned ones, and count as such: a "
                  "port's mac_limit does not refuse them, but with as many of them the port "
                  "learns nothing more. With --generate, addresses count up from --base, over the "
                  "ports in turn.",
       .arguments =
           {{.name = "FILE", .help = "text file, or -", .optional = true, .names = thing::file}},
       .options = {option("generate", "COUNT", "make entries instead of reading them", kind::size,
                          1, std::uint64_t{1} << 40),
                   option("vlan", "VLAN", "with --generate: their VLAN (1)", kind::number, 1, 4094),
                   option("base", "MAC", "with --generate: the first address (02:00:00:00:00:00)",
                          kind::mac),
                   of_ports(option("ports", "NAMES", "with --generate: their ports: p0,p1",
                                   kind::words)),
                   option("static", "", "make all of them static", kind::flag)},
       .example = "coua fib load --generate 10M --vlan 10 --ports p0,p1",
       .json = "{\"stored\": 10000000, \"seconds\": 2.5, \"entries_per_second\": 4000000}",
       .id = fib_load},
      {.path = "fib stats",
       .summary = "Shows the size, load, memory and counters of the forwarding table",
       .example = "coua fib stats",
       .json = R"({"entries": 2, "slots": 1052632, "load": 0.000002, "buckets": 131579,
  "buckets_asked": 131579, "statics": 0, "in_secondary": 0, "bytes": 8421376,
  "layout": "packed8", "memory": "8.0 MiB on 4 KiB pages", "simd": "avx512", "ageing_s": 300,
  "value_bits": 10, "added": 2, "updated": 0, "erased": 0, "aged_out": 0, "refused": 0,
  "moves": 0, "retries": 0, "path_length": [2, 0], "reports": 2, "reports_dropped": 0,
  "reports_stale": 0, "moved": 0, "flapping": 0, "limited": 0})",
       .id = fib_stats},
      {.path = "fib ageing",
       .summary = "Shows or sets the ageing time",
       .arguments = {{.name = "SECONDS",
                      .help = "6 to 1000000; 0: learned entries never age",
                      .type = kind::number,
                      .low = 0,
                      .high = 1'000'000,
                      .optional = true}},
       .example = "coua fib ageing 600",
       .json = "{\"ageing_s\": 600, \"changed\": true}",
       .id = fib_ageing},
  };
}

std::vector<verb> system_verbs() {
  const std::string vlan =
      R"({"bridge": "br0", "vlan": 10, "untagged": ["p0", "p1"], "tagged": ["uplink"], "learned": 3,
  "counters": {"rx_packets": 10}})";
  return {
      {.path = "vlan list",
       .summary = "Lists the VLANs with their flood lists",
       .options = {bridge_option("VLANs of this bridge")},
       .example = "coua vlan list",
       .json = "{\"vlans\": [" + vlan + "]}",
       .id = vlan_list},
      {.path = "vlan show",
       .summary = "Shows a VLAN with its counters",
       .arguments = {vlan_number},
       .options = {bridge_option()},
       .example = "coua vlan show 10",
       .json = "{\"vlan\": " + vlan + "}",
       .id = vlan_show},
      {.path = "stats",
       .summary = "Shows the counters of the ports and of the whole switch",
       .details = "Counters that are zero are left out of the text, not of the JSON. With --rate, "
                  "the JSON has {\"seconds\": S, \"ports\": {NAME: {\"rx_pps\", \"tx_pps\", "
                  "\"rx_bps\", \"tx_bps\", \"drop_pps\"}}, \"totals\": {the same}}.",
       .options = {option("rate", "SECONDS",
                          "rates per second, measured over that time, instead of counters",
                          kind::real, 0, 86400)},
       .example = "coua stats --rate 1",
       .json = R"({"totals": {"rx_packets": 20, "tx_packets": 18, "drop_tx_full": 2},
 "ports": {"p0": {"rx_packets": 10, "tx_packets": 9, "drop_tx_full": 1}}})",
       .id = stats_show},
      {.path = "worker list",
       .summary = "Lists the workers: cores, queues, load",
       .details = "Cycles per packet and the busy share are of the last second. BURST is the mean "
                  "of the packets of a poll that found some, and the columns 1, 2-7, 8-31, 32-63 "
                  "and 64 are the shares of such polls by size; both since the start, where coua "
                  "top has those of a moment. Element n of the histogram counts bursts of n "
                  "packets.",
       .example = "coua worker list",
       .json = R"({"workers": [{"number": 0, "core": 1, "numa_node": 0, "queues": ["p0:0"],
  "cycles_per_packet": 97.5, "busy": 0.31, "burst_histogram": [100, 7],
  "counters": {"rounds": 107}}]})",
       .id = worker_list},
      {.path = "log level",
       .summary = "Shows or sets up to which level the daemon logs",
       .details = "What DPDK says is logged by the same levels. A restart brings back what couad "
                  "was started with.",
       .arguments = {{.name = "LEVEL",
                      .help = "error, warning, info or debug",
                      .optional = true,
                      .choices = {"error", "warning", "info", "debug"}}},
       .example = "coua log level debug",
       .json = "{\"level\": \"debug\", \"changed\": true}",
       .id = log_level_show},
      {.path = "doctor",
       .summary = "Says what of this machine is in the way of couad, or slows it down",
       .details =
           "It asks the kernel, about the couad that runs, or about this process as couad would "
           "run in its place: privileges, /dev/net/tun, huge pages, cores, NUMA nodes, NICs, and "
           "virtual cables of the network namespace that it is called in. For each thing it says "
           "what there is, what that costs, and the commands that mend it, one after another. "
           "'missing': without it some type of port does not work; 'worse': slower than could be; "
           "'note': a choice. The exit status is 4 when something is missing.",
       .options = {option("strict", "", "exit status 4 also when something is worse than could be",
                          kind::flag)},
       .example = "coua doctor",
       .json = R"({"couad": 0, "findings": [{"verdict": "missing", "topic": "/dev/net/tun",
  "what": "is not there, nor is its driver", "cost": "no TAP ports",
  "mend": ["sudo modprobe tun"], "then": ""}], "worse": 0, "missing": 1})",
       .id = doctor_show},
      {.path = "completion",
       .summary = "Prints the script that completes this command's words in a shell",
       .details = "Have your shell read it: source <(coua completion bash), and likewise in zsh. "
                  "make install brings it along.",
       .arguments = {{.name = "SHELL", .help = "bash or zsh", .choices = {"bash", "zsh"}}},
       .example = "coua completion bash",
       .json = R"({"shell": "bash", "script": "..."})",
       .id = completion_show},
      {.path = "version",
       .summary = "Shows the versions of this command and of the daemon, and how the daemon runs",
       .options = {wait_option("the daemon answers")},
       .example = "coua version",
       .json = R"({"client": "0.1.0", "daemon": {"version": "0.1.0",
  "description": "2 MiB huge pages, 1 worker on core 1", "uptime_s": 60, "pid": 4711,
  "config": "/etc/coua/couad.yaml"}})",
       .id = version_show},
  };
}

command make_command() {
  command out;
  out.name = "coua";
  out.summary = "drives a running couad";
  out.groups = {{"bridge", "bridges"},
                {"port", "ports"},
                {"fib", "forwarding table"},
                {"flow", "rules of the OpenFlow pipeline"},
                {"group", "groups of the OpenFlow pipeline"},
                {"meter", "meters of the OpenFlow pipeline"},
                {"trace", "way of a packet"},
                {"explain", "how tables are looked up"},
                {"controller", "OpenFlow controllers"},
                {"vlan", "VLANs"},
                {"stats", "counters"},
                {"worker", "workers"},
                {"capture", "frames as they pass"},
                {"top", "live view"},
                {"config", "configuration"},
                {"log", "log of the daemon"},
                {"doctor", "this machine"},
                {"completion", "shells"},
                {"version", "versions"}};
  out.options = {
      {.name = "json",
       .help = "print JSON; a failure is {\"error\": {\"code\", \"where\", \"what\"}}",
       .type = kind::flag,
       .letter = 'j'},
      {.name = "socket",
       .value = "PATH",
       .help = "of the daemon (COUA_SOCKET, else /run/coua/couad.sock for root, else "
               "$XDG_RUNTIME_DIR/coua/couad.sock, or root's where there is none)",
       .letter = 's'},
      {.name = "timeout",
       .value = "SECONDS",
       .help = "give up after that time (30; dumps and loads: no limit)",
       .type = kind::real,
       .high = 86400,
       .letter = 't'},
      {.name = "no-pager", .help = "print long answers at once", .type = kind::flag},
      {.name = "version", .help = "the version of this command alone", .type = kind::flag},
  };
  out.epilogue =
      "without a verb\n"
      "  At a terminal: a shell with history and completion. Else the lines of the standard input\n"
      "  are carried out one after another, up to the first that fails: coua < FILE. Words are "
      "split\n"
      "  as by a shell ('a b', \"a b\", a\\ b, # comment); options of coua stand for all lines.\n"
      "\n"
      "long answers at a terminal\n"
      "  go through the command in COUA_PAGER, else PAGER, else less; none: COUA_PAGER=cat\n"
      "\n"
      "files\n"
      "  $XDG_STATE_HOME/coua/history, else ~/.local/state/coua/history: lines of that shell\n"
      "\n"
      "exit status\n"
      "  0  done, also when nothing had to be changed\n"
      "  1  refused or failed; the reason is on the standard error output\n"
      "  2  the command line is wrong\n"
      "  3  the daemon cannot be reached\n"
      "  4  config diff: there is a difference; doctor: something is missing\n"
      "  5  --wait: it was not so in time\n"
      "  130  Ctrl-C ended it\n";
  for (auto* verbs : {&bridge_verbs, &port_verbs, &fib_verbs, &flow_verbs, &capture_verbs,
                      &config_verbs, &top_verbs, &system_verbs})
    for (auto& verb : verbs()) out.verbs.push_back(std::move(verb));
  return out;
}

}  // namespace

const command& coua_command() {
  static const command the = make_command();
  return the;
}

}  // namespace coua::cli
