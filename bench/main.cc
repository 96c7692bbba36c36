// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "base/cpu.h"
#include "bench/classify/classify_command.h"
#include "bench/fib/fib_command.h"
#include "bench/flow/flow_command.h"
#ifdef COUA_BENCH_DPDK
#include "bench/forward/forward_command.h"
#endif
#include "bench/grammar.h"
#include "bench/harness/leftovers.h"
#include "bench/harness/machine.h"
#include "bench/limit/limit_command.h"
#include "bench/lpm/lpm_command.h"
#include "bench/pipeline/pipeline_command.h"
#include "bench/pipeline/plan_command.h"
#include "bench/plot/plot_command.h"
#include "bench/rules/rules_command.h"
#include "bench/setsep/setsep_command.h"
#include "bench/stalls/stalls_command.h"
#include "bench/traffic/traffic_command.h"

namespace {

using namespace coua;
using namespace coua::bench;

int show(const result<report>& done, const run_options& run) {
  wait_for_end();
  if (!done) {
    std::fprintf(stderr, "coua-bench: %s\n", done.error().message().c_str());
    return 1;
  }
  json machine = describe_machine();
#if defined(COUA_BUILT_FOR_TESTS)
  machine["built_for"] = "tests";  // its loops are not optimised
#endif
  const std::string text =
      run.json ? to_json(*done, machine).dump(1) + "\n" : to_table(*done, machine);
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int show_text(const result<std::string>& done) {
  wait_for_end();
  if (!done) {
    std::fprintf(stderr, "coua-bench: %s\n", done.error().message().c_str());
    return 1;
  }
  std::fputs(done->c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

struct runner {
  int operator()(int status) const { return status; }
  int operator()(const limit_options& asked) const { return show(run_limit(asked), asked.run); }
  int operator()(const fib_options& asked) const { return show(run_fib(asked), asked.run); }
  int operator()(const flow_options& asked) const { return show(run_flow(asked), asked.run); }
  int operator()(const classify_options& asked) const {
    return show(run_classify(asked), asked.run);
  }
  int operator()(const lpm_options& asked) const { return show(run_lpm(asked), asked.run); }
  int operator()(const pipeline_options& asked) const {
    return show(run_pipeline(asked), asked.run);
  }
  int operator()(const plan_options& asked) const { return show(run_plan(asked), asked.run); }
  int operator()(const setsep_options& asked) const { return show(run_setsep(asked), asked.run); }
  int operator()(const plot_options& asked) const {
    return show_text(run_plot(asked).map([](const std::string& path) { return path + "\n"; }));
  }
  int operator()(const rules_options& asked) const {
    return asked.text ? show_text(print_rules(asked)) : show(run_rules(asked), asked.run);
  }
  int operator()(const traffic_options& asked) const { return show(run_traffic(asked), asked.run); }
#ifdef COUA_BENCH_DPDK
  int operator()(const forward_options& asked) const { return show(run_forward(asked), asked.run); }
  int operator()(const stalls_options& asked) const { return show(run_stalls(asked), asked.run); }
#else
  int operator()(const forward_options& asked) const {
    return show(fail(errc::unsupported, "forward", "this build has no DPDK"), asked.run);
  }
  int operator()(const stalls_options& asked) const {
    return show(fail(errc::unsupported, "stalls", "this build has no DPDK"), asked.run);
  }
#endif
};

}  // namespace

int main(int count, char** words) {
  end_tidily_on_signals();
  const request asked = parse_command_line(count, words);
  if (const std::string& why = simd_complaint(); !why.empty()) {
    std::fprintf(stderr, "coua-bench: %s\n", why.c_str());
  }
  return std::visit(runner{}, asked);
}
