// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/cpu.h"
#include "bench/cases/use_case.h"
#include "pipeline/compiler/running_bridge.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/estimate/outline.h"

namespace coua::bench {

/// The rules of a case in a bridge of their own, compiled, with one worker.
class compiled_case {
 public:
  /// `instruction_set`: none, what the machine has. Errors: those of the bridge.
  static result<std::unique_ptr<compiled_case>> create(const use_case& of,
                                                       std::optional<isa> instruction_set);
  compiled_case(const compiled_case&) = delete;
  compiled_case& operator=(const compiled_case&) = delete;

  pipeline::executor& worker() { return *worker_; }
  double seconds_to_load() const { return seconds_to_load_; }
  std::size_t n_rules() const { return bridge_->model().n_rules(); }
  /// As the performance model sees it, by the packets that it has had.
  pipeline::pipeline_outline outline();
  /// The templates of its tables: "0-1:direct 2-21:exact 110:lpm".
  std::string tables() const;

 private:
  /// No packet of a case goes two ways.
  class no_copies final : public pipeline::packet_copier {
    bool copy(const pipeline::owned_packet&, pipeline::owned_packet&) noexcept override {
      return false;
    }
    void give_back(const pipeline::owned_packet&) noexcept override {}
  };

  compiled_case() = default;
  result<void> load(const use_case& of);

  no_copies copies_;
  std::unique_ptr<pipeline::running_bridge> bridge_;
  std::unique_ptr<pipeline::executor> worker_;
  double seconds_to_load_ = 0;
};

}  // namespace coua::bench
