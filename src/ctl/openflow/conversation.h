// SPDX-License-Identifier: Apache-2.0
//
// What a switch says to one controller: its messages in, answers out, in their order.
//
// Changes of rules, groups and meters are not done one by one. They collect with the barriers
// between them, until there are many, something else is asked, or nothing more has come; then the
// owner of the pipeline does them in one go, each as a version with an error of its own, and one
// grace period answers all barriers among them. So a controller that sends a barrier after each
// flow_mod does not wait for the workers each time, and still no barrier is answered before every
// worker runs what was sent before it. Versions keep the order.
//
// Thread rules: one thread at a time, which may wait for the owner of the pipeline and for the
// workers. Who must not wait has the owner's turn (ctl::pipeline_control::try_turn), and the calls
// for it: is_brief(), then take(), changes_are_quick() and do_changes(), then answer_within().
#pragma once

#include <chrono>
#include <functional>
#include <mutex>

#include "ctl/openflow/bridge_view.h"
#include "ctl/openflow/bundles.h"
#include "ctl/openflow/request_parts.h"

namespace coua::openflow {

/// Who is told of packets, rules and ports: a controller from the beginning; a visitor of the
/// management socket, which has other things in mind, when it has sent a configuration.
enum class audience { controller, visitor };

class conversation {
 public:
  /// False: the controller is gone, and nothing more need be said.
  using sender = std::function<bool(ofp::message)>;

  conversation(bridge_view& bridge, sender send, audience who = audience::controller);

  /// One message. What it asks may be done, and answered, with a later one.
  void take(ofp::message one);
  /// Does what was put off.
  void flush();

  /// What take() does with it is brief and waits for nobody but the owner of the pipeline.
  bool is_brief(ofp::message_view one) const;
  /// The changes that were put off are done in a moment. Else they are for flush(), in a thread
  /// that has the time.
  bool changes_are_quick() const;
  /// These changes; answers come by one of the following.
  void do_changes();
  /// Answers, if the workers need no longer than that. False: flush() is still to come.
  bool answer_within(std::chrono::microseconds most);

  // Any thread.
  ofp::controller_role role() const { return role_.now(); }
  /// For what reasons it is told of something, in its role.
  ofp::async_masks::of_role wants() const;
  ofp::ask::set_config config() const;

 private:
  struct put_off {
    enum class kind { change, refused, barrier };
    kind what;
    ofp::message asked;
    ofp::refusal why{};  // of refused
  };

  struct answerer;
  ofp::async_masks masks() const;
  bool waits_for_workers() const;
  void answer();
  void put_off_refusal(ofp::message asked, ofp::refusal why);
  /// What was to go into a bundle breaks it.
  void refuse_unread(ofp::message asked, ofp::refusal why);
  void refuse(const ofp::message& asked, const ofp::refusal& why);
  void commit(const ofp::message& asked, const ofp::ask::bundle_control& which);
  void send_all(std::vector<ofp::message> all);

  bridge_view& bridge_;
  const sender send_;
  role_book::entry role_;
  bundle_book bundles_;
  request_parts parts_;
  std::vector<pipeline::operation> changes_;
  std::vector<pipeline::of_result<pipeline::change_list>> done_;  // of changes, in their order
  std::vector<put_off> waiting_;
  mutable std::mutex mutex_;  // of what follows; not held while something is sent
  bool is_told_;
  ofp::async_masks masks_;
  ofp::ask::set_config config_{0, 128};
};

}  // namespace coua::openflow
