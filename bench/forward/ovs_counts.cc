// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/ovs_counts.h"

#include <cstdlib>
#include <string_view>

#include "bench/forward/ovs_daemon.h"
#include "bench/forward/ovs_text.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t most_listed = 20'000;  // megaflows; more take seconds
constexpr double quiet_share = 1e-5;           // of packets that miss, when all flows are known

}  // namespace

result<ovs_counts> read_counts(const ovs_process& of, const std::string& source) {
  const auto workers = of.ask({"dpif-netdev/pmd-stats-show"});
  if (!workers) return tl::unexpected(workers.error());
  const auto ports = of.ask({"dpctl/show", "-s"});
  if (!ports) return tl::unexpected(ports.error());
  ovs_counts made;
  for (std::size_t at = workers->find("pmd thread"); at != std::string::npos;
       at = workers->find("pmd thread", at + 1)) {
    made.packets += number_behind(*workers, "packets received", at);
    made.simple += number_behind(*workers, "simple match hits", at);
    made.emc += number_behind(*workers, "emc hits", at);
    made.smc += number_behind(*workers, "smc hits", at);
    made.megaflow += number_behind(*workers, "megaflow hits", at);
    made.upcalls += number_behind(*workers, "miss with success upcall", at);
    made.failed += number_behind(*workers, "miss with failed upcall", at);
    made.masks_asked = fraction_behind(*workers, "avg. subtable lookups per megaflow hit", at);
  }
  for (std::size_t at = ports->find("(dpdk"); at != std::string::npos;
       at = ports->find("(dpdk", at + 1)) {
    const std::size_t name = ports->rfind(": ", at) + 2;
    if (ports->compare(name, at - 1 - name, source) != 0)
      made.sent += number_behind(*ports, "TX packets", at);
  }
  return made;
}

bool has_settled(const ovs_counts& before, const ovs_counts& now) {
  const auto misses = static_cast<double>(now.misses() - before.misses());
  const auto packets = static_cast<double>(now.packets - before.packets);
  return packets > 0 && misses <= quiet_share * packets;
}

result<ovs_megaflows> read_megaflows(const ovs_process& of) {
  const auto shown = of.ask({"upcall/show"});
  if (!shown) return tl::unexpected(shown.error());
  constexpr std::string_view label = "(current ";
  const std::size_t found = shown->find(label);
  if (found == std::string::npos) return fail(errc::io, ovs_product, "does not say its megaflows");
  ovs_megaflows made;
  made.entries = std::strtoull(shown->c_str() + found + label.size(), nullptr, 10);
  if (made.entries > most_listed) return made;
  const auto flows = of.ask({"dpctl/dump-flows"});
  if (!flows) return tl::unexpected(flows.error());
  made.masks = count_masks(*flows);
  return made;
}

}  // namespace coua::bench
