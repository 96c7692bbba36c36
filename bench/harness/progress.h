// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace coua::bench {

/// One line on stderr that says what is going on: rewritten in place on a terminal, a line every
/// few seconds elsewhere. Short work shows nothing.
class progress {
 public:
  explicit progress(std::string what);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();  // wipes the line

  /// The next step begins.
  void step(const std::string& what);

 private:
  std::string what_;
  std::size_t done_ = 0;
  bool terminal_;
  bool shown_ = false;
  std::uint64_t start_ns_;
  std::uint64_t last_ns_;
};

}  // namespace coua::bench
