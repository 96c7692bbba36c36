// SPDX-License-Identifier: Apache-2.0
#include "base/system_memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace coua {
namespace {

const std::string node_root = "/sys/devices/system/node";

/// The content of a small file; empty when it cannot be read.
std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool directory_exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string pool_directory(std::size_t page_bytes, int node) {
  const std::string size = "hugepages-" + std::to_string(page_bytes / 1024) + "kB";
  if (node < 0) return "/sys/kernel/mm/hugepages/" + size;
  return node_root + "/node" + std::to_string(node) + "/hugepages/" + size;
}

/// What the control groups from the process's own up to the root leave for it.
std::uint64_t available_in_groups() {
  const std::string groups = read_text("/proc/self/cgroup");
  const std::size_t own = groups.find("0::/");
  if (own == std::string::npos) return UINT64_MAX;
  std::string path = groups.substr(own + 3, groups.find('\n', own) - own - 3);
  std::uint64_t least = UINT64_MAX;
  while (true) {
    const std::string directory = "/sys/fs/cgroup" + path;
    std::uint64_t limit = 0, used = 0;
    if (read_number(directory + "/memory.max", "", limit)) {
      // Files in the page cache count as used too, but give way.
      read_number(directory + "/memory.stat", "anon ", used);
      least = std::min(least, limit - std::min(limit, used));
    }
    if (path.empty() || path == "/") return least;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

bool read_number(const std::string& path, std::string_view field, std::uint64_t& number) {
  const std::string text = read_text(path);
  std::size_t at = text.find(field);
  if (at == std::string::npos) return false;
  at = text.find_first_not_of(" \t", at + field.size());
  if (at == std::string::npos) return false;
  return std::from_chars(text.data() + at, text.data() + text.size(), number).ec == std::errc();
}

huge_page_pool read_huge_page_pool(std::size_t page_bytes, int node) {
  const std::string directory = pool_directory(page_bytes, node);
  huge_page_pool pool;
  pool.file = directory + "/nr_hugepages";
  pool.exists = read_number(pool.file, "", pool.total);
  read_number(directory + "/free_hugepages", "", pool.free);
  // Pages that others reserved and have not touched yet are still counted as free.
  std::uint64_t reserved = 0;
  read_number(directory + "/resv_hugepages", "", reserved);
  pool.free -= std::min(pool.free, reserved);
  return pool;
}

std::string huge_page_command(std::size_t page_bytes, int node, std::uint64_t missing) {
  const huge_page_pool pool = read_huge_page_pool(page_bytes, node);
  const std::string count = std::to_string(pool.total + missing);
  std::uint64_t default_kib = 0;
  read_number("/proc/meminfo", "Hugepagesize:", default_kib);
  if (node < 0 && default_kib == page_bytes / 1024) return "sysctl vm.nr_hugepages=" + count;
  return "echo " + count + " > " + pool.file;
}

bool transparent_huge_pages_allowed() {
  const std::string modes = read_text("/sys/kernel/mm/transparent_hugepage/enabled");
  return !modes.empty() && modes.find("[never]") == std::string::npos;
}

std::uint64_t available_memory(int node) {
  std::uint64_t available = available_in_groups();
  std::uint64_t kib = 0;
  if (node < 0) {
    if (read_number("/proc/meminfo", "MemAvailable:", kib)) {
      available = std::min(available, kib * 1024);
    }
    return available;
  }
  // A node has no MemAvailable: what is free, and what the page cache would give back.
  const std::string path = node_root + "/node" + std::to_string(node) + "/meminfo";
  std::uint64_t sum = 0;
  if (!read_number(path, "MemFree:", sum)) return available;
  for (const char* field : {"Active(file):", "Inactive(file):", "SReclaimable:"}) {
    if (read_number(path, field, kib)) sum += kib;
  }
  return std::min(available, sum * 1024);
}

bool numa_node_exists(int node) {
  // A kernel without NUMA has no such directory: all its memory is node 0.
  if (!directory_exists(node_root)) return node == 0;
  return node >= 0 && directory_exists(node_root + "/node" + std::to_string(node));
}

unsigned numa_nodes_online() {
  unsigned nodes = 0;
  // "0-1,4": ranges, separated by commas.
  std::istringstream list(read_text(node_root + "/online"));
  for (std::string range; std::getline(list, range, ',');) {
    unsigned first = 0, last = 0;
    const char* end = range.data() + range.size();
    const auto parsed = std::from_chars(range.data(), end, first);
    if (parsed.ec != std::errc()) continue;
    last = first;
    if (parsed.ptr != end && *parsed.ptr == '-') std::from_chars(parsed.ptr + 1, end, last);
    nodes += last - std::min(first, last) + 1;
  }
  return std::max(nodes, 1U);
}

}  // namespace coua
