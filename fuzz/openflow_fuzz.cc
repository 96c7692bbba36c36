// SPDX-License-Identifier: Apache-2.0
//
// What a controller sends, as it comes from a socket: messages one after the other. Nothing ends
// the program or leaves memory behind, whatever the bytes are; every answer is a message, and an
// error has the number of what it is about. What is read past the library is what the library
// reads. The length and version of each message are put right, so that the bytes reach the
// decoders. The kept inputs that are called session_* are all that applications of os-ken, and
// Faucet, sent in packet tests, one file a connection, as recorded.
//
// An input that begins with 255 goes through a connection as it is, in pieces as long as its second
// byte says: what comes out are its messages, whole and in their order, up to one with a length
// that ends the connection. The kept ones are called raw_*.
#include <algorithm>

#include "byte_stream.h"
#include "ctl/fake_pipeline.h"
#include "ctl/ofp/test_round_trip.h"
#include "ctl/ofp/wire_rule.h"
#include "ctl/openflow/conversation.h"
#include "fuzz.h"

namespace coua::openflow {
namespace {

constexpr std::uint8_t as_it_is = 255;

void check_answer(const ofp::message& one) {
  COUA_CHECK(one.size() >= ofp::header_bytes && one[0] == ofp::wire_version);
  COUA_CHECK((std::size_t{one[2]} << 8 | one[3]) == one.size());
}

std::size_t length_at(ofp::message_view bytes) { return std::size_t{bytes[2]} << 8 | bytes[3]; }

/// The next message, taken off the front.
ofp::message cut(ofp::message_view& bytes) {
  std::size_t length = length_at(bytes);
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

/// What is read past the library is what the library reads.
void check_shortcuts(ofp::message_view one) {
  const auto ours = ofp::decode(one), known = ofp::decode_by_library(one);
  COUA_CHECK(ours.has_value() == known.has_value());
  if (!ours) {
    COUA_CHECK(ours.error().type == known.error().type && ours.error().code == known.error().code);
    return;
  }
  COUA_CHECK(ours->index() == known->index());
  if (const auto* rule = std::get_if<pipeline::rule_mod>(&*ours)) {
    COUA_CHECK(ofp::test::same(*rule, std::get<pipeline::rule_mod>(*known)));
  }
  const auto* part = std::get_if<ofp::ask::bundle_add>(&*ours);
  if (part != nullptr && part->inner) check_shortcuts(*part->inner);
}

/// Whether a message is whole at the front.
bool is_whole(ofp::message_view bytes) {
  return bytes.size() >= ofp::header_bytes && length_at(bytes) >= ofp::header_bytes &&
         length_at(bytes) <= bytes.size();
}

/// Whether the library keeps it to itself: it answers most messages of other versions.
bool may_be_missing(ofp::message_view bytes) {
  return is_whole(bytes) && bytes[0] != ofp::wire_version;
}

void stream(conversation& with, ofp::message_view left, std::size_t piece) {
  fuzz::byte_stream from;
  const auto is_next = [&](const ofp::message& one) {
    return is_whole(left) && std::ranges::equal(one, left.first(length_at(left)));
  };
  from.send(left, piece, [&](ofp::message one) {
    while (may_be_missing(left) && !is_next(one)) left = left.subspan(length_at(left));
    COUA_CHECK(is_next(one));
    left = left.subspan(one.size());
    with.take(std::move(one));
  });
  while (may_be_missing(left)) left = left.subspan(length_at(left));
  COUA_CHECK(!is_whole(left));
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
  if (size > 2 && data[0] == openflow::as_it_is) {
    openflow::stream(with, bytes.subspan(2), data[1] + std::size_t{1});
  } else {
    while (bytes.size() >= ofp::header_bytes) {
      ofp::message next = openflow::cut(bytes);
      openflow::check_shortcuts(next);
      with.take(std::move(next));
    }
  }
  with.flush();
  return 0;
}
