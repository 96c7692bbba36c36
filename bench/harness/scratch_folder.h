// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace coua::bench {

/// A folder in $TMPDIR, or /tmp, that goes with all that is in it, also when a signal ends us.
class scratch_folder {
 public:
  /// Errors: io.
  static result<std::unique_ptr<scratch_folder>> create();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit scratch_folder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Where DPDK starts while this lives, in this process and in those that it starts. DPDK makes its
/// runtime folder even when it puts nothing there, and leaves it behind. Other threads must not
/// read the environment when it begins or ends.
class eal_folder {
 public:
  /// Errors: io.
  static result<std::unique_ptr<eal_folder>> create();
  ~eal_folder();
  eal_folder(const eal_folder&) = delete;
  eal_folder& operator=(const eal_folder&) = delete;

 private:
  explicit eal_folder(std::unique_ptr<scratch_folder> folder);
  std::unique_ptr<scratch_folder> folder_;
  std::optional<std::string> before_;  // what the environment said
};

}  // namespace coua::bench
