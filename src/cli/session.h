// SPDX-License-Identifier: Apache-2.0
//
// What carrying out a verb needs, and the functions that do it. Each prints its answer on the
// standard output, or returns why it could not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/client.h"
#include "cli/grammar.h"
#include "cli/output.h"

namespace coua::cli {

/// What is wrong with a configuration file. Its format is the daemon's affair: whoever links this
/// brings the check (apps/coua.cc).
struct file_problem {
  int line = 0;  // 0: the file as a whole
  std::string field, reason;
};
struct file_report {
  std::size_t n_ports = 0;
  std::vector<file_problem> problems;  // none: it is good
};
using file_checker = std::function<file_report(const std::string& text, const std::string& file)>;

struct session {
  client& daemon;
  const invocation& call;
  bool as_json;
  const file_checker& check;
  mutable bool misused = false;  // the command line was wrong in a way that the grammar cannot tell
  mutable bool answered = false;  // a failure is in the JSON that was printed already
  mutable int status = 0;         // of a verb that was carried out: an exit_status

  /// `return s.misuse("--a and --b exclude each other")`
  tl::unexpected<error> misuse(std::string what) const {
    misused = true;
    return fail(errc::invalid, "coua " + call.what->path, std::move(what));
  }
  /// The answer, as JSON or as text.
  void answer(const json& object, const std::string& text) const;
  /// "port p0: added" or "port p0: unchanged"
  void answer_change(json object, bool changed, const std::string& what,
                     const std::string& done) const;
};

result<void> run_bridge_list(const session& s);
result<void> run_bridge_show(const session& s);
result<void> run_bridge_add(const session& s);
result<void> run_bridge_del(const session& s);
result<void> run_port_list(const session& s);
result<void> run_port_show(const session& s);
result<void> run_port_add(const session& s);
result<void> run_port_remove(const session& s);
result<void> run_port_set(const session& s);
result<void> run_fib_show(const session& s);
result<void> run_fib_add(const session& s);
result<void> run_fib_del(const session& s);
result<void> run_fib_flush(const session& s);
result<void> run_fib_load(const session& s);
result<void> run_fib_stats(const session& s);
result<void> run_fib_ageing(const session& s);
result<void> run_trace(const session& s);
result<void> run_explain(const session& s);
result<void> run_flow_add(const session& s);
result<void> run_flow_mod(const session& s);
result<void> run_flow_del(const session& s);
result<void> run_flow_dump(const session& s);
result<void> run_flow_stats(const session& s);
result<void> run_group_add(const session& s);
result<void> run_group_mod(const session& s);
result<void> run_group_del(const session& s);
result<void> run_group_dump(const session& s);
result<void> run_meter_add(const session& s);
result<void> run_meter_mod(const session& s);
result<void> run_meter_del(const session& s);
result<void> run_meter_dump(const session& s);
result<void> run_config_check(const session& s);
result<void> run_config_show(const session& s);
result<void> run_config_save(const session& s);
result<void> run_config_diff(const session& s);
result<void> run_config_apply(const session& s);
result<void> run_vlan_list(const session& s);
result<void> run_vlan_show(const session& s);
result<void> run_stats(const session& s);
result<void> run_worker_list(const session& s);
result<void> run_controller_list(const session& s);
result<void> run_capture(const session& s);
result<void> run_top(const session& s);
result<void> run_doctor(const session& s);
result<void> run_log_level(const session& s);
result<void> run_version(const session& s);

/// The whole command; returns an exit_status.
int run(const std::vector<std::string>& words, const file_checker& check);

}  // namespace coua::cli
