// SPDX-License-Identifier: Apache-2.0
//
// Our classifier as something to be timed.
#pragma once

#include <coua/classifier.h>

#include <memory>
#include <optional>
#include <string>

#include "base/cpu.h"
#include "bench/classify/rule_source.h"
#include "bench/harness/contestant.h"

namespace coua::bench {

class coua_rules : public named_contestant {
 public:
  /// Named `distributor/WORD`; `instruction_set`: none, what the machine has. Errors: those of the
  /// classifier.
  static result<std::unique_ptr<coua_rules>> create(const rule_source& source,
                                                    const std::string& word,
                                                    coua_classifier_distributor distributor,
                                                    bool pruned, std::optional<isa> instruction_set,
                                                    std::size_t batch);
  ~coua_rules() override;

  std::uint64_t ask(unsigned thread, const std::uint64_t* words, std::size_t n) override;
  /// What rows tell beside the rate: probes and hints since the last call.
  json describe();
  double seconds_to_add() const { return seconds_to_add_; }

 private:
  coua_rules(std::string name, json params, const rule_source& source, std::size_t batch)
      : named_contestant(std::move(name), std::move(params)), source_(source), batch_(batch) {}
  result<void> load();

  const rule_source& source_;
  std::size_t batch_;
  coua_classifier* classifier_ = nullptr;
  coua_classifier_reader* reader_ = nullptr;
  coua_classifier_reader_stats before_{};
  double seconds_to_add_ = 0;
};

}  // namespace coua::bench
