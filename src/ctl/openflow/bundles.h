// SPDX-License-Identifier: Apache-2.0
//
// The bundles of one controller, between open and commit. Messages are decoded when they are added;
// one that is refused breaks the bundle: its commit fails, and nothing is done. A bundle is
// discarded by what does not fit its state: opened again, added to when it is closed, or with other
// flags.
#pragma once

#include <map>
#include <vector>

#include "ctl/ofp/message.h"

namespace coua::openflow {

inline constexpr std::size_t bundles_max = 16;  // of a controller
inline constexpr std::size_t bundle_messages_max = 1'000'000;

struct bundle {
  std::uint16_t flags = 0;
  bool closed = false;
  bool broken = false;  // a message was refused
  std::vector<pipeline::operation> operations;
  std::vector<ofp::message> messages;  // of each operation
};

class bundle_book {
 public:
  // Errors: those of bundles; of add() also what is wrong with the message, which it takes.
  tl::expected<void, ofp::refusal> open(const ofp::ask::bundle_control& asked);
  tl::expected<void, ofp::refusal> add(ofp::ask::bundle_add& asked);
  tl::expected<void, ofp::refusal> close(const ofp::ask::bundle_control& asked);
  /// Breaks a bundle that there is: what was to be added could not be read, or was not allowed.
  void spoil(std::uint32_t id);
  /// It is gone afterwards.
  tl::expected<bundle, ofp::refusal> take(const ofp::ask::bundle_control& asked);

 private:
  std::map<std::uint32_t, bundle> bundles_;
};

}  // namespace coua::openflow
