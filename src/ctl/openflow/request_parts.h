// SPDX-License-Identifier: Apache-2.0
//
// Requests of table features that come in several messages, until their last part is here.
#pragma once

#include <map>

#include "ctl/ofp/message.h"

namespace coua::openflow {

inline constexpr std::size_t cut_requests_max = 16;  // of a connection
/// Of all of them: three times what we say of all tables, and more.
inline constexpr std::size_t cut_requests_bytes_max = std::size_t{1} << 21;

class request_parts {
 public:
  /// True: with this part the request is whole, and is in `part`. Errors: what is beyond the bounds
  /// (multipart buffer overflow); the rest of that request is taken without a word.
  tl::expected<bool, ofp::refusal> add(std::uint32_t xid, ofp::ask::table_features& part);

 private:
  struct begun {
    ofp::message body;
    bool refused = false;
  };
  std::map<std::uint32_t, begun> begun_;  // by the number of the request
  std::size_t n_bytes_ = 0;
};

}  // namespace coua::openflow
