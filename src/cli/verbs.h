// SPDX-License-Identifier: Apache-2.0
//
// The grammar of `coua`.
#pragma once

#include "cli/grammar.h"

namespace coua::cli {

/// Exit statuses, for scripts.
enum exit_status {
  exit_ok = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_unreachable = 3,
  exit_differs = 4,
  exit_not_yet = 5,       // --wait: it was not so in time
  exit_interrupted = 130  // of a verb that Ctrl-C ended: as shells have it
};

enum verb_id {
  bridge_list,
  bridge_show,
  bridge_add,
  bridge_del,
  port_list,
  port_show,
  port_add,
  port_remove,
  port_set,
  fib_show,
  fib_add,
  fib_del,
  fib_flush,
  fib_load,
  fib_stats,
  fib_ageing,
  flow_add,
  flow_mod,
  flow_del,
  flow_dump,
  flow_stats,
  group_add,
  group_mod,
  group_del,
  group_dump,
  meter_add,
  meter_mod,
  meter_del,
  meter_dump,
  trace_show,
  explain_show,
  vlan_list,
  vlan_show,
  stats_show,
  worker_list,
  controller_list,
  log_level_show,
  capture_run,
  top_run,
  config_check,
  config_show,
  config_save,
  config_diff,
  config_apply,
  doctor_show,
  completion_show,
  version_show,
};

const command& coua_command();

/// `--bridge NAME`, of what it names one.
parameter bridge_option(std::string help = "the bridge; needed where there are several");

std::vector<verb> bridge_verbs();
/// Those of the OpenFlow pipeline: flow, group, meter, controller.
std::vector<verb> flow_verbs();
std::vector<verb> capture_verbs();
std::vector<verb> top_verbs();
std::vector<verb> config_verbs();

}  // namespace coua::cli
