// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/running_bridge.h"

namespace coua::pipeline {

result<std::unique_ptr<running_bridge>> running_bridge::create(const bridge_params& params,
                                                               const compiler_params& compiler) {
  auto model = bridge::create(params);
  if (!model) return tl::unexpected(std::move(model.error()));
  std::unique_ptr<running_bridge> made(new running_bridge(std::move(*model)));
  auto compiled = pipeline_compiler::create(made->model_, compiler);
  if (!compiled) return tl::unexpected(std::move(compiled.error()));
  made->compiler_ = std::move(*compiled);
  return made;
}

bridge::follower running_bridge::follower(time_ns now, bool& failed) {
  return [this, now, &failed](const change_list& changes) -> of_result<void> {
    auto good = compiler_->follow(changes, now);
    if (good) return {};
    failed = true;
    return refuse(of_error::flow_mod_table_full, good.error().where, good.error().what);
  };
}

of_result<change_list> running_bridge::apply(std::span<const operation> bundle, time_ns now) {
  bool failed = false;
  auto done = model_.apply(bundle, now, follower(now, failed));
  if (failed) compiler_->recover();
  if (done) compiler_->collect_changed(model_, *done, now);
  return done;
}

tl::expected<operation, running_bridge::not_learned> running_bridge::to_operation(
    const learned_values& from) const {
  const auto how = compiler_->find_learning(from.id);
  if (how == nullptr) return tl::unexpected(not_learned::gone);
  auto made = learned_rule(how->how, std::span(from.values).first(from.n));
  if (!made) return tl::unexpected(not_learned::no_match);
  return std::move(*made);
}

change_list running_bridge::expire(time_ns now) {
  bool failed = false;
  change_list gone = model_.expire(now, follower(now, failed));
  if (failed) compiler_->recover();
  compiler_->collect_changed(model_, gone, now);
  return gone;
}

}  // namespace coua::pipeline
