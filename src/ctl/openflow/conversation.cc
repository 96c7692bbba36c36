// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/conversation.h"

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "ctl/openflow/answerer.h"

namespace coua::openflow {
namespace {

// Changes that the owner of the pipeline does in one go: some milliseconds at most, in which it
// serves nobody else.
constexpr std::size_t changes_at_once = 256;

/// The operation in it; null: it is none.
std::optional<pipeline::operation> operation_of(ofp::request& asked) {
  if (auto* rule = std::get_if<pipeline::rule_mod>(&asked)) return std::move(*rule);
  if (auto* group = std::get_if<pipeline::group_mod>(&asked)) return std::move(*group);
  if (auto* meter = std::get_if<pipeline::meter_mod>(&asked)) return std::move(*meter);
  return std::nullopt;
}

}  // namespace

conversation::conversation(bridge_view& bridge, sender send, audience who)
    : bridge_(bridge),
      send_(std::move(send)),
      role_(bridge.roles),
      is_told_(who == audience::controller) {}

ofp::async_masks::of_role conversation::wants() const {
  const std::lock_guard hold(mutex_);
  if (!is_told_) return {};
  return role_.now() == ofp::controller_role::slave ? masks_.slave : masks_.master;
}

ofp::async_masks conversation::masks() const {
  const std::lock_guard hold(mutex_);
  return masks_;
}

ofp::ask::set_config conversation::config() const {
  const std::lock_guard hold(mutex_);
  return config_;
}

void conversation::take(ofp::message one) {
  if (role_.now() == ofp::controller_role::slave && ofp::changes_switch(one)) {
    return refuse_unread(std::move(one), ofp::is_slave());
  }
  auto asked = ofp::decode(one);
  if (!asked) return refuse_unread(std::move(one), std::move(asked.error()));
  if (auto* features = std::get_if<ofp::ask::table_features>(&*asked)) {
    const auto whole = parts_.add(ofp::xid_of(one), *features);
    if (!whole) return put_off_refusal(std::move(one), whole.error());
    if (!*whole) return;
  }
  if (auto change = operation_of(*asked)) {
    changes_.push_back(std::move(*change));
    waiting_.push_back({put_off::kind::change, std::move(one)});
  } else if (std::holds_alternative<ofp::ask::barrier>(*asked)) {
    waiting_.push_back({put_off::kind::barrier, std::move(one)});
  } else {
    flush();
    std::visit(answerer{*this, one}, *asked);
  }
  if (waiting_.size() >= changes_at_once) flush();
}

void conversation::put_off_refusal(ofp::message asked, ofp::refusal why) {
  waiting_.push_back({put_off::kind::refused, std::move(asked), std::move(why)});
}

void conversation::refuse_unread(ofp::message asked, ofp::refusal why) {
  if (const auto id = ofp::bundle_of(asked)) bundles_.spoil(*id);
  put_off_refusal(std::move(asked), std::move(why));
}

void conversation::refuse(const ofp::message& asked, const ofp::refusal& why) {
  log_debug("openflow: refused, error %u/%u: %s", why.type, why.code, why.what.c_str());
  send_(ofp::error_reply(why, asked));
}

bool conversation::is_brief(ofp::message_view one) const {
  using enum ofp::wire_type_of;
  switch (static_cast<ofp::wire_type_of>(ofp::type_of(one))) {
    case flow_mod: return ofp::is_of_one_rule(one);
    case barrier_request: return true;
    // What is done at once has what came before done first.
    case packet_out: return waiting_.empty() && ofp::is_for_ports(one);
    case experimenter: return waiting_.empty() && ofp::is_bundle_add(one);
    default: return false;
  }
}

void conversation::flush() {
  do_changes();
  if (waits_for_workers()) bridge_.control.settle();
  answer();
}

bool conversation::changes_are_quick() const {
  return changes_.empty() || bridge_.control.is_quick(changes_);
}

void conversation::do_changes() {
  if (changes_.empty()) return;
  for (auto& one : bridge_.control.apply_each(changes_)) done_.push_back(std::move(one));
  changes_.clear();
}

bool conversation::answer_within(std::chrono::microseconds most) {
  if (waits_for_workers() && !bridge_.control.settle_within(most)) return false;
  answer();
  return true;
}

bool conversation::waits_for_workers() const {
  return std::ranges::any_of(waiting_,
                             [](const put_off& one) { return one.what == put_off::kind::barrier; });
}

void conversation::answer() {
  auto result = done_.begin();
  for (const put_off& one : waiting_) {
    switch (one.what) {
      case put_off::kind::refused: refuse(one.asked, one.why); break;
      case put_off::kind::barrier: send_(ofp::barrier_reply(one.asked)); break;
      case put_off::kind::change:
        if (!*result) refuse(one.asked, ofp::to_refusal(result->error()));
        ++result;
        break;
    }
  }
  done_.clear();
  waiting_.clear();
}

void conversation::commit(const ofp::message& asked, const ofp::ask::bundle_control& which) {
  const auto taken = bundles_.take(which);
  if (!taken) return refuse(asked, taken.error());
  if (const auto done = bridge_.control.apply(taken->operations); !done) {
    // Which message it was, and that the bundle failed with it.
    const std::size_t at = done.error().operation;
    if (at != 0) refuse(taken->messages[at - 1], ofp::to_refusal(done.error()));
    return refuse(asked, ofp::bundle_refusal(ofp::bundle_error::failed_message));
  }
  send_(ofp::bundle_reply(asked, which));
}

void conversation::send_all(std::vector<ofp::message> all) {
  for (ofp::message& one : all) {
    if (!send_(std::move(one))) return;
  }
}

}  // namespace coua::openflow
