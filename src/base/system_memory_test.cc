// SPDX-License-Identifier: Apache-2.0
#include "base/system_memory.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace coua {
namespace {

constexpr std::size_t mib2 = std::size_t{2} << 20;

TEST(system_memory, reads_the_number_after_a_field) {
  const std::string path = testing::TempDir() + "coua-numbers";
  std::ofstream(path) << "Node 0 MemFree:       123 kB\nActive(file):4 kB\nBad: x\nmax\n";
  std::uint64_t number = 0;
  EXPECT_TRUE(read_number(path, "MemFree:", number));
  EXPECT_EQ(number, 123U);
  EXPECT_TRUE(read_number(path, "Active(file):", number));
  EXPECT_EQ(number, 4U);
  EXPECT_FALSE(read_number(path, "Bad:", number));
  EXPECT_FALSE(read_number(path, "Absent:", number));
  EXPECT_FALSE(read_number(path, "", number));  // starts with a word, as "max" of a control group
  EXPECT_FALSE(read_number(path + ".absent", "", number));
  EXPECT_EQ(number, 4U);
  std::remove(path.c_str());
}

TEST(system_memory, available_is_positive_and_at_most_what_is_installed) {
  std::uint64_t kib = 0;
  ASSERT_TRUE(read_number("/proc/meminfo", "MemTotal:", kib));
  EXPECT_GT(available_memory(), 0U);
  EXPECT_LE(available_memory(), kib * 1024);
  EXPECT_LE(available_memory(0), kib * 1024);
}

TEST(system_memory, node_0_exists_and_node_1000_does_not) {
  EXPECT_TRUE(numa_node_exists(0));
  EXPECT_FALSE(numa_node_exists(1000));
  EXPECT_FALSE(numa_node_exists(-1));
  EXPECT_GE(numa_nodes_online(), 1U);
}

TEST(system_memory, command_names_the_number_of_pages_that_are_needed_in_all) {
  const huge_page_pool pool = read_huge_page_pool(mib2, -1);
  const std::string count = std::to_string(pool.total + 7);
  const std::string command = huge_page_command(mib2, -1, 7);
  EXPECT_TRUE(command == "sysctl vm.nr_hugepages=" + count ||
              command ==
                  "echo " + count + " > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
      << command;
  const std::string of_node = huge_page_command(mib2, 0, 7);
  EXPECT_NE(
      of_node.find(" > /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages"),
      std::string::npos)
      << of_node;
  EXPECT_FALSE(read_huge_page_pool(12345 * 1024, -1).exists);
}

}  // namespace
}  // namespace coua
