// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace coua::cli {
namespace {

namespace files = std::filesystem;

/// A machine that has all that a switch wants.
machine_facts good_machine() {
  machine_facts made;
  made.pages_2m = {.exists = true, .total = 1024, .free = 1024};
  made.transparent_pages = true;
  made.nodes = {{.number = 0, .cpus = {0, 1, 2, 3, 4, 5, 6, 7}}};
  made.cpus = made.allowed = {0, 1, 2, 3, 4, 5, 6, 7};
  made.isolated = {2, 3, 4, 5, 6, 7};
  made.governor = "performance";
  made.may = {.net_admin = true, .net_raw = true, .bpf = true, .locks_memory = true};
  made.nics = {{.address = "0000:01:00.0", .driver = "vfio-pci"}};
  made.veths = {{.name = "v0"}};
  return made;
}

/// Of the only thing that is not good.
finding only(const machine_facts& of) {
  finding found;
  unsigned n = 0;
  for (const finding& each : diagnose(of)) {
    if (each.is == verdict::good) {
      EXPECT_TRUE(each.cost.empty() && each.mend.empty() && each.then.empty()) << each.topic;
      continue;
    }
    EXPECT_FALSE(each.cost.empty()) << each.topic;
    EXPECT_FALSE(each.mend.empty() && each.then.empty()) << each.topic;
    // A redirection is the caller's, also behind sudo.
    for (const std::string& line : each.mend) EXPECT_EQ(line.find("> "), std::string::npos) << line;
    found = each;
    ++n;
  }
  EXPECT_EQ(n, 1U);
  return found;
}

using lines = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(doctor, finds_nothing_on_a_good_machine) {
  for (const finding& each : diagnose(good_machine())) {
    EXPECT_EQ(each.is, verdict::good) << each.topic << ": " << each.what;
  }
}

TEST(doctor, counts_huge_pages) {
  machine_facts of = good_machine();
  of.pages_2m = {.exists = true, .total = 300, .free = 255};  // of the 256 that packets take
  EXPECT_EQ(only(of).mend, (lines{"echo vm.nr_hugepages=301 | sudo tee /etc/sysctl.d/90-coua.conf",
                                  "sudo sysctl -p /etc/sysctl.d/90-coua.conf"}));
  of.is_root = true;
  EXPECT_EQ(only(of).mend[1], "sysctl -p /etc/sysctl.d/90-coua.conf");
  of.is_root = of.sysctl_sets_2m = false;
  EXPECT_EQ(only(of).mend,
            lines{"echo 301 | sudo tee /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"});
  of.pages_1g = {.exists = true, .total = 1, .free = 1};
  EXPECT_EQ(diagnose(of)[2].is, verdict::good);
  of = good_machine();
  of.pages_2m = {};
  EXPECT_EQ(diagnose(of)[2].what, "this kernel has none of 2 MiB");
  EXPECT_TRUE(diagnose(of)[2].mend.empty());
}

TEST(doctor, does_not_miss_the_pages_that_couad_holds) {
  machine_facts of = good_machine();
  of.couad = 4711;
  of.pages_2m = {.exists = true, .total = 256, .free = 0};
  of.held_bytes = std::uint64_t{512} << 20;
  EXPECT_EQ(diagnose(of)[2].is, verdict::good);
  EXPECT_TRUE(contains(diagnose(of)[2].what, "couad holds 512 MiB"));
  // It runs, and found none when it started.
  of.held_bytes = 0;
  EXPECT_EQ(only(of).mend.size(), 2U);
  EXPECT_TRUE(contains(only(of).then, "restart couad"));
  of.couad_is_unit = true;
  EXPECT_EQ(only(of).mend.back(), "sudo systemctl restart couad");
  // It could have had them.
  of.pages_2m.free = 256;
  EXPECT_TRUE(only(of).mend.empty());
  EXPECT_TRUE(contains(only(of).then, "memory.huge_pages"));
}

TEST(doctor, looks_at_transparent_pages) {
  machine_facts of = good_machine();
  of.transparent_pages = false;
  EXPECT_EQ(only(of).mend,
            lines{"echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"});
  of.transparent_exist = false;
  EXPECT_EQ(only(of).what, "this kernel has none");
  EXPECT_TRUE(only(of).mend.empty());
}

TEST(doctor, names_privileges_that_are_missing) {
  machine_facts of = good_machine();
  of.may.net_raw = false;
  EXPECT_EQ(only(of).is, verdict::missing);
  EXPECT_EQ(only(of).what, "this process has no CAP_NET_RAW");
  EXPECT_EQ(only(of).cost, "no ports of these types: AF_PACKET, AF_XDP");
  of.may.locks_memory = false;
  of.couad = 7;
  of.held_bytes = 1;
  EXPECT_EQ(only(of).what, "couad (process 7) has no CAP_NET_RAW, CAP_IPC_LOCK");
  of.is_root = true;
  EXPECT_TRUE(contains(only(of).then, "--cap-add"));
}

TEST(doctor, does_not_take_a_namespace_for_the_machine) {
  machine_facts of = good_machine();
  of.may.in_user_namespace = true;
  EXPECT_EQ(only(of).is, verdict::missing);
  EXPECT_EQ(only(of).cost,
            "no ports of these types: AF_XDP, PCI; huge pages cannot be reserved from there");
  of.may.net_admin = false;
  EXPECT_TRUE(contains(only(of).what, "it has no CAP_NET_ADMIN"));
}

TEST(doctor, knows_what_is_wrong_with_the_device_of_tap_ports) {
  machine_facts of = good_machine();
  const auto of_state = [&](tun_state state) {
    of.tun = state;
    EXPECT_EQ(only(of).is, verdict::missing);
    return only(of).mend;
  };
  EXPECT_EQ(of_state(tun_state::no_driver), lines{"sudo modprobe tun"});
  EXPECT_EQ(of_state(tun_state::dead), lines{"sudo modprobe tun"});
  EXPECT_EQ(of_state(tun_state::denied), lines{"sudo chmod 666 /dev/net/tun"});
  EXPECT_EQ(of_state(tun_state::no_node),
            (lines{"sudo mkdir -p /dev/net", "sudo mknod -m 666 /dev/net/tun c 10 200"}));
  EXPECT_TRUE(of_state(tun_state::forbidden).empty());
  EXPECT_TRUE(contains(only(of).then, "--device /dev/net/tun"));
}

TEST(doctor, isolates_cores) {
  machine_facts of = good_machine();
  of.isolated.clear();
  ASSERT_EQ(only(of).mend.size(), 4U);
  EXPECT_EQ(only(of).mend[1],
            "printf '[Service]\\nCPUAffinity=0-7\\n' | sudo tee "
            "/etc/systemd/system/couad.service.d/cpus.conf");
  EXPECT_EQ(only(of).mend[2],
            "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX isolcpus=1-7 nohz_full=1-7\"' | sudo "
            "tee /etc/default/grub.d/coua.cfg");
  EXPECT_EQ(only(of).mend[3], "sudo update-grub");
  EXPECT_TRUE(contains(only(of).then, "after a restart of the machine"));
  // The cores that workers have; the first one is the kernel's.
  of.couad = 5;
  of.held_bytes = 1;
  of.workers = {0, 2, 3};
  ASSERT_EQ(only(of).mend.size(), 2U);
  EXPECT_TRUE(contains(only(of).mend[0], " isolcpus=2-3 nohz_full=2-3\""));
  EXPECT_TRUE(contains(only(of).then, "taskset -c 0-7 couad"));
  of.couad = 0;
  of.held_bytes = 0;
  of.workers.clear();
  // After that, processes start on CPU 0 alone.
  of.isolated = {1, 2, 3, 4, 5, 6, 7};
  of.allowed = {0};
  const finding after = only(of);
  EXPECT_EQ(after.what, "1-7 are isolated, and this process may use 0 only");
  EXPECT_EQ(after.mend[1],
            "printf '[Service]\\nCPUAffinity=0-7\\n' | sudo tee "
            "/etc/systemd/system/couad.service.d/cpus.conf");
  EXPECT_TRUE(contains(after.then, "workers: {cores: [1-7]}"));
  EXPECT_TRUE(contains(after.then, "sudo taskset -c 0-7 couad --config FILE"));
  // And after that it has them all.
  of.allowed = of.cpus;
  of.couad = 5;
  of.held_bytes = 1;
  of.workers = {1, 2};
  EXPECT_EQ(diagnose(of)[4].is, verdict::good);
  of.workers = {0, 2};
  EXPECT_TRUE(contains(only(of).what, "workers run on 0,"));
}

TEST(doctor, counts_cores) {
  machine_facts of = good_machine();
  of.isolated.clear();
  of.allowed = {3};
  EXPECT_EQ(only(of).what, "this process may use one: 3");
  EXPECT_TRUE(contains(only(of).then, "without taskset"));
  of.cpus = {3};
  EXPECT_EQ(only(of).then, "give the machine two CPUs or more");
  of = good_machine();
  of.governor = "powersave";
  EXPECT_EQ(only(of).topic, "clock of the cores");
}

TEST(doctor, tells_how_dpdk_gets_a_device) {
  machine_facts of = good_machine();
  of.nics = {{.address = "0000:02:00.0", .driver = "ixgbe", .interface = "eth1"}};
  EXPECT_EQ(only(of).is, verdict::note);
  EXPECT_EQ(only(of).mend, lines{"sudo driverctl set-override 0000:02:00.0 vfio-pci"});
  EXPECT_TRUE(contains(only(of).then, "no eth1 any more"));
  EXPECT_FALSE(contains(only(of).then, "iova"));
  of.iommu = iommu_state::none;
  EXPECT_EQ(only(of).mend.size(), 3U);
  EXPECT_EQ(only(of).mend[1],
            "echo 1 | sudo tee /sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
  EXPECT_TRUE(contains(only(of).then, "--iova-mode=pa"));
  EXPECT_TRUE(contains(only(of).then, "write to all memory"));
  of.iommu = iommu_state::none_allowed;
  EXPECT_EQ(only(of).mend.size(), 1U);
  of.nics[0].driver = "vfio-pci";
  EXPECT_TRUE(contains(only(of).then, "--iova-mode=pa"));
  of.nics[0].driver = "mlx5_core";
  EXPECT_EQ(diagnose(of)[7].is, verdict::good);
}

TEST(doctor, leaves_the_machine_its_network) {
  machine_facts of = good_machine();
  of.nics = {{.address = "0000:02:00.0",
              .driver = "ixgbe",
              .interface = "eth0",
              .use = "carries the default route"}};
  const finding found = diagnose(of)[7];
  EXPECT_EQ(found.is, verdict::note);
  EXPECT_TRUE(contains(found.what, "which carries the default route"));
  EXPECT_TRUE(found.mend.empty());
  of.nics[0].use = "";
  of.nics[0].is_elsewhere = true;
  EXPECT_TRUE(only(of).mend.empty());
  EXPECT_TRUE(contains(only(of).what, "another network namespace"));
}

TEST(doctor, does_not_guess_what_it_cannot_read) {
  machine_facts of = good_machine();
  of.may = {.known = false};
  EXPECT_EQ(only(of).is, verdict::note);
  EXPECT_TRUE(contains(only(of).what, "unknown"));
  of = good_machine();
  of.allowed = of.isolated = {};
  EXPECT_EQ(only(of).topic, "cores");
  EXPECT_TRUE(contains(only(of).what, "unknown"));
}

TEST(doctor, looks_where_packets_and_workers_are) {
  machine_facts of = good_machine();
  of.nodes = {{.number = 0, .pages_2m = {true, 512, 512}, .cpus = {0, 1, 2, 3}},
              {.number = 1, .pages_2m = {true, 512, 512}, .cpus = {4, 5, 6, 7}}};
  of.nics = {{.address = "0000:02:00.0", .driver = "vfio-pci", .node = 1}};
  EXPECT_EQ(diagnose(of)[6].is, verdict::good);
  of.couad = 3;
  of.held_bytes = 1;
  of.workers = {2, 3};
  EXPECT_EQ(only(of).what, "has NIC 0000:02:00.0, and no worker");
  EXPECT_TRUE(contains(only(of).then, "with some of 4-7"));
  of.couad = 0;
  of.held_bytes = 0;
  of.workers.clear();
  of.nodes[1].pages_2m.free = 0;
  EXPECT_EQ(only(of).mend, lines{"echo 768 | sudo tee /sys/devices/system/node/node1/hugepages/"
                                 "hugepages-2048kB/nr_hugepages"});
}

TEST(doctor, sees_veths_that_leave_work_to_the_other_end) {
  machine_facts of = good_machine();
  of.veths = {{.name = "v7", .checksums = true}};
  EXPECT_EQ(only(of).is, verdict::note);
  EXPECT_EQ(only(of).mend, lines{"sudo ethtool -K v7 tx off"});
  of.veths = {{.name = "eth0", .space = "h1", .checksums = true, .to_couad = true}};
  EXPECT_EQ(only(of).is, verdict::worse);
  EXPECT_EQ(only(of).cost, "TCP through that port stalls");
  EXPECT_EQ(only(of).mend, lines{"sudo ip netns exec h1 ethtool -K eth0 tx off"});
  of.veths[0].name = "$(id)";  // which the kernel takes for a name
  of.veths[0].space = "a'b";
  EXPECT_EQ(only(of).mend, lines{"sudo ip netns exec 'a'\\''b' ethtool -K '$(id)' tx off"});
  of.veths = {{.name = "v7", .has_peer = false}};
  EXPECT_EQ(only(of).is, verdict::note);
}

TEST(doctor, reads_lists_of_cpus) {
  EXPECT_EQ(parse_cpus("0-2,7"), (std::vector<unsigned>{0, 1, 2, 7}));
  EXPECT_EQ(cpu_list(parse_cpus("7,0-2,4-5")), "0-2,4-5,7");
  EXPECT_EQ(cpu_list(parse_cpus("")), "none");
  EXPECT_LE(parse_cpus("0-4294967295").size(), 1U << 16);
}

/// The folders of a machine that is not there.
class fake_machine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = files::temp_directory_path() / "coua-doctor-XXXXXX";
    root_ = mkdtemp(name.data());
    write("proc/self/status", "Name:\tcoua\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n\n");
    write("proc/self/task/1/status", "Cpus_allowed_list:\t0-1\n");
    write("proc/self/uid_map", "         0          0 4294967295\n");
    write("proc/self/comm", "coua\n");
    write("proc/self/limits", "Max locked memory         65536   65536   bytes\n");
    write("proc/meminfo", "MemTotal: 5 kB\nHugepagesize:       2048 kB\n");
    write("sys/devices/system/cpu/online", "0-3\n");
    write("sys/devices/system/cpu/isolated", "2-3\n");
    pool("sys/kernel/mm/hugepages/hugepages-2048kB", 300, 290, 30);
  }
  void TearDown() override { files::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    const files::path path = root_ / name;
    files::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void pool(const std::string& folder, int total, int free, int reserved) {
    write(folder + "/nr_hugepages", std::to_string(total) + "\n");
    write(folder + "/free_hugepages", std::to_string(free) + "\n");
    write(folder + "/resv_hugepages", std::to_string(reserved) + "\n");
  }
  void daemon(unsigned number, const std::string& comm = "couad") {
    const std::string folder = "proc/" + std::to_string(number);
    write(folder + "/comm", comm + "\n");
    write(folder + "/status",
          "Name:\tcouad\nUid:\t0\t0\t0\t0\nCapEff:\t0000000000003000\n"
          "HugetlbPages:\t  524288 kB\n");
    write(folder + "/uid_map", "         0          0 4294967295\n");
    write(folder + "/cgroup", "0::/system.slice/couad.service\n");
    write(folder + "/task/100/comm", comm + "\n");
    write(folder + "/task/100/status", "Cpus_allowed_list:\t0\n");
    write(folder + "/task/101/comm", "coua-worker0\n");
    write(folder + "/task/101/status", "Cpus_allowed_list:\t3\n");
  }
  machine_facts examine(unsigned couad = 0) { return examine_machine(root_, couad); }

  files::path root_;
};

TEST_F(fake_machine, of_who_asks) {
  const machine_facts of = examine();
  EXPECT_TRUE(of.is_root);
  EXPECT_EQ(of.couad, 0U);
  EXPECT_TRUE(of.may.net_admin && of.may.net_raw && of.may.bpf && of.may.locks_memory);
  EXPECT_FALSE(of.may.in_user_namespace);
  EXPECT_EQ(of.pages_2m.total, 300U);
  EXPECT_EQ(of.pages_2m.free, 260U);
  EXPECT_FALSE(of.pages_1g.exists);
  EXPECT_TRUE(of.sysctl_sets_2m);
  EXPECT_FALSE(of.transparent_pages);
  EXPECT_EQ(cpu_list(of.allowed), "0-1");
  EXPECT_EQ(cpu_list(of.isolated), "2-3");
}

TEST_F(fake_machine, of_a_user) {
  write("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
  machine_facts of = examine();
  EXPECT_FALSE(of.is_root || of.may.net_admin || of.may.locks_memory);
  write("proc/self/limits", "Max locked memory         unlimited   unlimited   bytes\n");
  EXPECT_TRUE(examine().may.locks_memory);
}

TEST_F(fake_machine, of_root_in_a_user_namespace) {
  write("proc/self/uid_map", "         0       1000          1\n");
  const machine_facts of = examine();
  EXPECT_TRUE(of.may.in_user_namespace);
  EXPECT_FALSE(of.is_root);
  files::remove(root_ / "proc/self/uid_map");  // of a kernel that has no such namespaces
  EXPECT_FALSE(examine().may.in_user_namespace);
}

TEST_F(fake_machine, of_a_daemon_that_runs) {
  daemon(99);
  daemon(100);
  daemon(101, "other");
  const machine_facts of = examine(99);
  EXPECT_EQ(of.couad, 99U);
  EXPECT_TRUE(of.couad_is_unit && of.is_root);
  EXPECT_EQ(of.held_bytes, std::uint64_t{1} << 30);  // both
  EXPECT_TRUE(of.may.net_admin && of.may.net_raw);
  EXPECT_FALSE(of.may.bpf || of.may.locks_memory);
  EXPECT_EQ(cpu_list(of.allowed), "0,3");
  EXPECT_EQ(cpu_list(of.workers), "3");
  EXPECT_EQ(examine().couad, 0U);
}

TEST_F(fake_machine, with_and_without_tun) {
  EXPECT_EQ(examine().tun, tun_state::no_driver);
  write("sys/class/misc/tun/dev", "10:200\n");
  EXPECT_EQ(examine().tun, tun_state::no_node);
  write("dev/net/tun", "");
  EXPECT_EQ(examine().tun, tun_state::opens);
  files::remove(root_ / "dev/net/tun");
  files::create_directories(root_ / "dev/net/tun");  // no device
  EXPECT_EQ(examine().tun, tun_state::dead);
}

TEST_F(fake_machine, with_nics) {
  const std::string pci = "sys/bus/pci/devices/";
  write(pci + "0000:00:01.0/class", "0x060000\n");
  write(pci + "0000:00:02.0/class", "0x020000\n");
  write(pci + "0000:00:02.0/numa_node", "1\n");
  write(pci + "0000:00:02.0/net/eth1/mtu", "1500\n");
  write(pci + "0000:00:03.0/class", "0x020000\n");
  write(pci + "0000:00:03.0/virtio2/net/eth0/mtu", "1500\n");
  write("proc/net/dev", "  eth0: 1\n  eth1: 1\n");
  write("proc/net/route", "Iface\tDestination\tGateway\neth0\t00000000\t010200C0\n");
  files::create_directory_symlink("../../../bus/pci/drivers/ixgbe",
                                  root_ / (pci + "0000:00:02.0/driver"));
  machine_facts of = examine();
  ASSERT_EQ(of.nics.size(), 2U);
  EXPECT_EQ(of.nics[0].driver, "ixgbe");
  EXPECT_EQ(of.nics[0].interface, "eth1");
  EXPECT_EQ(of.nics[0].node, 1);
  EXPECT_EQ(of.nics[0].use, "");
  EXPECT_FALSE(of.nics[0].is_elsewhere);
  EXPECT_EQ(of.nics[1].interface, "eth0");
  EXPECT_EQ(of.nics[1].use, "carries the default route");
  EXPECT_EQ(of.iommu, iommu_state::none);
  write("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n");
  EXPECT_EQ(examine().iommu, iommu_state::none_allowed);
  write("sys/class/iommu/dmar0/x", "");
  EXPECT_EQ(examine().iommu, iommu_state::works);
  write("proc/net/ipv6_route",
        std::string(32, '0') + " 00 " + std::string(32, '0') + " 00 fe80 0400 1 0 3     eth1\n");
  EXPECT_EQ(examine().nics[0].use, "carries the default route");
}

TEST_F(fake_machine, with_nics_that_are_used) {
  const std::string device = "sys/bus/pci/devices/0000:00:02.0/";
  write(device + "class", "0x020000\n");
  write(device + "net/eth1/mtu", "1500\n");
  files::create_directory_symlink("../../../bus/pci/drivers/ixgbe", root_ / (device + "driver"));
  const auto use = [&] { return examine().nics.at(0).use; };
  EXPECT_TRUE(examine().nics.at(0).is_elsewhere);  // not among those of this namespace
  write("proc/net/dev", "Inter-|   Receive\n  eth11: 1 2\n");
  EXPECT_TRUE(examine().nics.at(0).is_elsewhere);
  write("proc/net/dev", "Inter-|   Receive\n  eth1: 1 2\n");
  EXPECT_FALSE(examine().nics.at(0).is_elsewhere);
  EXPECT_EQ(use(), "");
  const std::string link_local = "fe800000000000000000000000000001 02 40 20 80     eth1\n";
  write("proc/net/if_inet6", link_local);
  EXPECT_EQ(use(), "");
  write("proc/net/if_inet6",
        link_local + "fd000000000000000000000000000001 02 40 00 80     eth1\n");
  EXPECT_EQ(use(), "has an address");
  files::remove(root_ / "proc/net/if_inet6");
  write("proc/net/route", "Iface\tDestination\neth1\t000200C0\t00000000\n");
  EXPECT_EQ(use(), "has a route");
  files::create_directory_symlink("../none", root_ / (device + "net/eth1/upper_bond0"));
  EXPECT_EQ(use(), "is below bond0");
  files::remove(root_ / (device + "net/eth1/upper_bond0"));
  files::create_directory_symlink("../none", root_ / (device + "net/eth1/master"));
  EXPECT_EQ(use(), "belongs to another interface");
  files::create_directories(root_ / "proc/1/ns");
  files::create_directories(root_ / "proc/self/ns");
  files::create_symlink("net:[1]", root_ / "proc/1/ns/net");
  files::create_symlink("net:[1]", root_ / "proc/self/ns/net");
  EXPECT_FALSE(examine().nics.at(0).is_elsewhere);
  files::remove(root_ / "proc/self/ns/net");
  files::create_symlink("net:[2]", root_ / "proc/self/ns/net");
  EXPECT_TRUE(examine().nics.at(0).is_elsewhere);
  files::remove_all(root_ / (device + "net"));
  files::remove(root_ / "proc/1/ns/net");
  EXPECT_TRUE(examine().nics.at(0).is_elsewhere);  // its driver has made one, which is not here
}

TEST_F(fake_machine, whose_proc_is_hidden) {
  const machine_facts of = examine(99);
  EXPECT_FALSE(of.may.known);
  EXPECT_TRUE(of.allowed.empty());
  EXPECT_TRUE(examine().may.known);
}

TEST_F(fake_machine, with_nodes) {
  pool("sys/devices/system/node/node1/hugepages/hugepages-2048kB", 10, 4, 0);
  write("sys/devices/system/node/node0/cpulist", "0-1\n");
  write("sys/devices/system/node/online", "0-1\n");
  const machine_facts of = examine();
  ASSERT_EQ(of.nodes.size(), 2U);
  EXPECT_EQ(cpu_list(of.nodes[0].cpus), "0-1");
  EXPECT_EQ(of.nodes[1].pages_2m.free, 4U);
}

}  // namespace
}  // namespace coua::cli
