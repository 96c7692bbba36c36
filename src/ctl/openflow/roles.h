// SPDX-License-Identifier: Apache-2.0
//
// Who of the controllers is master (OpenFlow 1.3.5, section 6.3.6): at most one, which makes others
// slaves when it becomes it. A generation that is older than one that was seen is refused, so that
// a late message of a master that was replaced changes nothing. The newest one that was seen counts
// for as long as the bridge is there: its server may stop, and another one start with the same
// book.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>

#include "ctl/ofp/message.h"

namespace coua::openflow {

class role_book {
 public:
  /// A controller's own role; equal at first. The book outlives it.
  class entry {
   public:
    explicit entry(role_book& book);
    ~entry();
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

    ofp::controller_role now() const { return role_.load(std::memory_order_relaxed); }

   private:
    friend class role_book;
    role_book& book_;
    std::atomic<ofp::controller_role> role_{ofp::controller_role::equal};
  };

  struct answer {
    ofp::controller_role role;
    std::uint64_t generation;  // all ones: there was none yet
  };
  /// Errors: stale.
  tl::expected<answer, ofp::refusal> ask(entry& who, const ofp::ask::role& wanted);

 private:
  std::mutex mutex_;
  std::set<entry*> entries_;
  std::optional<std::uint64_t> generation_;
};

}  // namespace coua::openflow
