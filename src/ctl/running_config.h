// SPDX-License-Identifier: Apache-2.0
//
// The configuration of a running switch: what it was started with, and what was changed since. It
// is not kept twice: ports, entries and the ageing time are asked of the switch.
//
// A change by difference is a list of steps, each with the one that takes it back:
//
//   static entries that go or whose port goes -> ports that go -> ports that change -> settings
//     -> ports that come -> static entries that come or change -> rules, groups and meters
//
// Rules come last, as one bundle: so nothing that was done needs to be taken back of them, and the
// ports that they name are there.
//
// Everything that can be checked is checked before the first. When a step fails, those before it
// are taken back from the last to the first, so the switch is what it was, with the ports shut down
// that it had shut down; only what was learned on a port that had gone is gone, and its number may
// be another.
//
// Whoever changes what a file can say holds `changing()` meanwhile, so nothing comes in between;
// but for controllers and packets, whose rules come and go when they want.
#pragma once

#include <functional>
#include <mutex>
#include <span>

#include "ctl/config_diff.h"
#include "ctl/pipeline_control.h"
#include "dp/switch.h"

namespace coua::ctl {

class running_config {
 public:
  /// `started`: what the switch was started with. `sw` must outlive this.
  running_config(dp::l2_switch& sw, config started);

  /// Whose rules, groups and meters they are, before anything is asked; without one there are none,
  /// and no file may say any.
  /// It may have this as its owner.
  void set_pipeline(pipeline_control& of) { pipeline_ = &of; }
  /// At the start: brings those of the file, if it says any. Errors have their place.
  result<void> start_pipeline(const config& from);

  /// Held while one thing is changed, from looking at it to the end. Any thread.
  [[nodiscard]] std::unique_lock<std::mutex> changing() { return std::unique_lock(mutex_); }

  /// Whether rules, groups and meters are told also when the file leaves them to others.
  enum class rules { if_said, always };

  /// What runs. Waits for who changes it. Errors: of the switch, when entries move faster than they
  /// are read (busy).
  result<config> now(rules which = rules::if_said);

  /// The same as a file. no_room: no file could be that long.
  result<std::string> print(config_format format, rules which = rules::if_said);

  /// What would have to change. Errors: invalid, for rules that cannot be together.
  result<std::vector<config_change>> difference(const config& wanted);

  /// Changes it, or with `dry_run` says only what would be done. Errors: unsupported, for what only
  /// a restart can change; else that of the step that failed. Both name file, line and field.
  result<std::vector<config_change>> apply(const config& wanted, bool dry_run = false);

  /// The file that the switch was started with; empty: none.
  const std::string& file() const { return file_; }

 private:
  struct step {
    std::string place;  // in the file
    std::function<result<void>()> go, back;
    bool partial = false;  // one that fails may have done a part of it, which `back` takes back
  };
  using steps = std::vector<step>;

  result<config> read(rules which);
  config with_names(config wanted, const config& now) const;
  result<void> check_rules(const config& wanted, const config_difference& difference) const;
  void plan_texts(const config& now, const config& wanted, const config_difference& difference,
                  steps& before, steps& after);
  result<void> run(const steps& steps);
  steps plan(const config& now, const config& wanted, const config_difference& difference);
  void plan_ports(const config& wanted, const config_difference& difference, steps& leaving,
                  steps& changing, steps& coming);
  void plan_statics(const config& now, const config& wanted, const config_difference& difference,
                    steps& leaving, steps& coming);
  void plan_settings(const config& now, const config& wanted, const config_difference& difference,
                     steps& out);
  result<void> store(std::span<const static_entry> entries, std::size_t* failed = nullptr);
  result<void> erase(std::span<const static_entry> entries);

  dp::l2_switch& switch_;
  pipeline_control* pipeline_ = nullptr;
  config started_;  // without what is asked of the switch
  const std::string file_;
  std::mutex mutex_;
  pipeline::rule_id newest_read_ = 0;  // by read(): rules with a higher number came after it
};

}  // namespace coua::ctl
