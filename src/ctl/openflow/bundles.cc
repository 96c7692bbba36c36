// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/bundles.h"

namespace coua::openflow {
namespace {

using done = tl::expected<void, ofp::refusal>;
using ofp::bundle_error;

tl::unexpected<ofp::refusal> refuse(bundle_error why) {
  return tl::unexpected(ofp::bundle_refusal(why));
}

constexpr std::uint16_t atomic = 1 << 0, ordered = 1 << 1;  // what they are in any case

done add_message(ofp::ask::bundle_add& asked, bundle& into) {
  if (!asked.inner) return tl::unexpected(asked.inner.error());
  if (into.operations.size() >= bundle_messages_max) {
    return refuse(bundle_error::too_many_messages);
  }
  auto inner = ofp::decode(*asked.inner);
  if (!inner) return tl::unexpected(inner.error());
  if (auto* rule = std::get_if<pipeline::rule_mod>(&*inner)) {
    into.operations.emplace_back(std::move(*rule));
  } else if (auto* group = std::get_if<pipeline::group_mod>(&*inner)) {
    into.operations.emplace_back(std::move(*group));
  } else if (auto* meter = std::get_if<pipeline::meter_mod>(&*inner)) {
    into.operations.emplace_back(std::move(*meter));
  } else {
    return refuse(bundle_error::unsupported_message);
  }
  into.messages.push_back(std::move(*asked.inner));
  return {};
}

}  // namespace

done bundle_book::open(const ofp::ask::bundle_control& asked) {
  if ((asked.flags & ~(atomic | ordered)) != 0) return refuse(bundle_error::bad_flags);
  if (bundles_.contains(asked.id)) {
    bundles_.erase(asked.id);
    return refuse(bundle_error::exists);
  }
  if (bundles_.size() >= bundles_max) return refuse(bundle_error::out_of_bundles);
  bundles_[asked.id].flags = asked.flags;
  return {};
}

done bundle_book::add(ofp::ask::bundle_add& asked) {
  auto found = bundles_.find(asked.id);
  if (found == bundles_.end()) {
    // A message may open the bundle.
    if (auto opened = open({asked.id, ofp::bundle_step::open, asked.flags}); !opened) return opened;
    found = bundles_.find(asked.id);
  }
  // Who takes a bundle for another one than it is loses it.
  if (found->second.closed) {
    bundles_.erase(found);
    return refuse(bundle_error::closed);
  }
  if (found->second.flags != asked.flags) {
    bundles_.erase(found);
    return refuse(bundle_error::bad_flags);
  }
  auto added = add_message(asked, found->second);
  if (!added) found->second.broken = true;
  return added;
}

void bundle_book::spoil(std::uint32_t id) {
  const auto found = bundles_.find(id);
  if (found != bundles_.end()) found->second.broken = true;
}

done bundle_book::close(const ofp::ask::bundle_control& asked) {
  const auto found = bundles_.find(asked.id);
  if (found == bundles_.end()) return refuse(bundle_error::bad_id);
  if (found->second.closed) {
    bundles_.erase(found);
    return refuse(bundle_error::closed);
  }
  if (found->second.flags != asked.flags) {
    bundles_.erase(found);
    return refuse(bundle_error::bad_flags);
  }
  found->second.closed = true;
  return {};
}

tl::expected<bundle, ofp::refusal> bundle_book::take(const ofp::ask::bundle_control& asked) {
  const auto found = bundles_.find(asked.id);
  if (found == bundles_.end()) return refuse(bundle_error::bad_id);
  bundle taken = std::move(found->second);
  bundles_.erase(found);
  if (asked.step == ofp::bundle_step::commit) {
    if (taken.flags != asked.flags) return refuse(bundle_error::bad_flags);
    if (taken.broken) return refuse(bundle_error::failed_message);
  }
  return taken;
}

}  // namespace coua::openflow
