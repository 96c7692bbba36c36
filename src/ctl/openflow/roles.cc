// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/roles.h"

namespace coua::openflow {

using ofp::controller_role;

role_book::entry::entry(role_book& book) : book_(book) {
  const std::lock_guard hold(book_.mutex_);
  book_.entries_.insert(this);
}

role_book::entry::~entry() {
  const std::lock_guard hold(book_.mutex_);
  book_.entries_.erase(this);
}

tl::expected<role_book::answer, ofp::refusal> role_book::ask(entry& who,
                                                             const ofp::ask::role& wanted) {
  const std::lock_guard hold(mutex_);
  const bool ranks =
      wanted.wanted == controller_role::master || wanted.wanted == controller_role::slave;
  if (ranks) {
    constexpr std::uint16_t stale = 0;
    // The numbers go round: less than half a turn ahead is newer.
    if (generation_ && static_cast<std::int64_t>(wanted.generation - *generation_) < 0) {
      return tl::unexpected(ofp::refusal{ofp::role_request_failed, stale, 0, "an old generation"});
    }
    generation_ = wanted.generation;
  }
  if (wanted.wanted == controller_role::master) {
    for (entry* each : entries_) {
      if (each->role_ == controller_role::master) each->role_ = controller_role::slave;
    }
  }
  if (wanted.wanted != controller_role::no_change) who.role_ = wanted.wanted;
  return answer{who.role_, generation_.value_or(~std::uint64_t{0})};
}

}  // namespace coua::openflow
