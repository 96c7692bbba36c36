// SPDX-License-Identifier: Apache-2.0
//
// Messages in bytes, and a conversation with a bridge that has no packets.
#pragma once

#include <gtest/gtest.h>

#include "ctl/fake_pipeline.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/openflow/conversation.h"

namespace coua::openflow {

using bytes = ofp::message;

inline bytes number(std::uint64_t value, unsigned n_bytes) {
  bytes made;
  ofp::put(made, value, n_bytes);
  return made;
}
inline bytes operator+(bytes one, const bytes& more) {
  one.insert(one.end(), more.begin(), more.end());
  return one;
}

inline constexpr std::uint8_t error = 1, echo = 2, echo_answer = 3, flow_mod = 14, group_mod = 15,
                              multipart = 18, multipart_answer = 19, barrier = 20,
                              barrier_answer = 21, experimenter = 4, packet_out = 13, port_mod = 16,
                              table_mod = 17, queue_config = 22, role_request = 24, meter_mod = 29;

inline bytes message(std::uint8_t type, const bytes& body, std::uint32_t xid = 0) {
  return number(4, 1) + number(type, 1) + number(8 + body.size(), 2) + number(xid, 4) + body;
}

inline const bytes any_match = {0, 1, 0, 4, 0, 0, 0, 0};

inline bytes rule(std::uint8_t table, std::uint16_t priority, const bytes& instructions = {},
                  std::uint32_t xid = 0) {
  const bytes body = number(0, 8) + number(0, 8) + number(table, 1) + number(0, 1) + number(0, 4) +
                     number(priority, 2) + number(0xffff'ffff, 4) + number(0xffff'ffff, 4) +
                     number(0xffff'ffff, 4) + number(0, 4);
  return message(flow_mod, body + any_match + instructions, xid);
}
inline bytes output(std::uint32_t port) {
  return number(0, 2) + number(16, 2) + number(port, 4) + number(0xffff, 2) + number(0, 6);
}
inline bytes actions(std::uint16_t instruction, const bytes& list) {
  return number(instruction, 2) + number(8 + list.size(), 2) + number(0, 4) + list;
}
/// Adds a meter with one band that drops.
inline bytes meter(std::uint32_t id, std::uint32_t xid = 0) {
  const bytes band = number(1, 2) + number(16, 2) + number(100, 4) + number(0, 4) + number(0, 4);
  return message(meter_mod, number(0, 2) + number(1, 2) + number(id, 4) + band, xid);
}
inline bytes metered(std::uint32_t id) { return number(6, 2) + number(8, 2) + number(id, 4); }
inline bytes bundle_control(std::uint32_t id, std::uint16_t step) {
  return message(experimenter, number(0x4f4e'4600, 4) + number(2300, 4) + number(id, 4) +
                                   number(step, 2) + number(3, 2));
}
inline bytes bundle_add(std::uint32_t id, const bytes& inner) {
  return message(experimenter,
                 number(0x4f4e'4600, 4) + number(2301, 4) + number(id, 4) + number(3, 4) + inner,
                 ofp::xid_of(inner));
}

class a_conversation : public testing::Test {
 protected:
  a_conversation()
      : bridge_(pipeline_, roles_, {}), with_([this](bytes one) {
          said_.push_back(std::move(one));
          return true;
        }) {}

  /// The types and numbers of the answers.
  std::vector<std::pair<int, std::uint32_t>> ask(std::vector<bytes> messages) {
    conversation with(bridge_, with_);
    return ask(with, std::move(messages));
  }
  std::vector<std::pair<int, std::uint32_t>> ask(conversation& with, std::vector<bytes> messages) {
    said_.clear();
    for (bytes& one : messages) with.take(std::move(one));
    with.flush();
    std::vector<std::pair<int, std::uint32_t>> made;
    for (const bytes& one : said_) made.emplace_back(ofp::type_of(one), ofp::xid_of(one));
    return made;
  }
  /// Type and code of the only answer, an error.
  std::pair<int, int> refused(bytes one) {
    const auto answers = ask({std::move(one)});
    if (answers.size() != 1 || answers[0].first != error) return {-1, -1};
    return {said_[0][8] << 8 | said_[0][9], said_[0][10] << 8 | said_[0][11]};
  }

  ctl::fake_pipeline pipeline_;
  role_book roles_;
  bridge_view bridge_;
  conversation::sender with_;
  std::vector<bytes> said_;
};

using answers = std::vector<std::pair<int, std::uint32_t>>;

}  // namespace coua::openflow
