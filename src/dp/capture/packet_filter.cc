// SPDX-License-Identifier: Apache-2.0
#include "dp/capture/packet_filter.h"

#include <pcap/pcap.h>

#include "dp/capture/capture.h"

namespace coua::dp {

void packet_filter::release::operator()(bpf_program* program) const {
  pcap_freecode(program);
  delete program;
}

result<packet_filter> packet_filter::compile(const std::string& text) {
  packet_filter made;
  if (text.empty()) return made;
  if (text.size() > filter_text_max)
    return fail(errc::invalid, "filter",
                "has " + std::to_string(text.size()) + " characters, of at most " +
                    std::to_string(filter_text_max));
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> dead(
      pcap_open_dead(DLT_EN10MB, capture_snap_max), &pcap_close);
  if (!dead) return fail(errc::no_memory, "filter", "no memory to compile it");
  auto program = std::make_unique<bpf_program>();
  if (pcap_compile(dead.get(), program.get(), text.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
    return fail(errc::invalid, "filter", "'" + text + "': " + pcap_geterr(dead.get()));
  made.program_.reset(program.release());
  return made;
}

bool packet_filter::matches(const std::uint8_t* bytes, std::uint32_t stored,
                            std::uint32_t length) const noexcept {
  if (!program_) return true;
  pcap_pkthdr header{};
  header.caplen = stored;
  header.len = length;
  return pcap_offline_filter(program_.get(), &header, bytes) != 0;
}

}  // namespace coua::dp
