// SPDX-License-Identifier: Apache-2.0
//
// Adding, modifying and removing groups (OpenFlow 1.3.5, section 6.5).
#include <algorithm>
#include <map>
#include <set>

#include "pipeline/model/action_check.h"
#include "pipeline/model/operations.h"

namespace coua::pipeline {
namespace {

std::string named(group_id id) { return "group " + std::to_string(id); }

/// Whether a way leads from these groups to `wanted`. There are no loops yet but perhaps through
/// it.
bool reaches(store& in, const std::set<group_id>& from, group_id wanted, std::set<group_id>& seen) {
  return std::any_of(from.begin(), from.end(), [&](group_id id) {
    if (id == wanted) return true;
    if (!seen.insert(id).second) return false;
    const group_entry* next = in.find_group(id);
    return next != nullptr && reaches(in, needs_of(*next->group), wanted, seen);
  });
}

of_result<void> check_buckets(store& in, const group& one) {
  for (std::size_t i = 0; i < one.buckets.size(); ++i) {
    const bucket& each = one.buckets[i];
    const std::string where = named(one.id) + ", bucket " + std::to_string(i);
    const auto exists = [&](group_id id) { return id == one.id || in.find_group(id) != nullptr; };
    if (each.watch_group != group_any && !exists(each.watch_group)) {
      return refuse(of_error::group_mod_bad_watch, where,
                    named(each.watch_group) + " does not exist");
    }
    packet_knowledge nothing;
    auto good =
        check_actions(each.actions, action_place::bucket, nothing, in.tables().size(), exists);
    if (!good) {
      of_failure failure = std::move(good.error());
      failure.where = where + ": " + failure.where;
      return tl::unexpected(std::move(failure));
    }
  }
  std::set<group_id> seen;
  if (reaches(in, needs_of(one), one.id, seen)) {
    return refuse(of_error::group_mod_loop, named(one.id), "its buckets lead back to it");
  }
  return {};
}

/// What is below a group, itself counted.
struct extent {
  unsigned depth = 1;
  std::size_t ways = 0;
};

/// Of a group that the store has; there are no loops. `known` is filled.
extent measure(store& in, group_id id, std::map<group_id, extent>& known) {
  if (const auto at = known.find(id); at != known.end()) return at->second;
  extent sum;
  for (const bucket& each : in.find_group(id)->group->buckets) {
    group single;  // the bucket alone
    single.buckets = {each};
    sum.ways += 1;
    for (const group_id next : needs_of(single)) {
      const extent below = measure(in, next, known);
      sum.depth = std::max(sum.depth, below.depth + 1);
      sum.ways += below.ways;
    }
    sum.ways = std::min(sum.ways, group_ways_max + 1);  // no overflow
  }
  known[id] = sum;
  return sum;
}

/// After a group was put: neither it nor one that needs it leads too far.
of_result<void> check_extent(store& in, group_id put) {
  std::map<group_id, extent> known;
  measure(in, put, known);
  // Whoever goes over all groups here makes a bundle of many slow.
  for (std::vector<group_id> left = in.groups_above(put); !left.empty();) {
    const group_id id = left.back();
    left.pop_back();
    if (known.contains(id)) continue;
    measure(in, id, known);
    const std::vector<group_id> more = in.groups_above(id);
    left.insert(left.end(), more.begin(), more.end());
  }
  for (const auto& [id, found] : known) {
    if (found.depth > group_depth_max) {
      return refuse(of_error::group_mod_chaining_unsupported, named(put),
                    named(id) + " would lead through more than " + std::to_string(group_depth_max) +
                        " groups");
    }
    if (found.ways > group_ways_max) {
      return refuse(of_error::group_mod_out_of_buckets, named(put),
                    named(id) + " would lead to more than " + std::to_string(group_ways_max) +
                        " buckets, those of the groups below counted on each way");
    }
  }
  return {};
}

/// Secrets of different groups differ, and a group has the same one whenever it comes again.
hash_key secret_of(const hash_key& key, group_id id) {
  hash_key made = key;
  for (unsigned i = 0; i < 4; ++i) made[i] ^= static_cast<std::uint8_t>(id >> 8 * i);
  return made;
}

of_result<void> put(store& in, const group_mod& asked, time_ns now) {
  group_entry* old = in.find_group(asked.what.id);
  if (auto good = check_group(asked.what); !good) return good;
  if (asked.command == mod_command::add && old != nullptr) {
    return refuse(of_error::group_mod_group_exists, named(asked.what.id), "it is there already");
  }
  if (asked.command == mod_command::modify && old == nullptr) {
    return refuse(of_error::group_mod_unknown_group, named(asked.what.id),
                  "there is no such group");
  }
  if (old == nullptr && in.groups().size() >= in.params().groups_max) {
    return refuse(
        of_error::group_mod_out_of_groups, named(asked.what.id),
        "the bridge has its " + std::to_string(in.params().groups_max) + " groups already");
  }
  if (auto good = check_buckets(in, asked.what); !good) return good;
  group made = asked.what;
  made.secret = secret_of(in.params().key, made.id);
  group_state state;
  if (old != nullptr) state = old->state;
  if (old == nullptr) state.added = now;
  state.buckets.assign(made.buckets.size(), {});
  in.put_group(std::make_shared<const group>(std::move(made)), state);
  return check_extent(in, asked.what.id);
}

of_result<void> remove(store& in, group_id id) {
  group_entry* old = in.find_group(id);
  if (old == nullptr) return {};
  if (old->state.n_groups != 0) {
    return refuse(
        of_error::group_mod_chained_group, named(id),
        std::to_string(old->state.n_groups) +
            (old->state.n_groups == 1 ? " other group needs it" : " other groups need it"));
  }
  if (old->state.n_rules != 0) {
    drop_rules(in, removal_reason::group_deleted, [id](const rule& one) {
      const std::vector<group_id> used = groups_of(one);
      return std::binary_search(used.begin(), used.end(), id);
    });
  }
  in.drop_group(id);
  return {};
}

void remove_all(store& in) {
  drop_rules(in, removal_reason::group_deleted,
             [](const rule& one) { return !groups_of(one).empty(); });
  while (!in.groups().empty()) in.drop_group(in.groups().begin()->first);
}

}  // namespace

of_result<void> perform(store& in, const group_mod& asked, time_ns now) {
  if (asked.command != mod_command::remove) return put(in, asked, now);
  if (asked.what.id != group_all) return remove(in, asked.what.id);
  remove_all(in);
  return {};
}

}  // namespace coua::pipeline
