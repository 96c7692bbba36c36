// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/probed_device.h"

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_pci.h>

#include <cstdlib>
#include <cstring>

#include "dp/drivers/devargs.h"

namespace coua::dp {
namespace {

/// The bus of a device and its name there.
class bus_name {
 public:
  explicit bus_name(const std::string& devargs)
      : is_parsed_(rte_devargs_parse(&parsed_, devargs.c_str()) == 0) {}
  ~bus_name() {
    if (is_parsed_)
      std::free(parsed_.data);  // what rte_devargs_reset() does, which is experimental
  }
  bus_name(const bus_name&) = delete;
  bus_name& operator=(const bus_name&) = delete;

  bool any() const { return is_parsed_; }
  const char* name() const { return parsed_.name; }
  const char* bus() const { return rte_bus_name(parsed_.bus); }

 private:
  rte_devargs parsed_{};
  const bool is_parsed_;
};

/// Of a PCI device with or without its domain.
bool is_same_device(const char* a, const char* b) {
  rte_pci_addr of_a, of_b;
  if (std::strcmp(a, b) == 0) return true;
  return rte_pci_addr_parse(a, &of_a) == 0 && rte_pci_addr_parse(b, &of_b) == 0 &&
         rte_pci_addr_cmp(&of_a, &of_b) == 0;
}

/// One of the several ports of a device, by DPDK's own search.
std::optional<std::uint16_t> find_representor(const std::string& devargs) {
  rte_dev_iterator iterator;
  std::optional<std::uint16_t> first;
  std::uint16_t each = 0;
  RTE_ETH_FOREACH_MATCHING_DEV(each, devargs.c_str(), &iterator) {
    if (!first) first = each;
  }
  return first;
}

}  // namespace

std::optional<std::uint16_t> find_probed(const std::string& devargs) {
  if (!text_in(devargs, "representor").empty()) return find_representor(devargs);
  const bus_name wanted(devargs);
  if (!wanted.any()) return std::nullopt;
  std::uint16_t each = 0;
  RTE_ETH_FOREACH_DEV(each) {
    rte_eth_dev_info info{};
    if (rte_eth_dev_info_get(each, &info) != 0 || info.device == nullptr) continue;
    if (is_same_device(rte_dev_name(info.device), wanted.name())) return each;
  }
  return std::nullopt;
}

void remove_probed(const std::string& devargs) {
  const bus_name which(devargs);
  if (which.any()) (void)rte_eal_hotplug_remove(which.bus(), which.name());
}

}  // namespace coua::dp
