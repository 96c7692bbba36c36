// SPDX-License-Identifier: Apache-2.0
#include "base/qsbr.h"

#include <string>

namespace coua {

result<qsbr::reader> qsbr::register_reader() {
  for (unsigned i = 0; i < max_readers; ++i) {
    bool taken = false;
    // Acquire: pairs with the release in ~reader(), whose store of `seen` comes before.
    if (!slots_[i].taken.compare_exchange_strong(taken, true, std::memory_order_acquire,
                                                 std::memory_order_relaxed)) {
      continue;
    }
    unsigned n = n_slots_.load(std::memory_order_seq_cst);
    while (n < i + 1 && !n_slots_.compare_exchange_weak(n, i + 1, std::memory_order_seq_cst)) {
    }  // rule 5
    return reader(this, &slots_[i]);
  }
  return fail(errc::no_room, "grace periods",
              "all " + std::to_string(max_readers) + " places for reading threads are taken");
}

bool qsbr::poll(token passed) noexcept {
  if (passed_.load(std::memory_order_acquire) >= passed) return true;  // rule 4
  // No reader can hold what was unlinked before the epoch of now, if none is behind it.
  token oldest = epoch_.load(std::memory_order_seq_cst);
  const unsigned n = n_slots_.load(std::memory_order_seq_cst);  // rule 5
  for (unsigned i = 0; i < n; ++i) {
    const std::uint64_t seen = slots_[i].seen.load(std::memory_order_seq_cst);  // rules 2, 3 (d)
    if (seen == 0 || seen >= oldest) continue;
    if (seen < passed) return false;
    oldest = seen;
  }
  std::uint64_t known = passed_.load(std::memory_order_acquire);
  while (known < oldest && !passed_.compare_exchange_weak(known, oldest, std::memory_order_acq_rel,
                                                          std::memory_order_acquire)) {
  }  // rule 4
  return oldest >= passed;
}

qsbr::reader& qsbr::reader::operator=(reader&& other) noexcept {
  std::swap(domain_, other.domain_);
  std::swap(slot_, other.slot_);
  return *this;
}

qsbr::reader::~reader() {
  if (domain_ == nullptr) return;
  offline();
  // Release: pairs with the acquire in register_reader().
  slot_->taken.store(false, std::memory_order_release);
}

}  // namespace coua
