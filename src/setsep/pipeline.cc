// SPDX-License-Identifier: Apache-2.0
#include "setsep/pipeline.h"

#include <algorithm>

namespace coua::setsep {

using simd::setsep_batch;

void lookup_pipeline::locate(const table& in, round& which) noexcept {
  which.in = in.serial_;
  which.size = in.size();
  in.kernels_.locate(in.view_, which.size, which.hashes.data(), setsep_batch, which.keys);
}

void lookup_pipeline::choose(const table& in, round& which) noexcept {
  which.changes = load_acquire(&in.changes_);
  if (which.in != in.serial_ || which.changes % 2 != 0 || in.size() != which.size) {
    which.in = 0;
  } else {
    in.kernels_.choose(in.view_, setsep_batch, which.keys);
  }
}

void lookup_pipeline::resolve(const table& in, round& which, std::uint16_t* values) noexcept {
  if (which.in == in.serial_) {
    const std::uint32_t failed = in.kernels_.resolve(in.view_, setsep_batch, which.keys, values);
    if (failed != 0) in.take_failed(which.hashes.data(), failed, values);
    if (load_acquire(&in.changes_) == which.changes) return;
  }
  in.find_batch(which.hashes.data(), setsep_batch, values);
}

std::size_t lookup_pipeline::hand_over(std::uint16_t* values, std::size_t room) noexcept {
  const std::size_t n = std::min<std::size_t>(room, n_resolved_ - n_answered_);
  for (std::size_t i = 0; i < n; ++i) values[i] = ready_[n_answered_++ % ready_.size()];
  return n;
}

std::size_t lookup_pipeline::submit(const table& in, const key_hash* hashes, std::size_t n,
                                    std::uint16_t* values) noexcept {
  if (n_submitted_ == n_answered_ && in.is_near()) {
    in.find_batch(hashes, n, values);
    return n;
  }
  std::size_t done = 0;
  for (std::size_t i = 0; i < n;) {
    const std::uint64_t number = n_submitted_ / setsep_batch;
    const std::size_t filled = n_submitted_ % setsep_batch;
    const std::size_t taken = std::min(setsep_batch - filled, n - i);
    std::copy_n(hashes + i, taken, at(number).hashes.data() + filled);
    n_submitted_ += taken;
    i += taken;
    if (filled + taken < setsep_batch) break;
    locate(in, at(number));
    if (number >= 1 && n_resolved_ < number * setsep_batch) choose(in, at(number - 1));
    if (n_resolved_ + 3 * setsep_batch > n_submitted_) continue;
    // Straight to the caller, where it has room.
    round& oldest = at(number - 2);
    if (n_answered_ == n_resolved_ && n - done >= setsep_batch) {
      resolve(in, oldest, values + done);
      done += setsep_batch;
      n_answered_ += setsep_batch;
    } else {
      resolve(in, oldest, &ready_[n_resolved_ % ready_.size()]);
    }
    n_resolved_ += setsep_batch;
    done += hand_over(values + done, n - done);
  }
  return done + hand_over(values + done, n - done);
}

std::size_t lookup_pipeline::drain(const table& in, std::uint16_t* values) noexcept {
  std::size_t done = hand_over(values, depth);
  while (n_resolved_ < n_submitted_) {
    const std::size_t n = std::min<std::uint64_t>(setsep_batch, n_submitted_ - n_resolved_);
    in.find_batch(at(n_resolved_ / setsep_batch).hashes.data(), n, values + done);
    done += n;
    n_resolved_ += n;
  }
  n_submitted_ = n_resolved_ = n_answered_ = 0;
  return done;
}

}  // namespace coua::setsep
