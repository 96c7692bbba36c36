// SPDX-License-Identifier: Apache-2.0
//
// What is timed: something that answers a sequence of words, chunk by chunk. The call per chunk is
// virtual, nothing per key is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/crew.h"
#include "bench/harness/question.h"
#include "bench/harness/report.h"

namespace coua::bench {

class contestant {
 public:
  virtual ~contestant() = default;

  /// Works through `n` words and returns the sum of the answers that came out. The words
  /// [n, n + slack_keys) may be read too: they are what comes next. Any number of threads, each
  /// with its own number.
  virtual std::uint64_t ask(unsigned thread, const std::uint64_t* words, std::size_t n) = 0;

  /// What is still in flight; its sum. Ends a window.
  virtual std::uint64_t finish(unsigned /*thread*/) { return 0; }
};

/// One that rows are made of.
class named_contestant : public contestant {
 public:
  named_contestant(std::string name, json params)
      : name_(std::move(name)), params_(std::move(params)) {}
  const std::string& name() const { return name_; }
  /// What tells it apart from others of its name.
  const json& params() const { return params_; }

 private:
  std::string name_;
  json params_;
};

struct window {
  double mops = 0;             // all threads together
  std::uint64_t sum = 0;       // of the answers
  std::uint64_t expected = 0;  // what it should be, where a code was given
};

/// Runs one window of `seconds` on the first `threads` of the crew; sequences[i] belongs to
/// thread i. Starts with a few chunks that are not counted, to warm caches and predictors.
window run_window(crew&, unsigned threads, contestant&, const std::vector<sequence>& sequences,
                  double seconds, const std::optional<answer_code>& code = std::nullopt);

}  // namespace coua::bench
