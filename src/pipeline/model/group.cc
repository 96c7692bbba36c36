// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/group.h"

namespace coua::pipeline {
namespace {

of_result<void> check_bucket(group_type type, const bucket& one, const std::string& where) {
  if (type != group_type::select && one.weight != 0) {
    return refuse(of_error::group_mod_bad_bucket, where, "only select groups have weights");
  }
  const bool may_watch = type == group_type::select || type == group_type::fast_failover;
  if (!may_watch && one.is_watched()) {
    return refuse(of_error::group_mod_watch_unsupported, where,
                  "only select and fast failover groups watch ports or groups");
  }
  if (type == group_type::fast_failover && !one.is_watched()) {
    return refuse(of_error::group_mod_bad_watch, where,
                  "a bucket of a fast failover group must watch a port or a group");
  }
  if (one.watch_port != port_any && !is_standard_port(one.watch_port)) {
    return refuse(of_error::group_mod_bad_watch, where,
                  "port " + port_name(one.watch_port) + " cannot be watched");
  }
  return {};
}

}  // namespace

const char* to_string(group_type type) {
  switch (type) {
    case group_type::all: return "all";
    case group_type::select: return "select";
    case group_type::indirect: return "indirect";
    case group_type::fast_failover: return "fast_failover";
  }
  return "?";
}

of_result<void> check_group(const group& one) {
  const std::string where = "group " + std::to_string(one.id);
  if (one.id > group_max) {
    return refuse(of_error::group_mod_invalid_group, where, "the number is reserved");
  }
  if (one.type == group_type::indirect && one.buckets.size() != 1) {
    return refuse(of_error::group_mod_invalid_group, where,
                  "an indirect group has one bucket, not " + std::to_string(one.buckets.size()));
  }
  if (one.buckets.size() > buckets_max) {
    return refuse(of_error::group_mod_out_of_buckets, where,
                  "a group has at most " + std::to_string(buckets_max) + " buckets");
  }
  for (std::size_t i = 0; i < one.buckets.size(); ++i) {
    const std::string place = where + ", bucket " + std::to_string(i);
    if (auto good = check_bucket(one.type, one.buckets[i], place); !good) return good;
  }
  return {};
}

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

std::string to_string(const group& one) {
  std::string text = "group_id=" + std::to_string(one.id) + ",type=" + to_string(one.type);
  for (const bucket& each : one.buckets) {
    text += ",bucket=";
    if (one.type == group_type::select) text += "weight:" + std::to_string(each.weight) + ",";
    if (each.watch_port != port_any) text += "watch_port:" + port_name(each.watch_port) + ",";
    if (each.watch_group != group_any) {
      text += "watch_group:" + std::to_string(each.watch_group) + ",";
    }
    text += "actions=" + to_string(each.actions);
  }
  return text;
}

}  // namespace coua::pipeline
