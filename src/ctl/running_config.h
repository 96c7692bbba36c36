// SPDX-License-Identifier: Apache-2.0
//
// The configuration of a running switch: what it was started with, and what was changed since. It
// is not kept twice: ports, entries and the ageing time are asked of the switch.
//
// A change by difference is a list of steps, each with the one that takes it back:
//
//   controllers of bridges that go -> static entries that go or whose port goes -> ports that go
//     -> bridges that go -> ports that change -> settings -> bridges that come -> ports that come
//     -> static entries that come or change -> rules, groups and meters, bridge by bridge
//     -> controllers of bridges that come
//
// The rules of a bridge come as one bundle, when the ports that they name are there. A bridge that
// goes while none stays does so when the first that comes is there: a switch has one at least.
//
// Everything that can be checked is checked before the first. When a step fails, those before it
// are taken back from the last to the first, so the switch is what it was, with the ports shut down
// that it had shut down; only what was learned on a port that had gone is gone, and its number may
// be another. Rules that are back, of a bridge that had gone or in place of others, count anew.
//
// Whoever changes what a file can say holds `changing()` meanwhile, so nothing comes in between;
// but for controllers and packets, whose rules come and go when they want.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "ctl/config_diff.h"
#include "ctl/running_bridges.h"
#include "dp/switch.h"

namespace coua::ctl {

class running_config {
 public:
  /// `started`: what the switch was started with. Both must outlive this.
  running_config(dp::l2_switch& sw, running_bridges& bridges, config started);
  /// Lets go of the controllers, which ask this.
  ~running_config();
  running_config(const running_config&) = delete;
  running_config& operator=(const running_config&) = delete;

  /// At the start, before anything is asked: the bridges of the file, which the switch has already,
  /// get the rules that it says, and speak with their controllers. Errors have their place.
  result<void> start_bridges(const config& from);

  /// Held while one thing is changed, from looking at it to the end. Any thread.
  using hold = std::unique_lock<std::timed_mutex>;
  [[nodiscard]] hold changing() { return hold(mutex_); }
  /// For who may be waited for by who changes something: holds nothing once `ends` is true.
  [[nodiscard]] hold changing_unless(const std::atomic<bool>& ends);

  /// What the API does with one bridge; the caller holds changing(). Each is done or not at all.
  result<void> add_bridge(const bridge_settings& bridge);
  result<void> remove_bridge(const std::string& name);

  /// Whether a port can become `wanted` and leave no static entry in a VLAN that it no longer
  /// carries; the caller holds changing(). Errors: busy, with such an entry.
  result<void> check_statics_stay(const dp::port_status& now, const dp::port_config& wanted) const;

  /// Whether rules, groups and meters are told also when the file leaves them to others.
  enum class rules { if_said, always };

  /// What runs. Waits for who changes it. Errors: of the switch, when entries move faster than they
  /// are read (busy).
  result<config> now(rules which = rules::if_said);

  /// The same as a file. no_room: no file could be that long.
  result<std::string> print(config_format format, rules which = rules::if_said);

  /// Of what print() would write: rules and groups that name ports which are gone, and so another
  /// one if it gets that number. "flow in_port=7: port 7 is gone"; of several bridges with theirs.
  result<std::vector<std::string>> lost_ports(rules which = rules::if_said);

  /// What would have to change. Errors: invalid, for rules that cannot be together.
  result<std::vector<config_change>> difference(const config& wanted);

  /// Changes it, or with `dry_run` says only what would be done. Errors: unsupported, for what only
  /// a restart can change; else that of the step that failed. Both name file, line and field.
  result<std::vector<config_change>> apply(const config& wanted, bool dry_run = false);

  running_bridges& bridges() { return bridges_; }
  /// The file that the switch was started with; empty: none.
  const std::string& file() const { return file_; }

 private:
  struct step {
    std::string item;   // what it changes: "port p0"
    std::string place;  // in the file
    std::function<result<void>()> go, back;
    bool partial = false;  // one that fails may have done a part of it, which `back` takes back
    bool anew = false;     // what `back` brings is not what was there: it has counted nothing yet
  };
  using steps = std::vector<step>;

  /// Of a bridge as it is configured: whether its rules are read.
  using bridge_test = std::function<bool(const bridge_settings&)>;
  result<void> open_bridge(const config& from, std::size_t index);
  result<config> read(const bridge_test& with_rules);
  result<std::vector<dp::fib_entry>> statics(dp::fib_filter filter) const;
  ofp::port_names names_of(const config& wanted, const std::string& bridge) const;
  config with_names(config wanted, const config& now) const;
  result<void> check_rules(const config& wanted, const config_difference& difference) const;
  void plan_bridges(const config& wanted, const config_difference& difference, steps& closing,
                    steps& leaving, steps& coming, steps& opening);
  void plan_texts(const config& now, const config& wanted, const config_difference& difference,
                  steps& before, steps& after);
  result<void> bring_texts(const config& wanted, std::size_t bridge);
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
  std::map<std::string, dp::port_status> ports_by_name() const;

  dp::l2_switch& switch_;
  running_bridges& bridges_;
  config started_;  // without what is asked of the switch and of the bridges
  const std::string file_;
  std::timed_mutex mutex_;
  // By read(), of each bridge: rules with a higher number came after it.
  std::map<std::string, pipeline::rule_id> newest_read_;
};

}  // namespace coua::ctl
