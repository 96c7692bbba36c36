// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "cli/grammar.h"

namespace coua::cli {
namespace {

// What couad asks for where its file does not say another amount (memory.packet_mib).
constexpr std::uint64_t packet_mib = 512;
constexpr std::uint64_t gib1_in_mib = 1024;

std::string who(const machine_facts& of) {
  return of.couad != 0 ? "couad (process " + std::to_string(of.couad) + ")" : "this process";
}

std::string restart(const machine_facts& of) {
  return of.couad_is_unit ? as_root(of, "systemctl restart couad") : "";
}

std::string listed(const std::vector<std::pair<std::string, bool>>& all) {
  std::string list;
  for (const auto& [name, there] : all) {
    if (!there) list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

finding unknown(const machine_facts& of, const std::string& topic) {
  return {verdict::note,
          topic,
          "unknown: /proc does not show what " + who(of) + " has",
          "what is missing there is not found",
          {},
          "ask again as root, with /proc mounted"};
}

finding privileges_of(const machine_facts& of) {
  const privileges& may = of.may;
  const std::string topic = "privileges";
  if (!may.known) return unknown(of, topic);
  const std::string without = listed({{"CAP_NET_ADMIN", may.net_admin},
                                      {"CAP_NET_RAW", may.net_raw},
                                      {"CAP_BPF", may.bpf || may.in_user_namespace},
                                      {"CAP_IPC_LOCK", may.locks_memory || may.in_user_namespace}});
  if (may.in_user_namespace) {
    const std::string ports = listed(
        {{"TAP", may.net_admin}, {"AF_PACKET", may.net_raw}, {"AF_XDP", false}, {"PCI", false}});
    return {verdict::missing,
            topic,
            who(of) +
                " is in a user namespace: what it may do there, it may not do to the machine" +
                (without.empty() ? "" : "; and it has no " + without),
            "no ports of these types: " + ports + "; huge pages cannot be reserved from there",
            {},
            "run couad, and the commands below, as root of the machine. TAP and AF_PACKET ports "
            "within the namespace work"};
  }
  if (without.empty()) return {verdict::good, topic, who(of) + " has all that ports need"};
  const std::string ports = listed({{"TAP", may.net_admin},
                                    {"AF_PACKET", may.net_raw},
                                    {"AF_XDP", may.net_admin && may.net_raw && may.bpf},
                                    {"PCI", may.locks_memory}});
  finding found{verdict::missing, topic, who(of) + " has no " + without,
                "no ports of these types: " + ports};
  if (of.is_root) {
    found.then =
        "in a container, its host has to give them: docker run --cap-add NET_ADMIN and so on";
  } else {
    found.mend = {"sudo couad --config /etc/coua/couad.yaml"};
    found.then =
        "to try TAP and AF_PACKET ports without root, in a network of their own: "
        "unshare -Urnm couad --config FILE";
  }
  return found;
}

finding tun(const machine_facts& of) {
  const std::string topic = "/dev/net/tun", no = "no TAP ports";
  const std::string container =
      "in a container, its host has to give it: docker run --device /dev/net/tun";
  const std::string load = as_root(of, "modprobe tun");
  switch (of.tun) {
    case tun_state::opens: return {verdict::good, topic, "opens"};
    case tun_state::no_driver:
      return {verdict::missing,
              topic,
              "is not there, nor is its driver",
              no,
              {load},
              "where there is no such module, the kernel was built without CONFIG_TUN"};
    case tun_state::no_node:
      return {verdict::missing,
              topic,
              "is not there, but its driver is",
              no,
              {as_root(of, "mkdir -p /dev/net"), as_root(of, "mknod -m 666 /dev/net/tun c 10 200")},
              container};
    case tun_state::denied:
      return {verdict::missing,
              topic,
              "is there, and this user may not open it",
              no,
              {as_root(of, "chmod 666 /dev/net/tun")},
              "making a device still takes CAP_NET_ADMIN, so others gain nothing"};
    case tun_state::forbidden:
      return {verdict::missing, topic, "is there, and a control group forbids to open it", no, {},
              container};
    case tun_state::dead: break;
  }
  return {verdict::missing,
          topic,
          "is there, and no driver answers",
          no,
          {load},
          "where there is no such module, the kernel was built without CONFIG_TUN"};
}

// Both now and after the next start of the machine.
std::vector<std::string> reserve(const machine_facts& of, std::uint64_t n_pages) {
  const std::string count = std::to_string(n_pages);
  if (!of.sysctl_sets_2m) {
    return {write_as_root(of, count, "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")};
  }
  const std::string file = "/etc/sysctl.d/90-coua.conf";
  return {write_as_root(of, "vm.nr_hugepages=" + count, file), as_root(of, "sysctl -p " + file)};
}

finding huge_pages(const machine_facts& of) {
  const std::string topic = "huge pages";
  const std::uint64_t free_2m = of.pages_2m.free * 2, free_1g = of.pages_1g.free * gib1_in_mib;
  const std::string there = std::to_string(free_2m) + " MiB on 2 MiB pages and " +
                            std::to_string(free_1g) + " MiB on 1 GiB pages are free";
  if (of.held_bytes != 0) {
    return {verdict::good, topic,
            "couad holds " + std::to_string(of.held_bytes >> 20) + " MiB; " + there};
  }
  const bool enough = std::max(free_2m, free_1g) >= packet_mib;
  if (enough && of.couad == 0) return {verdict::good, topic, there};
  const std::string cost =
      std::string(
          "packets are on pages of 4 KiB, which drivers of NICs may refuse, and tables on ") +
      (of.transparent_pages ? "transparent huge pages, where the kernel finds some"
                            : "pages of 4 KiB: from 1 GiB on, random reads at half the rate");
  if (!of.pages_2m.exists) return {verdict::worse, topic, "this kernel has none of 2 MiB", cost};
  finding found{verdict::worse, topic, there, cost};
  if (!enough) found.mend = reserve(of, of.pages_2m.total + (packet_mib - free_2m + 1) / 2);
  if (of.couad != 0 && enough) {
    // It would have taken them when it started, were it to.
    found.what = "couad holds none; " + there;
    found.then =
        "memory.huge_pages in couad's file may be off; pages that came after couad's start are "
        "taken at its next one";
  } else if (of.couad != 0) {
    found.what = "couad holds none; " + there;
    if (of.couad_is_unit) found.mend.push_back(restart(of));
    found.then = of.couad_is_unit ? "" : "restart couad, which takes them when it starts";
  } else {
    found.then = std::to_string(packet_mib) +
                 " MiB are for packets (memory.packet_mib); large tables want more";
  }
  return found;
}

finding transparent_pages(const machine_facts& of) {
  const std::string topic = "transparent huge pages";
  if (of.transparent_pages) return {verdict::good, topic, "are allowed"};
  if (!of.transparent_exist) {
    return {verdict::worse,
            topic,
            "this kernel has none",
            "tables that find no reserved huge pages use pages of 4 KiB",
            {},
            "reserve huge pages for the tables, too, or take a kernel with "
            "CONFIG_TRANSPARENT_HUGEPAGE"};
  }
  return {verdict::worse,
          topic,
          "are switched off",
          "tables that find no reserved huge pages use pages of 4 KiB",
          {write_as_root(of, "madvise", "/sys/kernel/mm/transparent_hugepage/enabled")}};
}

std::vector<unsigned> without(const std::vector<unsigned>& all,
                              const std::vector<unsigned>& those) {
  std::vector<unsigned> left;
  std::ranges::set_difference(all, those, std::back_inserter(left));
  return left;
}

/// systemd gives couad those CPUs from its next start on, which is not to be before daemon-reload.
std::vector<std::string> give_cpus(const machine_facts& of, const std::string& cpus) {
  const std::string folder = "/etc/systemd/system/couad.service.d";
  return {as_root(of, "mkdir -p " + folder), "printf '[Service]\\nCPUAffinity=" + cpus + "\\n' | " +
                                                 as_root(of, "tee " + folder + "/cpus.conf")};
}

// A process starts on the CPUs that are not isolated, and couad takes none that it may not use: it
// has to be given them.
finding isolated_elsewhere(const machine_facts& of) {
  std::vector<unsigned> all;
  std::ranges::set_union(of.allowed, of.isolated, std::back_inserter(all));
  const std::string isolated = cpu_list(of.isolated), wanted = cpu_list(all);
  finding found{
      verdict::worse, "cores",
      isolated + " are isolated, and " + who(of) + " may use " + cpu_list(of.allowed) + " only",
      "workers share their cores with other processes; couad does not start when "
      "workers.cores names an isolated one"};
  if (of.couad_is_unit || of.couad == 0) {
    found.mend = give_cpus(of, wanted);
    found.mend.push_back(as_root(of, "systemctl daemon-reload"));
    found.mend.push_back(as_root(of, "systemctl restart couad"));
  }
  found.then = "workers: {cores: [" + isolated +
               "]} in couad's file; without systemd, start it by: " +
               as_root(of, "taskset -c " + wanted + " couad --config FILE");
  return found;
}

// After the restart that this needs, a couad without its drop-in would refuse the isolated cores
// that its file names: so that comes first.
finding none_isolated(const machine_facts& of) {
  const std::string list = cpu_list(of.allowed);
  // The kernel wants its first CPU for itself, and couad's other threads want one.
  std::vector<unsigned> those = without(of.workers, {0});
  if (those.empty() || without(of.allowed, those).empty())
    those.assign(of.allowed.begin() + 1, of.allowed.end());
  const std::string isolated = cpu_list(those);
  const bool has_unit = of.couad_is_unit || of.couad == 0;
  finding found{verdict::worse, "cores", list + ", none of them isolated",
                "the kernel interrupts workers to run other processes on their cores"};
  if (has_unit) found.mend = give_cpus(of, list);
  found.mend.push_back("echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX isolcpus=" + isolated +
                       " nohz_full=" + isolated + "\"' | " +
                       as_root(of, "tee /etc/default/grub.d/coua.cfg"));
  found.mend.push_back(as_root(of, "update-grub"));
  found.then = "that is Debian's way of adding isolcpus=" + isolated +
               " to the kernel's command line; it counts after a restart of the machine. From then "
               "on no process uses these cores unless it is told to: workers: {cores: [" +
               isolated + "]} in couad's file; without systemd, start it by: " +
               as_root(of, "taskset -c " + list + " couad --config FILE");
  return found;
}

finding cores(const machine_facts& of) {
  const std::string topic = "cores", list = cpu_list(of.allowed);
  if (of.allowed.empty()) return unknown(of, topic);
  if (!without(of.isolated, of.allowed).empty()) return isolated_elsewhere(of);
  if (of.allowed.size() < 2) {
    const bool more = of.cpus.size() > 1;
    finding found{verdict::worse, topic, who(of) + " may use one: " + list,
                  "the worker shares it with everything else"};
    found.then = more ? "the machine has " + cpu_list(of.cpus) +
                            ": start couad without taskset, or give its container more CPUs"
                      : "give the machine two CPUs or more";
    return found;
  }
  if (!of.isolated.empty()) {
    const std::vector<unsigned> shared = without(of.workers, of.isolated);
    if (shared.empty()) {
      return {verdict::good, topic, list + ", of which " + cpu_list(of.isolated) + " are isolated"};
    }
    return {
        verdict::worse,
        topic,
        "workers run on " + cpu_list(shared) + ", and " + cpu_list(of.isolated) + " are isolated",
        "the kernel interrupts those workers to run other processes on their cores",
        {},
        "workers: {cores: [" + cpu_list(of.isolated) + "]} in couad's file, and a restart"};
  }
  return none_isolated(of);
}

void add_governor(const machine_facts& of, std::vector<finding>& to) {
  if (of.governor.empty()) return;
  const std::string topic = "clock of the cores", what = "governor " + of.governor;
  if (of.governor == "performance") return to.push_back({verdict::good, topic, what});
  to.push_back({verdict::worse,
                topic,
                what,
                "workers that rest between bursts start the next one at a lower clock",
                {write_as_root(of, "performance",
                               "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")}});
}

}  // namespace

const char* to_string(verdict of) {
  switch (of) {
    case verdict::good: return "good";
    case verdict::note: return "note";
    case verdict::worse: return "worse";
    case verdict::missing: return "missing";
  }
  return "unknown";
}

std::string as_root(const machine_facts& of, const std::string& command) {
  return (of.is_root ? "" : "sudo ") + command;
}

std::string write_as_root(const machine_facts& of, const std::string& line,
                          const std::string& file) {
  // A redirection would be the caller's, not root's.
  return "echo " + line + " | " + as_root(of, "tee " + file);
}

std::vector<unsigned> parse_cpus(const std::string& list) {
  std::vector<unsigned> cpus;
  for (const std::string& range : split(list, ',')) {
    unsigned first = 0, last = 0;
    const char* const end = range.data() + range.size();
    const auto one = std::from_chars(range.data(), end, first);
    if (one.ec != std::errc()) continue;
    last = first;
    if (one.ptr != end && *one.ptr == '-') std::from_chars(one.ptr + 1, end, last);
    constexpr unsigned most = 1 << 16;  // more than any kernel has
    for (unsigned cpu = first; cpu <= last && cpu < most; ++cpu) cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  return cpus;
}

std::string cpu_list(const std::vector<unsigned>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (end - i > 1) text += "-" + std::to_string(cpus[end - 1]);
    i = end;
  }
  return text.empty() ? "none" : text;
}

std::vector<finding> diagnose(const machine_facts& of) {
  std::vector<finding> found = {privileges_of(of), tun(of), huge_pages(of), transparent_pages(of),
                                cores(of)};
  add_governor(of, found);
  add_nics(of, found);
  add_veths(of, found);
  return found;
}

}  // namespace coua::cli
