// SPDX-License-Identifier: Apache-2.0
//
// A switch whose rules a test changes.
#pragma once

#include "dp/pipeline/pipeline_owner.h"
#include "dp/test_switch.h"
#include "pipeline/model/test_model.h"

namespace coua::dp {

class pipeline_test : public switch_test {
 protected:
  void must(std::vector<pipeline::operation> bundle) {
    const auto done = owner().apply(bundle);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
  /// No rule is there any more.
  void clear() {
    must(
        {pipeline::test::change_rules(pipeline::rule_command::remove, pipeline::table_all, 0, {})});
  }
  pipeline_owner& owner() { return *switch_->pipeline({}); }
  pipeline::port_no number(const std::string& port) const {
    return bridge_port(numbers_.at(port), false);
  }
  pipeline::match from(const std::string& port) const {
    return pipeline::test::where({exact(pipeline::field::in_port, number(port))});
  }
  std::uint64_t drops(const std::string& why) { return value(owner().drops(), why); }
  std::uint64_t packets_of(std::uint16_t priority, const pipeline::match& what) {
    return owner().read([&](const pipeline::running_bridge& b) {
      const auto* rule = b.model().tables()[0].find(priority, what);
      return rule == nullptr ? 0 : rule->state.counted.packets;
    });
  }
};

}  // namespace coua::dp
