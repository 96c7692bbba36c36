// SPDX-License-Identifier: Apache-2.0
//
// Groups, or meters, as places to which the ops of rules point; what is there has versions
// (datapath/versions.h).
//
//   thing   place --> latest version --> the one before ...
//             '-- the number under which it counts, whatever its version
//
// What a version replaces or drops is kept until it is known whether that version is published:
// then keep() lets it go after a grace period; or restore() puts it back, which cannot fail, and
// in the same place, so that what points there stays right.
#pragma once

#include <map>
#include <memory>

#include "pipeline/compiler/compile_context.h"

namespace coua::pipeline {

/// `Stored` is what workers see, `Seen`, with all that belongs to it.
template <class Seen, class Stored>
class versioned_things {
 public:
  struct thing {
    versioned<Seen> place;
    std::shared_ptr<Stored> latest;
    std::shared_ptr<const count_block> number;
  };
  using thing_ptr = std::shared_ptr<thing>;

  const std::map<std::uint32_t, thing_ptr>& all() const { return now_; }
  const thing& at(std::uint32_t id) const { return *now_.at(id); }

  // In the version that is being made.
  /// It is there afterwards, perhaps without a version. Errors: no_room (numbers).
  result<void> open(compile_context& in, std::uint32_t id) {
    note(id);
    if (now_.contains(id)) return {};
    auto number = in.counts.take_block(1);
    if (number == nullptr) return fail(errc::no_room, "counters", "all are in use");
    auto made = std::make_shared<thing>();
    made->number = std::move(number);
    now_[id] = std::move(made);
    return {};
  }
  void drop(compile_context& in, std::uint32_t id) {
    note(id);
    const auto at = now_.find(id);
    if (at->second != before_.at(id).one) discard(in, at->second);  // it came in this version
    now_.erase(at);
  }
  void put(compile_context& in, std::uint32_t id, std::shared_ptr<Stored> next) {
    note(id);
    thing& of = *now_.at(id);
    next->from = in.making;
    next->previous = of.latest.get();
    next->counters = of.number->first();
    of.place.set(next.get());
    if (of.latest != before_.at(id).latest) discard(in, of.latest);  // of this version, too
    of.latest = std::move(next);
  }

  // Then one of these:
  /// It is about to be published.
  void keep(compile_context& in) {
    for (const auto& [id, was] : before_) {
      if (was.one == nullptr) continue;
      const auto is = now_.find(id);
      if (is == now_.end() || is->second != was.one) {
        discard(in, was.one);
      } else if (was.one->latest != was.latest) {
        discard(in, was.latest);
      }
    }
    before_.clear();
  }
  /// It could not be made. The ids of what is put back.
  std::vector<std::uint32_t> restore(compile_context& in) {
    std::vector<std::uint32_t> ids;
    for (const auto& [id, was] : before_) {
      ids.push_back(id);
      const auto is = now_.find(id);
      if (is != now_.end() && is->second != was.one) discard(in, is->second);
      if (was.one == nullptr) {
        now_.erase(id);
        continue;
      }
      if (was.one->latest != was.latest) discard(in, was.one->latest);
      was.one->latest = was.latest;
      was.one->place.set(was.latest.get());
      now_[id] = was.one;
    }
    before_.clear();
    return ids;
  }

 private:
  struct replaced {
    thing_ptr one;  // null: it was not there
    std::shared_ptr<Stored> latest;
  };

  void note(std::uint32_t id) {
    const auto at = now_.find(id);
    before_.try_emplace(id,
                        at == now_.end() ? replaced{} : replaced{at->second, at->second->latest});
  }
  /// After a grace period.
  template <class Gone>
  static void discard(compile_context& in, const std::shared_ptr<Gone>& gone) {
    if (gone != nullptr) in.garbage.emplace_back([gone] {});
  }

  std::map<std::uint32_t, thing_ptr> now_;
  std::map<std::uint32_t, replaced> before_;  // of those that the version under way changes
};

}  // namespace coua::pipeline
