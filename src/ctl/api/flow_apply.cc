// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/flow_apply.h"

#include "base/error_place.h"
#include "ctl/api/flow_convert.h"

namespace coua::ctl {
namespace {

constexpr std::size_t bundle_max = std::size_t{256} << 20;  // bytes of text

/// The model counts operations, the client lines.
error in_line(const pipeline::of_failure& failure, const std::vector<std::string>& places) {
  error made = to_error(failure);
  if (failure.operation == 0) return made;
  const std::string counted = "operation " + std::to_string(failure.operation) + ": ";
  if (made.where.starts_with(counted)) made.where.erase(0, counted.size());
  return at_place(places[failure.operation - 1], std::move(made));
}

/// What is wrong with a text as such has no place in it.
error with_place(error wrong, v1::ApplyFlowsRequest::Kind kind) {
  if (!wrong.where.empty()) return wrong;
  wrong.where = kind == v1::ApplyFlowsRequest::KIND_FLOW    ? "flow"
                : kind == v1::ApplyFlowsRequest::KIND_GROUP ? "group"
                                                            : "meter";
  return wrong;
}

/// With nothing else new, a user still wants to know that counters are 0 or time-outs run from now.
struct begins_anew {
  bool operator()(const pipeline::rule_change& one) const {
    if (one.before == nullptr || one.after == nullptr) return false;
    const bool has_timeout = one.after->idle_timeout_s != 0 || one.after->hard_timeout_s != 0;
    return one.counts == pipeline::rule_counts::cleared ||
           (has_timeout && one.after->added != one.before->added);
  }
  // Counters of buckets and bands do with every modification.
  bool operator()(const pipeline::group_change& one) const {
    return one.before != nullptr && one.after != nullptr && !one.after->buckets.empty();
  }
  bool operator()(const pipeline::meter_change& one) const {
    return one.before != nullptr && one.after != nullptr;
  }
  bool operator()(const pipeline::port_change&) const { return false; }
};

std::size_t count_renewed(const pipeline::change_list& done) {
  std::size_t n = 0;
  for (const pipeline::change& one : done)
    if (std::visit(begins_anew(), one) && count_changes({one}) == 0) ++n;
  return n;
}

}  // namespace

flow_apply::flow_apply(api_core& core, grpc::CallbackServerContext* context,
                       v1::ApplyFlowsResponse* response)
    : core_(core), context_(context), response_(response) {
  StartRead(&next_);
}

void flow_apply::OnReadDone(bool ok) {
  if (ok) {
    if (auto taken = collect(); !taken) return Finish(to_status(*context_, taken.error()));
    return StartRead(&next_);
  }
  // The client has sent all, or it is gone, which gRPC may not know yet.
  if (!whole_) {
    return Finish(to_status(
        *context_,
        {errc::invalid, "last", "the bundle is not whole: no message said to be the last"}));
  }
  const bool posted = core_.changes.post([this] {
    const result<void> done =
        core_.stopping ? fail(errc::unavailable, "flows", "the daemon is stopping") : apply();
    Finish(done ? grpc::Status::OK : to_status(*context_, done.error()));
  });
  if (!posted) Finish(to_status(*context_, api_core::too_busy()));
}

result<void> flow_apply::collect() {
  if (whole_) return fail(errc::invalid, "last", "there are messages behind the last one");
  whole_ = next_.last();
  if (text_.size() + next_.text().size() > bundle_max) {
    return fail(errc::invalid, "text",
                "a bundle may have " + std::to_string(bundle_max) + " bytes at most");
  }
  text_ += next_.text();
  if (any_) return {};
  any_ = true;
  first_ = next_;
  first_.clear_text();
  return {};
}

result<void> flow_apply::apply() {
  const auto defaults = to_line_defaults(first_);
  if (!defaults) return tl::unexpected(defaults.error());
  auto hold = core_.running.changing();
  const auto bridge = core_.bridges.find(first_.bridge());
  if (!bridge) return tl::unexpected(bridge.error());
  // One line has no need of a number.
  if (text_.ends_with('\n') && text_.find('\n') + 1 == text_.size()) text_.pop_back();
  const auto lines = ofp::parse_lines(text_, *defaults, bridge->pipeline().port_names());
  if (!lines) return tl::unexpected(with_place(lines.error(), first_.kind()));
  const auto done = bridge->pipeline().apply(lines->operations);
  if (!done) return tl::unexpected(in_line(done.error(), lines->places));
  const std::size_t changes = count_changes(*done);
  const std::size_t renewed = count_renewed(*done);
  response_->set_changed(changes + renewed > 0);
  response_->set_operations(lines->operations.size());
  response_->set_changes(changes);
  response_->set_renewed(renewed);
  hold.unlock();
  if (changes > 0 && !bridge->pipeline().settle_within(pipeline_control::settle_most))
    return fail(errc::busy, "flows", "it is done, but there is a worker that does not run it yet");
  return {};
}

}  // namespace coua::ctl
