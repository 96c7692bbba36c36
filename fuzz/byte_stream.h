// SPDX-License-Identifier: Apache-2.0
//
// A controller that is a plain socket, and the switch's end of its connection: bytes come as
// somebody sends them, in pieces that end anywhere, and messages are cut out of them by the
// library, which reads what read_ahead.cc has read for it.
#pragma once

#include <functional>
#include <memory>

#include "ctl/ofp/link.h"

namespace coua::fuzz {

class byte_stream {
 public:
  /// Greets.
  byte_stream();
  ~byte_stream();
  byte_stream(const byte_stream&) = delete;
  byte_stream& operator=(const byte_stream&) = delete;

  /// Sends `bytes` in pieces, then no more, and calls `take` with each message that comes out.
  void send(ofp::message_view bytes, std::size_t piece,
            const std::function<void(ofp::message)>& take);

 private:
  void receive(const std::function<void(ofp::message)>& take);

  int peer_;
  std::unique_ptr<ofp::link> link_;
};

}  // namespace coua::fuzz
