// SPDX-License-Identifier: Apache-2.0
//
// Classification of a frame: reads nothing beyond its length, and says what the bytes say.
#include <vector>

#include "fuzz.h"
#include "net/ethernet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua::net;
  // A block of exactly this size, so that the sanitizer sees a read beyond the frame.
  std::vector<std::uint8_t> frame(data, data + size);
  frame_tag tag = classify(frame.data(), size);
  COUA_CHECK((tag.kind == tag_kind::truncated) ==
             (size < 14 || (size < 18 && data[12] == 0x81 && data[13] == 0x00)));
  if (tag.kind == tag_kind::truncated) {
    COUA_CHECK(tag.vid == 0 && tag.ethertype == 0 && tag.ethertype_offset == 0);
    return 0;
  }
  COUA_CHECK(tag.ethertype_offset + std::size_t{2} <= size);
  COUA_CHECK(load_be16(data + tag.ethertype_offset) == tag.ethertype);
  if (tag.kind == tag_kind::tagged) {
    COUA_CHECK(load_be16(data + 14) == make_tci(tag.vid, tag.pcp, tag.dei));
  } else {
    COUA_CHECK(tag.vid == 0 && tag.ethertype != ethertype_vlan);
  }
  std::uint64_t destination = load_mac(frame.data());
  store_mac(frame.data(), destination);
  COUA_CHECK(frame == std::vector<std::uint8_t>(data, data + size));
  COUA_CHECK(destination <= mac_mask);
  COUA_CHECK(!(is_station(destination) && (is_multicast(destination) || destination == 0)));
  COUA_CHECK(!is_link_local(destination) || is_multicast(destination));
  return 0;
}
