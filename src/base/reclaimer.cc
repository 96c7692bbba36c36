// SPDX-License-Identifier: Apache-2.0
#include "base/reclaimer.h"

#include <algorithm>

namespace coua {

void reclaimer::reserve(std::size_t n) {
  const std::size_t wanted = collecting_.size() + n;
  if (wanted <= collecting_.capacity()) return;
  collecting_.reserve(std::max(wanted, 2 * collecting_.capacity()));
}

void reclaimer::defer(std::function<void()> action) { collecting_.push_back(std::move(action)); }

std::size_t reclaimer::reclaim() {
  std::size_t ran = 0;
  if (!waiting_.empty() && domain_.poll(token_)) {
    // An action may defer more: that goes to `collecting_`.
    const std::vector<std::function<void()>> due = std::exchange(waiting_, {});
    for (const std::function<void()>& action : due) action();
    ran = due.size();
  }
  if (waiting_.empty() && !collecting_.empty()) {
    waiting_ = std::exchange(collecting_, {});
    token_ = domain_.start();
  }
  return ran;
}

reclaimer::~reclaimer() {
  while (pending() > 0) {
    const bool due = waiting_.empty() || domain_.poll(token_);
    COUA_CHECK(due);  // a reader is still online
    reclaim();
  }
}

}  // namespace coua
