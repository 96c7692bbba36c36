// SPDX-License-Identifier: Apache-2.0
//
// Adding, modifying and removing groups (OpenFlow 1.3.5, section 6.5).
#include <algorithm>
#include <set>

#include "pipeline/model/action_check.h"
#include "pipeline/model/operations.h"

namespace coua::pipeline {
namespace {

std::string named(group_id id) { return "group " + std::to_string(id); }

/// The groups that this one needs: where its buckets send packets, and whose life they watch.
std::set<group_id> needs_of(const group& one) {
  std::set<group_id> found;
  for (const bucket& each : one.buckets) {
    if (each.watch_group != group_any) found.insert(each.watch_group);
    for (const action& step : each.actions) {
      if (const auto* to = std::get_if<act::group>(&step)) found.insert(to->id);
    }
  }
  return found;
}

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
    auto good = check_actions(each.actions, action_place::bucket, nothing, exists);
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
  return {};
}

of_result<void> remove(store& in, group_id id) {
  group_entry* old = in.find_group(id);
  if (old == nullptr) return {};
  for (const auto& [other, entry] : in.groups()) {
    if (needs_of(*entry.group).contains(id)) {
      return refuse(of_error::group_mod_chained_group, named(id), named(other) + " needs it");
    }
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
