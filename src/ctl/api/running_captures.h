// SPDX-License-Identifier: Apache-2.0
//
// The captures that clients run, by number, so that one call ends what another one began.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace coua::ctl {

/// Any thread. It outlives its captures.
class running_captures {
 public:
  /// One of them, for as long as this lives.
  class capture {
   public:
    explicit capture(running_captures& all) : all_(all) {
      const std::lock_guard hold(all.mutex_);
      id_ = ++all.last_;
      all.by_id_.emplace(id_, this);
    }
    ~capture() {
      const std::lock_guard hold(all_.mutex_);
      all_.by_id_.erase(id_);
    }
    capture(const capture&) = delete;
    capture& operator=(const capture&) = delete;

    std::uint64_t id() const { return id_; }
    /// Somebody wants it to end.
    bool is_ended() const { return ended_.load(std::memory_order_relaxed); }

   private:
    friend class running_captures;
    running_captures& all_;
    std::uint64_t id_ = 0;
    std::atomic<bool> ended_{false};  // says nothing of other memory
  };

  /// False: there is none, or it was told before.
  bool end(std::uint64_t id) {
    const std::lock_guard hold(mutex_);
    const auto found = by_id_.find(id);
    return found != by_id_.end() &&
           !found->second->ended_.exchange(true, std::memory_order_relaxed);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, capture*> by_id_;
  std::uint64_t last_ = 0;
};

}  // namespace coua::ctl
