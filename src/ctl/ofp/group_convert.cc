// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/operation_convert.h"

namespace coua::ofp {
namespace {

using pipeline::mod_command;
using pipeline::of_error;
using pipeline::of_result;
using pipeline::refuse;

const ofputil_bucket& bucket_of(const ovs_list* node) {
  return *reinterpret_cast<const ofputil_bucket*>(reinterpret_cast<const char*>(node) -
                                                  offsetof(ofputil_bucket, list_node));
}

of_result<mod_command> command_of(const ofputil_group_mod& theirs) {
  switch (theirs.command) {
    case OFPGC11_ADD: return mod_command::add;
    case OFPGC11_MODIFY: return mod_command::modify;
    case OFPGC11_DELETE: return mod_command::remove;
    default:
      return refuse(of_error::group_mod_bad_command, "command " + std::to_string(theirs.command),
                    "OpenFlow 1.3 adds, modifies and deletes groups");
  }
}

of_result<pipeline::bucket> from_ovs(const ofputil_bucket& theirs) {
  pipeline::bucket made;
  made.weight = theirs.weight;
  made.watch_port = from_ovs_port(theirs.watch_port);
  made.watch_group = theirs.watch_group;
  auto actions = actions_from_ovs(theirs.ofpacts, theirs.ofpacts_len);
  if (!actions) return tl::unexpected(actions.error());
  made.actions = std::move(*actions);
  return made;
}

}  // namespace

ovs_group_mod::ovs_group_mod() : ofputil_group_mod{} { ovs_list_init(&buckets); }

ovs_group_mod::~ovs_group_mod() { ofputil_uninit_group_mod(this); }

of_result<pipeline::group_mod> from_ovs(const ofputil_group_mod& theirs) {
  const auto command = command_of(theirs);
  if (!command) return tl::unexpected(command.error());
  pipeline::group_mod made;
  made.command = *command;
  made.what.id = theirs.group_id;
  if (theirs.type > OFPGT11_FF) {
    return refuse(of_error::group_mod_bad_type, "type " + std::to_string(theirs.type),
                  "there is no such type of group");
  }
  made.what.type = static_cast<pipeline::group_type>(theirs.type);
  if (theirs.props.selection_method[0] != '\0') {
    return refuse(of_error::group_mod_bad_type, "selection_method",
                  "the switch has one method only, and OpenFlow 1.3 no way to choose");
  }
  for (const ovs_list* node = theirs.buckets.next; node != &theirs.buckets; node = node->next) {
    auto one = from_ovs(bucket_of(node));
    if (!one) return tl::unexpected(one.error());
    made.what.buckets.push_back(std::move(*one));
  }
  return made;
}

of_result<void> to_ovs(const pipeline::group_mod& ours, ovs_group_mod& made) {
  made.command = static_cast<std::uint16_t>(ours.command);
  made.type = static_cast<std::uint8_t>(ours.what.type);
  made.group_id = ours.what.id;
  made.command_bucket_id = OFPG15_BUCKET_ALL;
  std::uint32_t number = 0;
  for (const pipeline::bucket& one : ours.what.buckets) {
    const auto watch_port = to_ovs_port(one.watch_port);
    if (!watch_port) return tl::unexpected(watch_port.error());
    ovs_buffer acts;
    if (auto good = to_ovs(one.actions, acts.get()); !good) return good;
    auto* into = static_cast<ofputil_bucket*>(std::calloc(1, sizeof(ofputil_bucket)));
    if (into == nullptr) std::abort();
    into->weight = one.weight;
    into->watch_port = *watch_port;
    into->watch_group = one.watch_group;
    into->bucket_id = number++;
    into->ofpacts_len = acts.size();
    into->ofpacts = static_cast<ofpact*>(ofpbuf_steal_data(acts.get()));
    ovs_list_push_back(&made.buckets, &into->list_node);
  }
  return {};
}

}  // namespace coua::ofp
