// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/worker_counts.h"

namespace coua::pipeline {

const char* to_string(pipeline_drop why) {
  switch (why) {
    case pipeline_drop::no_rule: return "no_rule";
    case pipeline_drop::no_output: return "no_output";
    case pipeline_drop::port_closed: return "port_closed";
    case pipeline_drop::no_port: return "no_port";
    case pipeline_drop::port_forbids: return "port_forbids";
    case pipeline_drop::own_port: return "own_port";
    case pipeline_drop::no_bucket: return "no_bucket";
    case pipeline_drop::meter: return "meter";
    case pipeline_drop::invalid_ttl: return "invalid_ttl";
    case pipeline_drop::no_buffer: return "no_buffer";
    case pipeline_drop::no_headroom: return "no_headroom";
    case pipeline_drop::too_many: return "too_many";
    case pipeline_drop::resubmits: return "resubmits";
    case pipeline_drop::learn_no_field: return "learn_no_field";
    case pipeline_drop::learn_too_many: return "learn_too_many";
  }
  return "?";
}

}  // namespace coua::pipeline
