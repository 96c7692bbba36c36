// SPDX-License-Identifier: Apache-2.0
//
// Random tests: the seed of a failure is printed; COUA_SEED repeats it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>

namespace coua::ofp::test {

class seeded : public testing::Test {
 protected:
  seeded() {
    const char* asked = std::getenv("COUA_SEED");
    const auto seed = asked != nullptr ? std::strtoull(asked, nullptr, 0) : std::random_device{}();
    engine_.seed(seed);
    RecordProperty("seed", std::to_string(seed));
    trace_ = std::make_unique<testing::ScopedTrace>(__FILE__, __LINE__,
                                                    "COUA_SEED=" + std::to_string(seed));
  }

  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  std::mt19937_64 engine_;

 private:
  std::unique_ptr<testing::ScopedTrace> trace_;
};

}  // namespace coua::ofp::test
