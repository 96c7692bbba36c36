// SPDX-License-Identifier: Apache-2.0
//
// What a controller sends, as it comes from a socket: messages one after the other. Nothing ends
// the program or leaves memory behind, whatever the bytes are; every answer is a message, and an
// error has the number of what it is about. The length and version of each message are put right,
// so that the bytes reach the decoders. The kept inputs that are called session_* are all that
// applications of os-ken, and Faucet, sent in packet tests, one file a connection, as recorded.
#include "ctl/fake_pipeline.h"
#include "ctl/openflow/conversation.h"
#include "fuzz.h"

namespace coua::openflow {
namespace {

void check_answer(const ofp::message& one) {
  COUA_CHECK(one.size() >= ofp::header_bytes && one[0] == ofp::wire_version);
  COUA_CHECK((std::size_t{one[2]} << 8 | one[3]) == one.size());
}

/// The next message, taken off the front.
ofp::message cut(ofp::message_view& bytes) {
  std::size_t length = std::size_t{bytes[2]} << 8 | bytes[3];
  if (length < ofp::header_bytes || length > bytes.size()) {
    length = std::min<std::size_t>(bytes.size(), 65'535);
  }
  ofp::message made(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
  made[0] = ofp::wire_version;
  made[2] = static_cast<std::uint8_t>(length >> 8);
  made[3] = static_cast<std::uint8_t>(length);
  bytes = bytes.subspan(length);
  return made;
}

}  // namespace
}  // namespace coua::openflow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua;
  ctl::fake_pipeline pipeline;
  openflow::role_book roles;
  openflow::bridge_view bridge(pipeline, roles, {});
  openflow::conversation with(bridge, [](const ofp::message& one) {
    openflow::check_answer(one);
    return true;
  });
  ofp::message_view bytes(data, size);
  while (bytes.size() >= ofp::header_bytes) with.take(openflow::cut(bytes));
  with.flush();
  return 0;
}
