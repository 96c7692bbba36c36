// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <gtest/gtest.h>

namespace coua::cli {
namespace {

/// A machine that has all that a switch wants.
machine_facts good_machine() {
  machine_facts made;
  made.pages_2m = {.exists = true, .total = 1024, .free = 1024, .file = ""};
  made.transparent_pages = true;
  made.cpus = 8;
  made.isolated = true;
  made.governor = "performance";
  made.tun_there = made.tun_opens = true;
  made.net_admin = made.net_raw = made.memory_locks = true;
  made.iommu = true;
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
      EXPECT_EQ(each.cost + each.mend, "") << each.topic;
      continue;
    }
    EXPECT_FALSE(each.cost.empty()) << each.topic;
    found = each;
    ++n;
  }
  EXPECT_EQ(n, 1U);
  return found;
}

TEST(doctor, finds_nothing_on_a_good_machine) {
  for (const finding& each : diagnose(good_machine())) {
    EXPECT_EQ(each.is, verdict::good) << each.topic << ": " << each.what;
  }
}

TEST(doctor, counts_huge_pages) {
  machine_facts of = good_machine();
  of.pages_2m.free = 255;  // of the 256 that packets take
  EXPECT_EQ(only(of).topic, "huge pages");
  EXPECT_EQ(only(of).mend, "sudo " + huge_page_command(2 << 20, -1, 1));
  of.pages_1g = {.exists = true, .total = 1, .free = 1, .file = ""};
  EXPECT_EQ(diagnose(of)[2].is, verdict::good);
  of = good_machine();
  of.pages_2m = {};
  EXPECT_EQ(only(of).what, "this kernel has none");
  EXPECT_EQ(only(of).mend, "");
  of = good_machine();
  of.transparent_pages = false;
  EXPECT_EQ(only(of).topic, "transparent huge pages");
}

TEST(doctor, names_privileges_that_are_missing) {
  machine_facts of = good_machine();
  of.net_raw = false;
  EXPECT_EQ(only(of).is, verdict::missing);
  EXPECT_EQ(only(of).what, "this process has no CAP_NET_RAW");
  EXPECT_EQ(only(of).cost, "no ports of these types: AF_PACKET, AF_XDP");
  of.memory_locks = false;
  EXPECT_EQ(only(of).what, "this process has no CAP_NET_RAW, CAP_IPC_LOCK");
}

TEST(doctor, tries_the_device_of_tap_ports) {
  machine_facts of = good_machine();
  of.tun_opens = false;
  EXPECT_EQ(only(of).mend, "sudo chmod 666 /dev/net/tun");
  of.tun_there = false;
  EXPECT_EQ(only(of).is, verdict::missing);
  EXPECT_NE(only(of).mend.find("mknod"), std::string::npos);
}

TEST(doctor, looks_at_cores) {
  machine_facts of = good_machine();
  of.isolated = false;
  EXPECT_NE(only(of).mend.find("isolcpus=1-7"), std::string::npos);
  of.cpus = 2;
  EXPECT_NE(only(of).mend.find("isolcpus=1 "), std::string::npos);
  of.cpus = 1;
  EXPECT_EQ(only(of).what, "this process may use 1");
  of = good_machine();
  of.governor = "powersave";
  EXPECT_EQ(only(of).topic, "clock of the cores");
}

TEST(doctor, tells_how_dpdk_gets_a_device) {
  machine_facts of = good_machine();
  of.nics = {{.address = "0000:02:00.0", .driver = "ixgbe"}};
  EXPECT_NE(only(of).mend.find("dpdk-devbind.py -b vfio-pci 0000:02:00.0"), std::string::npos);
  of.iommu = false;
  EXPECT_NE(only(of).mend.find("iommu=on"), std::string::npos);
  of.nics = {{.address = "0000:02:00.0", .driver = "mlx5_core", .numa_node = 1}};
  of.numa_nodes = 2;
  for (const finding& each : diagnose(of)) {
    EXPECT_EQ(each.is, verdict::good) << each.topic;
    if (each.topic == "NIC 0000:02:00.0") {
      EXPECT_NE(each.what.find("node 1"), std::string::npos);
    }
  }
}

TEST(doctor, sees_veths_that_leave_work_to_the_other_end) {
  machine_facts of = good_machine();
  of.veths = {{.name = "v7", .checksums = true}};
  EXPECT_EQ(only(of).mend, "sudo ethtool -K v7 tx off tso off gso off gro off rx off");
  EXPECT_EQ(only(of).what, "leaves checksums to its other end");
  of.veths = {{.name = "v7", .checksums = true, .segments = true}};
  EXPECT_EQ(only(of).what, "leaves checksums and segments to its other end");
}

}  // namespace
}  // namespace coua::cli
